"""What a query must keep to beyond the specification: the rules that the manual lists, refused as 400803."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.sources.tableau.double.catalogue import BIN_SIZE, PARAMETER, Catalogue
from tests.sources.tableau.double.errors import refused

Filter = dict[str, Any]


def hold(query: dict[str, Any], catalogue: Catalogue) -> None:
    for fault in (*_fields(query["fields"]), *_filters(query.get("filters", []), catalogue)):
        raise refused("400803", fault)


def bin_size(query: dict[str, Any]) -> float:
    """The value of the one parameter that the data source has."""
    size: Any = PARAMETER["value"]
    for given in query.get("parameters", []):
        if given["parameterCaption"] != BIN_SIZE:
            raise refused("400803", f"There is no parameter {given['parameterCaption']}.")
        size = given["value"]
        if size not in (50, 100, 150, 200) or isinstance(size, bool):
            raise refused("400803", f"The parameter {BIN_SIZE} goes from 50 to 200 in steps of 50.")
    return float(size)


def _fields(fields: list[dict[str, Any]]) -> Iterator[str]:
    if not fields:
        yield "You must query at least one field."
    asked = [_identity(field) for field in fields]
    if len(set(asked)) < len(asked):
        yield "You can't query the same field twice."
    priorities = [field["sortPriority"] for field in fields if "sortPriority" in field]
    if len(set(priorities)) < len(priorities):
        yield "You can't have duplicate sort priorities."
    if any(field.get("maxDecimalPlaces", 0) < 0 for field in fields):
        yield "The maxDecimalPlaces value must be greater or equal to 0."


def _identity(field: dict[str, Any]) -> tuple[str, ...]:
    parts = ("fieldCaption", "function", "calculation", "binSize", "tableCalculation")
    return tuple(str(field.get(part)) for part in parts)


def _filters(filters: list[Filter], catalogue: Catalogue) -> Iterator[str]:
    targets = [tuple(sorted(asked["field"].items())) for asked in filters]
    if len(set(targets)) < len(targets):
        yield "You can't have multiple filters for a single field."
    for asked in filters:
        kind, target = asked["filterType"], asked["field"]
        if kind in ("SET", "MATCH", "DATE") and set(target) != {"fieldCaption"}:
            yield f"A {kind} filter can't have a function or a calculation."
        if "fieldCaption" in target:
            known = catalogue.get(target["fieldCaption"])
            if known.kind == "BIN":
                yield "A bin can't be filtered on."
            if kind == "MATCH" and known.type != "STRING":
                yield "A MATCH filter needs a text field."
            if kind == "DATE" and known.type != "DATE":
                yield "A DATE filter needs a date field."
        yield from _values(asked)


def _values(asked: Filter) -> Iterator[str]:
    match asked["filterType"]:
        case "SET":
            if not asked["values"]:
                yield "The values of a SET filter can't be empty."
        case "MATCH":
            if not {"contains", "startsWith", "endsWith"} & set(asked):
                yield "A MATCH filter needs one of startsWith, endsWith, contains."
        case "QUANTITATIVE_NUMERICAL" | "QUANTITATIVE_DATE" as kind:
            yield from _bounds(asked, *(("min", "max") if kind == "QUANTITATIVE_NUMERICAL" else ("minDate", "maxDate")))
        case "DATE":
            if ("rangeN" in asked) != asked["dateRangeType"].endswith("N"):
                yield "rangeN goes with LASTN and NEXTN, and they with it."
            if not 1 <= asked.get("rangeN", 1) <= 10_000:
                yield "rangeN must be from 1 to 10000."
        case "TOP":
            if not 1 <= asked["howMany"] <= 1_000_000:
                yield "howMany must be at least 1."
        case "CONDITION":
            if ("condition" in asked) == ("calculation" in asked):
                yield "A CONDITION filter has either a condition or a calculation."


def _bounds(asked: Filter, low: str, high: str) -> Iterator[str]:
    needed = {"RANGE": {low, high}, "MIN": {low}, "MAX": {high}}.get(asked["quantitativeFilterType"], set())
    if {low, high} & set(asked) != needed:
        yield f"A filter {asked['quantitativeFilterType']} needs exactly: {', '.join(sorted(needed)) or 'no bound'}."
