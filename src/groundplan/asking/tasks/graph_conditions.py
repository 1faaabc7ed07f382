"""The conditions of a graph that a model wrote: read as comparisons of fields, written as CEL by code.

What the words of the task say of a condition is compared with it by evaluating both on every kind of fact that either
tells apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product

from groundplan.asking.tasks.fill import Made, choices_of, types_of
from groundplan.text.conditions import ERRORS, compile_condition, evaluate_condition

ELSE = frozenset({"", "else", "otherwise", "default"})
EXAMPLE = "write it as find.status == 'open', orders.total > 200 or orders.found, joined by && or ||"
MOST_FACTS = 4_096  # combinations of facts on which two conditions are compared
_TOKEN = re.compile(
    r"\s*(?:(?P<text>'[^']*'|\"[^\"]*\")|(?P<number>-?\d+(?:\.\d+)?)|(?P<sign>==|!=|<=|>=|&&|\|\||[<>!()])"
    r"|(?P<name>[A-Za-z_]\w*(?:\.[\w-]+)*))"
)
_WORDS = {"and": "&&", "or": "||", "not": "!"}
_COMPARES = frozenset({"==", "!=", "<", ">", "<=", ">="})
_ASKED = re.compile(r"(?P<step>[a-z]\w*)\.(?:first\.(?P<field>\w+)|(?P<found>found))")
_LITERAL = re.compile(r"\"(?P<text>[^\"]*)\"|(?<![\w.])(?P<number>\d+(?:\.\d+)?)(?![\w.])")


class Unreadable(Exception):
    """The condition cannot be read; the message goes back to the model."""


@dataclass(frozen=True)
class Condition:
    """A condition in CEL, and the steps that it looks at."""

    when: str
    steps: tuple[str, ...]


def read_condition(text: str, made: Mapping[str, Made]) -> Condition:
    """The condition over the facts of these steps. Raises Unreadable if it is none."""
    tokens = [*_tokens(text)]
    reader = _Reader(tokens, made)
    when = reader.any_of()
    if reader.left():
        raise Unreadable(f"the condition {text!r} cannot be read at {reader.left()!r}; {EXAMPLE}")
    return Condition(when, tuple(dict.fromkeys(reader.steps)))


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            raise Unreadable(f"the condition {text!r} cannot be read at {text[at:].strip()[:20]!r}; {EXAMPLE}")
        kind = found.lastgroup or ""
        word = _WORDS.get(found[kind].lower())
        yield ("sign", word) if word else (kind, found[kind])
        at = found.end()


@dataclass
class _Reader:
    tokens: list[tuple[str, str]]
    made: Mapping[str, Made]

    def __post_init__(self) -> None:
        self.at, self.steps = 0, list[str]()

    def left(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def _takes(self, sign: str) -> bool:
        if self.at < len(self.tokens) and self.tokens[self.at] == ("sign", sign):
            self.at += 1
            return True
        return False

    def any_of(self) -> str:
        parts = [self._all_of()]
        while self._takes("||"):
            parts.append(self._all_of())
        return parts[0] if len(parts) == 1 else f"({' || '.join(parts)})"

    def _all_of(self) -> str:
        parts = [self._one()]
        while self._takes("&&"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else f"({' && '.join(parts)})"

    def _one(self) -> str:
        if self._takes("!"):
            return f"!({self._one()})"
        if self._takes("("):
            inner = self.any_of()
            if not self._takes(")"):
                raise Unreadable(f"a bracket is not closed; {EXAMPLE}")
            return inner
        return self._compared()

    def _compared(self) -> str:
        kind, name = self._next()
        if kind != "name" or "." not in name:
            raise Unreadable(f"a condition names the field of a node, not {name!r}; {EXAMPLE}")
        made, field, schema = self._field(name)
        sign = self.left() if self.at < len(self.tokens) and self.tokens[self.at][0] == "sign" else ""
        if sign not in _COMPARES:
            return self._alone(made, field, schema)
        self.at += 1
        compared = _cel(made, field, schema, sign, *self._next())
        return f"{made.step.id}.found && {compared}" if made.tool.returns.get("x-many") else compared

    def _alone(self, made: Made, field: str, schema: Mapping[str, object]) -> str:
        if field == "found":
            return f"{made.step.id}.found"
        if "boolean" in types_of(schema):
            return f"{made.step.id}.first.{field}"
        raise Unreadable(f"{made.step.id}.{field} is not true or false; compare it with something")

    def _next(self) -> tuple[str, str]:
        if self.at >= len(self.tokens):
            raise Unreadable(f"the condition ends too early; {EXAMPLE}")
        self.at += 1
        return self.tokens[self.at - 1]

    def _field(self, name: str) -> tuple[Made, str, Mapping[str, object]]:
        step, _, field = name.partition(".")
        field = field.removeprefix("first.")
        made = self.made.get(step)
        if made is None:
            raise Unreadable(f"the condition names {step!r}, which is no node before the router")
        if field != "found" and field not in made.fields:
            known = ", ".join((*made.fields, "found"))
            raise Unreadable(f"{step!r} gives no {field!r}; it gives {known}")
        self.steps.append(step)
        return made, field, made.fields.get(field, {"type": "boolean"})


def _cel(made: Made, field: str, schema: Mapping[str, object], sign: str, kind: str, literal: str) -> str:
    path, types = f"{made.step.id}.first.{field}", types_of(schema)
    if field == "found":
        path, types = f"{made.step.id}.found", frozenset({"boolean"})
    if types and types <= {"number", "integer"}:
        number = literal if kind == "number" else literal[1:-1]
        if not re.fullmatch(r"-?\d+(\.\d+)?", number):
            raise Unreadable(f"{made.step.id}.{field} is a number, and {literal} is none")
        return f"double({path}) {sign} {float(number)!r}"
    if "boolean" in types:
        wanted = literal.strip("'\"").lower()
        if wanted not in ("true", "false", "yes", "no") or sign not in ("==", "!="):
            raise Unreadable(f"{made.step.id}.{field} is true or false, and nothing else")
        return path if (wanted in ("true", "yes")) == (sign == "==") else f"!{path}"
    if kind == "name":
        raise Unreadable(f"put {literal!r} in quotes")
    if sign not in ("==", "!="):
        raise Unreadable(f"{made.step.id}.{field} is a text; compare it with == or !=")
    word = json.dumps(_choice(made, field, schema, literal[1:-1]), ensure_ascii=False)
    return f"{path} {sign} {word}"


def _choice(made: Made, field: str, schema: Mapping[str, object], literal: str) -> str:
    """The word as the field spells it, if the field lists its words."""
    choices = choices_of(schema)
    found = next((choice for choice in choices if choice.lower() == literal.lower()), None)
    if choices and found is None:
        raise Unreadable(f"{made.step.id}.{field} is never {literal!r}; it is one of {', '.join(choices)}")
    return found or literal


def implies(one: str, other: str) -> bool:
    """Whether the second condition holds wherever the first does, on all facts that they tell apart."""
    programs = [compile_condition(one), compile_condition(other)]
    return all(not _holds(programs[0], facts) or _holds(programs[1], facts) for facts in _facts(one, other))


def _holds(program: object, facts: Mapping[str, object]) -> bool:
    try:
        return evaluate_condition(program, facts) is True
    except ERRORS:
        return False


def _facts(*conditions: str) -> Iterator[dict[str, dict[str, object]]]:
    """Facts that differ in what the conditions look at: every text and number they name, others, and nothing found."""
    text = " ".join(conditions)
    literals = [*_LITERAL.finditer(text)]
    texts = [*dict.fromkeys(one["text"] for one in literals if one["text"] is not None), "\0other"]
    numbers = sorted({float(one["number"]) for one in literals if one["number"]})
    around = [n + d for n in numbers for d in (-0.5, 0.0, 0.5)] or [0.0]
    asked = [*dict.fromkeys((one["step"], one["field"]) for one in _ASKED.finditer(text))]
    kinds = {
        (step, field): _values(text, step, field, texts, around) if field else [True, False] for step, field in asked
    }
    for values in islice(product(*kinds.values()), MOST_FACTS):
        facts: dict[str, dict[str, object]] = {}
        for (step, field), value in zip(kinds, values, strict=True):
            known = facts.setdefault(step, {"found": True, "first": {}})
            if field:
                first = known["first"]
                assert isinstance(first, dict)
                first[field] = value
            else:
                known["found"] = value
        yield facts


def _values(text: str, step: str, field: str, texts: list[str], numbers: list[float]) -> list[object]:
    path = re.escape(f"{step}.first.{field}")
    if re.search(rf"double\({path}\)", text):
        return [*numbers]
    return [*texts] if re.search(rf"{path} [=!]=", text) else [True, False]
