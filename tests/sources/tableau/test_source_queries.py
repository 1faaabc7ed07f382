"""What a plan asks is what Tableau is sent, and what comes back is typed as the metadata says."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.sources.tableau.calling import BY_REGION, SALES, ask, during, opened, ready, rows, table
from tests.sources.tableau.double.tableau import Tableau

from groundplan.contracts.facts import Complete
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
        ("sales", "number"),
    ]
    assert [cited.label for cited in facts.sources] == [tableau.name]


@pytest.mark.requirement("R46")
@pytest.mark.parametrize(
    ("group", "type_", "kind", "sql"),
    [
        ({"group_by": ["Order Date"], "grain": "month"}, "date32[day]", "time", "date_trunc('month', \"Order Date\")"),
        ({"group_by": ["Order Date"]}, "date32[day]", "time", '"Order Date"'),
        ({"group_by": ["Returned"]}, "bool", "boolean", '"Returned"'),
    ],
)
def test_a_group_has_the_type_of_its_field(
    tableau: Tableau, source: Source, group: dict[str, Any], type_: str, kind: str, sql: str
) -> None:
    result = ask(source, {**group, "metrics": [SALES]})
    assert result.facts.table is not None
    assert str(table(result).schema.types[0]) == type_
    assert result.facts.table.columns[0].kind == kind
    count = tableau.sql(f"SELECT count(*) FROM (SELECT DISTINCT {sql} FROM superstore)")[0][0]
    assert result.facts.rows == count


@pytest.mark.requirement("R46")
@pytest.mark.parametrize(
    ("column", "function", "type_", "kind", "sql"),
    [
        ("Quantity", "sum", "int64", "number", 'sum("Quantity")'),
        ("Quantity", "mean", "double", "number", 'avg("Quantity")'),
        ("Sales", "median", "double", "number", 'median("Sales")'),
        ("Customer Name", "count_distinct", "int64", "number", 'count(DISTINCT "Customer Name")'),
        ("Customer Name", "min", "string", "text", 'min("Customer Name")'),
        ("Order Date", "max", "date32[day]", "time", 'max("Order Date")'),
        ("Sales", "std", "double", "number", 'stddev_samp("Sales")'),
    ],
)
def test_a_measure_has_the_type_of_its_function(
    tableau: Tableau, source: Source, column: str, function: str, type_: str, kind: str, sql: str
) -> None:
    result = ask(source, {"metrics": [{"column": column, "function": function, "as": "сколько"}]})
    assert result.facts.table is not None
    assert str(table(result).schema.types[0]) == type_
    assert [(one.name, one.kind) for one in result.facts.table.columns] == [("сколько", kind)]
    ((expected,),) = tableau.sql(f"SELECT {sql} FROM superstore")
    assert rows(result) == [(pytest.approx(expected) if kind == "number" else expected,)]


def test_a_month_knows_its_grain_and_is_a_day_of_the_calendar(tableau: Tableau, source: Source) -> None:
    result = ask(source, {"group_by": ["Order Date"], "grain": "month", "metrics": [SALES]})
    assert result.facts.table is not None
    assert result.facts.table.columns[0].grain == "month"
    months = tableau.sql("SELECT DISTINCT date_trunc('month', \"Order Date\")::date FROM superstore ORDER BY 1")
    assert [row[:1] for row in rows(result)] == months
    assert months[0] == (date(2021, 1, 1),)


@pytest.mark.requirement("R46")
@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({**BY_REGION, "group_by": ["Regoin"]}, "did you mean 'Region'"),
        ({**BY_REGION, "group_by": ["Row ID"]}, "has no field 'Row ID'"),
        ({"metrics": [{**SALES, "column": "Row ID"}]}, "has no field 'Row ID'"),
        (
            {**BY_REGION, "conditions": [{"column": "Row ID", "operator": "=", "values": [1]}]},
            "has no field 'Row ID'",
        ),
        ({**BY_REGION, "metrics": [{**SALES, "as": "Region"}]}, "are called 'Region'"),
    ],
    ids=["misspelt", "hidden", "hidden in a measure", "hidden in a filter", "two of one name"],
)
def test_what_the_metadata_does_not_hold_is_never_asked(
    tableau: Tableau, source: Source, params: Any, said: str
) -> None:
    with pytest.raises(ToolError, match=said):
        ask(source, params)
    assert tableau.count("query-datasource") == 0


@pytest.mark.requirement("R24", "R46")
def test_the_query_is_told_as_it_was_sent_and_before_it_is(tableau: Tableau, source: Source) -> None:
    params = {**BY_REGION, "conditions": [{"column": "Category", "operator": "=", "values": ["Мебель"]}]}

    async def both() -> tuple[str, str]:
        before = await source.compiled(params)
        return before, (await source.call(ready(params))).facts.sent

    before, sent = during(source, both)
    assert before == sent
    (body,) = tableau.bodies("query-datasource")
    assert json.loads(sent) == json.loads(body)["query"]


def test_a_step_asks_only_the_data_source_that_is_set_up(tableau: Tableau, source: Source) -> None:
    with pytest.raises(ToolError, match="is not the data source 'Superstore Datasource'"):
        ask(source, BY_REGION, name="Returns")
    assert tableau.count("query-datasource") == 0


@pytest.mark.requirement("R42", "R44")
def test_more_groups_than_allowed_are_refused(source: Source) -> None:
    """Later steps rank and add up what comes back, so a part of the groups would give other numbers."""
    with pytest.raises(ToolError, match="more than 10 groups"):
        ask(source, {"group_by": ["City"], "metrics": [SALES]}, limits=Limits(rows=10))


def test_exactly_as_many_rows_as_allowed_are_whole(source: Source) -> None:
    facts = ask(source, BY_REGION, limits=Limits(rows=4)).facts
    assert (facts.rows, facts.state) == (4, Complete())


@pytest.mark.parametrize("groups", [["City"], ["City", "Segment"]])
def test_groups_that_the_plan_cuts_are_whole(source: Source, groups: list[str]) -> None:
    facts = ask(source, {"group_by": groups, "metrics": [SALES], "top": {"limit": 2}}, limits=Limits(rows=10)).facts
    assert (facts.rows, facts.state) == (2, Complete())


def test_nothing_found_is_an_empty_table_with_its_columns(source: Source) -> None:
    nowhere = {"conditions": [{"column": "Region", "operator": "=", "values": ["Nowhere"]}]}
    result = ask(source, {**BY_REGION, **nowhere})
    assert (result.facts.found, result.facts.rows) == (False, 0)
    assert table(result).column_names == ["Region", "sales"]


def test_a_person_sees_days_as_text_and_a_closed_source_has_no_rows(source: Source) -> None:
    query = {"group_by": ["Order Date"], "grain": "year", "metrics": [SALES]}

    async def shown() -> Any:
        result = await source.call(ready(query))
        assert result.facts.table is not None
        return result.facts.table, await source.fetch(result.facts.table, "a_run", 2, 5)

    ref, seen = during(source, shown)
    assert {row[0] for row in seen.rows} <= {None, "2021-01-01", "2022-01-01"}
    assert seen.row_count == ref.row_count
    with pytest.raises(StateInvalid, match="ask again"):
        source.restore(ref, "a_run")
