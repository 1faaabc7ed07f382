"""Translates a condition in words into CEL over a step's facts: a field value, a number, or existence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from groundplan.asking.tasks.choose import Chosen
from groundplan.asking.tasks.fill import Made, choices_of, fill, properties_of, types_of
from groundplan.asking.tasks.task_words import QUOTED, load_compose_words, spoken, stems, tool_words
from groundplan.asking.tasks.values import values_in
from groundplan.contracts.tool import Tool
from groundplan.text.names import name_words
from groundplan.text.stems import stem

NOT = re.compile(
    r"\b(?:no|not|none|without|never|isn't|aren't|hasn't|haven't|doesn't|don't|не|нет|без)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"[$€£]?(\d+(?:,\d{3})*(?:\.\d+)?)")
_PLAIN = re.compile(r"[A-Za-z_]\w*")
NUMBERS = frozenset({"number", "integer"})
_JOINT = re.compile(r"(?:\s*,)?\s+(?:(and|but|и|а|но)|(or|или)|nor)\s+", re.IGNORECASE)
_SAYING = re.compile(r"\b(?:is|are|was|were|has|have|had|does|do|can|will)\b", re.IGNORECASE)
ADDRESS = re.compile(r"\S+@\S+\w")
_NEITHER = re.compile(r"\bneither\b", re.IGNORECASE)
Tested = tuple[str, str | None]


@dataclass(frozen=True)
class StepCondition:
    """A condition on an existing step, or on a step that still has to be added."""

    at: Made | Chosen
    test: str  # CEL, with `{step}` for the step's id
    field: str | None = None  # the field, if one field is compared with a word

    @property
    def when(self) -> str:
        assert isinstance(self.at, Made)
        return self.test.replace("{step}", self.at.step.id)


def find_conditions(text: str, earlier: Sequence[Made], offered: Sequence[Tool]) -> Iterator[StepCondition]:
    """Possible translations of a condition; existing steps come before tools that could be called."""
    compared = _comparison(text)
    rest = text.replace(compared[0], "") if compared else text
    new = [Chosen(tool, fill(tool, _without_words(rest, tool), earlier)) for tool in offered if tool.effect == "read"]
    fitting = [one for one in new if one.filling.params or one.filling.missing or not properties_of(one.tool)]
    ready = [one for one in fitting if _is_told(one, rest)]
    known: list[Made | Chosen] = [*(made for made in reversed(earlier) if _about(made, text)), *ready]
    joined = _joined(text)
    if joined is None:
        return
    for test in (_compared, _named, _present):
        for at in known:
            found = test(text, _fields(at.tool), at)
            if found:
                whole = _together(*joined, at) if len(joined[0]) > 1 else found
                yield from (StepCondition(at, *whole),) if whole else ()


def _is_told(chosen: Chosen, text: str) -> bool:
    """Whether the params come from stated values, and not only from a phrase after a preposition."""
    told = [*(str(one.value) for one in values_in(text)), *(one.text for one in values_in(text))]
    return not chosen.filling.guessed or all(
        isinstance(value, dict) or str(value) in told for value in chosen.filling.params.values()
    )


def _joined(text: str) -> tuple[list[str], str] | None:
    """The conditions joined by `and` or `or`, and the CEL operator; None if the grouping is ambiguous."""
    plain = QUOTED.sub(lambda held: "x" * len(held[0]), text)
    joints = [*_JOINT.finditer(plain)]
    starts, ends = [0, *(joint.end() for joint in joints)], [*(joint.start() for joint in joints), len(text)]
    pieces = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    signs = {"||" if joint[2] else "&&" for joint in joints}
    if _NEITHER.search(plain) and signs == {"&&"}:
        return [f"not {_NEITHER.sub('', piece)}" for piece in pieces], "&&"
    if len(signs) > 1 or ("||" in signs and NOT.search(plain)):
        return None
    return pieces, "".join(signs)


def _together(pieces: Sequence[str], sign: str, at: Made | Chosen) -> Tested | None:
    """All conditions on one step; None if the step's facts do not cover one of them."""
    tested = [(piece, _tested(piece, at)) for piece in pieces]
    if any(found is None and (_comparison(piece) or _SAYING.search(piece)) for piece, found in tested):
        return None
    read = [(piece, found) for piece, found in tested if found]
    loose = [piece for piece, found in tested if not found and not ADDRESS.search(piece)]
    about = {address for piece, _ in read for address in ADDRESS.findall(piece)}
    if loose or not read or (len(read) > 1 and len(about) > 1):
        return None
    if len(read) == 1:
        return read[0][1]
    return f" {sign} ".join(f"({test})" for _, (test, _) in read), None


def _tested(piece: str, at: Made | Chosen) -> Tested | None:
    fields = _fields(at.tool)
    return _compared(piece, fields, at) or _named(piece, fields, at) or _present(piece, fields, at)


def _without_words(text: str, tool: Tool) -> str:
    """The text without the tool's own words, which are not values: `is a member` must not list the members."""
    for schema in _fields(tool).values():
        for word in choices_of(schema):
            text = re.sub(rf"(?<!\w){re.escape(word)}(?:e?s)?(?!\w)", "", text, flags=re.IGNORECASE)
    return text


def _about(made: Made, text: str) -> bool:
    """Whether the step is about the subject of the condition."""
    named = ADDRESS.findall(text)
    return made.tool.effect == "read" and (
        not named or any(one in str(made.step.params) for one in named) or made.subject in named
    )


def _fields(tool: Tool) -> dict[str, Mapping[str, Any]]:
    properties = tool.returns.get("properties")
    return cast(dict[str, Mapping[str, Any]], dict(properties)) if isinstance(properties, Mapping) else {}


def _path(field: str) -> str:
    return f"{{step}}.first.{field}" if _PLAIN.fullmatch(field) else f"{{step}}.first[{json.dumps(field)}]"


def _comparison(text: str) -> tuple[str, str, float] | None:
    """`over 200`: its words, the operator and the number."""
    for operator, phrases in load_compose_words().comparisons.items():
        for phrase in sorted(phrases, key=len, reverse=True):
            found = re.search(rf"(?<!\w){re.escape(phrase)}\s+{_NUMBER.pattern}", text, re.IGNORECASE)
            if found:
                return found[0], operator, float(found[1].replace(",", ""))
    return None


def _compared(text: str, fields: Mapping[str, Any], _: object) -> Tested | None:
    """A comparison with the number field that the words name, or with the only one that is not an identifier."""
    compared, field = _comparison(text), _number_field(text, fields)
    return (
        (f"{{step}}.found && double({_path(field)}) {compared[1]} {compared[2]!r}", None)
        if compared and field
        else None
    )


def _number_field(text: str, fields: Mapping[str, Any]) -> str | None:
    said = set(stems(text))
    numbers = [
        name for name, schema in fields.items() if types_of(schema) & NUMBERS and name_words(name)[-1:] != ("id",)
    ]
    named = [name for name in numbers if {stem(word) for word in name_words(name)} <= said]
    return named[0] if named else numbers[0] if len(numbers) == 1 else None


def _named(text: str, fields: Mapping[str, Any], at: Made | Chosen) -> Tested | None:
    """`is a member`: a possible value of one field, or a boolean field of that name."""
    said, stemmed = spoken(text), _stemmed(text)
    negated = bool(NOT.search(text))
    for name, schema in fields.items():
        words = [choice for choice in choices_of(schema) if spoken(choice) in said or _stemmed(choice) in stemmed]
        if words and (_JOINT.search(QUOTED.sub("x", text)) or _says_no_more(text, max(words, key=len), name, at)):
            operator = "!=" if negated else "=="
            return (
                f"{_path(name)} {operator} {json.dumps(max(words, key=len), ensure_ascii=False)}",
                None if negated else name,
            )
        if "boolean" in types_of(schema) and {stem(w) for w in name_words(name)} - {"is", "has"} <= set(stems(text)):
            return f"{'!' if negated else ''}{_path(name)}", None
    return None


def _stemmed(text: str) -> str:
    """The stems of a text, so that `they are students` matches `student`."""
    return f" {' '.join(stems(text)) or '-'} "


def _says_no_more(text: str, word: str, field: str, at: Made | Chosen) -> bool:
    """Whether the test covers the whole text: `a member and from Norway` says more than `a member`."""
    known = {*load_compose_words().plain, *name_words(word), *name_words(field), *name_words(at.tool.name)}
    rest = name_words(ADDRESS.sub(" ", QUOTED.sub(" ", text)))
    return not {stem(one) for one in rest} - {stem(one) for one in known}


def _present(text: str, fields: Mapping[str, Any], at: Made | Chosen) -> Tested | None:
    """`there are any`, `has no orders`: a test on whether the step found something."""
    lower = f" {text.lower()} "
    there = any(re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", lower) for phrase in load_compose_words().there)
    if not there and not NOT.search(text):
        return None
    about = {stem(word) for word in (*tool_words(at.tool.name), *_nouns(at.tool))}
    pointing = {"any", "some", "one", "it", "them", "there"} & set(lower.split())
    if not about & set(stems(text)) and not (pointing and isinstance(at, Made)):
        return None
    return f"{'!' if NOT.search(text) else ''}{{step}}.found", None


def _nouns(tool: Tool) -> Iterator[str]:
    return (word for word in name_words(tool.description) if len(word) > 3)
