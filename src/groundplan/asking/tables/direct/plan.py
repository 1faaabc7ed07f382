"""The strategy `direct` without a model: all that was asked becomes one typed query, then a chart and a table of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from pydantic import ValidationError

from groundplan.asking.tables.direct.filters import Inexpressible, Json, filter_of, find_day, said_in_one
from groundplan.asking.tables.direct.words import CALCULATIONS
from groundplan.contracts.columns import ColumnKind, Function, Grain, fits
from groundplan.contracts.expression import Aggregate, Compare, Expression, Rows, Running, Share
from groundplan.contracts.expression import Column as ColumnOf
from groundplan.contracts.meaning import measure_of
from groundplan.contracts.normal_form import normal_expression
from groundplan.contracts.plan import Plan, Provenance, Step
from groundplan.contracts.query import Query
from groundplan.contracts.query_meaning import FUNCTIONS
from groundplan.contracts.reading import (
    ColumnsAsked,
    Each,
    Filter,
    GroupBy,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Time,
)
from groundplan.contracts.schema import Column, SourceSchema, Table
from groundplan.contracts.wording import in_words
from groundplan.text.loose_words import loose_runs

T = TypeVar("T")
PORTS = {"query_table": "table", "tableau_query": "datasource"}
INTENTS = frozenset({"comparison", "ranking", "share", "time_series", "total"})
"""What a query answers; the others look at single rows, or at more than one table of numbers."""

CUTS: dict[Grain, str] = {
    "day": "TRUNC_DAY",
    "week": "TRUNC_WEEK",
    "month": "TRUNC_MONTH",
    "quarter": "TRUNC_QUARTER",
    "year": "TRUNC_YEAR",
}
CALLED: dict[Function, str] = {
    "mean": "average {}",
    "median": "median {}",
    "min": "lowest {}",
    "max": "highest {}",
    "count_distinct": "number of {}",
    "std": "deviation of {}",
}
"""What a column of the result is called; a sum goes by its own name."""

CHARTS = {"line": "plot_line", "bar": "plot_bar", "area": "plot_area", "heatmap": "plot_heatmap"}
MOST_AXES = 3  # along the chart, in colours and in panels
READABLE_POINTS = 60
SPANS: tuple[tuple[int, Grain], ...] = ((90, "day"), (366, "week"), (8 * 366, "month"), (25 * 366, "quarter"))
"""Days that a time axis may span to be cut so finely, where nobody named a grain."""


def propose(reading: Reading, schema: SourceSchema, tool: str) -> Plan | None:
    """One step with `tool` (`query_table` or `tableau_query`), then what shows its rows; None if `why_not` says why."""
    made = _planned(reading, schema, tool)
    return made if isinstance(made, Plan) else None


def why_not(reading: Reading, schema: SourceSchema, tool: str) -> str | None:
    """What one query cannot say of the reading: a correlation, rows as they are, a filter with `>`; None if it can."""
    made = _planned(reading, schema, tool)
    return None if isinstance(made, Plan) else made


def _planned(reading: Reading, schema: SourceSchema, tool: str) -> Plan | str:
    table = schema.find(reading.tables[0]) if reading.tables else schema.tables[0]
    if table is None or len(reading.tables) > 1:
        return "several tables"
    others = {intent.name for intent in reading.intents} - INTENTS
    if others:
        return f"the analysis {min(others)}"
    try:
        steps = tuple(_steps(_Asked(reading, table, tool)))
    except Inexpressible as error:
        return str(error)
    lacking = {requirement.id for requirement in reading.requirements} - {id_ for s in steps for id_ in s.satisfies}
    if lacking:
        return min(lacking)
    why = f"One query over {table.name}, then what shows its rows."
    return Plan(strategy="direct", steps=steps, provenance=Provenance(attempts=1, reasoning=why))


@dataclass(frozen=True)
class _Measured:
    """A function of a column, or the number of rows; with what is computed from it across the groups."""

    column: str | None
    function: Function
    series: Literal["share", "running"] | None = None


@dataclass(frozen=True)
class _Asked:
    reading: Reading
    table: Table
    tool: str

    def of(self, kind: type[T]) -> list[T]:
        return [requirement.value for requirement in self.reading.requirements if isinstance(requirement.value, kind)]

    def ids(self, *kinds: type[object], labels: Iterable[str] = ()) -> tuple[str, ...]:
        wanted = set(labels)
        found = (r.id for r in self.reading.requirements if isinstance(r.value, kinds) or r.label in wanted)
        return tuple(found)

    def column(self, name: str) -> Column:
        found = self.table.find(name)
        if found is None:
            raise Inexpressible(f"{name!r} of another table")
        return found

    def kind(self, name: str) -> ColumnKind:
        """Dates that a file keeps as text are read first, where there is a tool for it."""
        column = self.column(name)
        return "time" if column.role == "temporal" and self.tool == "query_table" else column.kind

    @property
    def groups(self) -> list[str]:
        return [value.column for value in self.of(GroupBy)]

    @property
    def metrics(self) -> list[_Measured]:
        """What one query measures; only the first may be a share or a running total."""
        compared = [one.condition.left for one in self.of(Filter) if isinstance(one.condition, Compare)]
        found = [self._measured(one) for one in [*map(measure_of, self.of(Metric))] or compared]
        if any(one.series for one in found[1:]):
            raise Inexpressible("two shares or running totals")
        return found

    def _measured(self, value: Expression) -> _Measured:
        match value:
            case Rows():
                return _Measured(None, "count")
            case Share(of=of, within=()):
                return replace(self._measured(of), series="share")
            case Running(of=of):
                return replace(self._measured(of), series="running")
            case Aggregate(function=function, of=ColumnOf(name=name, table=table, via=None), where=None):
                if function != "percentile" and table in (None, self.table.name):
                    return _Measured(name, function)
        raise Inexpressible(f"the formula {in_words(value)!r}")

    @property
    def rank(self) -> Rank | None:
        """By the first measure, over all groups."""
        found = self.of(Rank)
        if len(found) > 1 or any(one.within or one.then or not one.shown for one in found):
            raise Inexpressible("a ranking within groups")
        rank = next(iter(found), None)
        first = measure_of(self.of(Metric)[0]) if self.of(Metric) else None
        if rank and rank.by is not None and (first is None or normal_expression(rank.by) != normal_expression(first)):
            raise Inexpressible("an order by something else than the first measure")
        return rank

    @property
    def time(self) -> Time | None:
        return next(iter(self.of(Time)), None)

    @property
    def shared(self) -> bool:
        return bool(self.ids(labels=["analysis:share"])) or any(one.series == "share" for one in self.metrics)

    @property
    def running(self) -> bool:
        """Whether a running total is asked for: by a metric, or by a word that no requirement holds."""
        loose = any(run.means == ("RUNNING_TOTAL",) for run in loose_runs(self.reading))
        return loose or any(one.series == "running" for one in self.metrics)

    @property
    def placed(self) -> bool:
        """Whether all are ranked, and none is left out."""
        return bool(self.ids(labels=["analysis:ranking"]) and self.groups) and not (self.of(Rank) or self.time)

    @property
    def chart(self) -> OutputAsked | None:
        return next((value for value in self.of(OutputAsked) if value.label == "chart"), None)


def _steps(asked: _Asked) -> Iterator[Step]:
    computed = any(group.expression for group in asked.of(GroupBy))
    if computed or any(isinstance(r.value, ColumnsAsked | Each) for r in asked.reading.requirements):
        raise Inexpressible("rows as they are, or computed groups")
    dates = [*_dates(asked)]
    yield from dates
    source = {} if dates else {PORTS[asked.tool]: asked.table.name}
    needs = (dates[-1].id,) if dates else ()
    yield Step(id="query", tool=asked.tool, params={**source, **_query(asked)}, needs=needs, satisfies=_answered(asked))
    if asked.chart:
        yield _chart(asked, asked.chart)
    table, file = asked.ids(labels=["output:table", "analysis:detail"]), asked.ids(labels=["output:file"])
    if table:
        yield Step(id="table", tool="show_table", needs=("query",), satisfies=table)
    if file:
        params = {"name": "table", "format": "csv"}
        yield Step(id="saved", tool="save_table", params=params, needs=("query",), satisfies=file)


def _dates(asked: _Asked) -> Iterator[Step]:
    """Dates that a file keeps as text or numbers are read as dates, each column once."""
    values: list[Time | Filter] = [*asked.of(Time), *asked.of(Filter)]
    named = dict.fromkeys(value.column for value in values if value.column)
    before: str | None = None
    for name in named:
        if asked.kind(name) != "time" or asked.column(name).kind == "time":
            continue
        cited = tuple(r.id for r in asked.reading.requirements if getattr(r.value, "column", None) == name)
        params = {"column": name, **({} if before else {"table": asked.table.name})}
        id_ = "dates" if before is None else f"{before}_more"
        yield Step(id=id_, tool="parse_datetime", params=params, needs=(before,) if before else (), satisfies=cited)
        before = id_


def _answered(asked: _Asked) -> tuple[str, ...]:
    ranks = ["analysis:ranking"] if asked.of(Rank) or (asked.groups and not asked.time) else []
    shares = ["analysis:share"] if asked.shared else []
    labels = ["analysis:total", "analysis:compare", "output:text", *ranks, *shares]
    return asked.ids(Metric, GroupBy, Time, Filter, Rank, labels=labels)


def _query(asked: _Asked) -> Json:
    """The params of the query's step."""
    grouped, measures = [*_grouped(asked)], [*_measures(asked)]
    captions = [field["fieldCaption"] for field in grouped]
    if not measures or len(set(captions)) < len(captions):
        raise Inexpressible("groups without a measure, or one column twice")
    calculated = [_share(measures[0], grouped)] if asked.shared else []
    calculated += [_place(measures[0], grouped)] if asked.placed else []
    calculated += [_running(asked, measures[0], grouped)] if asked.running else []
    filters = [*_filters(asked, grouped)]
    rank = asked.rank
    filtered = {one["field"]["fieldCaption"] for one in filters}  # a field is filtered once, and a TOP is a filter
    by_member = len(grouped) == 1 and not (asked.time or asked.shared or filtered & {*captions})
    later = [one for one in filters if one["filterType"] == "CONDITION"]  # these look at the groups of the rows kept
    if later or (rank and rank.limit and by_member):
        filters = [one if one in later else {**one, "context": True} for one in filters]
    if rank and rank.limit and by_member:
        filters.append(_top(rank, grouped[0], measures[0]))
    fields = [*_sorted(asked, grouped, measures, rank), *calculated]
    limit = {"rowLimit": rank.limit} if rank and rank.limit and not by_member else {}
    return {"query": _well_formed({"fields": fields, **({"filters": filters} if filters else {})}), **limit}


def _well_formed(query: Json) -> Json:
    """What the contract refuses is nothing that a query says: a range whose ends are the wrong way round."""
    try:
        return Query.model_validate(query).wire()
    except ValidationError as error:
        raise Inexpressible("a range whose ends are the wrong way round") from error


def _grouped(asked: _Asked) -> Iterator[Json]:
    time = asked.time
    if time:
        grain = time.grain or _grain(asked, asked.column(time.column))
        if asked.kind(time.column) != "time" or grain not in CUTS or len(asked.of(Time)) > 1:
            raise Inexpressible(f"{time.column!r} by {grain}")
        yield {"fieldCaption": time.column, "fieldAlias": time.column, "function": CUTS[grain]}
    for name in asked.groups:
        yield {"fieldCaption": asked.column(name).name}


def _grain(asked: _Asked, column: Column) -> Grain:
    """From the days that the axis spans once it is filtered."""
    periods = [f.values for f in asked.of(Filter) if f.column == column.name and f.operator == "between"]
    firsts = [day for value in (column.least, *(first for first, _ in periods)) if (day := find_day(value))]
    lasts = [day for value in (column.greatest, *(last for _, last in periods)) if (day := find_day(value))]
    if not firsts or not lasts:
        return "month"
    span = (min(lasts) - max(firsts)).days
    few = column.cardinality is not None and column.cardinality <= READABLE_POINTS
    return "day" if few else next((grain for most, grain in SPANS if span < most), "year")


def _measures(asked: _Asked) -> Iterator[Json]:
    taken = {*asked.groups, *([asked.time.column] if asked.time else [])}
    for metric in asked.metrics:
        field = _measure(asked, metric)
        if field["fieldAlias"] not in taken:
            yield field
        taken.add(field["fieldAlias"])


def _measure(asked: _Asked, metric: _Measured) -> Json:
    if metric.column is None:
        return {"fieldCaption": _key(asked.table), "function": "COUNT", "fieldAlias": "count"}
    if not fits(metric.function, asked.column(metric.column).kind):
        raise Inexpressible(f"{metric.function} of {metric.column!r}")
    name = CALLED.get(metric.function, "{}").format(metric.column)
    grouped = name in {*asked.groups, asked.time.column if asked.time else None}
    alias = f"{metric.function} of {name}" if grouped else name
    return {"fieldCaption": metric.column, "function": FUNCTIONS[metric.function], "fieldAlias": alias}


def _key(table: Table) -> str:
    """Rows are counted by a column that each of them has once."""
    for key in table.keys:
        if len(key) == 1:
            return key[0]
    raise Inexpressible(f"the number of rows of {table.name!r}, which has no column that identifies a row")


def _share(measure: Json, grouped: list[Json]) -> Json:
    """Only what adds up has parts."""
    if measure["function"] not in ("SUM", "COUNT") or not grouped:
        raise Inexpressible("a share of what does not add up")
    calculation = {"tableCalcType": "PERCENT_OF_TOTAL", "dimensions": _references(grouped)}
    return {**measure, "fieldAlias": "share", "tableCalculation": calculation}


def _place(measure: Json, grouped: list[Json]) -> Json:
    calculation = {"tableCalcType": "RANK", "direction": "DESC", "dimensions": _references(grouped)}
    return {**measure, "fieldAlias": "rank", "tableCalculation": calculation}


def _running(asked: _Asked, measure: Json, grouped: list[Json]) -> Json:
    """Along time, anew for each of the other groups."""
    told = CALCULATIONS["RUNNING_TOTAL"]
    if asked.time is None or measure["function"] not in told.functions:
        raise Inexpressible("a running total without a time axis")
    calculation = {"tableCalcType": told.type, "dimensions": _references(grouped[:1])}
    alias = told.called.format(measure["fieldAlias"])
    return {**measure, "fieldAlias": alias, "tableCalculation": calculation}


def _references(fields: list[Json]) -> list[Json]:
    return [{key: field[key] for key in ("fieldCaption", "function") if key in field} for field in fields]


def _top(rank: Rank, group: Json, measure: Json) -> Json:
    return {
        "filterType": "TOP",
        "field": group,
        "howMany": rank.limit,
        "direction": rank.direction.upper(),
        "fieldToMeasure": {"fieldCaption": measure["fieldCaption"], "function": measure["function"]},
    }


def _sorted(asked: _Asked, grouped: list[Json], measures: list[Json], rank: Rank | None) -> list[Json]:
    """By the measure where that is ranked or compared, by time and groups otherwise; ties always by the groups."""
    first, *others = measures
    ordered = [value.column for value in asked.of(GroupBy) if value.ordered]
    if rank is None and (asked.time or not grouped):
        return [*_prioritised(grouped), first, *others]
    if rank is None and ordered:
        by_order = sorted(grouped, key=lambda field: field["fieldCaption"] not in ordered)
        numbered = {field["fieldCaption"]: field for field in _prioritised(by_order)}
        return [*(numbered[field["fieldCaption"]] for field in grouped), first, *others]
    direction = "ASC" if rank and rank.direction == "bottom" else "DESC"
    return [*_prioritised(grouped, 2), {**first, "sortPriority": 1, "sortDirection": direction}, *others]


def _prioritised(fields: list[Json], first: int = 1) -> list[Json]:
    return [{**field, "sortPriority": priority} for priority, field in enumerate(fields, first)]


def _filters(asked: _Asked, grouped: list[Json]) -> Iterator[Json]:
    by_column: dict[str, list[Filter]] = {}
    for one in asked.of(Filter):
        if one.condition is not None:
            yield filter_of(one.condition, asked.table.name, grouped)
        else:
            by_column.setdefault(one.column or "", []).append(one)
    for name, told in by_column.items():
        yield {"field": {"fieldCaption": name}, **said_in_one(told, asked.kind(name))}


def _chart(asked: _Asked, wanted: OutputAsked) -> Step:
    kind = wanted.chart or ("line" if asked.time else "bar")
    axes = [*([asked.time.column] if asked.time else []), *_along(asked)]
    if kind not in CHARTS or not axes or len(axes) > MOST_AXES or (kind == "heatmap" and len(axes) != 2):
        raise Inexpressible(f"the chart {kind!r} of {len(axes)} groups")
    measure = "share" if asked.shared else next(_measures(asked))["fieldAlias"]
    measure = CALCULATIONS["RUNNING_TOTAL"].called.format(measure) if asked.running else measure
    if kind == "heatmap":
        params = {"x": axes[0], "y": axes[1], "color": measure}
    else:
        by_size = sorted(axes[1:], key=lambda name: -(asked.column(name).cardinality or 0))
        params = {"x": axes[0], "y": measure, **dict(zip(("color", "facet"), by_size, strict=False))}
    labels = ["output:chart", *(["analysis:trend"] if kind in ("line", "area") else [])]
    return Step(id="chart", tool=CHARTS[kind], params=params, needs=("query",), satisfies=asked.ids(labels=labels))


def _along(asked: _Asked) -> list[str]:
    """What has an order of its own runs along the chart."""
    return [value.column for value in sorted(asked.of(GroupBy), key=lambda value: not value.ordered)]
