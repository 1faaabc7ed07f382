"""Document A: the walkthrough, several analyses in one question, a plan sent back, and tools of one's own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from groundplan.checking.gate import check
from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.roles import Roles
from groundplan.contracts.shortlist import Candidate, Shortlist
from groundplan.contracts.verdict import Passed, Refused
from groundplan.errors import UsageError
from groundplan.project import AsyncProject, Project
from groundplan.settings import load_settings, own_tools, trust_folder, wanted_by
from tests.llm.scripted import PROBED, says, scripted

SALES = """
    COPY (SELECT DATE '2023-01-01' + CAST(i AS INTEGER) AS date, ['North', 'South', 'West'][1 + i % 3] AS region,
        ['Toys', 'Tools'][1 + (i // 3) % 2] AS product_category, 5 + (i * 37) % 90 AS units,
        round(100 + 0.5 * i + (i * 53) % 400, 2) AS revenue, round(60 + 0.3 * i + (i * 31) % 200, 2) AS cost
    FROM range(730) t(i)) TO '{}' (HEADER)
"""
BY_REGION = "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY 1"
SEVERAL: dict[str, tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]] = {
    "revenue by region and its distribution": (
        {"sql": BY_REGION, "also": ["SELECT revenue FROM sales"], "analyses": ["distribution"]},
        ("aggregate", "distribution_stats"),
        ("bar", "histogram"),
    ),
    "summary statistics and a histogram of units": (
        {"sql": "SELECT units FROM sales", "analyses": ["summary", "distribution"], "chart": "histogram"},
        ("compute_summary_stats", "distribution_stats"),
        ("histogram",),
    ),
    "revenue by region; also the correlation of revenue and cost": (
        {"sql": BY_REGION, "also": ["SELECT corr(revenue, cost) FROM sales"], "analyses": ["correlation"]},
        ("aggregate", "correlate"),
        ("bar", "scatter"),
    ),
}
"""A question with what a model replies, the tools that its analyses need, and its charts."""


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("a") / "sales.csv"
    duckdb.sql(SALES.format(file))
    return file


@pytest.fixture(scope="module")
def project(sales: Path) -> Iterator[Project]:
    with Project(sales) as opened:
        yield opened


def ask(place: Path, question: str, *replies: object, tools: dict[str, bytes] | None = None) -> Any:
    """The outcome with a model that gives these replies."""
    pytest.importorskip("openai", reason="needs the extra `llm`")

    async def run() -> Any:
        said = [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies]
        async with scripted(says(PROBED), *map(says, said)) as server:
            models = [server.endpoint()]
            project = await AsyncProject.open(place, models=models, roles=Roles(accept="first"), tools=tools)
            try:
                return await project.ask(question)
            finally:
                await project.close()

    return asyncio.run(run())


def is_whole(outcome: Any, question: str) -> None:
    """Each analysis has its steps, its chart and its sentence; the table of each is in the answer."""
    _, tools, charts = SEVERAL[question]
    assert isinstance(outcome, Answer), outcome.text
    assert outcome.plan is not None
    assert {*tools} <= {step.tool for step in outcome.plan.steps}
    drawn: Any = outcome.charts
    assert [chart["usermeta"]["groundplan"]["kind"] for chart in drawn] == [*charts]
    assert len(outcome.tables) == 2
    assert not outcome.issues
    first, second = outcome.tables
    if "region" in question:
        expected = duckdb.sql("SELECT region, round(sum(revenue), 2) FROM sales GROUP BY 1").fetchall()
        assert {(row[0], round(float(row[1] or 0), 2)) for row in first.rows} == {*expected}
        assert "has the highest" in outcome.text
    if "distribution_stats" in tools:
        assert sum(int(row[second.columns.index("count")] or 0) for row in second.rows) == 730
        assert "most common range" in outcome.text
    if "correlate" in tools:
        (found,) = duckdb.sql("SELECT corr(revenue, cost) FROM sales").fetchone() or ()
        assert second.rows[0][second.columns.index("correlation")] == pytest.approx(found)
        assert "move together" in outcome.text
    if "compute_summary_stats" in tools:
        (mean,) = duckdb.sql("SELECT avg(units) FROM sales").fetchone() or ()
        assert first.rows[0][first.columns.index("mean")] == pytest.approx(mean)


@pytest.fixture(autouse=True)
def by_another_route(sales: Path) -> None:
    duckdb.sql(f"CREATE OR REPLACE TEMP TABLE sales AS FROM '{sales}'")


@pytest.mark.parametrize("question", SEVERAL)
def test_each_analysis_of_a_question_is_done_by_words(question: str, project: Project) -> None:
    is_whole(project.ask(question).outcome, question)


@pytest.mark.parametrize("question", SEVERAL)
def test_each_analysis_of_a_question_is_done_with_a_model(question: str, sales: Path) -> None:
    is_whole(ask(sales, question, SEVERAL[question][0]), question)


@pytest.mark.parametrize(
    "question",
    [
        "revenue and cost by region and their distribution",  # of which?
        "summary statistics and a histogram of units by frobs",
    ],
)
def test_what_belongs_to_which_is_not_guessed(question: str, project: Project) -> None:
    assert isinstance(project.ask(question).outcome, Clarification | Refusal)


def test_an_analysis_that_only_the_model_names_does_not_replace_the_rows(sales: Path) -> None:
    reply = {"sql": "SELECT revenue FROM sales WHERE units > 90", "analyses": ["summary"]}
    outcome = ask(sales, "list the revenue of sales with more than 90 units", reply)
    assert isinstance(outcome, Answer)
    (expected,) = duckdb.sql("SELECT count(*) FROM sales WHERE units > 90").fetchone() or ()
    assert [outcome.tables[0].columns, outcome.tables[0].row_count] == [("revenue",), expected]


WALKTHROUGH = "get revenue totals by region and product type over time"
BY_MONTH = (
    "SELECT date_trunc('month', date) AS month, region, product_category, sum(revenue) FROM sales GROUP BY 1, 2, 3"
)


def is_walked_through(outcome: Any) -> None:
    """The document's plan: dates, totals by time and categories, a line, a table; and nothing else."""
    assert isinstance(outcome, Answer), outcome.text
    assert outcome.plan is not None
    tools = [step.tool for step in outcome.plan.steps]
    assert {"parse_datetime", "aggregate", "plot_line", "show_table"} == {*tools}
    totals = next(step for step in outcome.plan.steps if step.tool == "aggregate")
    assert {*totals.params["group_by"]} == {"date", "region", "product_category"}  # type: ignore[misc]
    assert all(step.satisfies for step in outcome.plan.steps)
    assert all(covered.ok for covered in outcome.coverage)


def test_the_walkthrough_by_words(project: Project) -> None:
    outcome = project.ask(WALKTHROUGH).outcome
    is_walked_through(outcome)
    assert isinstance(outcome, Answer)
    assert outcome.reading is not None
    assert {"metric:revenue", "group_by:region", "group_by:product_category", "time:date", "analysis:total"} < {
        requirement.id for requirement in outcome.reading.requirements
    }


def test_the_walkthrough_with_a_model(sales: Path) -> None:
    is_walked_through(ask(sales, WALKTHROUGH, {"sql": BY_MONTH, "analyses": ["trend"]}))


def test_a_plan_with_an_unasked_step_goes_back_and_is_mended(sales: Path) -> None:
    """The first attempt mends another step than the one that is wrong; the second does what the payload says."""
    pytest.importorskip("openai", reason="needs the extra `llm`")
    from groundplan.asking.tables.adapt.plan import propose
    from groundplan.llm.calls import Calls
    from groundplan.llm.cascade import Cascade
    from groundplan.llm.client import Model

    removed = {"changes": [{"op": "remove", "step": "chart"}]}
    axes = {"x": "date", "y": "revenue", "color": None, "facet": None, "mark": None}
    line = {"op": "add", "satisfies": ["output:chart", "analysis:trend"], "tool": "plot_line", "id": "added1"}
    mended = [{"op": "remove", "step": "odd"}, {**line, "needs": ["totals"], "params": axes, "rationale": "a trend"}]

    async def run() -> None:
        project = await AsyncProject.open(sales)
        said = says(json.dumps(removed)), says(json.dumps({"changes": mended}))
        async with scripted(says(PROBED), *said) as server, Model.open(server.endpoint()) as model:
            try:
                planned = await project.plan("revenue over time by month")
                reading, plan = planned.reading, planned.plan
                assert reading is not None
                assert plan is not None
                odd = Step(id="odd", tool="detect_anomalies", params={"column": "revenue"}, needs=("totals",))
                odd = odd.model_copy(update={"satisfies": ("metric:revenue",)})
                plan = Plan.model_validate({**plan.model_dump(), "steps": (*plan.steps, odd)})
                known = project.catalog, project.schemas
                tools = ("aggregate", "plot_line", "plot_bar", "detect_anomalies", "show_table")
                found = Shortlist(tools=tuple(Candidate(tool=name, why="retrieved") for name in tools))
                shared = found, project.catalog, project.schemas["tables"], Calls(Cascade((model,)), seconds=20)
                for attempt in (1, 2):
                    verdict = check(plan, reading, *known)
                    assert isinstance(verdict, Refused)
                    adapted = await propose(plan, reading, *shared, attempt=attempt, refused=verdict)
                    assert isinstance(adapted, Plan), adapted.problem
                    plan = adapted
                assert isinstance(check(plan, reading, *known), Passed)
                assert len(plan.provenance.log) == 2
                prompts = [str(request["messages"]) for request in server.requests[1:]]
                assert all("Remove unjustified steps: odd" in prompt for prompt in prompts)
                assert "Missing coverage" in prompts[1]
            finally:
                await project.close()

    asyncio.run(run())


SERIES = """
    COPY (SELECT DATE '2023-01-01' + to_months(CAST(i AS INTEGER)) AS sold_on, 'shop ' || (1 + j) AS shop,
        1000.0 * (1 + j) + 50 * i + {season} AS revenue
    FROM range({months}) t(i), range(2) u(j) WHERE i NOT IN ({gaps})) TO '{file}' (HEADER)
"""
SEASON = "CASE i % 12 WHEN 11 THEN 400 WHEN 6 THEN -200 ELSE 0 END"


def series(folder: Path, months: int, gaps: str = "-1", season: str = SEASON) -> Path:
    """Two shops whose sales are a trend and a season, so that what comes next is known."""
    file = folder / f"sales_{months}_{gaps}.csv"
    duckdb.sql(SERIES.format(file=file, months=months, gaps=gaps, season=season))
    return file


def expected_sum(months: int, ahead: int) -> list[float]:
    sql = f"SELECT 3000.0 + 2 * (50 * i + {SEASON}) FROM range({months}, {months + ahead}) t(i) ORDER BY i"
    return [float(row[0]) for row in duckdb.sql(sql).fetchall()]


def test_a_forecast_continues_trend_and_season_with_a_chart_and_sentences(tmp_path: Path) -> None:
    with Project(series(tmp_path, 36)) as project:
        outcome = project.ask("forecast revenue for the next six months").outcome
        assert isinstance(outcome, Answer), outcome.text
        (table,) = outcome.tables
        ahead = [row for row in table.rows if row[table.columns.index("part")] == "forecast"]
        values = [float(row[table.columns.index("revenue")] or 0) for row in ahead]
        assert values == pytest.approx(expected_sum(36, 6))
        assert [str(row[0])[:7] for row in ahead] == [f"2026-0{month}" for month in range(1, 7)]
        assert "forecast of total revenue by month" in outcome.read_as
        assert "June 2026" in outcome.text
        assert not outcome.issues  # each number of the text is a cell
        drawn: Any = outcome.charts[0]
        assert [layer["mark"]["type"] for layer in drawn["layer"]][:2] == ["area", "line"]
        by_shop = project.ask("forecast revenue by shop for the next 2 months").outcome
        assert isinstance(by_shop, Answer), by_shop.text
        rows = [row for row in by_shop.tables[0].rows if "forecast" in row]
        assert sorted(float(row[2] or 0) for row in rows) == pytest.approx([2800, 2850, 3800, 3850])


def test_the_limits_of_a_forecast_hold_for_about_95_of_100_values() -> None:
    import numpy as np
    import pyarrow as pa

    from groundplan.sources.tables.tools.forecast import forecast

    random, inside = np.random.default_rng(7), 0
    for _ in range(200):
        values = 100 + 3.0 * np.arange(31) + random.normal(0, 10, 31)
        days = [date(2020 + i // 12, i % 12 + 1, 1) for i in range(30)]
        table = pa.table({"day": days, "revenue": values[:30]})
        settings = {"time": "day", "column": "revenue", "by": [], "grain": "month", "periods": 1}
        last = forecast(table, settings).to_pylist()[-1]
        inside += last["low"] <= values[30] <= last["high"]
    assert 180 <= inside <= 199


@pytest.mark.parametrize(("months", "gaps", "why"), [(4, "-1", "needs at least"), (30, "12, 13", "gap")])
def test_a_short_history_or_one_with_gaps_gives_no_forecast(tmp_path: Path, months: int, gaps: str, why: str) -> None:
    with Project(series(tmp_path, months, gaps)) as project:
        outcome = project.ask("forecast revenue for the next six months").outcome
    assert not isinstance(outcome, Answer) or not outcome.tables
    assert why in outcome.text


def test_segments_are_found_by_two_measures(tmp_path: Path) -> None:
    file = tmp_path / "orders.csv"
    duckdb.sql(f"""COPY (SELECT 'c' || c AS customer, CASE WHEN c < 10 THEN 500 WHEN c < 20 THEN 20 ELSE 18 END
        + c % 3 + n % 2 AS revenue FROM range(30) t(c), range(40) u(n)
        WHERE n < CASE WHEN c < 10 THEN 4 WHEN c < 20 THEN 4 ELSE 40 END) TO '{file}' (HEADER)""")
    with Project(file) as project:
        outcome = project.ask("segments of customers by revenue and number of orders").outcome
    assert isinstance(outcome, Answer), outcome.text
    table = outcome.tables[0]
    place = table.columns.index("segment")
    found: dict[object, set[int]] = {}
    for row in table.rows:
        found.setdefault(row[place], set()).add(int(str(row[0])[1:]))
    assert sorted(map(sorted, found.values())) == [[*range(10)], [*range(10, 20)], [*range(20, 30)]]
    drawn: Any = outcome.charts[0]
    assert drawn["usermeta"]["groundplan"]["kind"] == "scatter"


def test_the_gate_refuses_a_tool_that_does_something_else_than_was_asked(tmp_path: Path) -> None:
    async def run() -> None:
        project = await AsyncProject.open(series(tmp_path, 36))
        try:
            asked = await project.plan("forecast revenue for the next six months")
            plain = await project.plan("revenue by month")
            assert asked.reading is not None and asked.plan is not None and plain.reading is not None  # noqa: PT018
            plan = asked.plan
            known = project.catalog, project.schemas
            assert isinstance(check(plan, asked.reading, *known), Passed)
            steps = [
                step.model_copy(update={"params": {**step.params, "periods": 3}}) if step.tool == "forecast" else step
                for step in plan.steps
            ]
            shorter = check(plan.model_copy(update={"steps": tuple(steps)}), asked.reading, *known)
            assert isinstance(shorter, Refused)
            assert "coverage/unsettled" in {issue.code for issue in shorter.issues}
            unasked = check(plan, plain.reading, *known)
            assert isinstance(unasked, Refused)
            assert "coverage/unasked" in {issue.code for issue in unasked.issues}
        finally:
            await project.close()

    asyncio.run(run())


DESCRIBED = """
source: tables
tools:
  - name: concentration
    description: Say how much of a measure the largest groups hold together, one after the other.
    capabilities: [group]
    inputs: [{name: table}]
    params:
      type: object
      additionalProperties: false
      required: [by, column, METHOD]
      properties:
        by: {type: array, minItems: 1, items: {type: string, x-column: any, x-role: group_by, x-keep: true}}
        column: {type: string, x-column: number, x-role: column, x-keep: true}
        order: {enum: [largest, smallest], DEFAULT}
    output: {kind: table, columns: kept, adds: {held: number}}
    effect: read
    analysis:
      label: concentration
      phrases:
        - {say: "concentration of {measure} over [the] {groups}", read: "{measure} by {groups}"}
      chart: line
      draws: {x: $by, y: held}
"""
SETTLED = DESCRIBED.replace(", METHOD", "").replace("DEFAULT", "default: largest")
OPEN = DESCRIBED.replace("METHOD", "order").replace(", DEFAULT", "")
CODE = """
import pyarrow as pa

def concentration(table, params):
    name, column = params["by"][0], params["column"]
    rows = sorted(table.to_pylist(), key=lambda row: row[column], reverse=params["order"] == "largest")
    total, held = sum(row[column] for row in rows), 0.0
    made = []
    for row in rows:
        held += row[column]
        made.append({name: row[name], column: row[column], "held": held / total})
    return pa.Table.from_pylist(made)
"""
ASKED = "concentration of revenue over regions"


def own(described: str, code: str = CODE) -> dict[str, bytes]:
    return {"concentration.yaml": described.encode(), "concentration.py": code.encode()}


def held(outcome: Any) -> list[float]:
    assert isinstance(outcome, Answer), outcome.text
    table = next(table for table in outcome.tables if "held" in table.columns)
    return [float(row[table.columns.index("held")]) for row in table.rows]


def expected_held() -> list[float]:
    rows = duckdb.sql("""SELECT sum(r) OVER (ORDER BY r DESC) / sum(r) OVER () FROM
        (SELECT sum(revenue) AS r FROM sales GROUP BY region) ORDER BY 1""").fetchall()
    return [float(row[0]) for row in rows]


@pytest.mark.requirement("R87", part="tools")
def test_a_tool_of_ones_own_is_found_checked_run_and_drawn(sales: Path) -> None:
    with Project(sales, tools=own(SETTLED)) as project:
        outcome = project.ask(ASKED).outcome
    assert held(outcome) == pytest.approx(expected_held())
    assert {covered.requirement for covered in outcome.coverage if covered.ok} >= {"analysis:concentration"}
    assert len(outcome.charts) == 1
    assert "concentration of total revenue by region" in outcome.read_as


def test_without_the_tool_nobody_answers(project: Project) -> None:
    assert isinstance(project.ask(ASKED).outcome, Clarification | Refusal)


def test_a_model_settles_what_the_words_leave_open_and_the_gate_decides(sales: Path) -> None:
    with Project(sales, tools=own(OPEN)) as project:
        assert isinstance(project.ask(ASKED).outcome, Refusal)  # by words it is open
    params = {"by": ["region"], "column": "revenue", "order": "largest"}
    add = {"op": "add", "satisfies": ["analysis:concentration"], "tool": "concentration", "id": "added1"}
    reply = {"changes": [{**add, "needs": ["totals"], "params": params, "rationale": "the largest first"}]}
    outcome = ask(sales, ASKED, reply, tools=own(OPEN))
    assert held(outcome) == pytest.approx(expected_held())
    assert outcome.plan.strategy == "adapt"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (CODE.replace('"held": held / total', '"share": held / total'), "declares"),
        (CODE.replace("    made = []", "    raise KeyError(rows)"), "failed with"),
        (CODE.replace("pa.Table.from_pylist(made)", "made"), "instead of a pyarrow Table"),
    ],
)
def test_a_function_is_held_to_what_its_tool_declares(sales: Path, code: str, why: str) -> None:
    with Project(sales, tools=own(SETTLED, code)) as project:
        outcome = project.ask(ASKED).outcome
    assert not isinstance(outcome, Answer) or not outcome.tables
    assert why in outcome.text


def test_the_code_of_a_folder_runs_only_once_it_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    monkeypatch.setenv("GROUNDPLAN_STATE", str(state))
    folder = tmp_path / "project"
    (folder / "tools").mkdir(parents=True)
    (folder / "groundplan.toml").write_text('source = "sales.csv"\ntools = "tools"\n')
    (folder / "tools" / "concentration.yaml").write_text(SETTLED)
    code = folder / "tools" / "concentration.py"
    code.write_text(CODE)
    for load in (load_settings, own_tools):
        with pytest.raises(UsageError, match="is not trusted yet"):
            load(folder)
    wanted, content = wanted_by(folder)
    assert any("concentration.py" in line for line in wanted)
    trust_folder(folder, content)
    assert set(own_tools(folder)) == {"concentration.yaml", "concentration.py"}
    code.write_text(CODE + "\n# changed\n")
    with pytest.raises(UsageError, match="is not trusted yet"):
        own_tools(folder)


def test_a_column_that_is_called_as_the_analysis_is_not_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "plans.csv"
    duckdb.sql(f"""COPY (SELECT DATE '2023-01-01' + to_months(CAST(i AS INTEGER)) AS month, 10 + i AS revenue,
        11 + i AS forecast_revenue FROM range(24) t(i)) TO '{file}' (HEADER)""")
    with Project(file) as project:
        outcome = project.ask("forecast revenue for the next 6 months", today=date(2024, 1, 1)).outcome
    assert isinstance(outcome, Answer), outcome.text
    assert "part" not in outcome.tables[0].columns  # it is the column's total, as it says
    assert outcome.text.startswith("Forecast revenue totals 159.")


def test_a_forecast_beside_another_question(sales: Path) -> None:
    with Project(sales) as project:
        outcome = project.ask("revenue by region and forecast revenue for the next 3 months").outcome
    assert isinstance(outcome, Answer), outcome.text
    assert ["part" in table.columns for table in outcome.tables] == [False, True]
    assert len(outcome.charts) == 2
