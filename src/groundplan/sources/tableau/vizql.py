"""A query of the VizQL Data Service, as far as steps are compiled to one.

Attributes are snake_case; the JSON uses Tableau's spelling (`fieldCaption`).
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import ConfigDict, Field, JsonValue, StrictBool, StrictFloat, StrictInt, model_validator
from pydantic.alias_generators import to_camel

from groundplan.contracts.contract import Contract, Name, Scalar, Text

AggregateName = Literal["SUM", "AVG", "MEDIAN", "COUNT", "COUNTD", "MIN", "MAX", "STDEV"]
DateCut = Literal["TRUNC_YEAR", "TRUNC_QUARTER", "TRUNC_MONTH", "TRUNC_WEEK", "TRUNC_DAY"]
DATE_CUTS: frozenset[str] = frozenset(get_args(DateCut))
Number = StrictInt | StrictFloat
Positive = Annotated[StrictInt, Field(ge=1)]


class Wire(Contract):
    """A part of a query. Unknown keys and words are errors: the service's own client drops them silently."""

    model_config = ConfigDict(alias_generator=to_camel)

    def wire(self) -> dict[str, JsonValue]:
        """Exactly the fields that were set, as JSON."""
        return self.model_dump(mode="json", exclude_unset=True)


class AnyField(Wire):
    """The base of all fields. One without a priority is not sorted by; the lowest priority sorts first."""

    field_caption: Name
    field_alias: Name | None = None
    sort_direction: Literal["ASC", "DESC"] = "ASC"
    sort_priority: Positive | None = None

    @property
    def name(self) -> str:
        """The name of its column in the result."""
        return self.field_alias or self.field_caption


class QueryField(AnyField):
    """Without a function or with a date cut it groups the rows; with an aggregate it measures each group.

    A field that the data source aggregates measures each group without a function.
    """

    function: AggregateName | DateCut | None = None

    @model_validator(mode="after")
    def _is_named(self) -> QueryField:
        if self.function and not self.field_alias:
            raise ValueError(f"{self.function} of {self.field_caption!r} needs a fieldAlias")
        return self


class CalculatedField(AnyField):
    """A measure by a formula, `SUM([Profit])/SUM([Sales])`; its caption is a new name."""

    calculation: Text


class Caption(Wire):
    field_caption: Name


class Measured(Wire):
    field_caption: Name
    function: AggregateName


class AnyFilter(Wire):
    """The base of all filters. Context filters apply first, then TOP filters, then the rest."""

    field: Caption
    context: StrictBool = False


class SetFilter(AnyFilter):
    filter_type: Literal["SET"]
    values: Annotated[tuple[Scalar, ...], Field(min_length=1, max_length=1_000)]
    exclude: StrictBool = False


class MatchFilter(AnyFilter):
    """Upper and lower case are the same."""

    filter_type: Literal["MATCH"]
    contains: Text | None = None
    starts_with: Text | None = None
    ends_with: Text | None = None

    @model_validator(mode="after")
    def _has_one_pattern(self) -> MatchFilter:
        if sum(bool(text) for text in (self.contains, self.starts_with, self.ends_with)) != 1:
            raise ValueError("a MATCH filter needs one of 'contains', 'startsWith', 'endsWith'")
        return self


class NumberFilter(AnyFilter):
    """Both bounds are in."""

    filter_type: Literal["QUANTITATIVE_NUMERICAL"]
    quantitative_filter_type: Literal["RANGE", "MIN", "MAX"]
    min: Number | None = None
    max: Number | None = None

    @model_validator(mode="after")
    def _has_its_bounds(self) -> NumberFilter:
        _hold_bounds(self.quantitative_filter_type, self.min, self.max)
        return self


class DayFilter(AnyFilter):
    """Both days are in."""

    filter_type: Literal["QUANTITATIVE_DATE"]
    quantitative_filter_type: Literal["RANGE", "MIN", "MAX"]
    min_date: date | None = None
    max_date: date | None = None

    @model_validator(mode="after")
    def _has_its_bounds(self) -> DayFilter:
        _hold_bounds(self.quantitative_filter_type, self.min_date, self.max_date)
        return self


def _hold_bounds(kind: str, least: Number | date | None, greatest: Number | date | None) -> None:
    """A RANGE needs both bounds, MIN and MAX one."""
    given = {"RANGE": (True, True), "MIN": (True, False), "MAX": (False, True)}[kind]
    if (least is not None, greatest is not None) != given:
        raise ValueError(f"{kind} does not have these bounds")
    if kind == "RANGE" and least > greatest:  # type: ignore[operator]
        raise ValueError(f"a range from {least} to {greatest} is empty")


class TopFilter(AnyFilter):
    """The first members of a field by a measure of their rows."""

    filter_type: Literal["TOP"]
    how_many: Positive
    field_to_measure: Measured
    direction: Literal["TOP", "BOTTOM"] = "TOP"


QueryFilter: TypeAlias = Annotated[
    SetFilter | MatchFilter | NumberFilter | DayFilter | TopFilter, Field(discriminator="filter_type")
]


class Query(Wire):
    fields: Annotated[tuple[QueryField | CalculatedField, ...], Field(min_length=1, max_length=64)]
    filters: Annotated[tuple[QueryFilter, ...], Field(max_length=64)] = ()

    @model_validator(mode="after")
    def _names_are_unique(self) -> Query:
        for what, names in (
            ("columns are called", [field.name for field in self.fields]),
            ("filters are on", [one.field.field_caption for one in self.filters]),
        ):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice:
                raise ValueError(f"two {what} {twice!r}")
        return self
