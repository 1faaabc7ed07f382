"""References point to existing fields whose type fits the param."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groundplan.checking.draft import Draft
from groundplan.checking.rules.names import suggest
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import INPUT
from groundplan.contracts.references import (
    JOIN,
    MOST_PARTS,
    Join,
    Reference,
    Taken,
    inside,
    is_join,
    read_join,
    read_reference,
    references,
    taken,
)
from groundplan.contracts.tool import Tool

TEXT = "text"  # a field that every tool that returns facts has
NUMBERS = frozenset({"integer", "number"})
WRITABLE = NUMBERS | {"string", "boolean", "array"}  # a list is written one item per line
READ_BY_GATE = frozenset({"x-column", "x-names", "x-new", "x-role"})


def unknown_reference(draft: Draft) -> Iterator[Issue]:
    """A reference points to a step that this step needs, and to a field that its tool returns.

    Fails: `send_email` takes `customer.mail`; the tool of `customer` returns `email`.
    """
    for index, step, _ in draft.tool_steps():
        for path, reference in references(step.params):
            problem, hint = _missing(draft, step.needs, reference)
            if problem:
                yield Issue(
                    code="types/unknown-reference",
                    step=step.id,
                    path=f"steps.{index}.{path}",
                    problem=f"step {step.id!r} takes {str(reference)!r}, but {problem}",
                    hint=hint,
                )


def unfit_reference(draft: Draft) -> Iterator[Issue]:
    """A reference has the type that its param requires, and the parts of a `$join` can be written as text.

    A param that the gate checks, such as a column, an entity or a filter value, must be written in the plan, because
    references are only known when the plan runs.

    Fails: `get_orders` requires a number as `customer_id` and takes `customer.name`, which is text.
    """
    for index, step, tool in draft.tool_steps():
        for path, found in taken(step.params):
            for place, problem, hint in _misfits(draft, tool, path, found):
                yield Issue(
                    code="types/unfit-reference",
                    step=step.id,
                    path=f"steps.{index}.{place}",
                    problem=f"{place} of step {step.id!r} {problem}",
                    hint=hint,
                )


def malformed_join(draft: Draft) -> Iterator[Issue]:
    """A `$join` stands alone in its object and lists 1 to 20 texts and references.

    Fails: `{"$join": []}`; `{"$join": ["a"], "upper": true}`; `{"$join": ["a", {"$join": ["b"]}]}`.
    """
    for index, step in enumerate(draft.plan.steps):
        for path, value in _joins(step.params, "params"):
            if read_join(value) is None:
                yield Issue(
                    code="types/malformed-join",
                    step=step.id,
                    path=f"steps.{index}.{path}",
                    problem=f"{path} of step {step.id!r} is a {JOIN!r} that {_malformed(value)}",
                    hint='write it as {"$join": ["Dear ", {"$from": "customer.name"}]}',
                )


def _joins(value: object, path: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The outermost joins, including malformed ones."""
    if is_join(value):
        yield path, value
        return
    for place, inner in inside(value):
        yield from _joins(inner, f"{path}.{place}")


def _malformed(value: Mapping[str, object]) -> str:
    parts = value[JOIN]
    if len(value) > 1:
        return "has other keys beside it"
    if not isinstance(parts, list | tuple) or not 0 < len(parts) <= MOST_PARTS:
        return f"does not list 1 to {MOST_PARTS} parts"
    wrong = next(place for place, part in enumerate(parts) if not isinstance(part, str) and not read_reference(part))
    return f"has a part {wrong + 1} that is not a text or a reference"


def _misfits(draft: Draft, tool: Tool, path: str, found: Taken) -> Iterator[tuple[str, str, str]]:
    """The path, problem and hint of each misfit."""
    names = path.split(".")[1:]
    schemas = [*_schemas_along(tool.params, names)]
    if _is_read_by_gate(tool, names, schemas):
        yield path, "is checked before anything runs, so it cannot be a reference", "write the value into the plan"
    wanted, given = _types(schemas[-1]), _given(draft, found)
    if given and wanted and not given & wanted and not (given <= NUMBERS and "number" in wanted):
        name = repr(str(found)) if isinstance(found, Reference) else f"a {JOIN!r}"
        yield (
            path,
            f"requires {' or '.join(sorted(wanted))}; {name} is {' or '.join(sorted(given))}",
            "take another field",
        )
    for place, part in enumerate(found.parts if isinstance(found, Join) else ()):
        types = _given(draft, part) if isinstance(part, Reference) else WRITABLE
        if types and not types & WRITABLE:
            problem = f"puts {str(part)!r} into a text, which is {' or '.join(sorted(types))}"
            yield f"{path}.{JOIN}.{place}", problem, "take a field that is a text, a number or a list of them"


def _given(draft: Draft, found: Taken) -> frozenset[str]:
    """The possible types; empty if unknown."""
    if isinstance(found, Join):
        return frozenset({"string"})
    if found.step == INPUT:
        return frozenset(one.type for one in draft.plan.takes if one.name == found.field)
    tool = draft.tools.get(found.step)
    return _types(field_of(tool, found.field) if tool else None)


def _is_read_by_gate(tool: Tool, path: list[str], schemas: list[Mapping[str, object] | None]) -> bool:
    """Whether a rule checks this value, a value that contains it, or a value inside it."""
    if any(path[:1] == [name] for keep in tool.keeps for name in (*keep.params, *keep.when)):
        return True
    told = [schema for schema in schemas if schema]
    if len(told) == len(schemas) and "x-text" in told[-1]:
        return False
    return any(READ_BY_GATE & schema.keys() for schema in (*told, *_schemas_in(told[-1])))


def _schemas_in(schema: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    properties = schema.get("properties")
    for inner in (*(properties.values() if isinstance(properties, Mapping) else ()), schema.get("items")):
        if isinstance(inner, Mapping):
            yield inner
            yield from _schemas_in(inner)


def _missing(draft: Draft, needs: tuple[str, ...], reference: Reference) -> tuple[str, str]:
    """The problem and the hint; both empty if the reference is fine."""
    if reference.step == INPUT:
        known = [one.name for one in draft.plan.takes]
        return ("", "") if reference.field in known else ("the plan takes no such input", "list it under `takes`")
    if reference.step not in needs:
        return f"does not need {reference.step!r}", f"add {reference.step!r} to needs, if it is an earlier step"
    tool = draft.tools.get(reference.step)
    if tool is None or field_of(tool, reference.field) is not None:
        return "", ""  # names/unknown-tool reports an unknown tool
    return f"{tool.name!r} does not return {reference.field!r}", suggest(reference.field, [*fields_of(tool)])


def fields_of(tool: Tool) -> Iterator[str]:
    """The fields that a tool is known to return."""
    properties = tool.returns.get("properties")
    yield from properties if isinstance(properties, Mapping) else ()
    if tool.output.kind == "facts":
        yield TEXT


def field_of(tool: Tool, field: str) -> Mapping[str, object] | None:
    """The schema of a field that a tool returns; dots select nested fields."""
    if field == TEXT and tool.output.kind == "facts":
        return {"type": "string"}
    found: object = tool.returns
    for part in field.split("."):
        properties = found.get("properties") if isinstance(found, Mapping) else None
        found = properties.get(part) if isinstance(properties, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _schemas_along(schema: Mapping[str, object], path: list[str]) -> Iterator[Mapping[str, object] | None]:
    """The schemas from the root to the value at the path; None where the schema does not say."""
    found: object = schema
    yield schema
    for part in path:
        outer = found if isinstance(found, Mapping) else {}
        properties = outer.get("properties")
        found = properties.get(part) if isinstance(properties, Mapping) else outer.get("items")
        yield found if isinstance(found, Mapping) else None


def _types(schema: Mapping[str, object] | None) -> frozenset[str]:
    named = schema.get("type") if schema else None
    if isinstance(named, str):
        return frozenset({named})
    return frozenset(str(one) for one in named) - {"null"} if isinstance(named, list | tuple) else frozenset()


RULES = (unknown_reference, unfit_reference, malformed_join)
