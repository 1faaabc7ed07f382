"""What each table is about, derived from the steps that made it: measures, groups, time axis and filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from groundplan.answering.writing.phrases import Language, label
from groundplan.answering.writing.queried import filters_of, grouped_by, kind_and_params, measured_in, query_of
from groundplan.contracts.answer import ShownTable
from groundplan.contracts.contract import Scalar
from groundplan.contracts.facts import Facts, TableColumn, TableRef
from groundplan.contracts.plan import CheckedPlan, Step
from groundplan.contracts.query import Query

Kind = Literal[
    "anomalies",
    "correlation",
    "periods",
    "bins",
    "boxes",
    "summary",
    "distribution",
    "ranking",
    "shares",
    "segments",
    "measured",
    "listing",
]
KINDS: Mapping[str, Kind] = {
    "anomaly_detection": "anomalies",
    "correlation": "correlation",
    "compare_periods": "periods",
    "histogram_chart": "bins",
    "box_chart": "boxes",
    "summary_stats": "summary",
    "distribution_stats": "distribution",
    "rank": "ranking",
    "share": "shares",
    "segment": "segments",
    "pivot": "listing",
    "aggregate": "measured",
}
"""The kind of a table by the capabilities of the steps behind it; the first match wins."""

NEEDS: Mapping[Kind, frozenset[str]] = {
    "anomalies": frozenset({"score", "expected", "anomaly"}),
    "correlation": frozenset({"left", "right", "correlation", "rows"}),
    "periods": frozenset({"current", "previous"}),
    "bins": frozenset({"bin_start", "bin_end", "count"}),
    "boxes": frozenset({"median", "count", "q1", "q3"}),
    "summary": frozenset({"column", "count", "missing", "distinct", "mean", "median", "min", "max"}),
    "distribution": frozenset({"bin", "bin_start", "bin_end", "count"}),
    "ranking": frozenset({"rank"}),
    "segments": frozenset({"overall", "difference_ratio"}),
}
WORKED_ON: Mapping[Kind, tuple[str, ...]] = {
    "anomalies": ("column",),
    "ranking": ("by",),
    "shares": ("column", "as"),
    "distribution": ("by",),
}
"""The columns, and the params that name columns, that each kind requires; otherwise a table is a listing."""

MOST_NAMING = 3
Row = Mapping[str, Scalar]


@dataclass(frozen=True)
class Measure:
    column: str
    function: str | None = None  # None: unknown, so the values may not be summed
    of: str | None = None  # the source's column; None for a count of rows
    unit: str | None = None
    whole: bool = True  # every group is there, so that their sum is the total

    @property
    def additive(self) -> bool:
        return self.whole and self.function in ("sum", "count")

    def label(self, language: Language) -> str:
        return label(self.function, self.of, language)


@dataclass(frozen=True)
class Subject:
    step: str
    is_chart: bool
    table: ShownTable
    columns: Mapping[str, TableColumn]
    places: Mapping[str, int]  # indexes of the columns in the table's description
    kind: Kind
    params: Mapping[str, Any]  # of the step that determines the kind
    params_path: str
    measures: Mapping[str, Measure]
    keys: tuple[str, ...]  # the columns that identify a row, if known
    filters: Mapping[str, Mapping[str, Any]]  # by path in the plan

    @cached_property
    def rows(self) -> list[Row]:
        return [dict(zip(self.table.columns, row, strict=True)) for row in self.table.rows]

    @property
    def complete(self) -> bool:
        return len(self.table.rows) >= self.table.row_count

    @property
    def time(self) -> str | None:
        return next((key for key in self.keys if self.columns[key].kind == "time"), None)

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(key for key in self.keys if key != self.time)

    @property
    def naming(self) -> tuple[str, ...]:
        """The columns that identify a row for the reader."""
        told = [column.name for column in self.columns.values() if column.kind in ("time", "text")]
        return self.keys or tuple(told[:MOST_NAMING])

    def grain_path(self, column: str) -> str:
        table = f"facts.charts.{self.step}.table" if self.is_chart else f"facts.tables.{self.step}"
        return f"{table}.columns.{self.places[column]}.grain"


def subjects(plan: CheckedPlan, facts: Facts, shown: Mapping[str, ShownTable]) -> list[Subject]:
    """A subject for each table, and for each chart whose rows no table shows."""
    refs = [(step, ref, False) for step, ref in facts.tables.items()]
    refs += [(step, chart.table, True) for step, chart in facts.charts.items()]
    found: dict[object, Subject] = {}
    for step, ref, is_chart in refs:
        content = (shown[step].columns, frozenset(shown[step].rows), shown[step].row_count)
        if content not in found:
            found[content] = _subject(plan, step, ref, shown[step], is_chart)
    return list(found.values())


def _subject(plan: CheckedPlan, step: str, ref: TableRef, table: ShownTable, is_chart: bool) -> Subject:
    behind = list(_behind(plan, step))
    columns = {column.name: column for column in ref.columns if column.name in table.columns}
    made_by = behind[-1] if behind else None
    query = query_of(plan, made_by)
    kind: Kind
    if query and made_by:
        kind, params = kind_and_params(query, made_by.params.get("rowLimit"))  # type: ignore[arg-type]  # the gate checked it
        source: Step | None = made_by
    else:
        kind, source = _kind(plan, behind, frozenset(table.columns))
        params = source.params if source else {}
    whole = not any("filter" in plan.tools[step.tool].capabilities for step in behind[:-1] if step.tool)
    measures = {m.column: replace(m, whole=whole) for m in _measures(made_by, query, columns)}
    place = next((place for place, other in enumerate(plan.steps) if other is source), 0)
    return Subject(
        step=step,
        is_chart=is_chart,
        table=table,
        columns=columns,
        places={column.name: place for place, column in enumerate(ref.columns)},
        kind=kind,
        params=params,
        params_path=f"plan.steps.{place}.params",
        measures=measures,
        keys=_known(grouped_by(query), columns) if query else _keys(plan, made_by, columns),
        filters=dict(find_filters(plan, step)),
    )


def _behind(plan: CheckedPlan, step: str) -> Iterator[Step]:
    """The steps from the shown one back to the one that made its rows."""
    while True:
        found = next(item for item in plan.steps if item.id == step)
        tool = plan.tools.get(found.tool or "")
        if tool is None:
            return
        yield found
        before = [name for binding in plan.inputs.get(step, {}).values() for name in binding.steps]
        passes = tool.output.columns == "input" or tool.output.kind == "chart" or "select" in tool.capabilities
        if not passes or len(before) != 1:
            return
        step = before[0]


def _kind(plan: CheckedPlan, behind: list[Step], columns: frozenset[str]) -> tuple[Kind, Step | None]:
    for capability, kind in KINDS.items():
        for step in behind:
            if step.tool and capability in plan.tools[step.tool].capabilities:
                named = (step.params.get(name) for name in WORKED_ON.get(kind, ()))
                needed = NEEDS.get(kind, frozenset()) | {name for name in named if isinstance(name, str)}
                return (kind, step) if needed <= columns else ("listing", None)
    return "listing", None


def _measures(step: Step | None, query: Query | None, columns: Mapping[str, TableColumn]) -> Iterator[Measure]:
    queried = {name: (function, of) for name, function, of in measured_in(query)} if query else {}
    params: Mapping[str, Any] = step.params if step else {}
    told = [*params.get("metrics", ()), *([params["metric"]] if "metric" in params else ())]
    known = {}
    for metric in told:
        for name in [metric["as"]] if "as" in metric else ["current", "previous"]:
            known[name] = metric
    for name, column in columns.items():
        if name in queried:
            function, of = queried[name]
            yield Measure(name, function, of, column.unit)
        elif name in known:
            metric = known[name]
            of = metric.get("column") if "function" in metric else name  # an expression goes by its own name
            yield Measure(name, metric.get("function"), of, column.unit)
        elif column.kind == "number":
            yield Measure(name, None, name, column.unit)


def _keys(plan: CheckedPlan, step: Step | None, columns: Mapping[str, TableColumn]) -> tuple[str, ...]:
    """The key columns; empty if a later step dropped one of them."""
    if step is None or step.tool is None:
        return ()
    params: Mapping[str, Any] = step.params
    keys = tuple(key for name in plan.tools[step.tool].output.key or () for key in params.get(name, ()))
    return _known(keys, columns)


def _known(keys: tuple[str, ...], columns: Mapping[str, TableColumn]) -> tuple[str, ...]:
    return keys if all(key in columns for key in keys) else ()


def find_filters(plan: CheckedPlan, step: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The filters applied before a step, by path in the plan, including those applied by the source."""
    reached, waiting = set(), [step]
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting += [
            item for binding in plan.inputs.get(name, {}).values() for item in binding.steps if item not in reached
        ]
    for place, found in enumerate(plan.steps):
        conditions: Any = found.params.get("conditions", ()) if found.id in reached else ()
        for number, condition in enumerate(conditions):
            yield f"plan.steps.{place}.params.conditions.{number}", condition
        query = query_of(plan, found) if found.id in reached else None
        for number in filters_of(query) if query else ():
            params: Any = found.params["query"]
            yield f"plan.steps.{place}.params.query.filters.{number}", params["filters"][number]
        if found.id in reached and found.tool and plan.tools[found.tool].keeps:
            for number, requirement in enumerate(plan.requirements):
                if requirement.kind == "filter" and requirement.id in found.satisfies:
                    yield f"plan.requirements.{number}.value", requirement.value.model_dump(mode="json")
