"""The same query on a table and on the double of Tableau, which answers with SQL of its own: the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import strategies as st
from tests.sources.tableau.double.superstore import connect

from groundplan.sources.tables.source import Tables

SALES = {"fieldCaption": "Sales", "function": "SUM"}
GROUPS: tuple[dict[str, Any], ...] = (
    {"fieldCaption": "Region"},
    {"fieldCaption": "Segment"},
    {"fieldCaption": "City"},
    {"fieldCaption": "Order Date", "function": "TRUNC_QUARTER"},
    {"fieldCaption": "Ship Date", "function": "MONTH"},
    {"fieldCaption": "Profit", "binSize": 50, "fieldAlias": "from"},
)
MEASURES: tuple[dict[str, Any], ...] = (
    {"fieldCaption": "Quantity", "function": "AVG"},
    {"fieldCaption": "Profit", "function": "MEDIAN"},
    {"fieldCaption": "Customer Name", "function": "COUNTD"},
    {"fieldCaption": "Discount", "function": "COUNT"},
    {"fieldCaption": "Order Date", "function": "MAX"},
    {"fieldCaption": "Sales", "function": "STDEV"},
)
CALCULATIONS: tuple[dict[str, Any], ...] = (
    {"tableCalcType": "RUNNING_TOTAL"},
    {"tableCalcType": "RANK"},
    {"tableCalcType": "RANK", "rankType": "DENSE", "direction": "ASC"},
    {"tableCalcType": "RANK", "rankType": "MODIFIED COMPETITION"},
    {"tableCalcType": "PERCENT_OF_TOTAL"},
    {"tableCalcType": "DIFFERENCE_FROM"},
    {"tableCalcType": "DIFFERENCE_FROM", "relativeTo": "FIRST"},
    {"tableCalcType": "DIFFERENCE_FROM", "relativeTo": "LAST"},
    {"tableCalcType": "MOVING_CALCULATION", "aggregation": "AVG", "previous": 1, "next": 1},
)


def _kept(type_: str, caption: str, **more: Any) -> dict[str, Any]:
    return {"filterType": type_, "field": {"fieldCaption": caption}, **more}


FILTERS: tuple[dict[str, Any], ...] = (
    _kept("SET", "Region", values=["West", "South", None]),
    _kept("SET", "Segment", values=["Consumer"], exclude=True),
    _kept("SET", "Segment", values=["Consumer", None], exclude=True),
    _kept("MATCH", "City", contains="AN", exclude=True),
    _kept("MATCH", "City", startsWith="san", endsWith="o"),
    _kept("QUANTITATIVE_NUMERICAL", "Quantity", quantitativeFilterType="RANGE", min=2, max=4),
    _kept("QUANTITATIVE_NUMERICAL", "Discount", quantitativeFilterType="ONLY_NON_NULL"),
    _kept("QUANTITATIVE_DATE", "Order Date", quantitativeFilterType="MIN", minDate="2022-03-05"),
    _kept("DATE", "Order Date", periodType="QUARTERS", dateRangeType="LASTN", rangeN=6, anchorDate="2024-05-15"),
    _kept("DATE", "Ship Date", periodType="WEEKS", dateRangeType="TODATE", anchorDate="2024-05-15"),
    _kept("TOP", "City", howMany=4, fieldToMeasure=SALES),
    _kept("TOP", "State", howMany=3, direction="BOTTOM", fieldToMeasure={"fieldCaption": "Profit", "function": "AVG"}),
    _kept("CONDITION", "Category", condition={**SALES, "comparison": ">", "value": 100_000}),
    {**_kept("QUANTITATIVE_NUMERICAL", "Sales", quantitativeFilterType="MIN", min=500), "field": SALES},
    {
        **_kept("QUANTITATIVE_NUMERICAL", "Order Date", quantitativeFilterType="RANGE", min=2022, max=2023),
        "field": {"fieldCaption": "Order Date", "function": "YEAR"},
    },
)


@st.composite
def queries(draw: st.DrawFn) -> dict[str, Any]:
    captions = {"unique_by": lambda one: one["fieldCaption"]}
    groups = draw(st.lists(st.sampled_from(GROUPS), min_size=1, max_size=3, **captions))  # type: ignore[arg-type]
    measures = draw(st.lists(st.sampled_from(MEASURES), max_size=2, unique_by=str))
    fields = [*groups, SALES, *measures]
    along = [one for one in groups if "binSize" not in one]
    if along and draw(st.booleans()):
        told = {**draw(st.sampled_from(CALCULATIONS)), "dimensions": along[:1]}
        fields.append({**SALES, "fieldAlias": "calculated", "tableCalculation": told})
    filters = draw(st.lists(st.sampled_from(FILTERS), max_size=3, unique_by=lambda one: str(one["field"])))
    inside = [{**one, "context": True} if _of_rows(one) and draw(st.booleans()) else one for one in filters]
    return {"fields": fields, **({"filters": inside} if inside else {})}


def _of_rows(one: dict[str, Any]) -> bool:
    """How TOP filters act inside a context is said nowhere, and the gate lets none pass."""
    return one["field"] != SALES and one["filterType"] not in ("TOP", "CONDITION")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Tables, duckdb.DuckDBPyConnection]]:
    file: Path = tmp_path_factory.mktemp("parity") / "store.duckdb"
    double = connect()
    double.execute(f"ATTACH '{file}' AS copy")
    double.execute("CREATE TABLE copy.superstore AS SELECT * FROM superstore")
    double.execute("DETACH copy")
    yield Tables.open(file), double
    double.close()


def _same(values: list[Any]) -> tuple[Any, ...]:
    return tuple(round(value, 5) if isinstance(value, float) else value for value in values)
