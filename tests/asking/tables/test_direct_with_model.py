"""One query built by a model: whatever it says, a plan with what was asked and no more, or the reason why not."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.asking.tables.direct.plan_with_model import Unbuilt
from groundplan.catalog.catalog import Catalog
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Filter, GroupBy, Metric, Rank, Time
from groundplan.contracts.verdict import Passed, Refused
from tests.asking.tables.building import (
    BY_MONTH,
    CHANNEL,
    MEAN,
    MONTH,
    MONTHLY,
    RANKED,
    TOTAL,
    WEST,
    Session,
    answers,
    prompts_of,
    query_of,
    schema_of,
)
from tests.asking.tables.described import Known
from tests.asking.tables.test_adapt import any_of, broken
from tests.llm.scripted import PROBED, Behaviour, hangs_up, says, sends

SUM = "sum(revenue)"


@pytest.fixture
def monthly(sales: Known, catalog: Catalog) -> Session:
    return Session(BY_MONTH, sales, catalog)


@pytest.mark.requirement("R24", "R27")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        (BY_MONTH, MONTHLY),
        (
            RANKED,
            {
                "fields": [{"field": "revenue", "function": "SUM"}, {"field": "region", "function": "GROUP"}],
                "filters": [{"field": "date", "words": "2025"}],
                "top": {"limit": 3, "direction": "TOP"},
            },
        ),
        (
            "which month had the lowest cost?",
            {"fields": [MONTH, {"field": "cost", "function": "SUM"}], "top": {"limit": 1, "direction": "BOTTOM"}},
        ),
        (
            "доля выручки по каналам",
            {"fields": [CHANNEL, TOTAL]},
        ),
    ],
)
def test_all_that_was_asked_gives_the_plan_of_the_rules(
    question: str, said: Any, sales: Known, catalog: Catalog
) -> None:
    session = Session(question, sales, catalog)
    plan = session.plan(said)
    assert session.by_rules is not None
    assert plan.steps == session.by_rules.steps
    assert isinstance(session.check(plan), Passed)
    made = plan.provenance
    assert (plan.strategy, plan.confidence, made.model, made.attempts, made.tokens) == (
        "direct",
        0.9,
        "scripted",
        1,
        20,
    )
    assert made.log[0].startswith("attempt 1: ")
    assert made.duration_ms > 0


@pytest.mark.requirement("R21", "R33")
def test_the_second_attempt_is_told_what_was_wrong_and_what_it_said(monthly: Session) -> None:
    first, asked = monthly.build(answers({**MONTHLY, "fields": [MONTH, TOTAL, TOTAL]}))
    assert isinstance(first, Plan)
    refused = monthly.check(first)
    assert isinstance(refused, Refused)
    assert prompts_of(asked)[0].endswith("Attempt 1. The check says: nothing yet")
    second, asked = monthly.build(answers(MONTHLY), attempt=2, last=first, refused=refused)
    told = prompts_of(asked)[0].split("Attempt 2. The check says: ")[1]
    assert "it groups by month (date), and channel, month (date) was asked" in told
    assert "it does not show average revenue" in told
    assert 'Your last query: TRUNC_MONTH of "date", SUM of "revenue"' in told
    assert isinstance(second, Plan)
    assert isinstance(monthly.check(second), Passed)
    assert (second.provenance.attempts, second.confidence, len(second.provenance.log)) == (2, 0.7, 2)
    assert second.provenance.tokens == first.provenance.tokens * 2


@pytest.mark.requirement("R24")
def test_a_summary_is_several_numbers_of_one_measure(sales: Known, catalog: Catalog) -> None:
    session = Session("summarize revenue", sales, catalog)
    assert session.by_rules is None
    functions = ("MIN", "AVG", "MAX", "SUM", "COUNT")
    plan = session.plan({"fields": [{"field": "revenue", "function": function} for function in functions]})
    assert isinstance(session.check(plan), Passed)
    named = [(field["function"], field["fieldAlias"]) for field in query_of(plan)["fields"]]
    assert named == [
        ("MIN", "lowest revenue"),
        ("AVG", "average revenue"),
        ("MAX", "highest revenue"),
        ("SUM", "revenue"),
        ("COUNT", "count of revenue"),
    ]


@pytest.mark.requirement("R24", "R26")
def test_what_nobody_named_is_not_for_the_model_to_choose(sales: Known, catalog: Catalog) -> None:
    session = Session("revenue by region over time", sales, catalog)
    said = [{"field": "date", "function": "TRUNC_DAY"}, {"field": "region", "function": "GROUP"}, MEAN]
    plan = session.plan({"fields": said})
    assert session.by_rules is not None
    assert plan.steps == session.by_rules.steps, "the usual function, and the cut that the data's span has"


@pytest.mark.requirement("R6", "R24")
def test_only_what_was_asked_is_there_to_be_said(monthly: Session) -> None:
    _, server = monthly.build(answers(MONTHLY))
    schema = schema_of(server)
    assert list(schema["properties"]) == ["fields", "filters"], "no ranking, no open word, nothing to fetch"
    fields = [branch["properties"] for branch in schema["properties"]["fields"]["items"]["anyOf"]]
    assert {name for branch in fields for name in branch["field"]["enum"]} == {"date", "channel", "revenue"}
    by_name = {branch["field"]["enum"][0]: branch["function"]["enum"] for branch in fields}
    assert by_name["channel"] == ["GROUP"]
    assert {"SUM", "AVG", "MEDIAN"} <= {*by_name["revenue"]}
    assert schema["properties"]["filters"]["items"]["anyOf"][0]["properties"]["words"]["enum"] == ["West"]


def test_a_function_is_offered_only_where_it_means_something(sales: Known, catalog: Catalog) -> None:
    _, server = Session("number of distinct channels by region", sales, catalog).build(answers({"fields": []}))
    fields = [branch["properties"] for branch in schema_of(server)["properties"]["fields"]["items"]["anyOf"]]
    [functions] = [branch["function"]["enum"] for branch in fields if branch["field"]["enum"] == ["channel"]]
    assert sorted(functions) == ["COUNT", "COUNTD", "MAX", "MIN"]


@pytest.mark.requirement("R59")
def test_what_changes_from_question_to_question_comes_last(monthly: Session, sales: Known, catalog: Catalog) -> None:
    _, first = monthly.build(answers(MONTHLY))
    _, second = Session(RANKED, sales, catalog).build(answers({"fields": []}))
    [one], [other] = prompts_of(first), prompts_of(second)
    same = next(place for place, pair in enumerate(zip(one, other, strict=False)) if len({*pair}) > 1)
    assert len(one) - same < 350
    assert one.index("Attempt 1") > one.index(BY_MONTH) > same


def test_what_one_query_cannot_say_costs_no_call(sales: Known, catalog: Catalog) -> None:
    for question in ("correlation between units and revenue", "revenue by region for units over 50"):
        built, server = Session(question, sales, catalog).build(answers(MONTHLY))
        assert isinstance(built, Unbuilt)
        assert "one query cannot say this" in built.problem
        assert server.requests == []


HOSTILE: dict[str, object] = {
    "an unknown caption": {**MONTHLY, "fields": [MONTH, CHANNEL, MEAN, {"field": "secrets", "function": "SUM"}]},
    "a caption that nobody asked for": {
        **MONTHLY,
        "fields": [MONTH, CHANNEL, MEAN, {"field": "cost", "function": "SUM"}],
    },
    "a filter's column as a group": {
        **MONTHLY,
        "fields": [MONTH, CHANNEL, MEAN, {"field": "region", "function": "GROUP"}],
    },
    "an unfit function": {**MONTHLY, "fields": [MONTH, MEAN, {"field": "channel", "function": "AVG"}]},
    "a function of its own": {**MONTHLY, "fields": [MONTH, CHANNEL, {"field": "revenue", "function": "DROP"}]},
    "another key": {**MONTHLY, "sql": "select 1"},
    "another key inside": {**MONTHLY, "fields": [MONTH, CHANNEL, {**MEAN, "calculation": "SUM([cost])"}]},
    "sql in a value": {**MONTHLY, "filters": [{"field": "region", "words": "West' OR 1=1; DROP TABLE sales --"}]},
    "another value": {**MONTHLY, "filters": [{"field": "region", "words": "East"}]},
    "a filter that nobody asked for": {**MONTHLY, "filters": [WEST, {"field": "channel", "words": "online"}]},
    "no filter": {**MONTHLY, "filters": []},
    "a ranking that nobody asked for": {**MONTHLY, "top": {"limit": 3, "direction": "TOP"}},
    "a calculation that nobody asked for": {**MONTHLY, "meanings": {"average": "RUNNING_TOTAL"}},
    "a need that nothing serves": {**MONTHLY, "needs": ["schema"]},
    "another function": {**MONTHLY, "fields": [MONTH, CHANNEL, TOTAL]},
    "another function beside it": {**MONTHLY, "fields": [MONTH, CHANNEL, MEAN, TOTAL]},
    "the same twice": {**MONTHLY, "fields": [MONTH, MEAN, MEAN]},
    "two functions and no group": {**MONTHLY, "fields": [MONTH, MEAN, TOTAL]},
    "no group": {**MONTHLY, "fields": [MONTH, MEAN]},
    "no number": {**MONTHLY, "fields": [MONTH, CHANNEL]},
    "another cut": {**MONTHLY, "fields": [{"field": "date", "function": "TRUNC_WEEK"}, CHANNEL, MEAN]},
    "no fields": {"fields": [], "filters": []},
    "a list": [],
    "fields that are none": {"fields": [None, 1, "x"], "filters": {}},
    "ten thousand fields": {**MONTHLY, "fields": [MEAN] * 10_000},
}


@pytest.mark.requirement("R24", "R35")
@pytest.mark.parametrize("probed", [PROBED, "Hello there."], ids=["enforced", "not enforced"])
@pytest.mark.parametrize("said", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_model_gets_nothing_unasked_past_the_gate(said: object, probed: str, monthly: Session) -> None:
    built, _ = monthly.build(answers(said), probed=probed)
    if isinstance(built, Unbuilt):
        assert built.problem
    else:
        assert isinstance(monthly.check(built), Refused)


@pytest.mark.parametrize("said", ["", "Sure!", "{", '{"fields": [], "fields": [1]}', '{"fields": ' + "[" * 5_000])
def test_what_is_no_answer_is_a_reason(said: str, monthly: Session) -> None:
    built, _ = monthly.build(says(said))
    assert isinstance(built, Unbuilt)
    assert built.problem


@pytest.mark.parametrize("behaviour", [sends(500, "broken"), hangs_up], ids=["500", "hangs up"])
def test_a_server_that_is_gone_is_a_reason_and_no_exception(behaviour: Behaviour, monthly: Session) -> None:
    built, _ = monthly.build(behaviour)
    assert isinstance(built, Unbuilt)
    assert "scripted" in built.problem


def assert_only_asked(plan: Plan, session: Session) -> None:
    """By another route than the gate's: from the query as it is written and the reading as it stands."""
    asked = [requirement.value for requirement in session.reading.requirements]
    query = query_of(plan)
    groups = [f["fieldCaption"] for f in query["fields"] if f.get("function", "TRUNC_").startswith("TRUNC_")]
    assert Counter(groups) == Counter(v.column for v in asked if isinstance(v, GroupBy | Time))
    cuts = [f["function"] for f in query["fields"] if f.get("function", "").startswith("TRUNC_")]
    assert cuts == [f"TRUNC_{str(v.grain).upper()}" for v in asked if isinstance(v, Time)]
    measures = [(f["fieldCaption"], f["function"]) for f in query["fields"] if f["fieldCaption"] not in groups]
    assert measures == [(v.column, {"mean": "AVG"}[str(v.function)]) for v in asked if isinstance(v, Metric)]
    kept = {f["field"]["fieldCaption"]: f["values"] for f in query["filters"] if f["filterType"] == "SET"}
    assert kept == {v.column: [*v.values] for v in asked if isinstance(v, Filter)}
    assert len(query["filters"]) == len(kept) + sum(isinstance(v, Rank) for v in asked)


@pytest.mark.requirement("R24", "R32", "R35")
def test_200_random_answers_never_raise_and_what_passes_holds_only_what_was_asked(monthly: Session) -> None:
    _, server = monthly.build(answers(MONTHLY))
    schema, dice = schema_of(server), random.Random(24)
    said: list[Any] = []
    for number in range(200):
        answer = any_of(schema, dice)
        if number % 2:
            answer["fields"] = dice.sample([*MONTHLY["fields"], *answer["fields"][: dice.randint(0, 1)]], 3)
        said.append(broken(answer, dice) if number % 5 == 0 else answer)
    ended: Counter[str] = Counter()
    built, _ = monthly.build_each([answers(one) for one in said], [{}] * len(said))
    for plan in built:
        verdict = monthly.check(plan) if isinstance(plan, Plan) else plan
        ended[type(verdict).__name__] += 1
        if isinstance(verdict, Passed):
            assert_only_asked(verdict.plan, monthly)
    assert min(ended[name] for name in ("Passed", "Refused", "Unbuilt")) >= 20, ended
