"""Sentences about workflow steps, one line each: what they did and returned, or why they did not run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from groundplan.answering.verifying.artefacts import without_artefacts
from groundplan.answering.writing.citing import Cites, placed
from groundplan.answering.writing.display import as_field, as_given
from groundplan.answering.writing.ends import fields, is_done, is_gift, is_passed_by, is_text
from groundplan.answering.writing.forms import Sentence
from groundplan.answering.writing.render import group_sentences, item_sentence, more
from groundplan.answering.writing.tracing import flat
from groundplan.contracts.contract import Language
from groundplan.contracts.facts import Facts, Item, StepEnd
from groundplan.contracts.plan import Limits
from groundplan.text.safe import as_code


def step_sentences(facts: Facts, limits: Limits, language: Language) -> Iterator[Sentence]:
    """Changes made and skipped, failures, then results; empty if the plan is not a workflow."""
    ends = [_End(facts, limits, language, number) for number in range(len(facts.steps))]
    yield from (end.act() for is_one in (is_done, is_passed_by) for end in ends if is_one(end.told))
    if ends:
        yield from _failures(facts)
    for end in ends:
        if is_gift(end.told, facts):
            yield from end.gift()


def _failures(facts: Facts) -> Iterator[Sentence]:
    """Failed steps may have had an effect; only steps that never started certainly had none."""
    for place, failure in enumerate(facts.failures):
        if failure.issue:
            problem = failure.issue.problem
            cites = placed(problem.rstrip("."), f"facts.failures.{place}.issue.problem", problem)
            yield Sentence("broken" if failure.status == "failed" else "failed", {"problem": cites})


@dataclass(frozen=True)
class _End:
    facts: Facts
    limits: Limits
    language: Language
    number: int

    @property
    def told(self) -> StepEnd:
        return self.facts.steps[self.number]

    @property
    def path(self) -> str:
        return f"facts.steps.{self.number}"

    def act(self) -> Sentence:
        slots = {"tool": self._word("tool", self.told.tool), "given": self._given()}
        if self.told.status == "finished":
            return Sentence("done", {**slots, "result": self._fields()})
        because = self.told.because
        if because is None:
            return Sentence("passed_by", slots)
        paths = [f"{self.path}.because.conditions.{place}" for place in range(len(because.conditions))]
        cites = [placed(as_code(when), path, when) for path, when in zip(paths, because.conditions, strict=True)]
        return Sentence("met" if because.held else "unmet", {**slots, "conditions": _joined(cites)})

    def gift(self) -> Iterator[Sentence]:
        items = {place: self.facts.items[place] for place in self.told.items[: self.limits.items]}
        listed = {place: item for place, item in items.items() if place not in fields(self.told, self.facts)}
        yield self._head(items)
        for place, item in listed.items() if not is_text(items.values()) else ():
            if without_artefacts(item.title):
                yield item_sentence(item, f"facts.items.{place}", "item", self.language)
        if len(self.told.items) > self.limits.items:
            yield more(f"{self.path}.items", len(self.told.items), self.limits.items, self.language)
        for place in self.told.groups:
            if place < self.limits.groups:
                yield from group_sentences(self.facts.groups[place], place, "item", self.limits, self.language)

    def _head(self, items: dict[int, Item]) -> Sentence:
        own = {} if self.told.tool == self.told.step else {"tool": self._word("tool", self.told.tool)}
        slots = {"step": self._word("step", self.told.step), **own}
        if not self.told.items and not self.told.groups:
            return Sentence("gave_nothing", {**slots, "given": self._given()})
        if self.told.effect == "read" and (told := self._fields()):
            return Sentence("gave", {**slots, "fields": told})
        if is_text(items.values()):
            [(place, item)] = items.items()
            text = placed(without_artefacts(item.text), f"facts.items.{place}.text", item.text)
            return Sentence("gave_text", {**slots, "text": text})
        return Sentence("gave_list", slots)

    def _word(self, name: str, value: str) -> Cites:
        return placed(as_given(value, self.language), f"{self.path}.{name}", value)

    def _given(self) -> Cites:
        items = enumerate(self.told.given)
        return _joined([self._field(f"{self.path}.given.{place}", item) for place, item in items])

    def _fields(self) -> Cites:
        places = fields(self.told, self.facts)[: self.limits.items]
        return _joined([self._field(f"facts.items.{place}", self.facts.items[place]) for place in places])

    def _field(self, path: str, item: Item) -> Cites:
        return placed(as_field(item, self.language), path, flat(item))


def _joined(cites: Sequence[Cites]) -> Cites:
    return tuple(cite for several in cites for cite in several)
