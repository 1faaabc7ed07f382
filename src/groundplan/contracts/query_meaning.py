"""What a query does, in terms of readings and plans. The gate checks queries with this, and table tools run them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, cast

from groundplan.contracts.columns import Function, Grain
from groundplan.contracts.contract import Scalar
from groundplan.contracts.query import (
    AGGREGATES,
    DATE_CUTS,
    DATE_PARTS,
    AggregateName,
    BinField,
    CalculatedFilterField,
    DayFilter,
    DimensionField,
    FilterField,
    MatchFilter,
    MeasuredFilterField,
    MeasureField,
    NumberFilter,
    Query,
    QueryField,
    QueryFilter,
    RelativeDateFilter,
    SetFilter,
    TopFilter,
    output_name,
)
from groundplan.contracts.reading import Operator

FUNCTIONS: dict[Function, AggregateName] = {
    "sum": "SUM",
    "mean": "AVG",
    "median": "MEDIAN",
    "min": "MIN",
    "max": "MAX",
    "count": "COUNT",
    "count_distinct": "COUNTD",
    "std": "STDEV",
}
"""The query's name for each aggregate of a reading."""

OURS: dict[str, Function] = {theirs: ours for ours, theirs in FUNCTIONS.items()}
DAY = timedelta(days=1)
MONTHS_IN = {"MONTHS": 1, "QUARTERS": 3, "YEARS": 12}


@dataclass(frozen=True)
class RowCondition:
    """A filter on single rows, in the terms of `filter_rows`."""

    column: str
    operator: Operator
    values: tuple[Scalar, ...] = ()


@dataclass(frozen=True)
class Ranked:
    """The top or bottom `limit` rows; `by` is None if they are not ordered by one of the query's own measures."""

    place: str
    direction: Literal["top", "bottom"]
    limit: int
    by: str | None


def groups(field: QueryField) -> bool:
    """Whether the query groups rows by the field; otherwise the field computes a value for each group."""
    if isinstance(field, MeasureField):
        return field.function in DATE_PARTS | DATE_CUTS
    return isinstance(field, DimensionField | BinField)


def grain_of(field: QueryField) -> Grain | None:
    """The grain to which the field truncates dates."""
    if isinstance(field, MeasureField) and field.function in DATE_CUTS:
        return cast(Grain, field.function.removeprefix("TRUNC_").lower())
    return None


def aggregates(field: FilterField) -> bool:
    """Whether a filter on this field applies to groups rather than rows."""
    return isinstance(field, MeasuredFilterField) and field.function in AGGREGATES


def row_conditions(filter_: QueryFilter) -> tuple[RowCondition, ...]:
    """The filter as conditions on a plain column; empty if that cannot express it."""
    field = filter_.field
    if isinstance(field, CalculatedFilterField | MeasuredFilterField) or getattr(filter_, "include_nulls", None):
        return ()
    return tuple(RowCondition(field.field_caption, *told) for told in _told(filter_))


def _told(filter_: QueryFilter) -> Iterator[tuple[Operator, tuple[Scalar, ...]]]:
    match filter_:
        case SetFilter():
            yield from _of_set(filter_)
        case MatchFilter(contains=str(text), starts_with=None, ends_with=None, exclude=False):
            yield "contains", (text,)
        case NumberFilter() | DayFilter():
            yield from _of_bounds(filter_)
        case RelativeDateFilter():
            period = relative_period(filter_)
            if period:
                yield "between", tuple(day.isoformat() for day in period)


def _of_set(filter_: SetFilter) -> Iterator[tuple[Operator, tuple[Scalar, ...]]]:
    """An EXCLUDE filter is a `not in` only if it also excludes nulls."""
    values = tuple(value for value in filter_.values if value is not None)
    if not filter_.exclude:
        yield ("in", filter_.values) if values else ("is null", ())
    elif None in filter_.values:
        yield ("not in", values) if values else ("not null", ())


def _of_bounds(filter_: NumberFilter | DayFilter) -> Iterator[tuple[Operator, tuple[Scalar, ...]]]:
    least, greatest = (
        (filter_.min, filter_.max) if isinstance(filter_, NumberFilter) else (filter_.min_date, filter_.max_date)
    )
    match filter_.quantitative_filter_type:
        case "RANGE" if isinstance(greatest, str):
            yield "between", (least, (date.fromisoformat(greatest) + DAY).isoformat())
        case "RANGE":
            yield ">=", (least,)
            yield "<=", (greatest,)
        case "MIN":
            yield ">=", (least,)
        case "MAX":
            yield "<=", (greatest,)
        case "ONLY_NULL":
            yield "is null", ()
        case "ONLY_NON_NULL":
            yield "not null", ()


def relative_period(filter_: RelativeDateFilter) -> tuple[date, date] | None:
    """The first day, and the day after the last; LASTN and NEXTN include the period of the anchor date."""
    if filter_.anchor_date is None or filter_.period_type in ("MINUTES", "HOURS"):
        return None
    anchor, unit, count = date.fromisoformat(filter_.anchor_date), filter_.period_type, filter_.range_n or 1
    spans = {"CURRENT": (0, 1), "LAST": (-1, 0), "NEXT": (1, 2), "LASTN": (1 - count, 1), "NEXTN": (0, count)}
    if filter_.date_range_type == "TODATE":
        return _shifted(anchor, unit, 0), anchor + DAY
    first, last = spans[filter_.date_range_type]
    try:
        return _shifted(anchor, unit, first), _shifted(anchor, unit, last)
    except (OverflowError, ValueError):  # before the year 1 or after 9999
        return None


def _shifted(day: date, unit: str, count: int) -> date:
    """The first day of the period `count` periods after the day's own; weeks begin on Monday."""
    if unit == "DAYS":
        return day + count * DAY
    if unit == "WEEKS":
        return day - day.weekday() * DAY + count * 7 * DAY
    months = MONTHS_IN[unit]
    place = (day.year * 12 + day.month - 1) // months * months + count * months
    return date(place // 12, place % 12 + 1, 1)


def rankings(query: Query, row_limit: int | None) -> Iterator[Ranked]:
    """The TOP filters, and the row order if a row limit applies."""
    for index, filter_ in enumerate(query.filters):
        if isinstance(filter_, TopFilter):
            by = _measured_for(query, filter_)
            yield Ranked(
                f"query.filters.{index}", "top" if filter_.direction == "TOP" else "bottom", filter_.how_many, by
            )
    if row_limit is not None:
        first = min((f for f in query.fields if f.sort_priority), key=lambda f: f.sort_priority or 0, default=None)
        by = output_name(first) if first and not groups(first) else None
        direction: Literal["top", "bottom"] = "top" if first and first.sort_direction == "DESC" else "bottom"
        yield Ranked("rowLimit", direction, row_limit, by)


def _measured_for(query: Query, filter_: TopFilter) -> str | None:
    """The measure of a TOP filter in the result, if the members it selects are exactly the rows."""
    grouped = [field for field in query.fields if groups(field)]
    same = len(grouped) == 1 and _key(grouped[0]) == _key(filter_.field)
    measures = [f for f in query.fields if isinstance(f, MeasureField) and _key(f) == _key(filter_.field_to_measure)]
    return output_name(measures[0]) if same and measures else None


def _key(field: QueryField | FilterField) -> tuple[str | None, str | None]:
    return getattr(field, "field_caption", None), getattr(field, "function", None)
