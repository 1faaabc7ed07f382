"""The typed query: exactly the vendor's wire format, and strict where the vendor's own client is not."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from groundplan.contracts import query as contract
from groundplan.contracts.query import FunctionName, Query, RelativeDateFilter, output_name
from groundplan.contracts.query_meaning import FUNCTIONS, RowCondition, relative_period, row_conditions

SPEC = Path(__file__).parents[1] / "sources/tableau/spec/VizQLDataServiceOpenAPISchema.json"
SALES = {"fieldCaption": "Sales"}
ALONG = [{"fieldCaption": "Order Date", "function": "TRUNC_MONTH"}]

WHOLE: dict[str, Any] = {
    "fields": [
        {"fieldCaption": "Region", "sortPriority": 2},
        {"fieldCaption": "Sales", "function": "SUM", "fieldAlias": "total", "maxDecimalPlaces": 2},
        {"fieldCaption": "Order Date", "function": "TRUNC_MONTH", "sortDirection": "DESC", "sortPriority": 1},
        {"fieldCaption": "Margin", "calculation": "SUM([Profit]) / SUM([Sales])"},
        {"fieldCaption": "Profit", "binSize": 10},
        {
            "fieldCaption": "Sales",
            "function": "SUM",
            "tableCalculation": {
                "tableCalcType": "RUNNING_TOTAL",
                "dimensions": ALONG,
                "restartEvery": ALONG[0],
                "secondaryTableCalculation": {"tableCalcType": "RANK", "dimensions": [], "rankType": "DENSE"},
            },
            "nestedTableCalculations": [{"tableCalcType": "NESTED", "dimensions": [], "fieldCaption": "inner"}],
        },
    ],
    "filters": [
        {"filterType": "SET", "field": {"fieldCaption": "Region"}, "values": ["West", None, 3, 2.5, True]},
        {"filterType": "MATCH", "field": {"fieldCaption": "City"}, "startsWith": "San", "exclude": True},
        {
            "filterType": "QUANTITATIVE_NUMERICAL",
            "field": {"fieldCaption": "Sales", "function": "SUM"},
            "quantitativeFilterType": "RANGE",
            "min": 1,
            "max": 2.0,
            "includeNulls": False,
        },
        {
            "filterType": "QUANTITATIVE_DATE",
            "field": {"fieldCaption": "Order Date"},
            "quantitativeFilterType": "MIN",
            "minDate": "2024-02-29",
            "context": True,
        },
        {
            "filterType": "DATE",
            "field": {"fieldCaption": "Ship Date"},
            "periodType": "MONTHS",
            "dateRangeType": "LASTN",
            "rangeN": 3,
            "anchorDate": "2024-05-15",
        },
        {
            "filterType": "TOP",
            "field": {"fieldCaption": "State"},
            "howMany": 10,
            "fieldToMeasure": {"fieldCaption": "Sales", "function": "SUM"},
            "direction": "BOTTOM",
        },
        {
            "filterType": "CONDITION",
            "field": {"calculation": "[Segment]"},
            "condition": {"fieldCaption": "Sales", "function": "SUM", "comparison": "<>", "value": 5},
        },
    ],
    "parameters": [{"parameterCaption": "Discount", "value": 0.1}],
}


@pytest.mark.requirement("R46")
def test_what_comes_in_goes_out_to_the_letter() -> None:
    query = Query.model_validate(WHOLE)
    assert query.wire() == WHOLE
    text = query.model_dump_json(by_alias=True, exclude_unset=True)
    assert json.dumps(json.loads(text), sort_keys=True) == json.dumps(WHOLE, sort_keys=True)
    assert Query.model_validate_json(text) == query


REFUSED: dict[str, tuple[Any, str]] = {
    "a misspelt function": ({"fieldCaption": "Sales", "function": "SUMM"}, "did you mean 'SUM'?"),
    "a function in small letters": ({"fieldCaption": "Sales", "function": "sum"}, "did you mean 'SUM'?"),
    "a function with a formula": (
        {"fieldCaption": "Sales", "function": "SUM", "calculation": "1"},
        "'function' and 'calculation' cannot be combined: keep one of them",
    ),
    "a function with bins": ({"fieldCaption": "Sales", "function": "SUM", "binSize": 5}, "keep one of them"),
    "half a bin": ({"fieldCaption": "Sales", "binSize": 0.5}, "greater than or equal to 1"),
    "no bin": ({"fieldCaption": "Sales", "binSize": 0}, "greater than or equal to 1"),
    "a misspelt key": ({"fieldCaption": "Sales", "functon": "SUM"}, "did you mean 'function'?"),
    "our own spelling": ({"field_caption": "Sales"}, "did you mean 'fieldCaption'?"),
    "no caption": ({"function": "SUM"}, "Field required"),
    "a priority of nought": ({"fieldCaption": "Sales", "sortPriority": 0}, "greater than or equal to 1"),
    "a priority in words": ({"fieldCaption": "Sales", "sortPriority": "1"}, "valid integer"),
    "a table calculation that there is not": (
        {"fieldCaption": "Sales", "tableCalculation": {"tableCalcType": "RANKS", "dimensions": []}},
        "'RANK'",
    ),
    "a key of another table calculation": (
        {"fieldCaption": "Sales", "tableCalculation": {"tableCalcType": "RANK", "dimensions": [], "previous": 2}},
        "there is no key 'previous' here",
    ),
}


@pytest.mark.requirement("R46", "R41")
@pytest.mark.parametrize("case", REFUSED)
def test_a_field_that_is_wrong_is_refused_in_words(case: str) -> None:
    field, said = REFUSED[case]
    with pytest.raises(ValidationError) as caught:
        Query.model_validate({"fields": [field]})
    assert said in str(caught.value)
    assert caught.value.error_count() == 1


REFUSED_FILTERS: dict[str, tuple[dict[str, Any], str]] = {
    "no values": ({"filterType": "SET"}, "values\n  Field required"),
    "an empty set": ({"filterType": "SET", "values": []}, "at least 1 item"),
    "a number in words": ({"filterType": "TOP", "howMany": "five", "fieldToMeasure": SALES}, "valid integer"),
    "nought of the top": ({"filterType": "TOP", "howMany": 0, "fieldToMeasure": SALES}, "greater than or equal to 1"),
    "no pattern": ({"filterType": "MATCH"}, "'contains', 'startsWith', 'endsWith'"),
    "half a range": (
        {"filterType": "QUANTITATIVE_NUMERICAL", "quantitativeFilterType": "RANGE", "min": 1},
        "RANGE takes min and max, not min",
    ),
    "a range upside down": (
        {"filterType": "QUANTITATIVE_NUMERICAL", "quantitativeFilterType": "RANGE", "min": 2, "max": 1},
        "swap them",
    ),
    "a bound of nothing": (
        {"filterType": "QUANTITATIVE_DATE", "quantitativeFilterType": "ONLY_NULL", "minDate": "2024-01-01"},
        "ONLY_NULL takes no bound",
    ),
    "a day that is none": (
        {"filterType": "QUANTITATIVE_DATE", "quantitativeFilterType": "MIN", "minDate": "2024-02-30"},
        "write one such as 2025-01-31",
    ),
    "the last few of how many": (
        {"filterType": "DATE", "periodType": "DAYS", "dateRangeType": "LASTN"},
        "'rangeN' is required for LASTN",
    ),
    "this month of how many": (
        {"filterType": "DATE", "periodType": "DAYS", "dateRangeType": "CURRENT", "rangeN": 2},
        "'rangeN' is required for LASTN",
    ),
    "no condition": ({"filterType": "CONDITION"}, "'condition' or 'calculation'"),
    "no type": ({"values": [1]}, "'filterType'"),
    "a key of another filter": ({"filterType": "SET", "values": [1], "min": 1}, "there is no key 'min' here"),
}


@pytest.mark.requirement("R46", "R41")
@pytest.mark.parametrize("case", REFUSED_FILTERS)
def test_a_filter_that_is_wrong_is_refused_in_words(case: str) -> None:
    told, said = REFUSED_FILTERS[case]
    with pytest.raises(ValidationError) as caught:
        Query.model_validate({"fields": [SALES], "filters": [{"field": SALES, **told}]})
    assert said in str(caught.value)
    assert caught.value.error_count() == 1


@pytest.mark.requirement("R46")
def test_a_query_has_a_field_and_nothing_unknown() -> None:
    with pytest.raises(ValidationError, match="at least one field"):
        Query.model_validate({"fields": []})
    with pytest.raises(ValidationError, match="there is no key 'sql' here"):
        Query.model_validate({"fields": [SALES], "sql": "SELECT 1"})


MODELS = {
    "DimensionField": contract.DimensionField,
    "MeasureField": contract.MeasureField,
    "CalculatedField": contract.CalculatedField,
    "BinField": contract.BinField,
    "TableCalcField": contract.TableCalcField,
    "CustomTableCalcSpecification": contract.CustomCalculation,
    "NestedTableCalcSpecification": contract.NestedCalculation,
    "DifferenceTableCalcSpecification": contract.Difference,
    "PercentOfTotalTableCalcSpecification": contract.PercentOfTotal,
    "RankTableCalcSpecification": contract.Ranking,
    "PercentileTableCalcSpecification": contract.Percentile,
    "RunningTotalTableCalcSpecification": contract.RunningTotal,
    "MovingTableCalcSpecification": contract.MovingCalculation,
    "TableCalcFieldReference": contract.FieldReference,
    "TableCalcCustomSort": contract.CustomSort,
    "SetFilter": contract.SetFilter,
    "MatchFilter": contract.MatchFilter,
    "QuantitativeNumericalFilter": contract.NumberFilter,
    "QuantitativeDateFilter": contract.DayFilter,
    "RelativeDateFilter": contract.RelativeDateFilter,
    "TopNFilter": contract.TopFilter,
    "ConditionFilter": contract.ConditionFilter,
    "ConditionalFilterCondition": contract.Condition,
    "DimensionFilterField": contract.NamedFilterField,
    "MeasureFilterField": contract.MeasuredFilterField,
    "CalculatedFilterField": contract.CalculatedFilterField,
    "Parameter": contract.Parameter,
    "Query": contract.Query,
}


@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    described: dict[str, Any] = json.loads(SPEC.read_text(encoding="utf-8"))["components"]["schemas"]
    return described


def _properties(spec: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Its own and those of what it is made from."""
    if "$ref" in schema:
        return _properties(spec, spec[schema["$ref"].rpartition("/")[2]])
    found: dict[str, Any] = {}
    for part in schema.get("allOf", ()):
        found |= _properties(spec, part)
    return {**found, **{name: told for name, told in schema.get("properties", {}).items() if told or name not in found}}


@pytest.mark.requirement("R46")
@pytest.mark.parametrize("name", MODELS)
def test_every_part_has_the_properties_of_the_vendors_description(name: str, spec: dict[str, Any]) -> None:
    ours = {field.alias for field in MODELS[name].model_fields.values()}
    assert ours == set(_properties(spec, spec[name]))


@pytest.mark.requirement("R46")
@pytest.mark.parametrize("name", MODELS)
def test_every_word_list_is_the_vendors(name: str, spec: dict[str, Any]) -> None:
    ours = MODELS[name].model_json_schema()
    ours = ours.get("$defs", {}).get(ours.get("$ref", "").rpartition("/")[2], ours)
    for key, told in _properties(spec, spec[name]).items():
        told = spec[told["$ref"].rpartition("/")[2]] if "$ref" in told else told
        if "enum" in told and key not in ("tableCalcType", "filterType"):  # there they tell the parts from each other
            assert _words(ours["properties"][key]) == set(told["enum"]), key


def _words(schema: dict[str, Any]) -> set[str]:
    inner = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return set(schema.get("enum") or inner[0]["enum"])


@pytest.mark.requirement("R46")
def test_functions_and_kinds_are_the_vendors(spec: dict[str, Any]) -> None:
    def told(model: Any, key: str) -> set[str]:
        return set(get_args(model.model_fields[key].annotation))

    assert set(get_args(FunctionName)) == set(spec["Function"]["enum"])
    filters = [m for m in MODELS.values() if "filter_type" in m.model_fields]
    kinds = {kind for m in filters for kind in told(m, "filter_type")}
    assert kinds == set(spec["Filter"]["properties"]["filterType"]["enum"])
    calculations = [m for m in MODELS.values() if "table_calc_type" in m.model_fields]
    types = {kind for m in calculations for kind in told(m, "table_calc_type")}
    assert types == set(spec["TableCalcSpecification"]["properties"]["tableCalcType"]["enum"])
    assert set(FUNCTIONS.values()) <= set(get_args(FunctionName))


@pytest.mark.requirement("R46")
def test_a_column_is_called_by_alias_function_or_caption() -> None:
    query = Query.model_validate(WHOLE)
    assert [output_name(field) for field in query.fields] == [
        "Region",
        "total",
        "TRUNC_MONTH(Order Date)",
        "Margin",
        "Profit",
        "SUM(Sales)",
    ]


def test_a_filter_says_what_filter_rows_would_say() -> None:
    said = [row_conditions(one) for one in Query.model_validate(WHOLE).filters]
    assert said == [
        (RowCondition("Region", "in", ("West", None, 3, 2.5, True)),),
        (),
        (),
        (RowCondition("Order Date", ">=", ("2024-02-29",)),),
        (RowCondition("Ship Date", "between", ("2024-03-01", "2024-06-01")),),
        (),
        (),
    ]


UNITS = ["DAYS", "WEEKS", "MONTHS", "QUARTERS", "YEARS"]


@given(
    anchor=st.dates(date(1900, 1, 1), date(2100, 12, 31)),
    unit=st.sampled_from(UNITS),
    count=st.integers(1, 400),
)
def test_relative_periods_join_without_a_gap(anchor: date, unit: str, count: int) -> None:
    def period(kind: str) -> tuple[date, date]:
        told = {"rangeN": count} if kind.endswith("N") else {}
        found = relative_period(
            RelativeDateFilter.model_validate(
                {
                    "filterType": "DATE",
                    "field": SALES,
                    "periodType": unit,
                    "dateRangeType": kind,
                    "anchorDate": anchor.isoformat(),
                    **told,
                }
            )
        )
        assert found is not None
        return found

    (first, end), last, following = period("CURRENT"), period("LAST"), period("NEXT")
    assert first <= anchor < end
    assert last[1] == first
    assert following[0] == end
    assert period("LASTN")[1] == end
    assert period("LASTN")[0] <= first
    assert period("NEXTN")[0] == first
    assert period("NEXTN")[1] >= end
    assert period("TODATE") == (first, anchor + timedelta(days=1))
    assert unit != "WEEKS" or first.weekday() == 0
