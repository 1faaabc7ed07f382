"""Analyses of single values that a model names beside its SQL: the rows are looked at, not listed."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.asking.tables.naming import Naming
from groundplan.contracts.expression import Column, Correlation
from groundplan.contracts.meaning import stage_of
from groundplan.contracts.normal_form import of_filter
from groundplan.contracts.reading import (
    Analysis,
    ChartKind,
    ColumnsAsked,
    Filter,
    Metric,
    OutputAsked,
    Reading,
    Requirement,
)
from groundplan.contracts.schema import SourceSchema

SINGLE_VALUES: dict[Analysis, range] = {
    "anomaly": range(1, 2),
    "correlation": range(2, 3),
    "distribution": range(1, 2),
    "summary": range(1, 51),
}
"""How many columns each of them takes."""
OF_CHART: dict[ChartKind, Analysis] = {
    "scatter": "correlation",
    "histogram": "distribution",
    "box": "distribution",
}


def look_at(reading: Reading, label: Analysis, schema: SourceSchema, naming: Naming) -> Reading | None:
    """The reading with the values of its columns measured instead of listed; None if it has no such values.

    `SELECT price FROM orders` with `distribution`: how the prices spread.
    """
    kept = [r for r in reading.requirements if isinstance(r.value, Filter)]
    rest = [r for r in reading.requirements if r not in kept and not isinstance(r.value, OutputAsked)]
    rows_only = all(stage_of(of_filter(r.value), reading) == "rows" for r in kept if isinstance(r.value, Filter))
    columns = _values(rest[0]) if len(rest) == 1 and rows_only else ()
    table = schema.find(reading.tables[0])
    found = [table.find(name) for name in columns] if table else []
    if len(columns) not in SINGLE_VALUES[label] or any(one is None or one.kind != "number" for one in found):
        return None
    measured = [
        naming.evident(
            Requirement(
                id=f"metric:{one.name}",
                value=Metric(column=one.name, usual="mean" if one.meaning == "rate" else "sum"),
                implied=True,
            )
        )
        for one in found
        if one is not None
    ]
    return reading.model_copy(update={"requirements": (*measured, *kept)})


def _values(requirement: Requirement) -> Sequence[str]:
    """The columns whose own values it lists, or correlates."""
    match requirement.value:
        case ColumnsAsked(columns=columns, distinct=False, computed=()):
            return columns
        case Metric(expression=Correlation(left=Column(name=left), right=Column(name=right), where=None)):
            return left, right
        case _:
            return ()
