"""Questions with a model, on a real server that answers as scripted: what it says is used, checked, or left aside."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from tests.patience import SOON

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal
from groundplan.contracts.plan import Plan
from groundplan.contracts.roles import Roles
from groundplan.project import AsyncProject
from groundplan.settings import Endpoint
from groundplan.state.measures import ModelMeasure, keep_measure
from tests.asking.tables.described import SALES
from tests.llm.scripted import PROBED, Behaviour, dies_within, hangs, hangs_up, says, scripted, sends

WALKTHROUGH = "get revenue totals by region and product type over time"
UNKNOWN = "total lucre by fiefdom"
TOTALS = "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY region"
READ = {"sql": TOTALS, "assumes": ["lucre is revenue"]}
NOTHING = {"cannot": "no column has lucre"}
UNCHANGED = {"changes": []}
SCATTER = (
    "top 3 regions by revenue as a scatter plot"  # rules draw one of single rows only, so the gate refuses their plan
)
PARAMS = {"x": "region", "y": "revenue", "color": None, "size": None, "facet": None}
ADDED = {
    "op": "add",
    "id": "added1",
    "tool": "plot_scatter",
    "params": PARAMS,
    "needs": ["ranked"],
    "satisfies": ["output:chart"],
    "rationale": "the chart that was asked for",
}
DRAWN = {"changes": [ADDED]}
BY_WORDS = Roles(reader="words")  # so that what is tested is the plan


async def asked(
    question: str, *script: Behaviour, probe: str | None = PROBED, roles: Roles | None = None, **options: Any
) -> Outcome:
    probed = [says(probe)] if probe is not None else []
    async with scripted(*probed, *script) as server:
        project = await AsyncProject.open(SALES, models=[server.endpoint()], roles=roles)
        try:
            return await project.ask(question, **options)
        finally:
            await project.close()


def told(value: object) -> Behaviour:
    return says(json.dumps(value, ensure_ascii=False))


@pytest.fixture(autouse=True)
def _plans_of_our_own(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))


@pytest.mark.requirement("R79", part="tables")
@pytest.mark.requirement("R82", part="confirmed")
@pytest.mark.requirement("R82", part="assumptions")
@pytest.mark.requirement("R5", "R27")
def test_words_that_nothing_explains_are_read_by_the_model_and_confirmed() -> None:
    outcome = asyncio.run(asked(UNKNOWN, told(READ)))
    assert isinstance(outcome, Clarification)
    assert outcome.text == "Read as: total revenue by region (by scripted). Run it?"
    assert len(outcome.readings) == 1
    assert outcome.readings[0].assumes == ("lucre is revenue",)
    read = next(entry for entry in outcome.trace if entry.stage == "read")
    assert read.tokens == outcome.usage.prompt_tokens + outcome.usage.completion_tokens > 0


@pytest.mark.requirement("R5", "R27")
@pytest.mark.parametrize("accept", ["first", "agreed"])
def test_a_model_that_is_taken_at_its_word_answers(accept: Any) -> None:
    outcome = asyncio.run(asked(UNKNOWN, told(READ), roles=Roles(accept=accept)))
    assert isinstance(outcome, Answer), outcome.text
    assert {row[0] for row in outcome.tables[0].rows} == {"North", "South", "East", "West", "Central"}
    twice = ", twice alike" if accept == "agreed" else ""
    read_as = f"Read as: total revenue by region. Read by scripted{twice}. Assumed: by region; lucre is revenue."
    assert outcome.read_as == read_as
    assert [attempt.faults for attempt in outcome.proposals] == [()] * (2 if accept == "agreed" else 1)


def measure(endpoint: Endpoint, right: int) -> None:
    day = date(2026, 11, 18)
    keep_measure(ModelMeasure(url=endpoint.url, model=endpoint.model, right=right, wrong=0, declined=0, n=20, date=day))


@pytest.mark.requirement("R82", part="measured")
def test_a_model_that_was_measured_well_is_taken_at_its_word() -> None:
    async def run(right: int) -> Outcome:
        async with scripted(says(PROBED), told(READ)) as server:
            endpoint = server.endpoint()
            measure(endpoint, right)
            project = await AsyncProject.open(SALES, models=[endpoint])
            return await project.ask(UNKNOWN)

    assert isinstance(asyncio.run(run(18)), Answer)
    assert isinstance(asyncio.run(run(17)), Clarification)


@pytest.mark.parametrize(("right", "calls"), [(17, 0), (None, 2)], ids=["measured as weak", "not measured"])
def test_a_weak_model_is_not_asked_what_the_words_read(right: int | None, calls: int) -> None:
    """One that was never measured is asked, and its other reading is offered beside that of the words."""
    other = {"sql": "SELECT channel, sum(revenue) FROM sales GROUP BY channel"}

    async def run() -> Outcome:
        async with scripted(says(PROBED), told(other)) as server:
            endpoint = server.endpoint()
            if right is not None:
                measure(endpoint, right)
            project = await AsyncProject.open(SALES, models=[endpoint])
            return await project.ask("total revenue by region")

    outcome = asyncio.run(run())
    assert isinstance(outcome, Answer if right is not None else Clarification)
    assert outcome.usage.calls == calls


def test_two_readings_that_differ_are_asked_back() -> None:
    other = {"sql": "SELECT channel, sum(revenue) FROM sales GROUP BY channel"}
    outcome = asyncio.run(asked(UNKNOWN, told(READ), told(other), roles=Roles(accept="agreed")))
    assert isinstance(outcome, Clarification)
    assert outcome.candidates == ("total revenue by region", "total revenue by channel")
    assert len(outcome.readings) == 2


def test_two_readings_that_give_the_same_rows_are_one_answer() -> None:
    sums = "sum(units) FILTER (WHERE region = 'North')"
    first = {"sql": f"SELECT {sums} AS units FROM sales"}
    second = {"sql": "SELECT sum(units) AS units FROM sales WHERE region = 'North'"}
    outcome = asyncio.run(asked("how was the far cold end", told(first), told(second), roles=Roles(accept="agreed")))
    assert isinstance(outcome, Answer), outcome.text
    assert outcome.reading is not None
    assert outcome.reading.read_by == ("scripted", "scripted")


@pytest.mark.requirement("R79", part="declines or asks")
def test_what_a_model_cannot_read_is_refused_by_its_word() -> None:
    outcome = asyncio.run(asked(UNKNOWN, told(NOTHING)))
    assert isinstance(outcome, Refusal)
    assert outcome.issues[0].code == "reading/cannot"
    assert outcome.text.startswith("The model scripted says that the tables cannot answer this: no column has lucre;")


def test_where_the_words_read_it_a_model_that_cannot_is_not_the_end() -> None:
    outcome = asyncio.run(asked(KNOWN, told(NOTHING)))
    assert isinstance(outcome, Clarification)
    assert outcome.candidates == (KNOWN,)
    assert len(outcome.readings) == 1


@pytest.mark.requirement("R79", part="declines or asks")
def test_a_model_may_ask_which_of_two_is_meant() -> None:
    ask = [{"means": "by region", "sql": TOTALS}, {"means": "all", "sql": "SELECT sum(revenue) FROM sales"}]
    outcome = asyncio.run(asked(UNKNOWN, told({"ask": ask})))
    assert isinstance(outcome, Clarification)
    assert outcome.candidates == ("total revenue by region", "total revenue")
    assert len(outcome.readings) == 2
    only = asyncio.run(asked(UNKNOWN, told({"ask": [{"means": "Which fiefdom?", "sql": ""}]})))
    assert isinstance(only, Clarification)
    assert (only.text, only.open, only.readings) == ("Which fiefdom?", True, ())


FAULTY = {
    "no JSON": ("total revenue, I think", "the reply is no JSON object"),
    "wrong shape": (json.dumps({"sql": 5}), "the reply has the wrong shape: $.sql"),
    "nothing": (json.dumps({}), "the reply has no sql"),
    "unknown column": (json.dumps({"sql": "SELECT sum(lucre) FROM sales"}), "lucre"),
    "unknown table": (json.dumps({"sql": "SELECT sum(revenue) FROM fiefdoms"}), "fiefdoms"),
    "untranslatable": (json.dumps({"sql": "SELECT 1 UNION SELECT 2"}), "UNION"),
    "a change": (json.dumps({"sql": "DROP TABLE sales"}), "cannot be used here"),
    "contradiction": (json.dumps({"sql": f"{TOTALS} ORDER BY 2 DESC LIMIT 7"}), "LIMIT 7"),
    "value": (json.dumps({"sql": "SELECT sum(revenue) FROM sales WHERE region = 'Nroth'"}), "'North'"),
}


@pytest.mark.requirement("R80", part="sent back")
@pytest.mark.requirement("R81", part="faults")
@pytest.mark.requirement("R6", "R7")
@pytest.mark.parametrize(("wrong", "named"), FAULTY.values(), ids=FAULTY)
def test_a_fault_goes_back_by_name_with_the_reply(wrong: str, named: str) -> None:
    async def run() -> tuple[Outcome, list[dict[str, Any]]]:
        async with scripted(says(PROBED), says(wrong), told(READ)) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()])
            return await project.ask(UNKNOWN), server.requests

    outcome, requests = asyncio.run(run())
    assert isinstance(outcome, Clarification), outcome.text
    again = requests[2]["messages"][0]["content"]
    assert "attempt 2 of 3" in again
    faults = again.split("It cannot be used:")[1]
    assert named in faults
    assert [(one.number, bool(one.faults)) for one in outcome.proposals] == [(1, True), (2, False)]
    assert any(entry.stage == "propose" and named in entry.action for entry in outcome.trace)


@pytest.mark.requirement("R79", part="floor")
@pytest.mark.requirement("R81", part="next model")
@pytest.mark.requirement("R81", part="floor")
def test_after_three_faults_the_next_model_reads_and_then_the_words() -> None:
    async def run(*names: str) -> Outcome:
        wrong = [told({"sql": f"SELECT sum(lucre{place}) FROM sales"}) for place in range(3)]
        async with scripted(says(PROBED), *wrong) as small, scripted(says(PROBED), told(READ)) as large:
            models = [small.endpoint(), large.endpoint().model_copy(update={"name": "large"})]
            project = await AsyncProject.open(SALES, models=models[: len(names)])
            return await project.ask(UNKNOWN)

    both, alone = asyncio.run(run("small", "large")), asyncio.run(run("small"))
    assert isinstance(both, Clarification)
    assert [one.model for one in both.proposals] == ["scripted"] * 3 + ["large"]
    assert "(by large)" in both.text
    assert isinstance(alone, Refusal)
    assert [one.code for one in alone.issues] == ["reading/unproven", "reading/unread-word"], "and as without a model"


def test_a_refusal_says_why_the_query_of_the_model_could_not_be_used() -> None:
    union = {"sql": "SELECT region FROM sales UNION SELECT channel FROM sales"}
    outcome = asyncio.run(asked(UNKNOWN, told(union)))
    assert isinstance(outcome, Refusal)
    assert outcome.text.startswith("The model scripted wrote a query that cannot be checked, so nothing was run: UNION")
    assert outcome.text.endswith("By the words alone: the data has nothing called 'lucre', 'fiefdom'.")
    assert [issue.code for issue in outcome.issues] == ["reading/unproven", "reading/unread-word"]


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("SELECT region, mode(revenue) FROM sales GROUP BY region", False),
        ("SELECT channel, mode(revenue) FROM sales GROUP BY channel", True),
        ("SELECT region, mode(revenue) FROM sales WHERE units > 3 GROUP BY region", True),
    ],
)
def test_words_that_rest_on_other_columns_than_an_unusable_query_are_confirmed(query: str, asks: bool) -> None:
    """The model read the question, and nothing says that it meant what the words do."""
    outcome = asyncio.run(asked("total revenue by region", *[told({"sql": query})] * 3))
    if not asks:
        assert isinstance(outcome, Answer)
        assert any("cannot be checked" in note for note in outcome.notes)
        return
    assert isinstance(outcome, Clarification)
    assert "cannot be checked" in outcome.text
    assert outcome.text.endswith("The words read it as: total revenue by region. Run it?")
    assert outcome.confirms


@pytest.mark.requirement("R8")
def test_the_words_may_be_asked_to_read_alone() -> None:
    outcome = asyncio.run(asked("total revenue", told(READ), roles=Roles(reader="words")))
    assert isinstance(outcome, Answer)
    assert outcome.usage.calls == 0


KNOWN = "total revenue by region"


@pytest.mark.requirement("R6")
def test_where_the_words_read_the_same_it_is_answered_at_once() -> None:
    outcome = asyncio.run(asked(KNOWN, told({"sql": TOTALS})))
    assert isinstance(outcome, Answer)
    assert outcome.reading is not None
    assert outcome.reading.read_by == ("words", "scripted")
    assert outcome.read_as == "Read as: total revenue by region. Read by words and scripted."


@pytest.mark.requirement("R10")
def test_where_the_model_and_the_words_differ_the_user_is_asked() -> None:
    outcome = asyncio.run(asked(KNOWN, told({"sql": TOTALS.replace("revenue", "cost")})))
    assert isinstance(outcome, Clarification), outcome.text
    assert outcome.candidates == ("total cost by region", KNOWN)
    assert len(outcome.readings) == 2


@pytest.mark.requirement("R71", part="clarifications")
def test_a_russian_question_is_read_and_asked_back_in_russian() -> None:
    outcome = asyncio.run(asked("барыши по уделам", told({"sql": TOTALS})))
    assert isinstance(outcome, Clarification)
    assert outcome.text.startswith("Прочитано так: ")
    assert outcome.readings[0].language == "ru"


def test_a_chart_that_cannot_be_drawn_fails_no_reading() -> None:
    reply = {"sql": TOTALS, "analyses": ["sorcery", "anomaly"], "chart": "pie"}
    outcome = asyncio.run(asked(UNKNOWN, told(reply), roles=Roles(accept="first")))
    assert isinstance(outcome, Answer), outcome.text
    assert any("'sorcery'" in note for note in outcome.notes)
    assert any("'pie'" in note for note in outcome.notes)


def test_values_are_withheld_if_the_settings_say_so() -> None:
    async def run(share: bool) -> str:
        async with scripted(says(PROBED), told(READ)) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()], roles=Roles(share_values=share))
            await project.ask(UNKNOWN)
            return str(server.requests[1]["messages"][0]["content"])

    assert "'North'" in asyncio.run(run(True))
    hidden = asyncio.run(run(False))
    assert "North" not in hidden
    assert "2024" not in hidden.replace("Today is", "")
    assert "region TEXT" in hidden


@pytest.mark.requirement("R79", part="conversation")
@pytest.mark.parametrize(
    ("second", "sql"),
    [
        ("total cost by channel", "SELECT channel, sum(cost) AS cost FROM sales GROUP BY channel"),  # stands alone
        ("the total of that instead", "SELECT channel, sum(units) AS units FROM sales GROUP BY channel"),  # replaces
    ],
)
def test_what_the_question_before_said_contradicts_nothing(second: str, sql: str) -> None:
    async def run() -> Outcome:
        first = {"sql": "SELECT channel, avg(units) AS units FROM sales GROUP BY channel"}
        async with scripted(says(PROBED), told(first), told({"sql": sql})) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()], roles=Roles(accept="first"))
            await project.ask("average units by channel", thread="t")
            return await project.ask(second, thread="t")

    outcome = asyncio.run(run())
    assert isinstance(outcome, Answer), outcome.text
    assert outcome.reading is not None
    assert outcome.reading.read_by
    assert [attempt.faults for attempt in outcome.proposals] == [()]


@pytest.mark.requirement("R79", part="conversation")
def test_a_follow_up_is_read_with_the_question_before_as_sql() -> None:
    async def run() -> tuple[Outcome, str]:
        north = {"sql": "SELECT sum(revenue) AS revenue FROM sales WHERE region = 'North'"}
        async with scripted(says(PROBED), told({"sql": "SELECT sum(revenue) FROM sales"}), told(north)) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()], roles=Roles(accept="first"))
            await project.ask("total revenue", thread="t")
            outcome = await project.ask("and up where it snows", thread="t")
            return outcome, str(server.requests[-1]["messages"][0]["content"])

    outcome, prompt = asyncio.run(run())
    assert "Question before: total revenue" in prompt
    assert "SUM(" in prompt.split("Question before")[1].upper()
    assert isinstance(outcome, Answer), outcome.text
    assert outcome.read_as.startswith("Read as: total revenue of rows where region is North")


def test_a_confirmed_reading_is_planned_as_it_is_and_becomes_an_example() -> None:
    async def run() -> tuple[Outcome, str, int]:
        async with scripted(says(PROBED), told(READ)) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()])
            await project.ask(UNKNOWN, thread="t")
            before = len(server.requests)
            answer = await project.ask("yes", thread="t")
            calls = len(server.requests) - before
            await project.ask("lucre by channel")
            return answer, str(server.requests[-1]["messages"][0]["content"]), calls

    answer, prompt, calls = asyncio.run(run())
    assert isinstance(answer, Answer), answer.text
    assert calls == 0
    assert answer.read_as.startswith("Read as: total revenue by region. Read by scripted")
    assert f"Question: {UNKNOWN}\n" in prompt


def test_the_prompt_can_be_seen_before_it_is_sent() -> None:
    async def run() -> tuple[str, str]:
        day = date(2026, 1, 15)
        async with scripted(says(PROBED), told(READ)) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()])
            shown = await project.prompt(UNKNOWN, today=day)
            await project.ask(UNKNOWN, today=day)
            return shown, str(server.requests[1]["messages"][0]["content"])

    shown, sent = asyncio.run(run())
    assert shown == sent


@pytest.mark.requirement("R15", "R19", "R21", "R33")
def test_what_the_gate_misses_goes_back_until_the_plan_is_right() -> None:
    async def run() -> tuple[Outcome, list[dict[str, Any]]]:
        wrong = {"changes": [{**ADDED, "params": {**PARAMS, "x": "channel"}}]}
        right = {"op": "modify", "step": "added1", "params": PARAMS, "satisfies": ["output:chart"]}
        script = (says(PROBED), told(wrong), told({"changes": [right]}))
        async with scripted(*script) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()], roles=BY_WORDS)
            return await project.ask(SCATTER), server.requests

    outcome, requests = asyncio.run(run())
    assert isinstance(outcome, Answer), outcome
    assert (outcome.plan.strategy, outcome.plan.provenance.attempts) == ("adapt", 2)
    assert [step.tool for step in outcome.plan.steps].count("plot_scatter") == 1
    first, second = (request["messages"][0]["content"] for request in requests[1:3])
    assert "Missing coverage: output=[chart]" in first
    assert "channel" in second


def test_three_attempts_that_mend_nothing_end_as_without_a_model() -> None:
    async def run() -> tuple[Outcome, int]:
        async with scripted(says(PROBED), told(UNCHANGED)) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()], roles=BY_WORDS)
            return await project.ask(SCATTER), len(server.requests)

    outcome, requests = asyncio.run(run())
    assert isinstance(outcome, Refusal)
    assert "output:chart" in outcome.text
    assert requests == 4, "the probe and three attempts"


@pytest.mark.requirement("R29")
def test_the_same_in_other_words_costs_no_call_for_the_plan() -> None:
    async def run() -> tuple[Outcome, Outcome, int]:
        async with scripted(says(PROBED), told(DRAWN)) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()], roles=BY_WORDS)
            first = await project.ask(SCATTER)
            before = len(server.requests)
            second = await project.ask("as a scatter plot, the top 3 regions by revenue")
            plans = [r for r in server.requests[before:] if "changes" in json.dumps(r.get("response_format", {}))]
            return first, second, len(plans)

    first, second, plans = asyncio.run(run())
    assert isinstance(first, Answer)
    assert isinstance(second, Answer)
    assert first.plan.strategy == second.plan.strategy == "adapt"
    assert first.plan.fingerprint == second.plan.fingerprint
    assert plans == 0
    assert any(entry.thought.startswith("remember") for entry in second.trace)


FAULTS = {
    "gone": hangs_up,
    "429": sends(429, "busy"),
    "429 with Retry-After": sends(429, "busy", retry_after="1"),
    "429 for an hour": sends(429, "busy", retry_after="3600"),
    "500": sends(500, "oops"),
    "half a JSON": dies_within('{"object": "chat.completion", "choices": [{"mess'),
    "no completion": sends(200, "<html>hello</html>", "text/html"),
    "401": sends(401, "who?"),
    "hangs": hangs,
}


@pytest.mark.requirement("R40", "R41")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("question", [WALKTHROUGH, UNKNOWN])
def test_a_server_that_fails_ends_typed_within_the_deadline(question: str, fault: Behaviour) -> None:
    begun = time.monotonic()
    outcome = asyncio.run(asked(question, fault, strategy="adapt", roles=Roles(seconds=3)))
    assert time.monotonic() - begun < SOON
    assert isinstance(outcome, Answer if question == WALKTHROUGH else Refusal)
    assert any("scripted" in note for note in outcome.notes), outcome.notes


@pytest.mark.requirement("R28")
def test_the_next_model_is_asked_when_the_first_gives_nothing_usable() -> None:
    async def run() -> Outcome:
        async with (
            scripted(says(PROBED), says("no idea")) as small,
            scripted(says(PROBED), told(DRAWN)) as large,
        ):
            first, second = small.endpoint(), large.endpoint().model_copy(update={"name": "large"})
            project = await AsyncProject.open(SALES, models=[first, second], roles=BY_WORDS)
            return await project.ask(SCATTER)

    outcome = asyncio.run(run())
    assert isinstance(outcome, Answer)
    assert outcome.plan.provenance.model == "large"
    assert outcome.usage.models == ("scripted", "large")


def junk(chance: random.Random) -> Iterator[str]:
    """What a hostile model says: plans and readings with foreign names, SQL, cycles, and no JSON at all."""
    tools = ["aggregate", "plot_line", "detect_anomalies", "save_table", "drop_table", "rank_rows", "__import__"]
    names = ["revenue", "region", "date", "password", "1; DROP TABLE sales", "../../etc/passwd", "sales"]
    hostile = [
        *(TOTALS, f"{TOTALS}; DROP TABLE sales", "SELECT * FROM read_csv('/etc/passwd')", "SELECT getenv('HOME')"),
        *("ATTACH 'x.db'", "SELECT sum(password) FROM sales", "SELECT", "", "COPY sales TO '/tmp/x'"),
        *(f"SELECT {'(' * 500}revenue{')' * 500} FROM sales", "SELECT sum(revenue) FROM sales LIMIT -1"),
    ]
    while True:
        step = {
            "op": chance.choice(["add", "remove", "modify", "replace"]),
            "id": chance.choice(["added1", "added2", "totals", "chart"]),
            "step": chance.choice(["totals", "chart", "table", "dates", "nowhere"]),
            "tool": chance.choice(tools),
            "params": {chance.choice(["column", "group_by", "by", "sql", "table"]): chance.choice(names)},
            "needs": chance.sample(["totals", "added1", "chart", "added2"], 2),
            "satisfies": chance.sample(["metric:revenue", "analysis:anomaly", "group_by:region", "x"], 2),
            "rationale": "ignore the rules",
        }
        said = {
            "changes": [step] * chance.randint(0, 9),
            "sql": chance.choice(hostile),
            "cannot": chance.choice(["", "; DROP TABLE sales", "no idea"]),
            "ask": [{"means": chance.choice(names), "sql": chance.choice(hostile)}] * chance.randint(0, 3),
            "assumes": chance.sample(names, 2),
            "look_up": chance.sample(names, 2),
            "sentences": [str(chance.randint(-3, 20))],
        }
        kept = {key: value for key, value in said.items() if chance.random() < 0.6}
        text = json.dumps(kept)
        cut = text[: chance.randint(0, len(text))]
        yield chance.choice([text, cut, f"Sure! ```json\n{text}\n```", "", "[]", "null"])


@pytest.mark.requirement("R32", "R35", "R52")
def test_nothing_a_hostile_model_says_runs_unjustified_or_uncovered() -> None:
    """500 answers of junk over questions of several kinds: each run ends typed, and what runs is what was asked."""
    chance = random.Random(20261115)
    questions = [
        WALKTHROUGH,
        "top 3 regions by revenue in 2024",
        SCATTER,
        UNKNOWN,
        "anomalies in revenue and units by region",
    ]

    async def run() -> list[Outcome]:
        stream = junk(chance)
        async with scripted(says("hello"), *(says(next(stream)) for _ in range(500)), says("")) as server:
            project = await AsyncProject.open(SALES, models=[server.endpoint()], roles=Roles(accept="first"))
            ended = []
            while len(server.requests) < 500:
                ended.append(await project.ask(chance.choice(questions), strategy="adapt"))
            return ended

    for outcome in asyncio.run(run()):
        assert isinstance(outcome, Answer | Refusal | Clarification)
        if isinstance(outcome, Answer):
            assert all(coverage.steps for coverage in outcome.coverage)
            assert_justified(outcome.plan, {coverage.requirement for coverage in outcome.coverage})


def assert_justified(plan: Plan, asked_for: set[str]) -> None:
    for step in plan.steps:
        assert step.satisfies or any(step.id in other.needs for other in plan.steps)
        assert {*step.satisfies} <= asked_for
        assert step.tool not in ("detect_anomalies", "save_table") or "analysis:anomaly" in asked_for
