"""What a model may change in a plan: steps added, removed and modified. Whether the result may run is for the gate."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, islice
from typing import Annotated, Literal, assert_never, cast

from jsonschema import Draft202012Validator, FormatChecker
from pydantic import Field, JsonValue, ValidationError

from groundplan.contracts.contract import Contract, JsonObject, Name, Scalar, StepId, thaw
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.reading import Filter, GroupBy, Rank, Requirement, Time
from groundplan.contracts.tool import Tool
from groundplan.llm.schema import Schema, closed, or_null

MOST_CHANGES = 8
MOST_ADDED = 3
MOST_ITEMS = 8  # of a list that a model writes
MOST_SERIES = 4  # columns that tell series apart: as many as every tool takes
LONGEST_RATIONALE = 80
LONGEST_NAME = 64

Cited = Annotated[tuple[str, ...], Field(max_length=64)]


class Add(Contract):
    """A step behind the others; without needs it takes the source's table."""

    op: Literal["add"] = "add"
    satisfies: Cited
    tool: Name
    id: StepId
    needs: Annotated[tuple[StepId, ...], Field(max_length=32)] = ()
    params: JsonObject = {}
    rationale: Annotated[str, Field(max_length=LONGEST_RATIONALE)] = ""


class Modify(Contract):
    """Other params, all of them, and other requirements; the tool and the needs stay."""

    op: Literal["modify"] = "modify"
    step: StepId
    satisfies: Cited
    params: JsonObject


class Remove(Contract):
    op: Literal["remove"] = "remove"
    step: StepId


Change = Annotated[Add | Modify | Remove, Field(discriminator="op")]


class Adaptation(Contract):
    """The changes, made in this order; none at all says that the plan is right."""

    changes: Annotated[tuple[Change, ...], Field(max_length=MOST_CHANGES)]


@dataclass(frozen=True)
class Unadapted:
    """No plan came of it; `problem` can go back to a model."""

    problem: str


@dataclass(frozen=True)
class EditOffer:
    """Everything that a change may name, so that nothing else can be decoded.

    Each value of a tool's params is a choice: of the tool's own words, of columns, or of what the question carries.
    What cannot be closed so is left out, and a tool that cannot do without it is not offered.
    """

    base: Plan
    requirements: tuple[Requirement, ...]
    tools: Mapping[str, Tool]  # those of the shortlist and of the base plan
    added: frozenset[str]  # the tools that a new step may call
    serves: Mapping[str, tuple[str, ...]]  # by tool, the requirements that its steps may cite
    table: str  # the source's own, for a step without needs
    columns: Mapping[str, frozenset[str]]  # by name, the kinds that a column can be taken for
    least: Literal[0, 1]  # changes: where there is something to mend, none is no answer

    @cached_property
    def params(self) -> dict[str, Schema]:
        """By tool, its params as they are sent."""
        found = {name: self._close(_plain(tool.params)) for name, tool in self.tools.items() if len(tool.inputs) < 2}
        return {name: self._apart(params, self.tools[name]) for name, params in found.items() if params is not None}

    @cached_property
    def names(self) -> dict[str, str]:
        """Of the columns that the base plan makes, by what they are made of."""
        return new_columns(self.base, self.tools)

    @property
    def schema(self) -> Schema:
        branches: list[JsonValue] = [self._add(name) for name in self.params if name in self.added]
        branches += [self._modify(step) for step in self.base.steps if step.tool in self.params]
        steps = [step.id for step in self.base.steps]
        branches.append(closed({"op": _one_of(["remove"]), "step": _one_of(steps)}))
        changes: Schema = {"type": "array", "minItems": self.least, "maxItems": MOST_CHANGES}
        return closed({"changes": {**changes, "items": {"anyOf": branches}}})

    def _add(self, tool: str) -> Schema:
        taken = {step.id for step in self.base.steps}
        ids = [*islice((id_ for number in count(1) if (id_ := f"added{number}") not in taken), MOST_ADDED)]
        tables = [step.id for step in self.base.steps if self._gives_table(step)]
        needs: Schema = {"type": "array", "maxItems": len(self.tools[tool].inputs), "items": _one_of([*tables, *ids])}
        return closed(
            {
                "op": _one_of(["add"]),
                "satisfies": self._cited(tool),
                "tool": _one_of([tool]),
                "id": _one_of(ids),
                "needs": needs,
                "params": self.params[tool],
                "rationale": {"type": "string", "maxLength": LONGEST_RATIONALE},
            }
        )

    def _modify(self, step: Step) -> Schema:
        tool = step.tool or ""
        said: Schema = {"op": _one_of(["modify"]), "step": _one_of([step.id])}
        return closed({**said, "satisfies": self._cited(tool), "params": self.params[tool]})

    def _cited(self, tool: str) -> Schema:
        ids = self.serves[tool]
        return {"type": "array", "minItems": 1, "maxItems": min(len(ids), MOST_ITEMS), "items": _one_of(ids)}

    def _gives_table(self, step: Step) -> bool:
        tool = self.tools.get(step.tool or "")
        return tool is not None and tool.output.kind == "table"

    def _apart(self, params: Schema, tool: Tool) -> Schema:
        """Analyses of series look at each group that was asked for, never at all of them mixed."""
        groups = [r.value.column for r in self.requirements if isinstance(r.value, GroupBy)][:MOST_SERIES]
        inside = _schemas(_plain(tool.params).get("properties"))
        series = [name for name, inner in inside.items() if "group_by" in (inner.get("x-role"), _role_of_items(inner))]
        if not groups or tool.output.key is not None:
            return params
        each: Schema = {"type": "array", "minItems": len(groups), "maxItems": len(groups), "items": _one_of(groups)}
        said = {name: each if inside[name].get("type") == "array" else _one_of(groups) for name in series}
        return closed({**_schemas(params["properties"]), **said})

    def _close(self, node: Schema) -> Schema | None:
        match node:
            case {"x-role": "filter"}:
                return self._asked_filters()
            case {"x-column": str(kind)}:
                return _choice([name for name, kinds in self.columns.items() if kind in kinds or kind == "any"])
            case {"enum": list(words)}:
                return _one_of(words)
            case {"const": word}:
                return _one_of([word])
            case {"type": "object" | ["object"]}:
                return self._close_object(node)
            case {"type": "array" | ["array"], "items": dict(items)}:
                return self._close_array(node, items)
            case {"type": "boolean" | ["boolean"]}:
                return {"type": "boolean"}
        return _choice([value for value in self._carried if _fits(node, value)])

    def _close_object(self, node: Schema) -> Schema | None:
        fields: Schema = {}
        inside = _schemas(node.get("properties"))
        instead = [name for inner in inside.values() for name in _words(inner.get("x-instead-of"))]
        required = {*_words(node.get("required")), *instead}  # a model is not offered expressions
        for name, inner in inside.items():
            if "x-new" in inner or inner.get("x-role") == "grain" or _role_of_items(inner) == "hidden":
                continue  # code names what is new, cuts time and hides what only orders
            if node.get("x-role") == "rank" and "x-column" in inner:
                inner = {**inner, "x-column": "number"}  # the top of a category's names would be no ranking
            said = self._close(inner) if name in required or _matters(inner, node) else None
            if said is None and name in required:
                return None
            if said is not None:
                may_be_empty = said.get("type") == "array" and "minItems" not in said
                fields[name] = said if name in required or may_be_empty else or_null(said)
        return closed(fields)

    def _close_array(self, node: Schema, items: Schema) -> Schema | None:
        item = self._close(items)
        least, most = node.get("minItems"), node.get("maxItems")
        if item is None or (isinstance(least, int) and least > MOST_ITEMS):
            return None
        bounds: Schema = {"minItems": least} if least else {}
        return {
            "type": "array",
            **bounds,
            "maxItems": min(most, MOST_ITEMS) if isinstance(most, int) else MOST_ITEMS,
            "items": item,
        }

    def _asked_filters(self) -> Schema | None:
        asked: list[JsonValue] = [_condition(r.value) for r in self.requirements if isinstance(r.value, Filter)]
        return {"anyOf": asked} if asked else None

    @cached_property
    def _carried(self) -> list[Scalar]:
        """The values that the question brought: those of its filters and rankings."""
        values = [v for r in self.requirements if isinstance(r.value, Filter) for v in r.value.values]
        limits = [r.value.limit for r in self.requirements if isinstance(r.value, Rank)]
        return [*{(type(value), value): value for value in (*values, *limits)}.values()]


class _Impossible(ValueError):
    """A change that fits no step of the plan."""


def apply(base: Plan, adaptation: Adaptation) -> Plan | Unadapted:
    """The plan with every change made, or none where one of them cannot be."""
    try:
        steps = list(base.steps)
        for change in adaptation.changes:
            steps = _changed(steps, change)
        return Plan.model_validate({**{name: getattr(base, name) for name in Plan.model_fields}, "steps": steps})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return Unadapted(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except _Impossible as error:
        return Unadapted(str(error))


def tell(adaptation: Adaptation) -> str:
    """For the plan's log, in few words."""
    return "; ".join(_told(change) for change in adaptation.changes) or "no changes"


def _told(change: Change) -> str:
    return f"add {change.id} ({change.tool})" if isinstance(change, Add) else f"{change.op} {change.step}"


def _changed(steps: list[Step], change: Change) -> list[Step]:
    known = [step.id for step in steps]
    match change:
        case Add():
            if change.id in known:
                raise _Impossible(f"the id {change.id!r} is taken; give the new step another")
            return [*steps, _step(change)]
        case Modify() | Remove() if change.step not in known:
            raise _Impossible(f"there is no step {change.step!r} to {change.op}; the steps are {', '.join(known)}")
        case Modify():
            told = {"params": thaw(change.params), "satisfies": change.satisfies}
            return [_with(step, **told) if step.id == change.step else step for step in steps]
        case Remove():
            return list(_without(steps, change.step))
        case _:
            assert_never(change)


def _step(change: Add) -> Step:
    return Step.model_validate({**change.model_dump(exclude={"op"}), "kind": "tool"})


def _without(steps: list[Step], gone: str) -> Iterator[Step]:
    """Whoever needed the step takes over what it needed itself."""
    took = [need for step in steps if step.id == gone for need in step.needs]
    for step in steps:
        if step.id == gone:
            continue
        if gone not in step.needs:
            yield step
            continue
        needs = [other for need in step.needs for other in (took if need == gone else [need]) if other != gone]
        yield _with(step, needs=tuple(dict.fromkeys(needs)))


def _with(step: Step, **told: object) -> Step:
    return Step.model_validate({**step.model_dump(), **told})


def settle(step: Step, offer: EditOffer) -> Step:
    """A changed step with what the model has no say in: names of new columns, the cut of time, the source's table."""
    tool = offer.tools.get(step.tool or "")
    if tool is None or step in offer.base.steps:
        return step
    before = next((_plain(old.params) for old in offer.base.steps if old.id == step.id), {})
    asked = _schemas(offer.params.get(tool.name, {}).get("properties"))
    kept = {name: value for name, value in before.items() if name not in asked}
    if tool.inputs and not step.needs:
        kept = {tool.inputs[0].name: offer.table, **kept}
    return _with(step, params={**kept, **_completed(_plain(tool.params), _plain(step.params), offer)})


def name_of(made_of: Schema) -> str:
    """The name of a new column: its function and its columns, so that no name can lie."""
    columns = made_of.get("columns", [made_of.get("column")])
    words = [made_of.get("function") or made_of.get("operation"), *(columns if isinstance(columns, list) else ())]
    return " ".join(word for word in words if isinstance(word, str))[:LONGEST_NAME]


def new_columns(plan: Plan, tools: Mapping[str, Tool]) -> dict[str, str]:
    """The names of the columns that the plan makes, by what each is made of."""
    steps = [(step, tools[step.tool]) for step in plan.steps if step.tool and step.tool in tools]
    return dict(pair for step, tool in steps for pair in _named(_plain(tool.params), _plain(step.params)))


def _named(node: Schema, said: JsonValue) -> Iterator[tuple[str, str]]:
    if isinstance(said, list):
        items = node.get("items")
        yield from (pair for item in said for pair in _named(items if isinstance(items, dict) else {}, item))
    elif isinstance(said, dict):
        for name, inner in _schemas(node.get("properties")).items():
            called = said.get(name)
            if "x-new" in inner and isinstance(called, str):
                yield _made_of({key: value for key, value in said.items() if key != name}), called
            yield from _named(inner, called)


def _made_of(said: Schema) -> str:
    return json.dumps(said, sort_keys=True)


def _completed(node: Schema, said: Schema, offer: EditOffer) -> Schema:
    """The object without what was left out, and with what its schema leaves to code."""
    inside = _schemas(node.get("properties"))
    done: Schema = {
        name: _inner(inside.get(name, {}), value, offer) for name, value in said.items() if value is not None
    }
    for name, inner in inside.items():
        if name in done:
            continue
        if inner.get("x-role") == "grain" and (cut := _cut(done, offer)):
            done[name] = cut
        elif "x-new" in inner and "default" not in inner:
            done[name] = offer.names.get(_made_of(done)) or name_of(done)
    return done


def _inner(node: Schema, value: JsonValue, offer: EditOffer) -> JsonValue:
    match value, node.get("items"):
        case dict(), _:
            return _completed(node, value, offer)
        case list(), dict(items):
            return [_inner(items, item, offer) for item in value]
        case _:
            return value


def _cut(said: Schema, offer: EditOffer) -> str | None:
    """How the time that is grouped by is cut: as asked, else by the data's span."""
    grouped = [name for listed in said.values() if isinstance(listed, list) for name in listed]
    times = [r.value for r in offer.requirements if isinstance(r.value, Time) and r.value.column in grouped]
    return times[0].grain or "auto" if times else None


def _one_of(values: Sequence[JsonValue]) -> Schema:
    return {"enum": [*values]}


def _choice(values: Sequence[Scalar]) -> Schema | None:
    return _one_of(values) if values else None


def _condition(asked: Filter) -> Schema:
    """Exactly the filter that was asked for."""
    said: Schema = {"column": _one_of([asked.column]), "operator": _one_of([asked.operator])}
    if not asked.values:
        return closed(said)
    count = len(asked.values)
    values: Schema = {"type": "array", "minItems": count, "maxItems": count, "items": _one_of(asked.values)}
    return closed({**said, "values": values})


def _matters(inner: Schema, outer: Schema) -> bool:
    """Whether an optional param says what was asked, and is not a setting that the tool's default serves."""
    items = inner.get("items")
    marks = {*inner, *(items if isinstance(items, dict) else ())}
    return bool(marks & {"x-role", "x-column", "x-value"}) or ("enum" in inner and "x-role" in outer)


def _role_of_items(node: Schema) -> JsonValue:
    items = node.get("items")
    return items.get("x-role") if isinstance(items, dict) else None


def _fits(node: Schema, value: Scalar) -> bool:
    return Draft202012Validator(node, format_checker=FormatChecker()).is_valid(value)


def _schemas(properties: JsonValue) -> dict[str, Schema]:
    found = properties if isinstance(properties, dict) else {}
    return {name: inner for name, inner in found.items() if isinstance(inner, dict)}


def _words(listed: JsonValue) -> list[str]:
    return [word for word in listed if isinstance(word, str)] if isinstance(listed, list) else []


def _plain(params: JsonObject) -> Schema:
    return cast(Schema, thaw(params))
