"""A follow-up about tables means what the whole question would; what is not clear is asked back."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from groundplan.asking.tables.accounting import unread_words
from groundplan.asking.tables.follow_up.edit import edit
from groundplan.asking.tables.route import read_plain
from groundplan.contracts.answer import Clarification
from groundplan.contracts.meaning import Meaning, meaning_of
from groundplan.contracts.reading import Filter, Reading, Requirement
from groundplan.state.plans import signature
from groundplan.text.words import words_of
from tests.asking.tables.described import Known, describe
from tests.asking.tasks.spoken import LOOSE

CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("edits.yaml").read_text(encoding="utf-8"))
TODAY = date(2026, 1, 15)


def asked(question: str, known: Known) -> Reading:
    found = read_plain(question, *known, today=TODAY).answer
    assert isinstance(found, Reading), found.text
    return found


def meant(reading: Reading) -> tuple[Meaning, list[str], set[object]]:
    """All that is asked for, whatever the words."""
    others = {r.value for r in reading.requirements if r.kind in ("analysis", "output")}
    return meaning_of(reading), [intent.name for intent in reading.intents], others


def then(before: Reading, said: str, known: Known, today: date = TODAY) -> Reading | Clarification | None:
    return edit(before, said, *known, today=today)


def edited(before: Reading, said: str, known: Known) -> Reading:
    found = then(before, said, known)
    assert isinstance(found, Reading), found.text if found else "a question of its own"
    return found


@pytest.mark.requirement("R2", "R55")
@pytest.mark.parametrize("case", CASES, ids=[f"{case['before']} + {case['next']}" for case in CASES])
def test_an_edited_question_asks_for_what_the_whole_question_asks_for(case: dict[str, str], sales: Known) -> None:
    before, whole = asked(case["before"], sales), asked(case["whole"], sales)
    found = edited(before, case["next"], sales)
    assert meant(found) == meant(whole)
    assert found.follow_up
    assert found.question == f"{before.question} → {case['next']}"


@pytest.mark.requirement("R8", "R55")
@pytest.mark.parametrize("case", CASES, ids=[f"{case['before']} + {case['next']}" for case in CASES])
def test_what_an_edit_asks_for_is_in_words_that_were_said(case: dict[str, str], sales: Known) -> None:
    found = edited(asked(case["before"], sales), case["next"], sales)
    said = {word.lower for word in words_of(found.question)}
    for requirement in found.requirements:
        for evidence in requirement.quotes:
            assert {word.lower for word in words_of(evidence.text)} <= said, requirement.id
            assert evidence.start is not None
            assert found.question[evidence.start :].startswith(evidence.text)


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(
    ("before", "said", "asks"),
    [
        ("revenue by region", "and in Europe?", "nothing called 'Europe'"),
        ("revenue by region", "and by salesperson?", "nothing called 'salesperson'"),
        ("revenue by region", "and the churn by channel?", "nothing called 'churn'"),
        ("how many sales by region", "the average instead", "'average' of what?"),
        ("revenue by region in 2024", "and in March?", "2024-03-01 up to 2024-04-01 or 2025-03-01 up to 2025-04-01"),
        ("revenue by region in 2024", "and the average cost by channel?", "Still only '2024'?"),
        ("revenue for West in 2024", "and the average cost by channel in 2025?", "Still only 'West'?"),
        ("revenue in Q1 2024 versus Q1 2025", "for 2025", "several periods"),
        ("revenue by region", "and compare with last year", "Which period should be compared"),
        ("revenue by region", "and now a pie chart", "pie chart is not drawn here"),
        ("revenue for West in 2024", "remove the filter", "West or 2024"),
        ("revenue by region for West", "drop the region", "the groups by region or West"),
        ("revenue by region", "drop the channel", "nothing like 'channel'"),
        ("revenue by region", "East instead of store", "nothing like 'store'"),
        ("revenue for West", "without the East", "Only West was asked about"),
        ("distribution of units", "and by month?", "'distribution' would be lost"),
        ("anomalies in daily revenue", "as a share", "does not fit"),
        ("anomalies in daily revenue", "top 5", "does not fit"),
        ("top 3 regions by revenue", "drop the region", "of what?"),
        ("revenue by region", "and sorted?", "What should change?"),
        ("revenue by region", "and the second highest?", "One place of a ranking"),
    ],
)
def test_what_is_not_clear_is_asked_back(before: str, said: str, asks: str, sales: Known) -> None:
    found = then(asked(before, sales), said, sales)
    assert isinstance(found, Clarification)
    assert asks in found.text


@pytest.mark.requirement("R2")
@pytest.mark.parametrize(
    "said",
    [
        "average cost by channel",
        "how many rows are there?",
        "cost",
        "And what is the average cost by channel?",
        "list the rows",
        "which channels are there?",
        "show me the channels",
        "какие есть каналы?",
        "drop table sales",
        "delete the West",
        "revenue by salesperson",
        "thanks",
        "and?",
        "",
    ],
)
def test_a_question_of_its_own_is_no_edit(said: str, sales: Known) -> None:
    assert then(asked("total revenue by region", sales), said, sales) is None


FILTERED = (
    "total revenue by region for store in 2024",
    "monthly revenue excluding online with units over 100",
    "top 3 regions by cost in 2025 for Electronics",
    "how many sales in each channel for West and East",
    "share of revenue by product category without North",
    "correlation between revenue and cost for West since March 2024",
    "list the rows with units under 50 in the West region",
    "выручка по каналам за 2025 год для West",
)
SAID = {  # what is said next, and the columns whose conditions it may change
    "and by month?": set[str](),
    "by product category instead": set(),
    "only the West": {"region"},
    "without the East": {"region"},
    "also North": {"region"},
    "for 2025": {"date"},
    "за всё время": {"date"},
    "and the cost?": set(),
    "also the cost": set(),
    "top 2": set(),
    "the average instead": set(),
    "as a table": set(),
    "as a line chart": set(),
    "as a share": set(),
    "only online": {"channel"},
    "units over 10": {"units"},
    "drop the channel": {"channel"},
    "drop the month": set(),
    "over time": set(),
    "а по каналам?": set(),
}


@pytest.mark.requirement("R55")
@pytest.mark.parametrize("before", FILTERED)
def test_no_edit_loses_a_condition_that_it_does_not_name(before: str, sales: Known) -> None:
    reading, read_on = asked(before, sales), 0
    for said, named in SAID.items():
        found = then(reading, said, sales)
        if isinstance(found, Reading):
            read_on += 1
            assert conditions(reading, named) <= conditions(found, named), said
            assert {column for column, *_ in conditions(found, set())} <= named | columns(reading), said
    assert read_on >= 5  # or this would prove little


def conditions(reading: Reading, but: set[str]) -> set[tuple[object, ...]]:
    values = [r.value for r in reading.requirements]
    return {(v.column, v.operator, v.values) for v in values if isinstance(v, Filter) and v.column not in but}


def columns(reading: Reading) -> set[str]:
    return {r.value.column for r in reading.requirements if isinstance(r.value, Filter)}


@pytest.mark.requirement("R55")
@pytest.mark.parametrize(
    ("before", "there", "back"),
    [
        ("total revenue by region", "only the West", "remove the filter"),
        ("total revenue by region", "and by month?", "drop the month"),
        ("total revenue by region", "and by channel?", "drop the channel"),
        ("total revenue by region", "by channel instead", "by region instead"),
        ("total revenue by region in 2024", "for 2025", "for 2024"),
        ("total revenue by region", "in 2025", "for all time"),
        ("total revenue by region", "and the cost?", "and the revenue?"),
        ("total revenue by region", "also the cost", "drop the cost"),
        ("total revenue by region", "the average instead", "the total instead"),
        ("total revenue by region", "top 2", "drop the ranking"),
        ("revenue by region as a bar chart", "as a table", "as a bar chart"),
        ("revenue by channel for West", "also the East", "without the East"),
        ("revenue by channel for West", "East instead of West", "West instead of East"),
        ("выручка по регионам", "только West", "убери фильтр"),
        ("выручка по регионам", "а по каналам?", "а по регионам?"),
    ],
)
def test_an_edit_and_its_reverse_give_the_first_question_back(before: str, there: str, back: str, sales: Known) -> None:
    first = asked(before, sales)
    second = edited(first, there, sales)
    assert meant(first) != meant(second)
    assert meant(first) == meant(edited(second, back, sales))


@pytest.mark.requirement("R55")
def test_edits_follow_each_other(sales: Known) -> None:
    reading = asked("total revenue by region in 2024", sales)
    for said in ("and by month?", "only the West", "and the cost?", "for 2025", "as a table"):
        reading = edited(reading, said, sales)
    whole = asked("total cost by region and by month only the West for 2025 as a table", sales)
    assert meant(reading) == meant(whole)
    assert reading.question.count("→") == 5


def test_a_conversation_that_grows_too_long_asks_for_the_whole_question(sales: Known) -> None:
    reading: Reading | Clarification | None = asked("total revenue by region", sales)
    for year in range(400):
        assert isinstance(reading, Reading)
        reading = then(reading, f"and what about the year {2024 + year % 2}{'?' * 150}", sales)
        if not isinstance(reading, Reading):
            break
    assert isinstance(reading, Clarification)
    assert "2000 characters" in reading.text


def test_a_relative_period_is_not_moved_by_the_next_day(sales: Known) -> None:
    before = asked("total revenue by region last month", sales)
    found = then(before, "and by channel?", sales, today=date(2026, 2, 1))
    assert isinstance(found, Reading)
    assert conditions(found, set()) == {("date", "between", ("2025-12-01", "2026-01-01"))}


def test_words_that_were_explained_by_their_meaning_stay_explained(sales: Known) -> None:
    plain = asked("revenue by region", sales)
    before = plain.model_copy(update={"question": "proceeds by region"})  # as a model explains it
    found = edited(before, "and by month?", sales)
    assert meant(found) == meant(asked("revenue by region and by month", sales))


def test_the_answer_is_in_the_language_of_what_was_said_last(sales: Known) -> None:
    english = asked("total revenue by region", sales)
    russian = edited(english, "а по месяцам?", sales)
    assert (english.language, russian.language) == ("en", "ru")
    assert edited(russian, "2025?", sales).language == "ru"  # digits have none


@pytest.mark.requirement("R2")
def test_values_in_russian_are_found_in_a_fragment(tmp_path: Path) -> None:
    file = tmp_path / "продажи.csv"
    rows = [f"2024-0{1 + i % 9}-01,{('Запад', 'Восток', 'Север')[i % 3]},{i}" for i in range(60)]
    file.write_text("\n".join(["дата,регион,выручка", *rows]), encoding="utf-8")
    known = asyncio.run(describe(file))
    for said, whole in (
        ("только запад", "выручка по регионам для Запад"),
        ("без востока", "выручка по регионам кроме Восток"),
        ("а по месяцам?", "выручка по регионам по месяцам"),
    ):
        found = edited(asked("выручка по регионам", known), said, known)
        assert meant(found) == meant(asked(whole, known)), said


def test_words_of_the_two_questions_do_not_run_into_each_other(sales: Known) -> None:
    found = edited(asked("top 3 regions by revenue", sales), "only the West", sales)
    assert {"group_by", "filter", "rank"} <= {r.kind for r in found.requirements}  # no `region is West`


def test_a_column_of_yes_and_no_takes_the_place_of_several_groups(tmp_path: Path) -> None:
    rows = [f"{['red', 'green', 'blue'][i % 3]},{'SML'[i % 2]},{i % 5 == 0},{i}".lower() for i in range(60)]
    file = tmp_path / "orders.csv"
    file.write_text("\n".join(["color,size,insured,price", *rows]), encoding="utf-8")
    known = asyncio.run(describe(file))
    found = edited(asked("average price by color and size", known), "by insured instead", known)
    assert meant(found) == meant(asked("average price by insured", known))


def test_a_question_about_another_table_is_not_edited(sales: Known) -> None:
    before = asked("total revenue by region", sales).model_copy(update={"tables": ("elsewhere",)})
    assert then(before, "and by month?", sales) is None


def test_a_question_about_lists_is_gone_on_from_only_with_a_sign_and_asked_back_then(sales: Known) -> None:
    wanted = {"id": "intent:sales", "value": {"kind": "intent", "intent": "sales"}, "evidence": {"text": "sales"}}
    listed = Reading(question="list the sales", tables=("sales",), requirements=(Requirement.model_validate(wanted),))
    assert then(listed, "by channel", sales) is None
    assert isinstance(then(listed, "and by channel?", sales), Clarification)


fragments = st.lists(st.sampled_from(LOOSE.split()), max_size=8).map(" ".join)


@pytest.mark.requirement("R10")
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=fragments | st.text(max_size=60))
@example(said="and → by month → West")
@example(said="instead of instead of instead")
@example(said="without without the West")
@example(said="drop")
def test_any_text_ends_in_a_reading_a_question_back_or_none(said: str, sales: Known) -> None:
    before = asked("total revenue by region for store in 2024", sales)
    found = then(before, said, sales)
    assert found == then(before, said, sales)
    if isinstance(found, Reading):
        assert found.question.startswith(before.question)
        assert then(found, "as a table", sales) is not None  # it can be gone on from, or is asked back


UNKNOWN = ("zorblat", "pelmets", "фыва")
GOING_ON = (
    *("and by month?", "only the West", "without the East", "what about 2025", "top 5", "as a line chart"),
    *("and the cost?", "also the cost", "by channel instead of region", "units over 100", "drop the region"),
    *("remove the filter", "the average instead", "а по месяцам?", "только West", "кроме East", "топ 2", "а затраты?"),
    *("за 2025 год", "убери регион", "добавь затраты", "средняя", "в виде таблицы", "по каналам вместо регионов"),
)


@pytest.mark.requirement("R65", part="follow-ups")
@pytest.mark.requirement("R66", part="words")
@given(said=st.sampled_from(GOING_ON), unknown=st.sampled_from(UNKNOWN), place=st.integers(0, 6))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_unknown_word_is_not_passed_over(said: str, unknown: str, place: int, sales: Known) -> None:
    before = asked("total revenue by region for store in 2024", sales)
    words = said.split()
    words.insert(min(place, len(words)), unknown)
    found = then(before, " ".join(words), sales)
    assert not isinstance(found, Reading)
    assert found is None or unknown in found.text  # a question of its own is refused by the words that it leaves over


@pytest.mark.requirement("R65", part="follow-ups")
@pytest.mark.requirement("R66", part="words")
@given(st.lists(st.sampled_from(" ".join(GOING_ON).replace("?", "").split()), min_size=1, max_size=7))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_word_of_a_follow_up_has_a_fate(sales: Known, words: list[str]) -> None:
    found = then(asked("total revenue by region for store in 2024", sales), " ".join(words), sales)
    if isinstance(found, Reading):
        assert unread_words(found, sales[0]) == ()


def test_what_asks_for_the_same_may_be_answered_by_the_same_plan(sales: Known) -> None:
    before = asked("total revenue by region in 2024", sales)
    assert signature(before) == signature(asked("in 2024, by region: the total revenue", sales))
    assert signature(before) != signature(asked("total revenue by channel in 2024", sales))
    assert signature(before) != signature(asked("total revenue by region in 2025", sales))
    assert signature(before) != signature(before.model_copy(update={"tables": ("returns",)}))


def test_the_highest_and_the_lowest_are_not_the_same(sales: Known) -> None:
    highest, lowest = (asked(f"which regions have the {end} revenue in 2024?", sales) for end in ("highest", "lowest"))
    assert signature(highest) != signature(lowest)
    assert signature(lowest) == signature(asked("which regions have the smallest revenue in 2024?", sales))
