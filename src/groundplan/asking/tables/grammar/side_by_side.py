"""Measures of two tables side by side: each is taken of its own rows, for each row of the table that both point at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from groundplan.contracts.expression import Aggregate, Column, DateCut, Expression, Related, Rows
from groundplan.contracts.join_paths import NoPath, Path, find_path
from groundplan.contracts.meaning import measure_of
from groundplan.contracts.reading import (
    AnalysisAsked,
    Evidence,
    Filter,
    GroupBy,
    Metric,
    OutputAsked,
    Reading,
    Requirement,
    Time,
)
from groundplan.contracts.schema import SourceSchema

BESIDE = re.compile(
    r"^(?P<one>.+?)\s+(?:and|&|и)\s+(?P<other>.+?)\s+(?P<by>(?:by|per|for each|in each|for every|по)\s.+)$", re.I
)
ADDS_UP = ("sum", "count")


def side_by_side(text: str, schema: SourceSchema, derive: Callable[[str], Reading | None]) -> Reading | None:
    """`Revenue and number of returns by country`: two readings by the same column of one table, put together."""
    said = BESIDE.match(text)
    if said is None or not schema.relationships:
        return None
    halves = []
    for name in ("one", "other"):
        begin, by = said.start(name), said.start("by")
        reading = derive(f"{said[name]} {said['by']}")
        if reading is None:
            return None
        halves.append(_moved(reading, begin, len(said[name]), by))
    if len({half.tables[0] for half in halves}) < 2:
        return None
    return _of_rows_pointed_at(text, halves, schema) or _of_table_between(text, halves, schema)


def _of_table_between(text: str, halves: Sequence[Reading], schema: SourceSchema) -> Reading | None:
    """Both point at the table whose column groups them."""
    measured = [_measured(half, schema) for half in halves]
    if None in measured:
        return None
    (to_table, group, first), (same_table, same_group, second) = (one for one in measured if one is not None)
    if (to_table, group) != (same_table, same_group) or first.id == second.id:
        return None
    kept = [r for r in halves[0].requirements if not isinstance(r.value, Metric) and r.id != "analysis:total"]
    kept = [_grouped(r, group) if isinstance(r.value, GroupBy) else r for r in kept]
    others = (half.tables[0] for half in halves)
    return halves[0].model_copy(
        update={"question": text, "tables": (to_table, *others), "requirements": (first, second, *kept)}
    )


def _of_rows_pointed_at(text: str, halves: Sequence[Reading], schema: SourceSchema) -> Reading | None:
    """Orders and the amount of their items by month: each order, with what its items add up to."""
    for own, other in (halves, halves[::-1]):
        table, further = own.tables[0], other.tables[0]
        first, second = _only_metric(own), _only_metric(other)
        if first is None or second is None or _grouped_by(own) is None or _grouped_by(own) != _grouped_by(other):
            continue
        try:
            path = find_path(schema.relationships, further, table, None)
        except NoPath:
            continue
        measure = measure_of(second.value)  # type: ignore[arg-type]
        if not path or not _adds_up(measure) or not _is_whole(path, schema):
            continue
        if first.value == Metric(function="count"):
            first = first.model_copy(update={"value": Metric(expression=Rows(), name=table)})
        added = _added_up(second, further, None)
        both = (first, added) if own is halves[0] else (added, first)
        kept = [r for r in own.requirements if not isinstance(r.value, Metric) and r.id != "analysis:total"]
        tables = tuple(dict.fromkeys((*own.tables, further)))
        return own.model_copy(update={"question": text, "tables": tables, "requirements": (*both, *kept)})
    return None


def _only_metric(reading: Reading) -> Requirement | None:
    metrics = [r for r in reading.requirements if isinstance(r.value, Metric)]
    return metrics[0] if len(metrics) == 1 else None


def _grouped_by(reading: Reading) -> list[Expression] | None:
    """The groups, with the tables of their columns; None if it does more than group."""
    found: list[Expression] = []
    for requirement in reading.requirements:
        match requirement.value:
            case GroupBy(column=name, expression=made):
                found.append(made or Column(table=reading.tables[0], name=name))
            case Time(column=name, grain=grain):
                found.append(DateCut(of=Column(table=reading.tables[0], name=name), grain=grain or "day"))
            case Metric() | AnalysisAsked() | OutputAsked():
                pass
            case _:
                return None
    return found


def _added_up(metric: Requirement, table: str, via: str | None) -> Requirement:
    """The measure of rows of a table, as seen from what they point at."""
    value: Any = metric.value
    measure = measure_of(value)
    name = f"number of {table}" if isinstance(measure, Rows) else value.name or f"total {value.column}"
    whole = Metric(expression=Aggregate(function="sum", of=Related(table=table, via=via, of=measure)), name=name)
    return metric.model_copy(update={"id": f"metric:{name}"[:100], "value": whole})


def _measured(reading: Reading, schema: SourceSchema) -> tuple[str, str, Requirement] | None:
    """The table and column that it is grouped by, and its measure as seen from there; None where rows would be lost."""
    metrics = [r for r in reading.requirements if isinstance(r.value, Metric)]
    groups = [r.value for r in reading.requirements if isinstance(r.value, GroupBy)]
    others = [r for r in reading.requirements if isinstance(r.value, Filter | Time) or r.kind == "rank"]
    if len(metrics) != 1 or len(groups) != 1 or others or not isinstance(groups[0].expression, Column):
        return None
    column, table, metric = groups[0].expression, reading.tables[0], metrics[0]
    measure = measure_of(metric.value)  # type: ignore[arg-type]
    try:
        path = find_path(schema.relationships, table, column.table or table, column.via)
    except NoPath:
        return None
    if not _adds_up(measure) or not _is_whole(path, schema):
        return None
    return column.table or table, column.name, _added_up(metric, table, column.via)


def _adds_up(measure: Expression) -> bool:
    """Whether the sum over parts of the rows is the measure of all of them; and the rows' own columns suffice."""
    match measure:
        case Rows(where=None):
            return True
        case Aggregate(function=function, of=Column(table=None), where=None):
            return function in ADDS_UP
    return False


def _is_whole(path: Path, schema: SourceSchema) -> bool:
    """Whether every row has its row at the end of the path: without it, it would be in no group."""
    sure = all(link.known == "proven" or link.orphans == 0 for link in path)
    return sure and not any(null for link in path for null in _nulls(link.table, link.columns, schema))


def _nulls(name: str, columns: tuple[str, ...], schema: SourceSchema) -> Iterator[bool]:
    table = schema.find(name)
    for column in columns:
        found = table.find(column) if table else None
        yield found is None or found.nulls != 0


def _grouped(requirement: Requirement, column: str) -> Requirement:
    return requirement.model_copy(update={"id": f"group_by:{column}", "value": GroupBy(column=column)})


def _moved(reading: Reading, begin: int, length: int, by: int) -> Reading:
    """With evidence at its place in the whole question."""

    def moved(evidence: Evidence) -> Evidence:
        start = evidence.start
        if start is None:
            return evidence
        return evidence.model_copy(update={"start": start + begin if start < length else start - length - 1 + by})

    def placed(requirement: Requirement) -> Requirement:
        first, *others = map(moved, requirement.quotes)
        return requirement.model_copy(update={"evidence": first, "also": tuple(others)})

    found = tuple(placed(r) if r.evidence else r for r in reading.requirements)
    return reading.model_copy(update={"requirements": found})
