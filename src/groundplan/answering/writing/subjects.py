"""What each table is about, derived from the steps that made it: measures, groups, time axis and filters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from groundplan.answering.writing.display import period
from groundplan.answering.writing.phrases import COMPARED, GRAINS, LABELS, label
from groundplan.contracts.answer import ShownTable
from groundplan.contracts.contract import Language, Scalar
from groundplan.contracts.expression import (
    Aggregate,
    Change,
    Column,
    Expression,
    Rows,
    Share,
    adds_up,
    in_percent,
    is_growth,
    is_ratio,
    level,
    quotient,
    read_expression,
)
from groundplan.contracts.facts import Facts, PartialPeriod, TableColumn, TableRef
from groundplan.contracts.normal_form import normal_expression, substituted
from groundplan.contracts.plan import CheckedPlan, Step
from groundplan.contracts.reading import Filter, Metric
from groundplan.text.names import is_id, plural, things_of, worded

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
    "changes",
    "segments",
    "forecast",
    "measured",
    "listing",
]
KINDS: Mapping[str, Kind] = {
    "does_forecast": "forecast",
    "anomaly_detection": "anomalies",
    "correlation": "correlation",
    "compare_periods": "periods",
    "histogram_chart": "bins",
    "box_chart": "boxes",
    "summary_stats": "summary",
    "distribution_stats": "distribution",
    "rank": "ranking",
    "share": "shares",
    "change": "changes",
    "segment": "segments",
    "pivot": "listing",
    "aggregate": "measured",
}
"""The kind of a table by the capabilities of the steps behind it; the first match wins."""

NEEDS: Mapping[Kind, frozenset[str]] = {
    "forecast": frozenset({"part", "low", "high"}),
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
    "forecast": ("time", "column"),
    "anomalies": ("column",),
    "ranking": ("by",),
    "shares": ("column", "as"),
    "changes": ("column", "as"),
    "distribution": ("by",),
}
"""The columns, and the params that name columns, that each kind requires; otherwise a table is a listing."""

MOST_NAMING = 3
Row = Mapping[str, Scalar]


@dataclass(frozen=True)
class Quotient:
    """The columns that a rate divides: part and whole, or, of growth, the later and the earlier value."""

    part: str
    whole: str
    kind: Literal["rate", "percent", "quotient", "growth"]


@dataclass(frozen=True)
class ShownMeasure:
    column: str
    function: str | None = None  # None: it is no function of a single column
    of: str | None = None  # the source's column; None for a count of rows
    unit: str | None = None
    name: str | None = None  # what the question calls it
    adds_up: bool = False
    whole: bool = True  # every group is there, so that their sum is the total
    rows: str | None = None  # what the rows are that it counts
    table: str | None = None  # whose rows they are
    quotient: Quotient | None = None

    @property
    def additive(self) -> bool:
        return self.whole and self.adds_up

    @property
    def counts_rows(self) -> bool:
        """Whether it is a number of rows that the question has no name for."""
        return self.function == "count" and self.of is None and self.name is None

    def counted(self, language: Language) -> str | None:
        """In the plural, what it counts and the question has no name for: `orders`, `different regions`."""
        if language != "en" or self.name:
            return None
        if self.function == "count_distinct" and self.of:
            return f"different {plural(worded(self.of))}"
        return self.rows if self.counts_rows else None

    def label(self, language: Language) -> str:
        if counted := self.counted(language):
            return LABELS[language]["things"].format(counted)
        if self.counts_rows and self.table and language == "ru":
            return LABELS[language]["rows_of"].format(worded(self.table))
        return worded(self.name) if self.name else label(self.function, self.of, language)


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
    measures: Mapping[str, ShownMeasure]
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
    def partial(self) -> tuple[PartialPeriod, ...]:
        """The periods that the data covers only in part, if that makes a total smaller."""
        told = self.columns[self.time].partial if self.time else ()
        return told if any(self.columns[name].adds_up for name in self.measures) else ()

    @cached_property
    def incomparable(self) -> frozenset[Scalar]:
        """The partial periods, if two others are left to compare."""
        partial = frozenset(one.period for one in self.partial)
        full = {row[self.time] for row in self.rows} - partial if self.time else set()
        return partial if len(full) > 1 else frozenset()

    def full_times(self, column: str) -> list[str]:
        """The periods to compare that have a number in the column, in order."""
        if self.time is None:
            return []
        rows = (row for row in self.rows if row[self.time] is not None and row[column] is not None)
        return sorted({str(row[self.time]) for row in rows if row[self.time] not in self.incomparable})

    @property
    def naming(self) -> tuple[str, ...]:
        """The columns that identify a row for the reader."""
        told = [c.name for c in self.columns.values() if c.kind in ("time", "text") or is_id(c.name)]
        return self.keys or tuple(told[:MOST_NAMING])

    def column_path(self, column: str) -> str:
        table = f"facts.charts.{self.step}.table" if self.is_chart else f"facts.tables.{self.step}"
        return f"{table}.columns.{self.places[column]}"


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


def headings(
    plan: CheckedPlan, facts: Facts, shown: Mapping[str, ShownTable], language: Language
) -> dict[str, dict[str, str]]:
    """By step, the headings of columns whose names say less: the compared periods, and what is counted."""
    return {subject.step: dict(_headings(subject, language)) for subject in subjects(plan, facts, shown)}


def _headings(subject: Subject, language: Language) -> Iterator[tuple[str, str]]:
    if subject.kind == "periods":
        yield from COMPARED[language].items()
        yield from (
            (side, period(subject.params[side][0], subject.params[side][1], language))
            for side in ("current", "previous")
        )
        return
    for name, measure in subject.measures.items():
        if measure.counts_rows and (measure.rows if language == "en" else measure.table):
            yield name, measure.label(language)


def _subject(plan: CheckedPlan, step: str, ref: TableRef, table: ShownTable, is_chart: bool) -> Subject:
    behind = list(_behind(plan, step))
    columns = {column.name: column for column in ref.columns if column.name in table.columns}
    made_by = behind[-1] if behind else None
    kind, source, params = _kind(plan, behind, frozenset(table.columns))
    whole = not any("filter" in plan.tools[step.tool].capabilities for step in behind[:-1] if step.tool)
    counted = _table_before(plan, made_by) if made_by else None
    rows = things_of(counted) if counted else None
    measures = {
        m.column: replace(m, whole=whole, rows=rows, table=counted)
        for m in _measures(_metrics(plan, behind), columns, _asked(plan))
    }
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
        keys=_keys(plan, made_by, columns),
        filters=dict(find_filters(plan, step)),
    )


def _asked(plan: CheckedPlan) -> set[str | None]:
    """The names that the question gives to measures."""
    return {r.value.name for r in plan.requirements if isinstance(r.value, Metric)}


def groups_at(plan: CheckedPlan, path: str) -> tuple[tuple[str, ...], dict[str, ShownMeasure]]:
    """What the filter at a path of the plan chooses from: the columns that make the groups, and their measures."""
    behind = [*_behind(plan, plan.steps[int(path.split(".")[2])].id)]
    made_by = behind[-1]
    params: Mapping[str, Any] = made_by.params
    counted = _table_before(plan, made_by)
    rows, asked = things_of(counted) if counted else None, _asked(plan)
    known = {name: _named_measure(name, metric, asked) for name, metric in _metrics(plan, behind).items()}
    keys = [key for name in plan.tools[made_by.tool or ""].output.key or () for key in params.get(name, ())]
    cut = params.get("grain", "none")
    grains = (f"{cut}s",) if len(keys) == 1 and cut in GRAINS["en"] else ()
    return grains or tuple(keys), {name: replace(one, rows=rows, table=counted) for name, one in known.items()}


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


def _kind(
    plan: CheckedPlan, behind: list[Step], columns: frozenset[str]
) -> tuple[Kind, Step | None, Mapping[str, Any]]:
    """The kind, the step that determines it, and that step's params."""
    derived = {step.id: _derived(step) for step in behind}
    for capability, kind in KINDS.items():
        for step in behind:
            made = derived[step.id]
            if (step.tool and capability in plan.tools[step.tool].capabilities) or (made and made[0] == capability):
                params = made[1] if made else step.params
                named = (params.get(name) for name in WORKED_ON.get(kind, ()))
                needed = NEEDS.get(kind, frozenset()) | {name for name in named if isinstance(name, str)}
                return (kind, step, params) if needed <= columns else ("listing", None, {})
    return "listing", None, {}


def _derived(step: Step) -> tuple[str, Mapping[str, Any]] | None:
    """A share or a change that the step derives, as params of a tool that does only this."""
    if step.tool != "derive_column" or "expression" not in step.params:
        return None
    match read_expression(step.params["expression"]):
        case Share(of=Column(name=of), within=within):
            groups = [group.name for group in within if isinstance(group, Column)]
            return "share", {"column": of, "as": step.params["as"], "within": groups}
        case Change(of=Column(name=of), against=against):
            return "change", {"column": of, "as": step.params["as"], "against": against}
        case _:
            return None


def _metrics(plan: CheckedPlan, behind: list[Step]) -> dict[str, Mapping[str, Any]]:
    """The metrics of the step that made the rows, by column; of a query also the formulas over them."""
    if not behind:
        return {}
    params: Mapping[str, Any] = behind[-1].params
    told = [*params.get("metrics", ())]
    if "metric" in params:
        told.append({**params["metric"], "called": params.get("called")})
    known = {name: one for one in told for name in ([one["as"]] if "as" in one else ["current", "previous"])}
    if not plan.tools[behind[-1].tool or ""].is_query:
        return known
    measures = {name: _measure_of(one) for name, one in known.items()}
    for step in behind:
        made: Any = step.params.get("expression")
        written = substituted(read_expression(made), measures) if made else None
        if written is not None and level(written) == "group":
            known[str(step.params["as"])] = {"expression": written.model_dump()}
    return known


def _measures(
    known: Mapping[str, Mapping[str, Any]], columns: Mapping[str, TableColumn], asked: Set[str | None]
) -> Iterator[ShownMeasure]:
    """The measures of the columns; `asked` are the names that the question gives to measures."""
    quotients = _quotients(known)
    for name, column in columns.items():
        if name in known:
            metric, shown = known[name], quotients.get(name)
            yield replace(
                _named_measure(name, metric, asked),
                unit=column.unit,
                adds_up=column.adds_up and adds_up(_measure_of(metric)),
                quotient=shown if shown and {shown.part, shown.whole} <= columns.keys() else None,
            )
        elif column.kind == "number":
            yield ShownMeasure(name, None, name, column.unit)


def _named_measure(column: str, metric: Mapping[str, Any], asked: Set[str | None]) -> ShownMeasure:
    of = metric.get("column") if "function" in metric else column  # an expression goes by its own name
    called = metric.get("called") or column
    return ShownMeasure(column, metric.get("function"), of, name=called if called in asked else None)


def _quotients(metrics: Mapping[str, Mapping[str, Any]]) -> dict[str, Quotient]:
    """The metrics that divide two others of the same step."""
    if len(metrics) < 3:
        return {}
    measures = {name: normal_expression(_measure_of(metric)) for name, metric in metrics.items()}
    columns = {measure: name for name, measure in measures.items()}
    found = {}
    for name, measure in measures.items():
        sides = quotient(measure) or ()
        names = [columns.get(normal_expression(side)) for side in sides]
        if len(names) == 2 and names[0] and names[1]:
            found[name] = Quotient(names[0], names[1], _kind_of_quotient(measure))
    return found


def _kind_of_quotient(measure: Expression) -> Literal["rate", "percent", "quotient", "growth"]:
    if in_percent(measure) is not None:
        return "percent"
    return "growth" if is_growth(measure) else "rate" if is_ratio(measure) else "quotient"


def _measure_of(metric: Mapping[str, Any]) -> Expression:
    if "expression" in metric:
        return read_expression(metric["expression"])
    if "column" not in metric:
        return Rows()
    return Aggregate(function=metric["function"], of=Column(name=metric["column"]))


def _keys(plan: CheckedPlan, step: Step | None, columns: Mapping[str, TableColumn]) -> tuple[str, ...]:
    """The key columns; empty if a later step dropped one of them."""
    if step is None or step.tool is None:
        return ()
    params: Mapping[str, Any] = step.params
    keys = tuple(key for name in plan.tools[step.tool].output.key or () for key in params.get(name, ()))
    return keys if all(key in columns for key in keys) else ()


def find_filters(plan: CheckedPlan, step: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The filters applied before a step, by path in the plan, including those applied by the source."""
    reached, waiting = set(), [step]
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting += [before for before in _before(plan, name) if before not in reached]
    for place, found in enumerate(plan.steps):
        conditions: Any = found.params.get("conditions", ()) if found.id in reached else ()
        for number, condition in enumerate(conditions):
            yield f"plan.steps.{place}.params.conditions.{number}", condition
        filters = found.id in reached and found.tool and "filter" in plan.tools[found.tool].capabilities
        where: Any = found.params.get("where") if filters else None
        if where:
            yield f"plan.steps.{place}.params.where", where
        if found.id in reached and found.tool and plan.tools[found.tool].keeps:
            kept = {keep.column for keep in plan.tools[found.tool].keeps if found.params.keys() >= {*keep.params}}
            for number, requirement in enumerate(plan.requirements):
                about = requirement.value.column if isinstance(requirement.value, Filter) else None
                if about in kept and requirement.id in found.satisfies:
                    yield f"plan.requirements.{number}.value", requirement.value.model_dump(mode="json")


def selects_groups(plan: CheckedPlan, path: str) -> bool:
    """Whether the filter at a path of the plan is applied to groups, not to the rows of the source."""
    found = re.match(r"plan\.steps\.(\d+)\.", path)
    waiting = [*_before(plan, plan.steps[int(found[1])].id)] if found else []
    while waiting:
        name = waiting.pop()
        step = next(item for item in plan.steps if item.id == name)
        if step.tool and "aggregate" in plan.tools[step.tool].capabilities:
            return True
        waiting += _before(plan, name)
    return False


def _table_before(plan: CheckedPlan, step: Step) -> str | None:
    """The table whose rows a step works on; None if a step before it made other rows."""
    while True:
        table = step.params.get("table", step.params.get("left"))
        if isinstance(table, str):
            return table
        before = [*_before(plan, step.id)]
        if len(before) != 1:
            return None
        step = next(item for item in plan.steps if item.id == before[0])
        if not step.tool or plan.tools[step.tool].output.columns not in ("input", "joined"):
            return None


def _before(plan: CheckedPlan, step: str) -> Iterator[str]:
    """The steps whose rows it works on; those of a join are the rows of the left table."""
    bindings = plan.inputs.get(step, {})
    if {"left", "right"} == {*bindings}:
        bindings = {"left": bindings["left"]}
    return (before for binding in bindings.values() for before in binding.steps)
