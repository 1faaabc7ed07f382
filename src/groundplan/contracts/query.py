"""Typed queries in the format of Tableau's VizQL Data Service, for published data sources and plain tables.

Attributes are snake_case; the JSON uses Tableau's spelling (`fieldCaption`) and accepts no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from difflib import get_close_matches
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    StrictBool,
    StrictFloat,
    StrictInt,
    Tag,
    model_validator,
)
from pydantic.alias_generators import to_camel

from groundplan.contracts.contract import Contract, Name, Scalar, Text

AggregateName = Literal["SUM", "AVG", "MEDIAN", "COUNT", "COUNTD", "MIN", "MAX", "STDEV", "VAR"]
DatePart = Literal["YEAR", "QUARTER", "MONTH", "WEEK", "DAY"]
DateCut = Literal["TRUNC_YEAR", "TRUNC_QUARTER", "TRUNC_MONTH", "TRUNC_WEEK", "TRUNC_DAY"]
FunctionName = Literal[AggregateName, "COLLECT", DatePart, DateCut, "AGG", "NONE", "UNSPECIFIED"]
Direction = Literal["ASC", "DESC"]
AGGREGATES: frozenset[str] = frozenset(get_args(AggregateName))
DATE_PARTS: frozenset[str] = frozenset(get_args(DatePart))
DATE_CUTS: frozenset[str] = frozenset(get_args(DateCut))


def _nearest(word: str, known: list[str]) -> str:
    near = get_close_matches(word.upper(), known, n=1) or get_close_matches(word, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"write one of {', '.join(known)}"


def _known_function(word: object) -> object:
    known = list(get_args(FunctionName))
    if isinstance(word, str) and word not in known:
        raise ValueError(f"there is no function {word[:40]!r}: {_nearest(word, known)}")
    return word


def _real_day(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a date; write one such as 2025-01-31") from error
    return text


FunctionUsed = Annotated[FunctionName, BeforeValidator(_known_function)]
Day = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$"), AfterValidator(_real_day)]
Number = StrictInt | StrictFloat
Positive = Annotated[StrictInt, Field(ge=1)]


class Wire(Contract):
    """A part of a query. Unknown keys are errors that suggest the nearest known key."""

    model_config = ConfigDict(alias_generator=to_camel)

    @model_validator(mode="before")
    @classmethod
    def _has_known_keys(cls, data: object) -> object:
        known = [to_camel(name) for name in cls.model_fields]
        for key in data if isinstance(data, Mapping) else ():
            if key not in known:
                near = _nearest(str(key), [*known, *(KINDS if issubclass(cls, AnyField) else ())])
                raise ValueError(f"there is no key {str(key)[:40]!r} here: {near}")
        return data

    def wire(self) -> dict[str, JsonValue]:
        """Exactly the fields that were set, as JSON."""
        return self.model_dump(mode="json", exclude_unset=True)


class FieldReference(Wire):
    field_caption: Name
    function: FunctionUsed | None = None


class CustomSort(Wire):
    field_caption: Name
    function: FunctionUsed
    direction: Direction


class Calculation(Wire):
    """The base of all table calculations: the dimensions along which they run."""

    dimensions: tuple[FieldReference, ...]


class CustomCalculation(Calculation):
    table_calc_type: Literal["CUSTOM"]
    level_address: FieldReference | None = None
    restart_every: FieldReference | None = None
    custom_sort: CustomSort | None = None


class NestedCalculation(Calculation):
    table_calc_type: Literal["NESTED"]
    field_caption: Name
    level_address: FieldReference | None = None
    restart_every: FieldReference | None = None
    custom_sort: CustomSort | None = None


class Difference(Calculation):
    table_calc_type: Literal["DIFFERENCE_FROM", "PERCENT_DIFFERENCE_FROM", "PERCENT_FROM"]
    level_address: FieldReference | None = None
    relative_to: Literal["PREVIOUS", "NEXT", "FIRST", "LAST"] = "PREVIOUS"
    custom_sort: CustomSort | None = None


class PercentOfTotal(Calculation):
    table_calc_type: Literal["PERCENT_OF_TOTAL"]
    level_address: FieldReference | None = None
    custom_sort: CustomSort | None = None


class Ranking(Calculation):
    table_calc_type: Literal["RANK"]
    rank_type: Literal["COMPETITION", "MODIFIED COMPETITION", "DENSE", "UNIQUE"] = "COMPETITION"
    direction: Direction | None = None


class Percentile(Calculation):
    table_calc_type: Literal["PERCENTILE"]
    direction: Direction | None = None


class RunningTotal(Calculation):
    table_calc_type: Literal["RUNNING_TOTAL"]
    aggregation: Literal["SUM", "AVG", "MIN", "MAX"] = "SUM"
    restart_every: FieldReference | None = None
    custom_sort: CustomSort | None = None
    secondary_table_calculation: TableCalculation | None = None


class MovingCalculation(Calculation):
    table_calc_type: Literal["MOVING_CALCULATION"]
    aggregation: Literal["SUM", "AVG", "MIN", "MAX"] = "SUM"
    previous: Annotated[StrictInt, Field(ge=0)] = 2
    next: Annotated[StrictInt, Field(ge=0)] = 0
    include_current: StrictBool = True
    fill_in_null: StrictBool = False
    custom_sort: CustomSort | None = None
    secondary_table_calculation: TableCalculation | None = None


TableCalculation: TypeAlias = Annotated[
    CustomCalculation
    | NestedCalculation
    | Difference
    | PercentOfTotal
    | Ranking
    | Percentile
    | RunningTotal
    | MovingCalculation,
    Field(discriminator="table_calc_type"),
]
RunningTotal.model_rebuild()  # it may contain another table calculation
MovingCalculation.model_rebuild()


class AnyField(Wire):
    """The base of all fields. A field without a priority is not sorted by; the lowest priority sorts first."""

    field_caption: Name
    field_alias: Name | None = None
    max_decimal_places: Annotated[StrictInt, Field(ge=0)] | None = None
    sort_direction: Direction = "ASC"
    sort_priority: Positive | None = None

    @model_validator(mode="before")
    @classmethod
    def _is_one_kind(cls, data: object) -> object:
        kinds = [key for key in ("function", "calculation", "binSize") if isinstance(data, Mapping) and key in data]
        if len(kinds) > 1:
            raise ValueError(f"{kinds[0]!r} and {kinds[1]!r} cannot be combined: keep one of them")
        return data


class DimensionField(AnyField):
    """A field whose values group the rows."""


class MeasureField(AnyField):
    function: FunctionUsed


class CalculatedField(AnyField):
    calculation: Annotated[Text, Field(min_length=1)]


class BinField(AnyField):
    bin_size: Annotated[Number, Field(ge=1)]


class TableCalcField(AnyField):
    table_calculation: TableCalculation
    function: FunctionUsed | None = None
    calculation: Annotated[Text, Field(min_length=1)] | None = None
    nested_table_calculations: tuple[TableCalculation, ...] | None = None


KINDS = {"tableCalculation": "table calculation", "calculation": "calculation", "binSize": "bin", "function": "measure"}


def _kind_of_field(data: object) -> str:
    keys = data if isinstance(data, Mapping) else {to_camel(name) for name in getattr(data, "model_fields_set", ())}
    return next((kind for key, kind in KINDS.items() if key in keys), "dimension")


QueryField: TypeAlias = Annotated[
    Annotated[DimensionField, Tag("dimension")]
    | Annotated[MeasureField, Tag("measure")]
    | Annotated[CalculatedField, Tag("calculation")]
    | Annotated[BinField, Tag("bin")]
    | Annotated[TableCalcField, Tag("table calculation")],
    Discriminator(_kind_of_field),
]


class NamedFilterField(Wire):
    field_caption: Name


class MeasuredFilterField(Wire):
    field_caption: Name
    function: FunctionUsed


class CalculatedFilterField(Wire):
    calculation: Annotated[Text, Field(min_length=1)]


FilterField: TypeAlias = Annotated[
    Annotated[NamedFilterField, Tag("dimension")]
    | Annotated[MeasuredFilterField, Tag("measure")]
    | Annotated[CalculatedFilterField, Tag("calculation")],
    Discriminator(_kind_of_field),
]


class AnyFilter(Wire):
    """The base of all filters. Context filters apply first, then TOP filters, then the rest."""

    field: FilterField
    context: StrictBool = False


class SetFilter(AnyFilter):
    filter_type: Literal["SET"]
    values: Annotated[tuple[Scalar, ...], Field(min_length=1, max_length=1_000)]
    exclude: StrictBool = False


class MatchFilter(AnyFilter):
    filter_type: Literal["MATCH"]
    contains: Text | None = None
    starts_with: Text | None = None
    ends_with: Text | None = None
    exclude: StrictBool = False

    @model_validator(mode="after")
    def _has_a_pattern(self) -> MatchFilter:
        if not (self.contains or self.starts_with or self.ends_with):
            raise ValueError("a MATCH filter needs one of 'contains', 'startsWith', 'endsWith'")
        return self


class QuantitativeFilter(AnyFilter):
    quantitative_filter_type: Literal["RANGE", "MIN", "MAX", "ONLY_NULL", "ONLY_NON_NULL"]
    include_nulls: StrictBool | None = None

    def _hold_bounds(self, least: Number | str | None, greatest: Number | str | None, names: tuple[str, str]) -> None:
        """A RANGE needs both bounds, MIN and MAX one, the other kinds none."""
        kind = self.quantitative_filter_type
        wanted = {"RANGE": names, "MIN": names[:1], "MAX": names[1:]}.get(kind, ())
        given = tuple(name for name, bound in zip(names, (least, greatest), strict=True) if bound is not None)
        if given != wanted:
            raise ValueError(f"{kind} takes {' and '.join(wanted) or 'no bound'}, not {' and '.join(given) or 'none'}")
        if kind == "RANGE" and least > greatest:  # type: ignore[operator]
            raise ValueError(f"{names[0]} {least!r} is greater than {names[1]} {greatest!r}: swap them")
        if self.include_nulls is not None and not wanted:
            raise ValueError(f"{kind} takes no 'includeNulls': remove it")


class NumberFilter(QuantitativeFilter):
    filter_type: Literal["QUANTITATIVE_NUMERICAL"]
    min: Number | None = None
    max: Number | None = None

    @model_validator(mode="after")
    def _has_its_bounds(self) -> NumberFilter:
        self._hold_bounds(self.min, self.max, ("min", "max"))
        return self


class DayFilter(QuantitativeFilter):
    filter_type: Literal["QUANTITATIVE_DATE"]
    min_date: Day | None = None
    max_date: Day | None = None

    @model_validator(mode="after")
    def _has_its_bounds(self) -> DayFilter:
        self._hold_bounds(self.min_date, self.max_date, ("minDate", "maxDate"))
        return self


class RelativeDateFilter(AnyFilter):
    filter_type: Literal["DATE"]
    period_type: Literal["MINUTES", "HOURS", "DAYS", "WEEKS", "MONTHS", "QUARTERS", "YEARS"]
    date_range_type: Literal["CURRENT", "LAST", "LASTN", "NEXT", "NEXTN", "TODATE"]
    range_n: Positive | None = None
    anchor_date: Day | None = None
    include_nulls: StrictBool | None = None

    @model_validator(mode="after")
    def _counts_periods(self) -> RelativeDateFilter:
        if (self.range_n is not None) != (self.date_range_type in ("LASTN", "NEXTN")):
            raise ValueError(f"'rangeN' is required for LASTN and NEXTN only; this is {self.date_range_type}")
        return self


class TopFilter(AnyFilter):
    filter_type: Literal["TOP"]
    how_many: Positive
    field_to_measure: FilterField
    direction: Literal["TOP", "BOTTOM"] = "TOP"


class Condition(Wire):
    field_caption: Name
    function: FunctionUsed
    comparison: Literal["=", "<>", "<", "<=", ">", ">="]
    value: Number | Text


class ConditionFilter(AnyFilter):
    filter_type: Literal["CONDITION"]
    condition: Condition | None = None
    calculation: Annotated[Text, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _has_one_condition(self) -> ConditionFilter:
        if (self.condition is None) == (self.calculation is None):
            raise ValueError("a CONDITION filter takes either 'condition' or 'calculation'")
        return self


QueryFilter: TypeAlias = Annotated[
    SetFilter | MatchFilter | NumberFilter | DayFilter | RelativeDateFilter | TopFilter | ConditionFilter,
    Field(discriminator="filter_type"),
]


class Parameter(Wire):
    parameter_caption: Name
    value: Scalar


class Query(Wire):
    """A query. The gate's `query/…` rules check that its names exist and that its parts fit together."""

    fields: Annotated[tuple[QueryField, ...], Field(max_length=64)]
    filters: Annotated[tuple[QueryFilter, ...], Field(max_length=64)] = ()
    parameters: Annotated[tuple[Parameter, ...], Field(max_length=64)] = ()

    @model_validator(mode="after")
    def _has_a_field(self) -> Query:
        if not self.fields:
            raise ValueError("a query needs at least one field to show or to measure")
        return self


def output_name(field: QueryField) -> str:
    """The name of the field's column in the result."""
    function = getattr(field, "function", None)
    return field.field_alias or (f"{function}({field.field_caption})" if function else field.field_caption)
