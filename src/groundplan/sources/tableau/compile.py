"""A step's rows, groups, measures and cut as one query of the VizQL Data Service, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import get_close_matches
from typing import Any, cast

from pydantic import JsonValue, ValidationError

from groundplan.contracts.columns import Function, Grain, fits
from groundplan.contracts.contract import thaw
from groundplan.contracts.expression import (
    Aggregate,
    All,
    AnyOf,
    Column,
    Compare,
    Condition,
    Constant,
    Contains,
    DateCut,
    Expression,
    Missing,
    Not,
    read_condition,
    read_expression,
    walk,
)
from groundplan.contracts.normal_form import normal_condition, of_filter
from groundplan.contracts.reading import Filter
from groundplan.contracts.schema import Column as TableColumn
from groundplan.contracts.schema import Table
from groundplan.contracts.wording import in_words
from groundplan.errors import ToolError
from groundplan.sources.tableau.calculation import NAMES, write
from groundplan.sources.tableau.meaning import Asked, refuse_other
from groundplan.sources.tableau.vizql import Query

Json = dict[str, Any]
CUTS: Mapping[Grain, str] = {
    "day": "TRUNC_DAY",
    "week": "TRUNC_WEEK",
    "month": "TRUNC_MONTH",
    "quarter": "TRUNC_QUARTER",
    "year": "TRUNC_YEAR",
}
PLACES = {"anywhere": "contains", "start": "startsWith", "end": "endsWith"}
DAY = timedelta(days=1)


class Inexpressible(ToolError):
    """A request that one query cannot express."""


@dataclass(frozen=True)
class Compiled:
    query: Query
    row_limit: int | None  # of the sorted rows


def compiled(params: Mapping[str, JsonValue], table: Table) -> Compiled:
    """The query for the params of a step; raises `Inexpressible` if there is none."""
    asked = _asked(cast(Json, thaw(params)), table)
    by_member = _is_by_member(asked)
    filters = [*_filters(asked)]
    if by_member:
        filters = [{**one, "context": True} for one in filters]  # a TOP is chosen before the others apply
        filters.append(_top(asked))
    try:
        query = Query.model_validate({"fields": _sorted(asked), **({"filters": filters} if filters else {})})
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise Inexpressible(fault["msg"].removeprefix("Value error, ")) from None
    made = Compiled(query, None if by_member else asked.limit)
    refuse_other(made.query, made.row_limit, asked)
    return made


def _asked(params: Json, table: Table) -> Asked:
    grain, top = params.get("grain", "none"), params.get("top", {})
    try:
        short = [of_filter(Filter.model_validate(one)) for one in params.get("conditions", ())]
        where = [read_condition(params["where"])] if "where" in params else []
        measures = {one["as"]: _measure(one) for one in params["metrics"]}
    except (ValidationError, KeyError):
        raise ToolError("the step is ill-formed; see `groundplan catalog show tableau_query`") from None
    groups = {name: _group(_single(table, name), grain) for name in params.get("group_by", ())}
    return Asked(table, (*short, *where), groups, measures, top.get("limit"), top.get("direction", "top") == "top")


def _measure(metric: Json) -> Expression:
    if "expression" in metric:
        return read_expression(metric["expression"])
    return Aggregate(function=metric["function"], of=Column(name=metric["column"]))


def _group(column: TableColumn, grain: str) -> Expression:
    of = Column(name=column.name)
    return DateCut(of=of, grain=cast(Grain, grain)) if grain != "none" and column.kind == "time" else of


def _column(table: Table, name: str) -> TableColumn:
    found = table.find(name)
    if found is None:
        near = get_close_matches(name, [column.name for column in table.columns], n=1)
        hint = f"did you mean {near[0]!r}?" if near else "see what the data source publishes"
        raise ToolError(f"the data source {table.name!r} has no field {name!r}; {hint}")
    return found


def _single(table: Table, name: str) -> TableColumn:
    """A field that has a value for each row."""
    column = _column(table, name)
    if column.aggregated:
        raise Inexpressible(f"rows by {name!r}, which has values for groups only")
    return column


def _sorted(asked: Asked) -> list[Json]:
    """By what is cut, else by time, else by the first measure; ties by the groups."""
    groups, measures = [_grouping(*one) for one in asked.groups.items()], [*_measures(asked)]
    timed = any(isinstance(group, DateCut) for group in asked.groups.values())
    if asked.limit is None and (timed or not groups):
        return [*_prioritised(groups, 1), *measures]
    measures[0] |= {"sortPriority": 1, "sortDirection": "DESC" if asked.descends else "ASC"}
    return [*_prioritised(groups, 2), *measures]


def _prioritised(fields: Sequence[Json], first: int) -> list[Json]:
    return [{**field, "sortPriority": priority} for priority, field in enumerate(fields, first)]


def _grouping(name: str, group: Expression) -> Json:
    match group:
        case Column(name=caption):
            return {"fieldCaption": caption}
        case DateCut(of=Column(name=caption), grain=grain) if grain and grain in CUTS:
            return {"fieldCaption": caption, "fieldAlias": name, "function": CUTS[grain]}
    raise Inexpressible(f"groups by {in_words(group)}")


def _measures(asked: Asked) -> Iterator[Json]:
    for name, measure in asked.measures.items():
        for part in walk(measure):
            if isinstance(part, Aggregate) and isinstance(part.of, Column):
                _refuse_unfit(cast(Function, part.function), _column(asked.table, part.of.name))
        match measure:
            case Aggregate(function="defined", of=Column(name=caption), where=None):
                yield {"fieldCaption": caption, **({"fieldAlias": name} if name != caption else {})}
            case Aggregate(function=function, of=Column(name=caption), where=None) if function in NAMES:
                yield {"fieldCaption": caption, "fieldAlias": name, "function": NAMES[function]}
            case _:
                yield _calculated(name, measure, asked.table)


def _refuse_unfit(function: Function, column: TableColumn) -> None:
    if column.aggregated != (function == "defined"):
        how = f'take it as it is defined; in SQL: AGG("{column.name}")' if column.aggregated else "it is not aggregated"
        raise Inexpressible(f"{function} of {column.name!r}: {how}")
    if not fits(function, column.kind):
        raise Inexpressible(f"{function} of {column.name!r}")


def _calculated(name: str, measure: Expression, table: Table) -> Json:
    """A field of the query's own; its caption is none of the data source's."""
    formula = write(measure)
    if formula is None:
        raise Inexpressible(f"the formula {in_words(measure)!r}")
    caption = name if table.find(name) is None else f"{name} (calculated)"
    return {"fieldCaption": caption, "fieldAlias": name, "calculation": formula}


def _is_by_member(asked: Asked) -> bool:
    """Whether the groups that are kept are members of one field, which no other filter is on, by a field's measure."""
    groups = [*asked.groups.values()]
    filtered = {*map(_filtered, _parts(asked.where))}
    plain = len(groups) == 1 and isinstance(groups[0], Column) and groups[0].name not in filtered
    return asked.limit is not None and plain and "function" in next(_measures(asked))


def _top(asked: Asked) -> Json:
    (group,) = asked.groups
    measure = next(_measures(asked))
    return {
        "filterType": "TOP",
        "field": {"fieldCaption": group},
        "howMany": asked.limit,
        "direction": "TOP" if asked.descends else "BOTTOM",
        "fieldToMeasure": {key: measure[key] for key in ("fieldCaption", "function")},
    }


def _parts(conditions: Sequence[Condition]) -> Iterator[Condition]:
    """The conditions that must all hold, in normal form but for the case of texts."""
    for one in conditions:
        if isinstance(one, All):
            yield from _parts(one.parts)
        elif isinstance(one, Contains):
            yield one
        else:
            normal = normal_condition(one)
            yield from normal.parts if isinstance(normal, All) else (normal,)


def _filters(asked: Asked) -> Iterator[Json]:
    """One filter for each column, with all that is said of it."""
    by_column: dict[str, list[Condition]] = {}
    for part in _parts(asked.where):
        by_column.setdefault(_filtered(part), []).append(part)
    for name, parts in by_column.items():
        column = _single(asked.table, name)
        yield {"field": {"fieldCaption": name}, **_filter(column, [*dict.fromkeys(parts)])}


def _filtered(part: Condition) -> str:
    """The column that it is about."""
    match part:
        case Compare(left=Column() as of, right=Constant()) | Contains(of=Column() as of, cased=False):
            found = {of}
        case Missing(of=Column() as of) | Not(part=Missing(of=Column() as of)):
            found = {of}
        case AnyOf(parts=parts) if all(_is_member(one) for one in parts):
            found = {column for one in parts for column in walk(one) if isinstance(column, Column)}
        case _:
            found = set()
    if len(found) == 1:
        of = found.pop()
        if of.via is None and of.table is None:
            return of.name
    raise Inexpressible(f"the condition {in_words(part)!r}")


def _is_member(part: Condition) -> bool:
    match part:
        case Compare(left=Column(), operator="=", right=Constant()) | Missing(of=Column()):
            return True
        case _:
            return False


def _filter(column: TableColumn, parts: Sequence[Condition]) -> Json:
    if all(isinstance(part, Compare) and part.operator == "!=" for part in parts):  # rows without a value go too
        return {"filterType": "SET", "values": [*map(_value, parts), None], "exclude": True}
    if len(parts) == 1 and (found := _kept(parts[0])):
        return found
    if all(isinstance(part, Compare) and part.operator not in ("=", "!=") for part in parts):
        return _bounded(column, cast(Sequence[Compare], parts))
    raise Inexpressible(f"several conditions on {column.name!r}")


def _kept(part: Condition) -> Json | None:
    match part:
        case Missing():
            return {"filterType": "SET", "values": [None]}
        case Not():
            return {"filterType": "SET", "values": [None], "exclude": True}
        case Compare(operator="="):
            return {"filterType": "SET", "values": [_value(part)]}
        case AnyOf(parts=parts):
            return {"filterType": "SET", "values": [*map(_value, parts)]}
        case Contains(text=text, place="anywhere" | "start" | "end" as place) if text:
            return {"filterType": "MATCH", PLACES[place]: text}
        case _:
            return None


def _value(part: Condition) -> Any:
    """The value that it compares with; None if that is no value."""
    value = part.right.value if isinstance(part, Compare) and isinstance(part.right, Constant) else None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _bounded(column: TableColumn, parts: Sequence[Compare]) -> Json:
    """From the least to the greatest value, both of which are in."""
    timed = column.kind == "time"
    bounds: dict[str, Any] = {}
    for part in parts:
        name, value = _day(part) if timed else _number(part)
        if bounds.setdefault(name, value) != value or (column.kind not in ("time", "number")):
            raise Inexpressible(f"several conditions on {column.name!r}")
    kind = "RANGE" if len(bounds) == 2 else "MIN" if "min" in bounds else "MAX"
    told = {f"{name}Date" if timed else name: value for name, value in bounds.items()}
    return {
        "filterType": "QUANTITATIVE_DATE" if timed else "QUANTITATIVE_NUMERICAL",
        "quantitativeFilterType": kind,
        **told,
    }


def _number(part: Compare) -> tuple[str, Any]:
    value = _value(part)
    if part.operator not in (">=", "<=") or isinstance(value, bool) or not isinstance(value, int | float):
        raise Inexpressible(f"the condition {in_words(part)!r}: a range has both its ends in it")
    return ("min" if part.operator == ">=" else "max"), value


def _day(part: Compare) -> tuple[str, str]:
    """The first or the last whole day."""
    try:
        day = date.fromisoformat(str(_value(part)))
        match part.operator:
            case ">=":
                return "min", day.isoformat()
            case ">":
                return "min", (day + DAY).isoformat()
            case "<=":
                return "max", day.isoformat()
            case "<":
                return "max", (day - DAY).isoformat()
    except (ValueError, OverflowError):
        pass
    raise Inexpressible(f"the condition {in_words(part)!r}")
