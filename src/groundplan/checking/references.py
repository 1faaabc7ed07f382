"""What a step takes from another is there, and is what its param wants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groundplan.checking.draft import Draft
from groundplan.checking.names import suggest
from groundplan.contracts.issue import Issue
from groundplan.contracts.references import Reference, references
from groundplan.contracts.tool import Tool

TEXT = "text"  # what every tool that gives facts has, whatever it says of its result
NUMBERS = frozenset({"integer", "number"})


def unknown_reference(draft: Draft) -> Iterator[Issue]:
    """A reference points to a step that this one needs, and at a field that its tool is known to give.

    Fails: `send_email` takes `customer.mail`; the tool of `customer` gives `email`.
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
    """What a reference brings has the type that the param wants.

    Fails: `get_orders` wants a number as `customer_id` and takes `customer.name`, which is text.
    """
    for index, step, tool in draft.tool_steps():
        for path, reference in references(step.params):
            source = draft.tools.get(reference.step)
            given = _types(field_of(source, reference.field) if source else None)
            wanted = _types(_schema_at(tool.params, path.split(".")[1:]))
            if given and wanted and not given & wanted and not (given <= NUMBERS and "number" in wanted):
                yield Issue(
                    code="types/unfit-reference",
                    step=step.id,
                    path=f"steps.{index}.{path}",
                    problem=f"{path} of step {step.id!r} wants {' or '.join(sorted(wanted))}; {str(reference)!r} is "
                    + " or ".join(sorted(given)),
                    hint="take another field",
                )


def _missing(draft: Draft, needs: tuple[str, ...], reference: Reference) -> tuple[str, str]:
    """What is wrong with it, and what to do; nothing where all is well."""
    if reference.step not in needs:
        return f"does not need {reference.step!r}", f"add {reference.step!r} to needs, where it comes before"
    tool = draft.tools.get(reference.step)
    if tool is None or field_of(tool, reference.field) is not None:
        return "", ""  # names/unknown-tool says the first
    return f"{tool.name!r} gives no {reference.field!r}", suggest(reference.field, [*fields_of(tool)])


def fields_of(tool: Tool) -> Iterator[str]:
    """What later steps may take from a tool, as far as it says."""
    properties = tool.returns.get("properties")
    yield from properties if isinstance(properties, Mapping) else ()
    if tool.output.kind == "facts":
        yield TEXT


def field_of(tool: Tool, field: str) -> Mapping[str, object] | None:
    """The schema of a field that a tool gives; dots go into objects."""
    if field == TEXT and tool.output.kind == "facts":
        return {"type": "string"}
    found: object = tool.returns
    for part in field.split("."):
        properties = found.get("properties") if isinstance(found, Mapping) else None
        found = properties.get(part) if isinstance(properties, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _schema_at(schema: Mapping[str, object], path: list[str]) -> Mapping[str, object] | None:
    found: object = schema
    for part in path:
        if not isinstance(found, Mapping):
            return None
        properties = found.get("properties")
        found = properties.get(part) if isinstance(properties, Mapping) else found.get("items")
    return found if isinstance(found, Mapping) else None


def _types(schema: Mapping[str, object] | None) -> frozenset[str]:
    named = schema.get("type") if schema else None
    if isinstance(named, str):
        return frozenset({named})
    return frozenset(str(one) for one in named) - {"null"} if isinstance(named, list | tuple) else frozenset()


RULES = (unknown_reference, unfit_reference)
