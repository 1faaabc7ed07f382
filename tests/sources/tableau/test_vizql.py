"""A query has the words of the vendor's description and no others: its own client drops what it does not know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from groundplan.sources.tableau import vizql
from groundplan.sources.tableau.vizql import Query

SPEC = Path(__file__).parent / "spec/VizQLDataServiceOpenAPISchema.json"
SALES = {"fieldCaption": "Sales"}
TOTAL = {**SALES, "function": "SUM", "fieldAlias": "total"}
WHOLE: dict[str, Any] = {
    "fields": [
        {"fieldCaption": "Region", "sortPriority": 2},
        {**TOTAL, "sortPriority": 1, "sortDirection": "DESC"},
        {"fieldCaption": "Order Date", "fieldAlias": "month", "function": "TRUNC_MONTH"},
    ],
    "filters": [
        {"filterType": "SET", "field": {"fieldCaption": "State"}, "values": ["West", None, 3, 2.5, True]},
        {"filterType": "MATCH", "field": {"fieldCaption": "City"}, "startsWith": "San", "context": True},
        {
            "filterType": "QUANTITATIVE_NUMERICAL",
            "field": SALES,
            "quantitativeFilterType": "RANGE",
            "min": 1,
            "max": 2.5,
        },
        {
            "filterType": "QUANTITATIVE_DATE",
            "field": {"fieldCaption": "Order Date"},
            "quantitativeFilterType": "MIN",
            "minDate": "2024-02-29",
        },
        {
            "filterType": "TOP",
            "field": {"fieldCaption": "Region"},
            "howMany": 5,
            "direction": "BOTTOM",
            "fieldToMeasure": {**SALES, "function": "SUM"},
        },
    ],
}


@pytest.mark.requirement("R46")
def test_what_is_read_is_what_is_sent() -> None:
    query = Query.model_validate(WHOLE)
    assert query.wire() == WHOLE
    assert [type(one).__name__ for one in query.filters] == [
        "SetFilter",
        "MatchFilter",
        "NumberFilter",
        "DayFilter",
        "TopFilter",
    ]
    assert [field.name for field in query.fields] == ["Region", "total", "month"]


REFUSED: dict[str, dict[str, Any]] = {
    "a misspelt function": {**TOTAL, "function": "SUMM"},
    "a function in small letters": {**TOTAL, "function": "sum"},
    "a function without a name": {**SALES, "function": "SUM"},
    "a function and a formula": {**SALES, "function": "SUM", "calculation": "SUM([Sales])"},
    "a misspelt key": {**SALES, "functon": "SUM"},
    "our own spelling": {"field_caption": "Sales"},
    "no caption": {"fieldAlias": "Sales"},
    "a priority of nought": {**SALES, "sortPriority": 0},
    "a priority in words": {**SALES, "sortPriority": "1"},
}


@pytest.mark.requirement("R46", "R41")
@pytest.mark.parametrize("case", REFUSED)
def test_a_field_that_is_wrong_is_refused(case: str) -> None:
    with pytest.raises(ValidationError):
        Query.model_validate({"fields": [REFUSED[case]]})


REFUSED_FILTERS: dict[str, dict[str, Any]] = {
    "no values": {"filterType": "SET"},
    "an empty set": {"filterType": "SET", "values": []},
    "a number in words": {"filterType": "TOP", "howMany": "five", "fieldToMeasure": {**SALES, "function": "SUM"}},
    "by nothing": {"filterType": "TOP", "howMany": 5, "fieldToMeasure": SALES},
    "no pattern": {"filterType": "MATCH"},
    "half a range": {"filterType": "QUANTITATIVE_NUMERICAL", "quantitativeFilterType": "RANGE", "min": 1},
    "an empty range": {
        "filterType": "QUANTITATIVE_NUMERICAL",
        "quantitativeFilterType": "RANGE",
        "min": 2,
        "max": 1,
    },
    "a day that is none": {
        "filterType": "QUANTITATIVE_DATE",
        "quantitativeFilterType": "MIN",
        "minDate": "2024-02-30",
    },
    "a condition in words": {"filterType": "CONDITION", "calculation": "SUM([Sales]) > 1"},
    "a key of another filter": {"filterType": "SET", "values": [1], "min": 1},
}


@pytest.mark.requirement("R46", "R41")
@pytest.mark.parametrize("case", REFUSED_FILTERS)
def test_a_filter_that_is_wrong_is_refused(case: str) -> None:
    with pytest.raises(ValidationError):
        Query.model_validate({"fields": [SALES], "filters": [{"field": SALES, **REFUSED_FILTERS[case]}]})


@pytest.mark.requirement("R46")
def test_names_and_filters_are_there_once() -> None:
    with pytest.raises(ValidationError, match="two columns are called 'Sales'"):
        Query.model_validate({"fields": [SALES, {**TOTAL, "fieldAlias": "Sales"}]})
    one = {"filterType": "SET", "field": SALES, "values": [1]}
    with pytest.raises(ValidationError, match="two filters are on 'Sales'"):
        Query.model_validate({"fields": [SALES], "filters": [one, one]})
    with pytest.raises(ValidationError):
        Query.model_validate({"fields": []})


MODELS = {
    "MeasureField": vizql.QueryField,
    "CalculatedField": vizql.CalculatedField,
    "SetFilter": vizql.SetFilter,
    "MatchFilter": vizql.MatchFilter,
    "QuantitativeNumericalFilter": vizql.NumberFilter,
    "QuantitativeDateFilter": vizql.DayFilter,
    "TopNFilter": vizql.TopFilter,
    "DimensionFilterField": vizql.Caption,
    "MeasureFilterField": vizql.Measured,
    "Query": vizql.Query,
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
def test_every_property_and_every_word_is_the_vendors(name: str, spec: dict[str, Any]) -> None:
    theirs = _properties(spec, spec[name])
    assert {field.alias for field in MODELS[name].model_fields.values()} <= set(theirs)
    ours = MODELS[name].model_json_schema()
    ours = ours.get("$defs", {}).get(ours.get("$ref", "").rpartition("/")[2], ours)
    for key, told in ours["properties"].items():
        described = theirs[key]
        described = spec[described["$ref"].rpartition("/")[2]] if "$ref" in described else described
        if "enum" in described:
            assert _words(told) <= set(described["enum"]), key


def _words(schema: dict[str, Any]) -> set[str]:
    if "const" in schema:
        return {schema["const"]}
    return {*schema.get("enum", ())}.union(*map(_words, schema.get("anyOf", ())))
