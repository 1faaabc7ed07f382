"""The words decide; what a model hears in them counts only where they leave something open."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.asking.tables.columns import JOINED
from groundplan.asking.tables.model_schema import Grouped, Heard, Measured, choices_for
from groundplan.asking.tables.read import read_scan, scan_for
from groundplan.asking.tables.reconcile import reconcile
from groundplan.asking.tables.scan import Scan
from groundplan.contracts.reading import Reading
from tests.asking.tables.described import Known

TODAY = date(2026, 1, 15)
QUESTIONS = (
    "total revenue by region",
    "lucre by fiefdom",
    "how did our lucre develop, split by sales outlet?",
    "avgerage revenue per region",
    "товарооборот по подразделениям",
    "weird months of revenue",
    "revenue of Atlantis",
)


def scanned(question: str, known: Known) -> Scan:
    schema, values = known
    scan = scan_for(question, schema, values, today=TODAY, timezone="UTC", meaning=None)
    assert isinstance(scan, Scan)
    return scan


def heard(*measures: tuple[str, str, str], groups: tuple[tuple[str, str], ...] = (), chart: str = "unsaid") -> Heard:
    said: dict[str, Any] = {
        "measures": [{"words": w, "column": c, "function": f} for w, c, f in measures],
        "groups": [{"words": w, "column": c} for w, c in groups],
        "chart": chart,
    }
    return Heard.model_validate(said)


def ids(question: str, known: Known, said: Heard) -> set[str]:
    read = read_scan(reconcile(scanned(question, known), said).scan)
    assert isinstance(read, Reading), read
    return {r.id for r in read.requirements}


@pytest.mark.requirement("R5", "R10")
def test_words_that_nothing_explains_mean_the_column_the_model_says(sales: Known) -> None:
    said = heard(("lucre", "revenue", "unsaid"), groups=(("fiefdom", "region"),))
    assert not isinstance(read_scan(scanned("lucre by fiefdom", sales)), Reading)
    assert {"metric:revenue", "group_by:region"} <= ids("lucre by fiefdom", sales, said)


def test_the_same_in_another_language(sales: Known) -> None:
    said = heard(("товарооборот", "revenue", "unsaid"), groups=(("подразделениям", "channel"),))
    assert {"metric:revenue", "group_by:channel"} <= ids("товарооборот по подразделениям", sales, said)


def test_words_that_name_a_column_keep_their_meaning(sales: Known) -> None:
    said = heard(("revenue", "cost", "max"), groups=(("region", "channel"),))
    reconciled = reconcile(scanned("total revenue by region", sales), said)
    assert reconciled.taken == ()
    assert reconciled.scan == scanned("total revenue by region", sales)


def test_a_word_beside_a_column_says_what_to_take_of_it(sales: Known) -> None:
    scan = scanned("avgerage revenue per region", sales)
    read = read_scan(reconcile(scan, heard(("avgerage revenue", "revenue", "mean"))).scan)
    assert isinstance(read, Reading)
    asked = next(r for r in read.requirements if r.id == "metric:revenue")
    assert asked.value.model_dump()["function"] == "mean"


def test_a_function_that_the_words_do_not_misspell_is_not_taken(sales: Known) -> None:
    scan = scanned("gross revenue per region", sales)
    read = read_scan(reconcile(scan, heard(("gross revenue", "revenue", "max"))).scan)
    assert isinstance(read, Reading)
    asked = next(r for r in read.requirements if r.id == "metric:revenue")
    assert asked.value.model_dump()["function"] is None


def test_a_chart_whose_name_is_misspelt(sales: Known) -> None:
    read = read_scan(reconcile(scanned("histgram of units", sales), heard(chart="histogram")).scan)
    assert isinstance(read, Reading)
    asked = next(r for r in read.requirements if r.id == "output:chart")
    assert asked.value.model_dump()["chart"] == "histogram"
    plain = read_scan(reconcile(scanned("histgram of units", sales), heard(chart="box")).scan)
    assert plain == read_scan(scanned("histgram of units", sales))


def test_a_word_beside_a_column_names_no_other_column(sales: Known) -> None:
    reconciled = reconcile(scanned("total gross revenue by region", sales), heard(("gross", "cost", "sum")))
    assert reconciled.taken == ()
    assert "beside revenue" in reconciled.dropped[0]


def test_a_longer_phrase_wins_over_a_word_that_is_only_near_a_name(sales: Known) -> None:
    """Revenue is called sales too, but nobody means it by `sales outlet`."""
    said = heard(("total cost", "cost", "sum"), groups=(("sales outlet", "channel"),))
    named = ids("total cost by sales outlet", sales, said)
    assert {"metric:cost", "group_by:channel"} <= named
    assert "metric:revenue" not in named


def test_a_word_that_qualifies_a_name_is_no_doubt(sales: Known) -> None:
    """`by sales outlet channel`: an unknown noun behind `by` is refused, unless it belongs to a name."""
    question = "revenue by marketing channel"
    said = heard(groups=(("marketing channel", "channel"),))
    assert {"metric:revenue", "group_by:channel"} <= ids(question, sales, said)


def test_text_is_not_added_up(sales: Known) -> None:
    reconciled = reconcile(scanned("lucre by fiefdom", sales), heard(("lucre", "region", "sum")))
    assert reconciled.dropped == ("'lucre' is not read as region: that holds no numbers",)


@pytest.mark.requirement("R10")
def test_a_name_that_the_data_does_not_hold_stays_unknown(sales: Known) -> None:
    """A model that says nothing about it leaves the refusal as it was."""
    scan = scanned("revenue of Atlantis", sales)
    assert read_scan(reconcile(scan, heard(("revenue", "revenue", "sum"))).scan) == read_scan(scan)


COLUMNS = ("date", "region", "product_category", "channel", "units", "revenue", "cost")


@st.composite
def anything_heard(draw: st.DrawFn, known: Known) -> tuple[Scan, Heard]:
    """Whatever the schema lets a model say about one of the questions."""
    scan = scanned(draw(st.sampled_from(QUESTIONS)), known)
    choices = choices_for(scan)
    words = st.sampled_from(choices["groups.words"])
    functions = st.sampled_from(Measured.model_fields["function"].annotation.__args__)  # type: ignore[union-attr]
    measure = st.builds(Measured, words=words, column=st.sampled_from(choices["measures.column"]), function=functions)
    group = st.builds(Grouped, words=words, column=st.sampled_from(choices["groups.column"]))
    charts = st.sampled_from(Heard.model_fields["chart"].annotation.__args__)  # type: ignore[union-attr]
    said = Heard(
        measures=tuple(draw(st.lists(measure, max_size=3))),
        groups=tuple(draw(st.lists(group, max_size=3))),
        chart=draw(charts),
    )
    return scan, said


@pytest.mark.requirement("R5", "R7")
@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_whatever_a_model_says_the_words_keep_their_meaning(sales: Known, data: st.DataObject) -> None:
    scan, said = data.draw(anything_heard(sales))
    reconciled = reconcile(scan, said)
    sure = {mention for mention in scan.mentions if mention.score >= JOINED}
    assert sure <= {*reconciled.scan.mentions}, "a name that the words give is lost"
    if not scan.unexplained:
        assert reconciled.scan == scan
    read = read_scan(reconciled.scan)
    if isinstance(read, Reading):
        assert all(r.words in scan.text for r in read.requirements)
        named = {getattr(r.value, "column", None) for r in read.requirements} - {None}
        assert named <= {*COLUMNS}
