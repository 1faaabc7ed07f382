"""Document E, the query builder over Tableau: a model reads in SQL that nobody runs, and faults go back to it.

The double of Tableau computes real answers; the truth is SQL on the same table. By hand, with a data source in
`groundplan.toml` as in docs/how-to/ask-tableau.md, each flow is one command: `groundplan ask "profit ratio by region"`,
or `groundplan chat` for a conversation; `--json` shows the attempts of the model as `proposals`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Outcome
from groundplan.contracts.roles import Roles
from groundplan.project import AsyncProject, Project
from tests.documents.asking import in_turn
from tests.llm.scripted import PROBED, Scripted, says, scripted
from tests.sources.tableau.calling import configured
from tests.sources.tableau.double import catalogue
from tests.sources.tableau.double.serving import Fault
from tests.sources.tableau.double.superstore import connect
from tests.sources.tableau.double.tableau import Tableau, running
from tests.tableau.asking import TODAY, answered, ask, refused, sent, shown, truth

NAME = '"Superstore Datasource"'
RATIOS = 'SELECT "Region", sum("Profit") / sum("Sales") FROM superstore GROUP BY 1 ORDER BY 2 DESC'
BY_REGION = f'SELECT "Region", SUM("Sales") FROM {NAME} GROUP BY "Region"'


@pytest.fixture(scope="module")
def tableau() -> Iterator[Tableau]:
    with connect() as database, running(database) as double:
        yield double


@pytest.fixture(scope="module")
def words(tableau: Tableau, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Without a model."""
    with Project({"tableau": configured(tableau, tmp_path_factory.mktemp("e"), queries_per_hour=10_000)}) as project:
        yield project


@pytest.fixture(autouse=True)
def _fresh(tableau: Tableau, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    tableau.troubles.clear()
    tableau.requests.clear()


def sql(*statements: str, **more: object) -> list[str]:
    return [json.dumps({"sql": statement, **more}) for statement in statements]


@contextmanager
def failing(tableau: Tableau, fault: Fault | Callable[[], None] | None, times: int | None) -> Iterator[None]:
    """The fault comes once the fields and their members are known."""
    if callable(fault):
        fault()
    elif fault:
        tableau.fault(fault, times=times)
    yield
    tableau.troubles.clear()


def with_model(
    tableau: Tableau,
    folder: Path,
    replies: list[str],
    *questions: str,
    fault: Fault | Callable[[], None] | None = None,
    times: int | None = None,
) -> tuple[list[Outcome], Scripted]:
    """The outcomes of one conversation, and what the model was sent."""

    async def through() -> tuple[list[Outcome], Scripted]:
        async with scripted(says(PROBED)) as server:
            server.replies["SqlReply"] = in_turn(*replies)
            sources = {"tableau": configured(tableau, folder, queries_per_hour=10_000)}
            roles = Roles(reader="model", accept="first")
            project = await AsyncProject.open(sources, models=[server.endpoint()], roles=roles)
            try:
                await project.ask("total quantity", today=TODAY, strategy="rules")
                server.replies["SqlReply"] = in_turn(*replies)
                server.requests.clear()
                tableau.requests.clear()
                thread = uuid4().hex
                with failing(tableau, fault, times):
                    return [await project.ask(one, today=TODAY, thread=thread) for one in questions], server
            finally:
                await project.close()

    return asyncio.run(through())


def prompts(server: Scripted) -> list[str]:
    """What it was sent to read questions: the first request only finds out whether it answers."""
    asked = [one for one in server.requests if one["response_format"]["json_schema"]["name"] == "SqlReply"]
    return [str(request["messages"][-1]["content"]) for request in asked]


# 1. the how-to's conversation, whole


@pytest.mark.requirement("R46", "R55")
def test_e1_the_conversation_of_the_how_to(words: Project, tableau: Tableau) -> None:
    """`groundplan chat`, as docs/how-to/ask-tableau.md shows it."""
    page = (Path(__file__).parents[2] / "docs/how-to/ask-tableau.md").read_text(encoding="utf-8")
    said = [line.removeprefix("> ") for line in page.splitlines() if line.startswith("> ")]
    where = """WHERE "Category" = 'Technology'"""
    expected = [
        'SELECT "Region", sum("Sales") FROM superstore GROUP BY 1 ORDER BY 2 DESC',
        f'SELECT "Region", sum("Sales") FROM superstore {where} GROUP BY 1 ORDER BY 2 DESC',
        f"""SELECT CAST(date_trunc('quarter', "Order Date") AS DATE), "Region", sum("Sales") FROM superstore {where}
        GROUP BY 1, 2 ORDER BY 1, 2""",
    ]
    assert len(said) == len(expected)
    thread = uuid4().hex
    for line, statement in zip(said, expected, strict=True):
        answer = answered(ask(words, line, thread=thread))
        assert shown(answer) == truth(tableau, statement), line
    assert "From Q1 2021 to Q4 2024, quarterly sales rose" in answer.text
    assert "Only rows where category is Technology are counted." in answer.text


@pytest.mark.requirement("R46", "R54")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("total sales in the West", "Sales total 1,020,554.54. Only rows where region is West are counted."),
        ("top 2 states by sales in the West", "1. California: 381,810"),
        ("sales by category in the West in 2024 by order date", "Technology has the highest sales"),
        ("number of orders in the West", "648"),
        ("profit ratio in the West", "Profit ratio is 0.165. Only rows where region is West are counted."),
    ],
)
def test_an_answer_under_a_filter_is_a_sentence_that_says_it(words: Project, question: str, said: str) -> None:
    text = answered(ask(words, question)).text
    assert said in text
    assert "region is West" in text


# 2. calculated fields


@pytest.mark.requirement("R46")
def test_e2_an_aggregated_field_is_asked_for_as_it_is_defined(words: Project, tableau: Tableau) -> None:
    """`groundplan ask "profit ratio by region"`: the ratio of each group, never a mean of rows."""
    answer = answered(ask(words, "profit ratio by region"))
    assert shown(answer) == truth(tableau, RATIOS)
    assert sent(tableau)[0]["fields"][1] == {"fieldCaption": "Profit Ratio", "sortDirection": "DESC", "sortPriority": 1}
    assert answer.text.startswith("South has the highest profit ratio (0.172)")


@pytest.mark.requirement("R46")
@pytest.mark.parametrize("question", ["average profit ratio by region", "total profit ratio", "share of profit ratio"])
def test_e2_what_would_aggregate_it_again_is_refused(words: Project, tableau: Tableau, question: str) -> None:
    refusal = refused(ask(words, question))
    assert "'Profit Ratio' is computed for each group by its data source" in refusal.text
    assert sent(tableau) == []


@pytest.mark.requirement("R46")
def test_e2_a_ratio_that_the_words_define_is_a_formula_of_the_query(words: Project, tableau: Tableau) -> None:
    """`groundplan ask "profit divided by sales by region" --query`."""
    answer = answered(ask(words, "profit divided by sales by region"))
    assert [row[:2] for row in shown(answer)] == truth(tableau, RATIOS)
    assert sent(tableau)[0]["fields"][1]["calculation"] == "SUM([Profit])/SUM([Sales])"


@pytest.mark.requirement("R46", "R47")
def test_e2_a_ratio_that_the_builder_defines(tableau: Tableau, tmp_path: Path) -> None:
    ratio = f'SELECT "Region", SUM("Profit") / SUM("Sales") AS margin FROM {NAME} GROUP BY "Region"'
    [outcome], server = with_model(tableau, tmp_path, sql(ratio), "how profitable is each region")
    assert [row[:2] for row in shown(answered(outcome))] == truth(tableau, RATIOS)
    assert sent(tableau)[0]["fields"][1]["calculation"] == "SUM([Profit])/SUM([Sales])"
    (prompt,) = prompts(server)
    for told in (
        'aggregated already: only as AGG("Profit Ratio"); computed as SUM([Profit])/SUM([Sales])',
        "usually the mean",
        "Revenue of the line after discount",
        "Order lines of a shop",
    ):
        assert told in prompt


@pytest.mark.requirement("R46", "R47")
def test_e2_a_builder_that_averages_the_ratio_is_sent_back(tableau: Tableau, tmp_path: Path) -> None:
    wrong = f'SELECT "Region", AVG("Profit Ratio") FROM {NAME} GROUP BY "Region"'
    right = f'SELECT "Region", AGG("Profit Ratio") FROM {NAME} GROUP BY "Region"'
    [outcome], server = with_model(tableau, tmp_path, sql(wrong, right), "how profitable is each region")
    answer = answered(outcome)
    assert shown(answer) == truth(tableau, RATIOS)
    assert [bool(attempt.faults) for attempt in answer.proposals] == [True, False]
    assert 'in SQL: AGG("Profit Ratio")' in prompts(server)[1]
    assert len(sent(tableau)) == 1


# 3. a misspelt field, 4. a server error


@pytest.mark.requirement("R46", "R47")
def test_e3_a_misspelt_field_goes_back_once_and_is_right(tableau: Tableau, tmp_path: Path) -> None:
    wrong = f'SELECT "Regoin", SUM("Sales") FROM {NAME} GROUP BY "Regoin"'
    [outcome], server = with_model(tableau, tmp_path, sql(wrong, BY_REGION), "turnover per region")
    answer = answered(outcome)
    assert shown(answer) == truth(tableau, 'SELECT "Region", sum("Sales") FROM superstore GROUP BY 1 ORDER BY 2 DESC')
    assert [bool(attempt.faults) for attempt in answer.proposals] == [True, False]
    assert "Regoin" in prompts(server)[1].rpartition("It cannot be used:")[2]
    assert len(sent(tableau)) == 1


@pytest.mark.requirement("R21", "R46")
@pytest.mark.parametrize("fault", ["400803", "500000"])
def test_e4_a_query_that_the_server_refuses_goes_back_to_the_builder(
    tableau: Tableau, tmp_path: Path, fault: Fault
) -> None:
    first = f'SELECT "Region", SUM("Sales"), MEDIAN("Sales") FROM {NAME} GROUP BY "Region"'
    [outcome], server = with_model(
        tableau, tmp_path, sql(first, BY_REGION), "turnover per region", fault=fault, times=1
    )
    answer = answered(outcome)
    assert shown(answer) == truth(tableau, 'SELECT "Region", sum("Sales") FROM superstore GROUP BY 1 ORDER BY 2 DESC')
    assert [attempt.number for attempt in answer.proposals] == [1, 2]
    assert f"error {fault}" in answer.proposals[0].faults[0]
    assert answer.proposals[1].faults == ()
    back = prompts(server)[1]
    assert f"error {fault}" in back
    assert "This is attempt 2 of 3" in back
    assert "CANARY" not in back, "the server's own text may contain anything"
    assert [entry.thought for entry in answer.trace if entry.stage == "plan"] == ["rules", "rules"]


@pytest.mark.requirement("R21", "R46")
def test_e4_a_field_that_was_renamed_meanwhile_is_found_under_its_new_name(
    tableau: Tableau, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service does not know the field any more: the builder is shown the fields as they are now."""

    def rename() -> None:
        now = [replace(one, caption="Takings") if one.caption == "Sales" else one for one in catalogue.FIELDS]
        monkeypatch.setattr(catalogue, "FIELDS", tuple(now))

    replies = sql(BY_REGION, BY_REGION.replace('"Sales"', '"Takings"'))
    [outcome], server = with_model(tableau, tmp_path, replies, "turnover per region", fault=rename)
    answer = answered(outcome)
    assert shown(answer) == truth(tableau, 'SELECT "Region", sum("Sales") FROM superstore GROUP BY 1 ORDER BY 2 DESC')
    first, second = prompts(server)
    assert "Takings" not in first
    assert "  Takings NUMBER" in second or '"Takings" NUMBER' in second
    assert "error 404934" in second


@pytest.mark.requirement("R21", "R46")
def test_e4_a_builder_that_insists_ends_after_three_attempts(tableau: Tableau, tmp_path: Path) -> None:
    [outcome], _ = with_model(tableau, tmp_path, sql(BY_REGION), "turnover per region", fault="400803")
    refusal = refused(outcome)
    assert "error 400803" in refusal.text
    assert len(sent(tableau)) == 1, "a query that failed is not sent again"
    assert 2 <= len(refusal.proposals) <= 3
    assert {attempt.role for attempt in refusal.proposals} == {"read"}
    assert {one.strategy for one in refusal.tried} == {"rules"}


@pytest.mark.requirement("R21", "R41", "R46")
@pytest.mark.parametrize("fault", ["503800", "403800"])
def test_e4_an_error_that_says_nothing_of_the_query_costs_no_call(
    tableau: Tableau, tmp_path: Path, fault: Fault
) -> None:
    [outcome], server = with_model(tableau, tmp_path, sql(BY_REGION), "turnover per region", fault=fault)
    assert f"error {fault}" in refused(outcome).text
    assert len(prompts(server)) == 1


# 5. reuse


@pytest.mark.requirement("R25", "R29", "R46")
def test_e5_the_same_in_other_words_costs_no_call_and_the_similar_adapts(tableau: Tableau, tmp_path: Path) -> None:
    """`groundplan chat`, three questions: one call, none, one with the earlier queries at hand."""
    west = f"""SELECT "Region", SUM("Sales") FROM {NAME} WHERE "Category" = 'Technology' GROUP BY "Region" """
    outcomes, server = with_model(
        tableau,
        tmp_path,
        sql(BY_REGION, west),
        "total sales by region",
        "by region, the total sales",
        "and just the technology part of that",
    )
    for outcome in outcomes[:2]:
        assert shown(answered(outcome)) == truth(
            tableau, 'SELECT "Region", sum("Sales") FROM superstore GROUP BY 1 ORDER BY 2 DESC'
        )
    assert shown(answered(outcomes[2])) == truth(
        tableau,
        """SELECT "Region", sum("Sales") FROM superstore WHERE "Category" = 'Technology' GROUP BY 1 ORDER BY 2 DESC""",
    )
    assert len(prompts(server)) == 2
    told = prompts(server)[1]
    assert "Asked earlier in this conversation" in told
    assert "- total sales by region: SELECT" in told
    assert "Question before: by region, the total sales" in told
