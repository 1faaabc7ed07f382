"""Types fit: params to their schema, functions to their columns, outputs to inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import cast

from jsonschema.exceptions import ValidationError

from groundplan.checking.draft import Draft
from groundplan.checking.params import FilterUse, column_uses, filter_uses, metric_uses, schema_errors
from groundplan.checking.rules.names import suggest
from groundplan.contracts.columns import ColumnKind, fits
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Step
from groundplan.contracts.references import is_join, read_reference
from groundplan.contracts.tool import Tool

VALUES_WANTED = {
    "is null": (0, 0),
    "not null": (0, 0),
    "between": (2, 2),
    "in": (1, 1000),
    "not in": (1, 1000),
}
MOST_ISSUES_A_STEP = 20


def unfit_param(draft: Draft) -> Iterator[Issue]:
    """Params fit the tool's JSON schema: no unknown params, all required params, correct types.

    Fails: `rank_rows` has `limit: many`; or it has a param `order`, which the tool does not have.
    """
    for index, step, tool in draft.tool_steps():
        for error in _written_errors(step, tool):
            path = ".".join(["params", *(str(part) for part in error.absolute_path)])
            yield Issue(
                code="types/unfit-param",
                step=step.id,
                path=f"steps.{index}.{path}",
                problem=f"{path} of step {step.id!r}: {error.message[:200]}",
                hint=_param_hint(error, tool),
            )


def _written_errors(step: Step, tool: Tool) -> list[ValidationError]:
    """Schema errors, except in references and joins: see `types/unfit-reference` and `types/malformed-join`."""
    errors = schema_errors(step, tool)
    return [e for e in errors if not (read_reference(e.instance) or is_join(e.instance))][:MOST_ISSUES_A_STEP]


def _param_hint(error: ValidationError, tool: Tool) -> str:
    if error.validator == "additionalProperties" and isinstance(error.schema, Mapping):
        known = error.schema.get("properties", {})
        unknown = [name for name in cast(dict[str, object], error.instance) if name not in known]
        return suggest(unknown[0], known) if unknown else ""
    return f"see `groundplan catalog show {tool.name}`"


def unfit_column(draft: Draft) -> Iterator[Issue]:
    """A column has the kind that the param requires.

    Fails: `share_of_total` of `region`, which is text; a time axis over a column that `parse_datetime` has not parsed.
    """
    for index, step, tool in draft.tool_steps():
        for use in column_uses(step, tool):
            column = draft.input_column(step, tool, use.name, use.port)
            if column is None or use.kind in ("any", column.kind):
                continue
            yield Issue(
                code="types/unfit-column",
                step=step.id,
                path=f"steps.{index}.{use.path}",
                problem=f"step {step.id!r} requires a {use.kind} column; {use.name!r} is {column.kind}",
                hint="put a parse_datetime step before it" if use.kind == "time" else "choose another column",
            )


def unfit_function(draft: Draft) -> Iterator[Issue]:
    """An aggregate function applies to the kind of its column.

    Fails: the sum of `region`, which is text.
    """
    for index, step, tool in draft.tool_steps():
        for metric in metric_uses(step, tool):
            column = draft.input_column(step, tool, metric.column)
            if metric.function is None:
                continue
            if metric.column is None and metric.function != "count":
                problem = f"{metric.function!r} needs a column"
            elif column and not fits(metric.function, column.kind):
                problem = f"{metric.function!r} does not apply to {metric.column!r}, which is {column.kind}"
            else:
                continue
            yield Issue(
                code="types/unfit-function",
                step=step.id,
                path=f"steps.{index}.{metric.path}",
                problem=f"step {step.id!r}: {problem}",
                hint="count, or count_distinct, works on any column",
            )


def unfit_value(draft: Draft) -> Iterator[Issue]:
    """A filter has as many values as its operator takes, each of the column's kind.

    Fails: `revenue > "many"`; `between` with one value; a date column compared with "soon".
    """
    for index, step, tool in draft.tool_steps():
        for use in filter_uses(step, tool):
            column = draft.input_column(step, tool, use.column)
            problem = _value_problem(use, column.kind if column else None)
            if problem:
                yield Issue(
                    code="types/unfit-value",
                    step=step.id,
                    path=f"steps.{index}.{use.path}.values",
                    problem=f"step {step.id!r}: {problem}",
                    hint="write dates as 2025-01-31; `between` excludes its second value",
                )


def _value_problem(use: FilterUse, kind: ColumnKind | None) -> str | None:
    if use.operator is None:
        return None  # types/unfit-param reports it
    least, most = VALUES_WANTED.get(use.operator, (1, 1))
    if not least <= len(use.values) <= most:
        wanted = least if least == most else f"{least} to {most}"
        return f"{use.operator!r} takes {wanted} value(s), not {len(use.values)}"
    if use.operator == "contains":
        return None if kind in (None, "text") else f"'contains' does not apply to a {kind} column"
    wrong = [value for value in use.values if kind and not is_of(value, kind)]
    return f"{wrong[0]!r} is not a {kind} value" if wrong else None


def is_of(value: object, kind: ColumnKind) -> bool:
    match kind:
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "text":
            return isinstance(value, str)
        case "time":
            return isinstance(value, str) and _is_time(value)
        case "other":
            return True


def _is_time(text: str) -> bool:
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            read(text)
        except ValueError:
            continue
        return True
    return False


def unfit_port(draft: Draft) -> Iterator[Issue]:
    """A step's output has the kind that the next step's input requires: a chart is not a table.

    Fails: `aggregate` needs a step that draws a chart.
    """
    for index, step, tool in draft.tool_steps():
        for port, origin in draft.wiring.inputs(step, tool).items():
            wanted = next(item.kind for item in tool.inputs if item.name == port)
            for need in () if isinstance(origin, str) else origin:
                giver = draft.tools[need]
                if giver and giver.output.kind != wanted:
                    yield Issue(
                        code="types/unfit-port",
                        step=step.id,
                        path=f"steps.{index}.needs",
                        problem=f"step {step.id!r} requires a {wanted}; {need!r} returns a {giver.output.kind}",
                        hint=f"need the step that feeds {need!r} instead",
                    )


RULES = (unfit_param, unfit_column, unfit_function, unfit_value, unfit_port)
