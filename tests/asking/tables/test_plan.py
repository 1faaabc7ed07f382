"""Plans without a model: the same reading gives the same plan, and the gate passes it or says why not."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.asking.tables.plan import propose
from groundplan.asking.tables.route import read_plain
from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.reading import Reading
from groundplan.contracts.verdict import Passed, Refused, Verdict
from tests.asking.tables.described import Known
from tests.asking.tasks.spoken import LOOSE, questions

TODAY = date(2026, 1, 15)
ASKED = {
    "anomaly": "find anomalies in daily revenue by region and product category in 2025",
    "comparison": "total revenue and cost by region and channel except West",
    "correlation": "scatter plot of revenue against cost by region",
    "detail": "list the online sales with units over 50 in March 2025",
    "distribution": "box plot of revenue by region",
    "periods": "compare revenue by channel in West in 2024 and 2025",
    "ranking": "top 3 product categories by average cost in Q3 2025",
    "share": "share of units by channel last year",
    "summary": "summarize revenue and cost in West",
    "time_series": "quarterly revenue by region and product category",
    "total": "median revenue in the West",
}


def reading_of(question: str, known: Known) -> Reading:
    schema, values = known
    found = read_plain(question, schema, values, today=TODAY).answer
    assert isinstance(found, Reading), found.text
    return found


def judged(reading: Reading, known: Known, catalog: Catalog) -> Verdict:
    return check(propose(reading, known[0]), reading, catalog, {"tables": known[0]})


@pytest.mark.requirement("R23", "R32")
@pytest.mark.parametrize("intent", sorted(ASKED))
def test_every_kind_of_question_is_planned_and_passes_the_gate(intent: str, sales: Known, catalog: Catalog) -> None:
    reading = reading_of(ASKED[intent], sales)
    assert reading.intents[0].name == intent
    plan = propose(reading, sales[0])
    assert plan.strategy == "rules"
    assert plan.provenance.tokens == 0
    assert plan.provenance.model is None
    verdict = judged(reading, sales, catalog)
    assert isinstance(verdict, Passed), verdict.issues
    assert all(item.ok for item in verdict.plan.coverage)
    assert {item.requirement for item in verdict.plan.coverage} == {r.id for r in reading.requirements}


@pytest.mark.requirement("R23")
@pytest.mark.parametrize("intent", sorted(ASKED))
def test_the_same_reading_gives_the_same_bytes(intent: str, sales: Known) -> None:
    first = propose(reading_of(ASKED[intent], sales), sales[0])
    again = propose(Reading.model_validate_json(reading_of(ASKED[intent], sales).model_dump_json()), sales[0])
    assert again.model_dump_json().encode() == first.model_dump_json().encode()


@pytest.mark.requirement("R23", "R32")
def test_what_is_asked_in_many_ways_is_planned_and_passes(sales: Known, catalog: Catalog) -> None:
    refused = {}
    intents: Counter[str] = Counter()
    for question in questions(200):
        reading = reading_of(question, sales)
        intents[reading.intents[0].name] += 1
        verdict = judged(reading, sales, catalog)
        if isinstance(verdict, Refused):
            refused[question] = [issue.code for issue in verdict.issues]
    assert refused == {}
    assert len(intents) >= 9


@pytest.mark.requirement("R23", "R32")
@settings(max_examples=300, deadline=None)
@given(words=st.lists(st.sampled_from(LOOSE.split()), min_size=1, max_size=10))
def test_any_words_that_can_be_read_can_be_planned(words: list[str], sales: Known, catalog: Catalog) -> None:
    schema, values = sales
    reading = read_plain(" ".join(words), schema, values, today=TODAY).answer
    if not isinstance(reading, Reading):
        return
    verdict = judged(reading, sales, catalog)
    if isinstance(verdict, Refused):  # only for what no step draws or measures
        families = {issue.code.split("/")[0] for issue in verdict.issues}
        assert families <= {"coverage", "flow"}, verdict.issues


ANALYSES = ("anomaly", "correlation", "distribution", "summary")
MEASURES, GROUPS = ("units", "revenue", "cost"), ("region", "product_category", "channel")
CHARTS = (None, "line", "bar", "area", "scatter", "histogram", "box", "heatmap")
FILTERS: tuple[dict[str, Any], ...] = (
    {"column": "region", "operator": "=", "values": ["West"]},
    {"column": "channel", "operator": "not in", "values": ["online", "store"]},
    {"column": "units", "operator": ">", "values": [50]},
    {"column": "date", "operator": "between", "values": ["2024-01-01", "2025-01-01"]},
    {"column": "date", "operator": ">=", "values": ["2025-01-01"]},
)
SECOND_PERIOD = {"column": "date", "operator": "between", "values": ["2025-01-01", "2026-01-01"]}
functions = st.sampled_from([None, "sum", "mean", "median", "min", "max", "count_distinct", "std"])


def _required(id_: str, **value: Any) -> dict[str, Any]:
    return {"id": id_, "value": {"kind": id_.split(":")[0], **value}, "evidence": {"text": id_}}


@st.composite
def readings(draw: st.DrawFn) -> Reading:
    """Any columns in any roles, as a reading may bring them."""
    asked = [_required(f"filter:{f['column']}", **f) for f in draw(st.lists(st.sampled_from(FILTERS), max_size=2))]
    if draw(st.booleans()):
        asked.append(_required("filter:date#2", **SECOND_PERIOD))
    asked += [_required(f"group_by:{c}", column=c) for c in draw(st.lists(st.sampled_from(GROUPS), max_size=3))]
    if draw(st.booleans()):
        grain = draw(st.sampled_from([None, "day", "month", "year"]))
        asked.append(_required("time:date", column="date", grain=grain))
    for column in draw(st.lists(st.sampled_from(MEASURES), max_size=3)):
        asked.append(_required(f"metric:{column}", column=column, function=draw(functions), usual="sum"))
    if draw(st.booleans()):
        asked.append(_required("metric:rows", function="count"))
    for label in draw(
        st.lists(st.sampled_from([*ANALYSES, "total", "compare", "trend", "share", "ranking", "detail"]), max_size=3)
    ):
        asked.append(_required(f"analysis:{label}", label=label))
    if draw(st.booleans()):
        asked.append(_required("rank:top3", direction="top", limit=3))
    if draw(st.booleans()):
        asked.append(_required("output:chart", label="chart", chart=draw(st.sampled_from(CHARTS))))
    asked.append(_required("output:table", label="table"))
    unique = {item["id"]: item for item in asked}
    return Reading.model_validate(
        {"question": "a question", "tables": ["sales"], "requirements": list(unique.values())}
    )


@pytest.mark.requirement("R23", "R32")
@settings(max_examples=300, deadline=None)
@given(reading=readings())
def test_any_reading_is_planned_and_passed_or_refused(reading: Reading, sales: Known, catalog: Catalog) -> None:
    plan = propose(reading, sales[0])
    assert plan.model_dump_json() == propose(reading, sales[0]).model_dump_json()
    verdict = check(plan, reading, catalog, {"tables": sales[0]})
    if isinstance(verdict, Passed):
        assert all(item.ok for item in verdict.plan.coverage)
    else:
        assert verdict.issues
