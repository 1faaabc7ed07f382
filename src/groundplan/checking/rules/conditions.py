"""Router conditions are CEL; they are compiled and evaluated on sample facts before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groundplan.checking.draft import Draft
from groundplan.checking.lineage import OUT
from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Step
from groundplan.contracts.tool import Tool
from groundplan.text.conditions import ERRORS, compile_condition, evaluate_condition

SAMPLES: tuple[Mapping[ColumnKind, object], ...] = (
    {"number": 0, "text": "", "time": "1970-01-01", "boolean": False, "other": ""},
    {"number": 1e9, "text": "a", "time": "2999-12-31", "boolean": True, "other": "a"},
)

KINDS: Mapping[str, ColumnKind] = {"string": "text", "number": "number", "integer": "number", "boolean": "boolean"}


def unfit_condition(draft: Draft) -> Iterator[Issue]:
    """A router's condition is CEL that compiles, uses only facts of the steps it needs, and returns a boolean.

    For each needed step it can use `found` (a boolean), `rows` (a number) and `first`, the first row of its table.
    Loops such as `all` and `map` are refused: nested ones would not end.

    Fails: `total.rows > "many"`; `other.found` where the router does not need `other`; `[1, 2].all(n, n > total.rows)`.
    """
    for index, step in enumerate(draft.plan.steps):
        for place, route in enumerate(step.routes):
            problem = _problem(draft, step, route.when)
            if problem:
                yield Issue(
                    code="types/unfit-condition",
                    step=step.id,
                    path=f"steps.{index}.routes.{place}.when",
                    problem=f"the condition {route.when[:80]!r} {problem}",
                    hint="an example: total.rows > 0 && total.first.revenue > 1000.0",
                )


def _problem(draft: Draft, step: Step, when: str) -> str | None:
    try:
        program = compile_condition(when)
    except ValueError as error:
        return str(error)
    strange = sorted(set(program.variables()) - set(step.needs))
    if strange:
        return f"uses {strange[0]!r}, which the router does not need"
    for samples in SAMPLES:
        try:
            answer = evaluate_condition(program, {need: _sample(draft, need, samples) for need in step.needs})
        except ERRORS as error:
            return f"does not fit the facts: {str(error)[:120]}"
        if not isinstance(answer, bool):
            return f"returns {type(answer).__name__}, not a boolean"
    return None


def _sample(draft: Draft, need: str, samples: Mapping[ColumnKind, object]) -> dict[str, object]:
    shape = draft.shapes.get(need, {}).get(OUT)
    columns = (shape.columns if shape else None) or {}
    return {
        "found": samples["boolean"],
        "rows": 0 if samples is SAMPLES[0] else 1_000_000,
        "first": {name: samples[column.kind] for name, column in columns.items()}
        or _given(draft.tools.get(need), samples),
    }


def _given(tool: Tool | None, samples: Mapping[ColumnKind, object]) -> dict[str, object]:
    """A sample of the object that a tool returns."""
    properties = tool.returns.get("properties") if tool else None
    if not isinstance(properties, Mapping):
        return {}
    types = {name: schema.get("type") if isinstance(schema, Mapping) else None for name, schema in properties.items()}
    return {name: samples[KINDS.get(str(type_), "other")] for name, type_ in types.items()}


RULES = (unfit_condition,)
