"""Splits a task in plain words into goals and the conditions they depend on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from groundplan.asking.tasks.task_words import load_compose_words, unquoted
from groundplan.budget import spend
from groundplan.contracts.analysis import TaskAnalysis
from groundplan.contracts.contract import Contract
from groundplan.contracts.reading import Constraint, Evidence, Goal, Reading, Requirement
from groundplan.errors import UsageError
from groundplan.text.names import name_words
from groundplan.text.plain_yaml import load_yaml
from groundplan.text.words import language_of

LONGEST = 2_000  # characters of a task
MOST_PARTS = 24
MOST_CHARACTERS = 500
MOST_ENTITIES = 20
_ENTITY = re.compile(r"\S+@\S+\w|\"[^\"]+\"|'[^']+'|\b[A-ZА-ЯЁ][\w-]+(?:\s+[A-ZА-ЯЁ][\w-]+)+|\b\d[\d.,:/-]*\b")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_JOINT = re.compile(
    r"\s*[,;:]\s*(?:(?:and|but|а|и|но)\s+)?|\s+(?:and|but|а также|а|и|но)\s+"
    r"|\s+(?=(?:if|unless|except|in case|provided|as long as|если|в случае если)\s)",
    re.IGNORECASE,
)
_BORDER = " ,;:.!?"
_HIDDEN = re.compile(
    r"\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<!\w)'[^']*(?:'(?=\w)[^']*)*'(?!\w)|\([^()]*\)|\[[^\[\]]*\]|\S+@\S+\w"
)
_WORD = re.compile(r"[\w'’-]+")


class Conditions(Contract):
    begin: tuple[str, ...]
    end: tuple[str, ...]
    unless: tuple[str, ...]
    otherwise: tuple[str, ...]
    so: tuple[str, ...]
    empty: tuple[str, ...]
    looking: tuple[str, ...]
    whether: tuple[str, ...]
    asking: tuple[str, ...]


class TaskWords(Contract):
    """The lexicon of tasks."""

    openings: tuple[str, ...]
    actions: tuple[str, ...]
    never: tuple[str, ...]
    wishes: tuple[str, ...]
    intros: tuple[str, ...]
    conditions: Conditions
    each: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """A span of the task: a goal or a condition. `under` is the index of the condition it depends on."""

    text: str
    start: int
    kind: Literal["do", "if"] = "do"
    under: int | None = None
    holds: bool = True  # False if that condition must not hold

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@lru_cache(maxsize=1)
def load_task_words() -> TaskWords:
    text = files("groundplan.asking.tasks").joinpath("tasks.yaml").read_text(encoding="utf-8")
    return TaskWords.model_validate(load_yaml(text))


def parts_of(task: str) -> tuple[Part, ...]:
    """The parts in order; words that only add to a part belong to it."""
    reader = _Reader(task, load_task_words())
    for start, end in _pieces(reader.plain, _SENTENCE, 0, len(task)):
        reader.sentence(start, end)
    return tuple(reader.parts)


def _pieces(text: str, border: re.Pattern[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for found in border.finditer(text, start, end):
        yield at, found.start()
        at = found.end()
    yield at, end


class _Reader:
    """Parses a task in one pass; quotes, brackets and addresses are never split."""

    def __init__(self, task: str, known: TaskWords) -> None:
        self.task, self.known = task, known
        hidden = _HIDDEN.sub(lambda found: "x" * len(found[0]), task)
        self.plain = hidden.lower() if len(hidden.lower()) == len(task) else hidden
        self.parts: list[Part] = []
        self.unless: set[int] = set()  # start positions of conditions that must not hold

    def sentence(self, start: int, end: int) -> None:
        if self._is_intro(start, end):
            return
        start = self._past_each(start, end)
        begun, behind, forbidden = len(self.parts), start, False
        condition: int | None = None
        holds = True
        for first, last in self._clauses(start, end):
            forbidden = self._forbids(first, last) or (forbidden and self.plain[behind:first].strip() in ("and", "и"))
            behind = last
            if forbidden:
                continue
            first = self._skip(first, last, self.known.conditions.empty)
            found, body = self._short(first, last, self.known.conditions.otherwise)
            if found and (before := self._contrary_of()) is not None:
                condition, holds, first = before, not self._wanted(before), body
                first = self._skip(self._skip(first, last, (",",)), last, self.known.conditions.end)
            found, body = self._short(first, last, self.known.conditions.so)
            if found and self.parts:
                condition, holds, first = self._made_condition(), True, body
            looked = self._condition(first, last, further=last < end, opens=len(self.parts) == begun)
            if looked:
                hangs = (condition, holds) if condition is not None and not holds else (None, True)
                at = _past_space(self.plain, looked[0], looked[1], _BORDER)
                self.parts.append(Part(self.task[at : looked[1]].rstrip(_BORDER), at, "if", *hangs))
                self.unless |= {at} if self._negates(first, last) else set()
                condition, first = len(self.parts) - 1, looked[2]
                holds = self._wanted(condition)
            if not self._forbids(first, last):
                self._add(first, last, condition, holds, fresh=len(self.parts) == begun)
        self._hang_on_what_follows(begun)

    def _hang_on_what_follows(self, begun: int) -> None:
        """Move a trailing condition before its goal: `send a note if she is a member`."""
        for place in range(begun, len(self.parts) - 1):
            done, told = self.parts[place : place + 2]
            holds = self._wanted(place + 1)
            hanging = any(part.under == place + 1 and part.holds == holds for part in self.parts)
            if done.kind == "do" and told.kind == "if" and told.under is None and not hanging:
                told = replace(told, under=done.under, holds=done.holds)
                self.parts[place : place + 2] = [told, replace(done, under=place, holds=holds)]
                later = self.parts[place + 2 :]
                self.parts[place + 2 :] = [replace(p, under=place) if p.under == place + 1 else p for p in later]

    def _wanted(self, condition: int) -> bool:
        """Whether the goal of a condition is done if the condition holds."""
        return self.parts[condition].start not in self.unless

    def _negates(self, start: int, end: int) -> bool:
        return self._led_by(self._skip(start, end, self.known.openings), end, self.known.conditions.unless)[0]

    def _forbids(self, start: int, end: int) -> bool:
        """Whether the clause is a prohibition, and so not a goal: `do not call her`."""
        return self._led_by(self._skip(start, end, self.known.openings), end, self.known.never)[0]

    def _short(self, start: int, end: int, phrases: Sequence[str]) -> tuple[bool, int]:
        """Whether the clause consists of just one of the phrases: `if it is`, but not `if it is late`."""
        found, body = self._led_by(start, end, phrases)
        if found and self._led_by(start, end, self.known.conditions.begin)[0]:
            after = self._skip(body, end, (",", *self.known.openings, *self.known.conditions.end))
            found = after > body + 1 or after >= end or self._first_word(after, end) in self.known.actions
        return found, body

    def _is_intro(self, start: int, end: int) -> bool:
        """Whether the clause is a preamble: it comes first, announces a task and has no values."""
        polite = self._skip(start, end, ("please", "kindly", "пожалуйста"))
        values = re.search(r"\d|x{3}", self.plain[start:end])
        more = end < len(self.plain.rstrip())
        return not self.parts and more and not values and self._led_by(polite, end, self.known.intros)[0]

    def _past_each(self, start: int, end: int) -> int:
        """Skip a list of subjects: `for ann and ben: …`."""
        found, behind = self._led_by(_past_space(self.plain, start, end), end, self.known.each)
        colon = self.plain.find(":", behind, end)
        return colon + 1 if found and colon > 0 else start

    def _clauses(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Split where a goal, a condition or an `otherwise` begins."""
        at = start
        for joint in _JOINT.finditer(self.plain, start, end):
            if joint[0].isspace() and not self._hangs(at, joint.start(), joint.end(), end):
                continue
            after = self._skip(joint.end(), end, (*self.known.openings, *self.known.conditions.end))
            begins = self._first_word(after, end) in self.known.actions or self._forbids(after, end)
            conditions = (*self.known.conditions.begin, *self.known.conditions.otherwise, *self.known.conditions.so)
            if begins or self._led_by(after, end, conditions)[0]:
                yield at, joint.start()
                at = joint.end()
        yield at, end

    def _hangs(self, start: int, stop: int, after: int, end: int) -> bool:
        """Whether an `if` without a comma before it starts a condition; not in `tell me if`."""
        words = set(_WORD.findall(self.plain, start, stop))
        acts = self._first_word(self._skip(start, stop, self.known.openings), stop) in self.known.actions
        return (
            acts
            and not words & set(self.known.conditions.asking)
            and not self._led_by(after, end, self.known.conditions.empty)[0]
        )

    def _condition(self, start: int, end: int, further: bool, opens: bool) -> tuple[int, int, int] | None:
        """The start and end of the condition, and the start of its goal; None if the clause is not a condition."""
        begin = self._skip(start, end, self.known.openings)
        found, body = self._led_by(begin, end, self.known.conditions.begin)
        if not found and further:
            body = self._looked_at(begin, end)
            found = body > begin
        if not found or not self.plain[body:end].strip(_BORDER):
            return None
        stop = None if further else self._action_after(body, end) or (self._comma_after(body, end) if opens else None)
        return (body, *stop) if stop else (body, end, end)

    def _comma_after(self, start: int, end: int) -> tuple[int, int] | None:
        """The border between condition and goal at a comma, before an unknown verb: `if it is late, ping me`."""
        comma = self.plain.find(",", _past_space(self.plain, start, end, _BORDER), end)
        return (comma, comma + 1) if comma > 0 else None

    def _action_after(self, start: int, end: int) -> tuple[int, int] | None:
        """The border between condition and goal without a comma: `if it is late call me`."""
        words = [*_WORD.finditer(self.plain, start, end)]
        for place, word in enumerate(words[1:], 1):
            after = self._skip(word.start(), end, self.known.conditions.end)
            first = self._first_word(self._skip(after, end, self.known.openings), end)
            if first in self.known.actions and words[place - 1][0] not in ("to", "a", "an", "the", "no", "any"):
                return word.start(), after
        return None

    def _add(self, start: int, end: int, condition: int | None, holds: bool, fresh: bool) -> None:
        led = (*self.known.openings, *(self.known.conditions.end if condition is not None else ()))
        begin = _past_space(self.plain, self._skip(start, end, led), end, _BORDER)
        text = self.task[begin:end].rstrip(_BORDER)
        if not text:
            return
        wanted = self._first_word(begin, end) in self.known.actions or self._wished(start, end)
        if wanted or not self.parts or (condition is not None and not fresh):
            self.parts.append(Part(text, begin, "do", condition, holds))
            return
        before = self.parts[-1]
        if any(part.start > before.start for part in self.parts):  # a moved condition is between them
            self.parts.append(Part(text, begin, "do", before.under, before.holds))
        else:
            self.parts[-1] = replace(before, text=self.task[before.start : begin + len(text)])

    def _wished(self, start: int, end: int) -> bool:
        plain = ("and", "also", "then", "finally", "lastly", "additionally", "furthermore", "moreover", "и", "также")
        begin = self._skip(self._skip(start, end, plain), end, (",",))
        return self._led_by(begin, end, self.known.wishes)[0]

    def _last_condition(self) -> int | None:
        return next((place for place in reversed(range(len(self.parts))) if self.parts[place].kind == "if"), None)

    def _contrary_of(self) -> int | None:
        """The condition that `otherwise` refers to: the last one, or a check since then."""
        last = self.parts[-1] if self.parts else None
        if last and last.under is None and self._led_by(last.start, last.end, self.known.conditions.looking)[0]:
            return self._made_condition()
        return self._last_condition()

    def _made_condition(self) -> int:
        """Turn the last goal into a condition: `check whether he is a member. If so, …`."""
        last = self._last_condition()
        if last is None or last < len(self.parts) - 1:
            last = len(self.parts) - 1
            part = self.parts[last]
            begin = _past_space(self.plain, self._looked_at(part.start, part.end), part.end, _BORDER)
            begin = begin if begin < part.end else part.start
            self.parts[last] = replace(part, kind="if", text=self.task[begin : part.end], start=begin)
        return last

    def _looked_at(self, start: int, end: int) -> int:
        """Skip `check whether`, if the clause begins with it."""
        looked, behind = self._led_by(start, end, self.known.conditions.looking)
        begin = self._skip(behind, end, (",",))
        found, body = self._led_by(begin, end, self.known.conditions.whether)
        return body if looked and found else start

    def _skip(self, start: int, end: int, phrases: Sequence[str]) -> int:
        """Skip any number of the phrases."""
        while True:
            at = _past_space(self.plain, start, end)
            found, behind = self._led_by(at, end, phrases)
            if not found:
                return at
            start = _past_space(self.plain, behind, end, " ,:")

    def _led_by(self, start: int, end: int, phrases: Iterable[str]) -> tuple[bool, int]:
        """Whether the clause begins with one of the phrases, and where the longest match ends."""
        spend(2)
        best = max((p for p in phrases if self._stands(p, start, end)), key=len, default="")
        return bool(best), start + len(best)

    def _stands(self, phrase: str, start: int, end: int) -> bool:
        stop = start + len(phrase)
        if not self.plain.startswith(phrase, start) or stop > end:
            return False
        whole = stop >= end or not (self.plain[stop].isalnum() or self.plain[stop] in "'’")
        return whole or not phrase[-1].isalnum()

    def _first_word(self, start: int, end: int) -> str:
        found = _WORD.search(self.plain, start, end)
        return found[0] if found else ""


def _past_space(text: str, start: int, end: int, what: str = " ") -> int:
    while start < end and text[start] in what:
        start += 1
    return start


def read_task(task: str) -> Reading:
    """Read a task as goals and constraints, each with its words."""
    if len(task) > LONGEST:
        raise UsageError(f"the task has {len(task):,} characters; say it in at most {LONGEST:,}, or in several tasks")
    parts = parts_of(task)
    if len(parts) > MOST_PARTS:
        raise UsageError(f"the task asks for {len(parts)} things; ask for at most {MOST_PARTS} at a time")
    requirements: list[Requirement] = []
    ids: dict[int, str] = {}
    for place, part in enumerate(parts):
        hangs: dict[str, object] = {
            "when": ids.get(part.under) if part.under is not None else None,
            "holds": part.holds,
        }
        if part.kind == "do":
            hangs["each"] = says_each(part.text)
        count = sum(one.kind == ("goal" if part.kind == "do" else "constraint") for one in requirements) + 1
        ids[place] = f"goal:g{count}" if part.kind == "do" else f"constraint:c{count}"
        value = (Goal if part.kind == "do" else Constraint).model_validate({"text": part.text, **hangs})
        evidence = Evidence(text=part.text[:MOST_CHARACTERS], start=part.start)
        requirements.append(Requirement(id=ids[place], value=value, evidence=evidence))
    return Reading(question=task, language=language_of(task), requirements=tuple(requirements))


def says_each(text: str) -> bool:
    """Whether the words mean each of several: `close each of them`, `напиши каждому`."""
    return not set(load_compose_words().several).isdisjoint(name_words(unquoted(text)))


def analyse(reading: Reading) -> TaskAnalysis:
    """Analyse a task by its words, without planning it."""
    goals = [r for r in reading.requirements if r.kind == "goal"]
    routed = any(r.kind == "constraint" for r in reading.requirements)
    names = (found[0] for found in _ENTITY.finditer(reading.question))
    return TaskAnalysis(
        complexity="simple" if len(goals) <= 2 and not routed else "moderate" if len(goals) <= 5 else "complex",
        requires_tools=bool(goals),
        requires_routing=routed,
        suggested_node_types=("tool", "router") if routed else ("tool",),
        key_entities=tuple(dict.fromkeys(names))[:MOST_ENTITIES],
        intent="; ".join(r.words for r in goals)[:MOST_CHARACTERS],
    )
