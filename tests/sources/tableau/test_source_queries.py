"""What a plan asks is what Tableau is sent, and what comes back is typed as the metadata says."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.sources.tableau.calling import BY_REGION, ask, during, opened, ready, rows, table
from tests.sources.tableau.double.tableau import Tableau

from groundplan.contracts.facts import Complete, Truncated
from groundplan.contracts.plan import Limits
from groundplan.errors import StateInvalid, ToolError
from groundplan.sources.tableau.source import Tableau as Source


@pytest.fixture
def source(tableau: Tableau, tmp_path: Path) -> Source:
    return opened(tableau, tmp_path)


@pytest.mark.requirement("R46", "R44")
def test_totals_by_group_equal_sql_on_the_same_table(tableau: Tableau, source: Source) -> None:
    result = ask(source, BY_REGION)
    expected = tableau.sql('SELECT "Region", sum("Sales") FROM superstore GROUP BY 1')
    assert dict(rows(result)) == pytest.approx(dict(expected))
    facts = result.facts
    assert (facts.found, facts.rows, facts.state) == (True, 4, Complete())
    assert facts.table is not None
    assert [(column.name, column.kind) for column in facts.table.columns] == [
        ("Region", "text"),
        ("SUM(Sales)", "number"),
    ]
    assert [cited.label for cited in facts.sources] == [tableau.name]


@pytest.mark.requirement("R46")
@pytest.mark.parametrize(
    ("field", "type_", "kind", "sql"),
    [
        (
            {"fieldCaption": "Order Date", "function": "TRUNC_MONTH"},
            "date32[day]",
            "time",
            "date_trunc('month', \"Order Date\")",
        ),
        ({"fieldCaption": "Order Date", "function": "YEAR"}, "int64", "number", 'year("Order Date")'),
        ({"fieldCaption": "Order Date"}, "date32[day]", "time", '"Order Date"'),
        ({"fieldCaption": "Returned"}, "bool", "boolean", '"Returned"'),
        ({"fieldCaption": "Quantity", "function": "SUM"}, "int64", "number", 'sum("Quantity")'),
        ({"fieldCaption": "Quantity", "function": "AVG"}, "double", "number", 'avg("Quantity")'),
        ({"fieldCaption": "Sales", "function": "MEDIAN"}, "double", "number", 'median("Sales")'),
        ({"fieldCaption": "Customer Name", "function": "COUNTD"}, "int64", "number", 'count(DISTINCT "Customer Name")'),
        ({"fieldCaption": "Customer Name", "function": "MIN"}, "string", "text", 'min("Customer Name")'),
        ({"fieldCaption": "Order Date", "function": "MAX"}, "date32[day]", "time", 'max("Order Date")'),
        ({"fieldCaption": "Sales", "binSize": 500}, "double", "number", 'floor("Sales" / 500)'),
    ],
)
def test_a_column_has_the_type_of_its_field_and_function(
    tableau: Tableau, source: Source, field: dict[str, Any], type_: str, kind: str, sql: str
) -> None:
    result = ask(source, {"fields": [field]})
    assert result.facts.table is not None
    assert str(table(result).schema.types[0]) == type_
    assert result.facts.table.columns[0].kind == kind
    count = tableau.sql(f"SELECT count(*) FROM (SELECT DISTINCT {sql} FROM superstore)")[0][0]
    assert result.facts.rows == count


def test_a_month_knows_its_grain_and_is_a_day_of_the_calendar(tableau: Tableau, source: Source) -> None:
    month = {"fieldCaption": "Order Date", "function": "TRUNC_MONTH", "sortPriority": 1}
    result = ask(source, {"fields": [month, {"fieldCaption": "Sales", "function": "SUM"}]})
    assert result.facts.table is not None
    assert result.facts.table.columns[0].grain == "month"
    months = tableau.sql("SELECT DISTINCT date_trunc('month', \"Order Date\")::date FROM superstore ORDER BY 1")
    assert [row[:1] for row in rows(result)] == months
    assert months[0] == (date(2021, 1, 1),)


@pytest.mark.requirement("R46")
def test_an_alias_names_the_column_and_keeps_its_type(source: Source) -> None:
    fields = [
        {"fieldCaption": "Region", "fieldAlias": "Где"},
        {"fieldCaption": "Quantity", "function": "SUM", "fieldAlias": "pieces"},
        {"fieldCaption": "Profit", "binSize": 100, "fieldAlias": "Profit step"},
    ]
    result = ask(source, {"fields": fields})
    assert result.facts.table is not None
    assert [column.name for column in result.facts.table.columns] == ["Где", "pieces", "Profit step"]
    expected = pa.schema([("Где", pa.string()), ("pieces", pa.int64()), ("Profit step", pa.float64())])
    assert table(result).schema == expected


@pytest.mark.parametrize("kind", ["RANK", "RUNNING_TOTAL", "PERCENT_OF_TOTAL", "DIFFERENCE_FROM"])
def test_a_table_calculation_is_a_number(source: Source, kind: str) -> None:
    calculation = {"tableCalcType": kind, "dimensions": [{"fieldCaption": "Region"}]}
    measure = {"fieldCaption": "Sales", "function": "SUM", "tableCalculation": calculation}
    column = table(ask(source, {"fields": [{"fieldCaption": "Region"}, measure]}))["SUM(Sales)"]
    assert column.type == (pa.int64() if kind == "RANK" else pa.float64())
    if kind == "RANK":
        assert sorted(column.to_pylist()) == [1, 2, 3, 4]


@pytest.mark.requirement("R46")
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"fields": [{"fieldCaption": "Regoin"}]}, "did you mean 'Region'"),
        ({"fields": [{"fieldCaption": "Row ID"}]}, "has no field 'Row ID'"),
        (
            {**BY_REGION, "filters": [{"filterType": "SET", "field": {"fieldCaption": "Row ID"}, "values": [1]}]},
            "has no field 'Row ID'",
        ),
        (
            {
                "fields": [
                    {"fieldCaption": "Region", "fieldAlias": "a"},
                    {"fieldCaption": "State", "fieldAlias": "a"},
                ]
            },
            "are called 'a'",
        ),
    ],
    ids=["misspelt", "hidden", "hidden in a filter", "two of one name"],
)
def test_what_the_metadata_does_not_hold_is_never_asked(
    tableau: Tableau, source: Source, query: Any, said: str
) -> None:
    with pytest.raises(ToolError, match=said):
        ask(source, query)
    assert tableau.count("query-datasource") == 0


def test_a_step_asks_only_the_data_source_that_is_set_up(tableau: Tableau, source: Source) -> None:
    with pytest.raises(ToolError, match="is not the data source 'Superstore Datasource'"):
        ask(source, BY_REGION, name="Returns")
    assert tableau.count("query-datasource") == 0


@pytest.mark.requirement("R42", "R44")
def test_more_rows_than_allowed_are_cut_and_said(source: Source) -> None:
    facts = ask(source, {"fields": [{"fieldCaption": "City"}]}, limits=Limits(rows=10)).facts
    assert facts.rows == 10
    assert facts.state == Truncated(reason="the limit is 10 rows, and there are more")


def test_exactly_as_many_rows_as_allowed_are_whole(source: Source) -> None:
    facts = ask(source, BY_REGION, limits=Limits(rows=4)).facts
    assert (facts.rows, facts.state) == (4, Complete())


def test_rows_that_the_plan_limits_are_no_truncation(source: Source) -> None:
    facts = ask(source, BY_REGION, rowLimit=2).facts
    assert (facts.rows, facts.state) == (2, Complete())


def test_nothing_found_is_an_empty_table_with_its_columns(source: Source) -> None:
    nowhere = {"filterType": "SET", "field": {"fieldCaption": "Region"}, "values": ["Nowhere"]}
    result = ask(source, {**BY_REGION, "filters": [nowhere]})
    assert (result.facts.found, result.facts.rows) == (False, 0)
    assert table(result).column_names == ["Region", "SUM(Sales)"]


def test_a_person_sees_days_as_text_and_a_closed_source_has_no_rows(source: Source) -> None:
    query = {"fields": [{"fieldCaption": "Order Date", "function": "TRUNC_YEAR", "sortPriority": 1}]}

    async def shown() -> Any:
        result = await source.call(ready(query))
        assert result.facts.table is not None
        return result.facts.table, await source.fetch(result.facts.table, "a_run", 2, 5)

    ref, seen = during(source, shown)
    assert {row[0] for row in seen.rows} <= {None, "2021-01-01", "2022-01-01"}
    assert seen.row_count == ref.row_count
    with pytest.raises(StateInvalid, match="ask again"):
        source.restore(ref, "a_run")
