"""One query instead of many steps: whatever it says passes the gate and gives the rows that the steps would give."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import groundplan
from groundplan.asking.tables import plan_rules as rules
from groundplan.asking.tables.direct import plan as direct
from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.answer import Answer, ShownTable
from groundplan.contracts.contract import thaw
from groundplan.contracts.plan import Plan, Proposal
from groundplan.contracts.reading import Rank, Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.verdict import Passed
from groundplan.project import Project

START = date(2024, 1, 1)


def _orders() -> list[tuple[Any, ...]]:
    chance = random.Random(7)
    return [
        (
            number,
            START + timedelta(days=chance.randrange(500)),
            chance.choice(["North", "South", "East", None]),
            chance.choice(["store", "online"]),
            chance.randrange(1, 20),
            None if number % 17 == 0 else chance.randrange(100, 9_000) / 100,
        )
        for number in range(300)
    ]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    file = tmp_path_factory.mktemp("direct") / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "CREATE TABLE orders (number bigint, day date, region text, channel text, units bigint, revenue double)"
        )
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", _orders())
    with groundplan.open(file) as project:
        yield project


@pytest.fixture(scope="module")
def schema(opened: Project) -> SourceSchema:
    return opened.schemas["tables"]


FILTERS: tuple[dict[str, Any], ...] = (
    {"column": "region", "operator": "=", "values": ["North"]},
    {"column": "region", "operator": "in", "values": ["North", "East"]},
    {"column": "region", "operator": "!=", "values": ["North"]},
    {"column": "region", "operator": "not null"},
    {"column": "channel", "operator": "not in", "values": ["store"]},
    {"column": "channel", "operator": "contains", "values": ["LINE"]},
    {"column": "units", "operator": ">=", "values": [5]},
    {"column": "units", "operator": "<=", "values": [15]},
    {"column": "units", "operator": "<=", "values": [3]},
    {"column": "units", "operator": ">", "values": [5]},
    {"column": "revenue", "operator": "is null"},
    {"column": "day", "operator": "between", "values": ["2024-02-01", "2024-09-01"]},
    {"column": "day", "operator": ">=", "values": ["2024-03-15"]},
    {"column": "day", "operator": "<=", "values": ["2024-12-24"]},
)
GROUPS, MEASURES = ("region", "channel"), ("units", "revenue")
FUNCTIONS = (None, "sum", "mean", "median", "min", "max", "count", "count_distinct", "std")
INTENTS = ("comparison", "ranking", "share", "time_series", "total")


def required(id_: str, **value: Any) -> dict[str, Any]:
    return {"id": id_, "value": {"kind": id_.split(":")[0], **value}, "evidence": {"text": id_}}


def reading_of(intent: str, *requirements: dict[str, Any]) -> Reading:
    unique = {item["id"]: item for item in requirements}
    return Reading.model_validate(
        {
            "question": "a question",
            "tables": ["orders"],
            "requirements": list(unique.values()),
            "intents": [{"name": intent}],
        }
    )


@st.composite
def readings(draw: st.DrawFn) -> Reading:
    intent = draw(st.sampled_from(INTENTS))
    told = draw(st.lists(st.sampled_from(FILTERS), max_size=2, unique_by=str))
    asked = [required(f"filter:{f['column']}#{n}", **f) for n, f in enumerate(told)]
    asked += [required(f"group_by:{c}", column=c) for c in draw(st.lists(st.sampled_from(GROUPS), max_size=2))]
    if draw(st.booleans()):
        grain = draw(st.sampled_from(["day", "week", "month", "quarter", "year", "hour"]))
        asked.append(required("time:day", column="day", grain=grain))
    for column in draw(st.lists(st.sampled_from(MEASURES), max_size=2)):
        function = draw(st.sampled_from(FUNCTIONS))
        asked.append(required(f"metric:{column}", column=column, function=function, usual="sum"))
    if draw(st.booleans()):
        asked.append(required("metric:rows", function="count"))
    if intent == "share":
        asked.append(required("analysis:share", label="share"))
    if intent == "ranking":
        direction, limit = draw(st.sampled_from(["top", "bottom"])), draw(st.integers(1, 5))
        asked.append(required("rank:few", direction=direction, limit=limit))
    if draw(st.booleans()):
        chart = draw(st.sampled_from([None, "line", "bar", "area", "heatmap", "scatter"]))
        asked.append(required("output:chart", label="chart", chart=chart))
    asked.append(required("output:table", label="table"))
    return reading_of(intent, *asked)


def shown(project: Project, plan: Plan, reading: Reading) -> ShownTable:
    outcome = project.run(Proposal(reading=reading, plan=plan).model_dump_json()).outcome
    assert isinstance(outcome, Answer), outcome
    return outcome.tables[0]


def rows_of(table: ShownTable) -> list[tuple[Any, ...]]:
    """Without the place that a ranking step writes beside each row; a sum in another order may end otherwise."""
    kept = [place for place, name in enumerate(table.columns) if name != "rank"]
    cells = (tuple(row[place] for place in kept) for row in table.rows)
    rounded = (tuple(round(cell, 6) if isinstance(cell, float) else cell for cell in row) for row in cells)
    return sorted(rounded, key=str)


outcomes: Counter[str] = Counter()


@pytest.mark.requirement("R24", "R32")
@pytest.mark.requirement("R45", part="tools")
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reading=readings())
def test_a_query_passes_the_gate_and_gives_what_the_steps_give(
    reading: Reading, opened: Project, schema: SourceSchema, catalog: Catalog
) -> None:
    plan = direct.propose(reading, schema, "query_table")
    if plan is None:
        outcomes["none"] += 1
        return
    assert plan.strategy == "direct"
    assert plan.model_dump_json() == (direct.propose(reading, schema, "query_table") or plan).model_dump_json()
    verdict = check(plan, reading, catalog, {"tables": schema})
    assert isinstance(verdict, Passed), verdict.issues
    assert not [repair for repair in verdict.plan.repairs if repair.kind == "query"], "it should say all by itself"
    by_steps = rules.propose(reading, schema)
    if not isinstance(check(by_steps, reading, catalog, {"tables": schema}), Passed):
        outcomes["only direct"] += 1
        return
    outcomes["same"] += 1
    mine, theirs = shown(opened, plan, reading), shown(opened, by_steps, reading)
    assert mine.columns == tuple(name for name in theirs.columns if name != "rank")
    if any(isinstance(r.value, Rank) and r.value.limit == 1 for r in reading.requirements):
        assert {*rows_of(mine)} <= {*rows_of(theirs)}  # the steps show all that share the first place
    else:
        assert rows_of(mine) == rows_of(theirs)


def test_enough_of_those_readings_were_queries() -> None:
    if not outcomes:
        pytest.skip("runs after the property in the same process")
    assert outcomes["same"] >= 30, outcomes


TABLE = required("output:table", label="table")
REVENUE = required("metric:revenue", column="revenue", usual="sum")
REGION = required("group_by:region", column="region")
CHANNEL = required("group_by:channel", column="channel")
TOP = required("rank:top", direction="top", limit=2)
NORTH = required("filter:region", column="region", operator="=", values=["North"])
SUM = {"fieldCaption": "revenue", "function": "SUM", "fieldAlias": "revenue"}


def params_of(plan: Plan | None) -> Any:
    assert plan is not None
    return thaw(plan.steps[0].params)


@pytest.mark.requirement("R24")
def test_the_top_members_of_one_group_are_filtered_and_of_several_limited(schema: SourceSchema) -> None:
    one = params_of(direct.propose(reading_of("ranking", REVENUE, CHANNEL, TOP, NORTH, TABLE), schema, "query_table"))
    assert [told["filterType"] for told in one["query"]["filters"]] == ["SET", "TOP"]
    assert one["query"]["filters"][0]["context"] is True
    assert "rowLimit" not in one
    two = params_of(direct.propose(reading_of("ranking", REVENUE, CHANNEL, REGION, TOP, TABLE), schema, "query_table"))
    assert two["rowLimit"] == 2
    assert two["query"]["fields"] == [
        {"fieldCaption": "channel", "sortPriority": 2},
        {"fieldCaption": "region", "sortPriority": 3},
        {**SUM, "sortPriority": 1, "sortDirection": "DESC"},
    ]


@pytest.mark.requirement("R24")
def test_the_same_query_goes_to_tableau(schema: SourceSchema) -> None:
    reading = reading_of("comparison", REVENUE, REGION, TABLE)
    here = params_of(direct.propose(reading, schema, "query_table"))
    there = params_of(direct.propose(reading, schema, "tableau_query"))
    assert here.pop("table") == there.pop("datasource") == "orders"
    assert here == there


@pytest.mark.requirement("R24")
@pytest.mark.parametrize(
    ("least", "greatest", "grain"),
    [
        ("2025-01-01", "2025-02-01", "DAY"),
        ("2024-06-01", "2025-03-01", "WEEK"),
        ("2022-01-01", "2025-02-01", "MONTH"),
        ("2010-01-01", "2025-02-01", "QUARTER"),
        ("1950-01-01", "2025-02-01", "YEAR"),
        (None, None, "MONTH"),
    ],
)
def test_a_grain_that_nobody_named_follows_from_the_span(
    least: str | None, greatest: str | None, grain: str, schema: SourceSchema
) -> None:
    day = schema.tables[0].columns[1].model_copy(update={"least": least, "greatest": greatest, "cardinality": None})
    table = schema.tables[0].model_copy(update={"columns": (day, *schema.tables[0].columns[2:])})
    reading = reading_of("time_series", REVENUE, required("time:day", column="day"), TABLE)
    plan = direct.propose(reading, schema.model_copy(update={"tables": (table,)}), "query_table")
    assert params_of(plan)["query"]["fields"][0]["function"] == f"TRUNC_{grain}"


@pytest.mark.requirement("R24")
def test_dates_that_are_text_are_read_first_on_tables_only(
    schema: SourceSchema, catalog: Catalog, opened: Project
) -> None:
    day = schema.tables[0].columns[1].model_copy(update={"kind": "text", "type": "TEXT"})
    table = schema.tables[0].model_copy(update={"columns": (day, *schema.tables[0].columns[2:])})
    written = schema.model_copy(update={"tables": (table,)})
    reading = reading_of("time_series", REVENUE, required("time:day", column="day", grain="month"), TABLE)
    plan = direct.propose(reading, written, "query_table")
    assert plan is not None
    assert [step.tool for step in plan.steps] == ["parse_datetime", "query_table", "show_table"]
    assert isinstance(check(plan, reading, catalog, {"tables": written}), Passed)
    assert direct.propose(reading, written, "tableau_query") is None


OTHER = required("metric:units", column="units", usual="sum")


@pytest.mark.requirement("R24")
@pytest.mark.parametrize(
    ("intent", "asked"),
    [
        ("correlation", [REVENUE, OTHER, required("analysis:correlation", label="correlation")]),
        ("anomaly", [REVENUE, required("analysis:anomaly", label="anomaly")]),
        ("distribution", [REVENUE, required("analysis:distribution", label="distribution")]),
        ("detail", [required("analysis:detail", label="detail")]),
        ("comparison", [REVENUE, required("analysis:trend", label="trend")]),
        ("comparison", [REVENUE, required("filter:units", column="units", operator=">", values=[5])]),
        ("comparison", [required("metric:turnover", column="turnover")]),
        ("comparison", [required("metric:region", column="region", function="mean")]),
        ("time_series", [REVENUE, required("time:day", column="day", grain="hour")]),
        ("share", [required("metric:revenue", column="revenue", function="mean"), REGION]),
    ],
)
def test_what_one_query_cannot_say_is_left_to_others(intent: str, asked: list[Any], schema: SourceSchema) -> None:
    shares = [required("analysis:share", label="share")] if intent == "share" else []
    assert direct.propose(reading_of(intent, *asked, *shares, TABLE), schema, "query_table") is None
