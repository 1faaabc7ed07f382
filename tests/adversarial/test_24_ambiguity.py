"""Words with two meanings, in both languages: the exact period is printed; what is unclear is asked, never guessed."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo

import pytest

import groundplan
from groundplan import project as projects
from groundplan.contracts.answer import Answer, Clarification
from groundplan.text.entities import Registry
from groundplan.text.periods.find import find_periods
from tests.asking.tables.described import SALES
from tests.knowledge.portfolio import marked, rows
from tests.knowledge.test_aliases import listed, named, registry, suggested  # noqa: F401
from tests.knowledge.test_periods import ALL, NOT_YET, meaning
from tests.knowledge.test_periods import CASES as OF_A_CAREER
from tests.text.test_periods import CASES, TODAY, days, midnight, only


@pytest.mark.requirement("R9")
@pytest.mark.parametrize(("text", "phrase", "meanings"), CASES["unsure"], ids=[case[0] for case in CASES["unsure"]])
def test_phrase_is_asked_about_with_its_meanings(text: str, phrase: str, meanings: list[list[date | None]]) -> None:
    found = only(text)
    assert found.period is None
    assert [days(period) for period in found.candidates] == [
        (start or date.min, end or date.max) for start, end in meanings
    ]
    assert text[found.start : found.end] == phrase


@pytest.mark.requirement("R9")
@pytest.mark.parametrize(
    ("today", "text", "start", "end"),
    [
        (date(2025, 7, 20), "last week", date(2025, 7, 7), date(2025, 7, 14)),  # Sunday ends its week
        (date(2025, 7, 21), "last week", date(2025, 7, 14), date(2025, 7, 21)),  # Monday begins one
        (date(2025, 7, 21), "this week", date(2025, 7, 21), date(2025, 7, 28)),
        (date(2026, 1, 1), "на прошлой неделе", date(2025, 12, 22), date(2025, 12, 29)),
        (date(2026, 1, 1), "yesterday", date(2025, 12, 31), date(2026, 1, 1)),
        (date(2026, 1, 1), "last month", date(2025, 12, 1), date(2026, 1, 1)),
        (date(2026, 1, 1), "last quarter", date(2025, 10, 1), date(2026, 1, 1)),
        (date(2026, 1, 1), "last year", date(2025, 1, 1), date(2026, 1, 1)),
        (date(2026, 1, 1), "year to date", date(2026, 1, 1), date(2026, 1, 2)),
        (date(2025, 12, 31), "next month", date(2026, 1, 1), date(2026, 2, 1)),
        (date(2025, 12, 31), "с начала года", date(2025, 1, 1), date(2026, 1, 1)),
        (date(2024, 2, 29), "today", date(2024, 2, 29), date(2024, 3, 1)),
        (date(2024, 3, 1), "вчера", date(2024, 2, 29), date(2024, 3, 1)),
        (date(2025, 3, 1), "вчера", date(2025, 2, 28), date(2025, 3, 1)),
        (date(2024, 2, 29), "past year", date(2023, 3, 1), date(2024, 3, 1)),
        (date(2025, 5, 30), "last 3 months", date(2025, 2, 28), date(2025, 5, 31)),
        (date(2025, 7, 16), "February 29", date(2024, 2, 29), date(2024, 3, 1)),
        (date(2025, 3, 1), "in March", date(2025, 3, 1), date(2025, 4, 1)),
        (date(2025, 2, 28), "in March", date(2024, 3, 1), date(2024, 4, 1)),
        (date(2025, 3, 10), "last March", date(2024, 3, 1), date(2024, 4, 1)),
        (date(2025, 2, 10), "next March", date(2025, 3, 1), date(2025, 4, 1)),
    ],
)
def test_edge_of_the_calendar(today: date, text: str, start: date, end: date) -> None:
    assert [days(found.period) for found in find_periods(text, today)] == [(start, end)]


@pytest.mark.requirement("R9")
@pytest.mark.parametrize(
    ("today", "hours"), [(date(2025, 3, 31), 23), (date(2025, 10, 27), 25), (date(2025, 7, 16), 24)]
)
def test_day_of_a_clock_change_is_one_calendar_day_of_its_zone(today: date, hours: int) -> None:
    (found,) = find_periods("yesterday", today, timezone="Europe/Berlin")
    assert found.period
    assert days(found.period) == (today - timedelta(days=1), today)
    assert midnight(found.period, found.period.end) - midnight(found.period, found.period.start) == timedelta(
        hours=hours
    )


@pytest.mark.requirement("R9")
def test_one_date_that_fits_one_way_settles_the_others() -> None:
    found = find_periods("compare 03/04/2025 with 13/04/2025", TODAY)
    assert [days(one.period) for one in found if one.period] == [
        (date(2025, 4, 3), date(2025, 4, 4)),
        (date(2025, 4, 13), date(2025, 4, 14)),
    ]


@pytest.mark.requirement("R9", "R10")
@pytest.mark.parametrize(("text", "expected"), [marked(case[0], case[1:], notyet=NOT_YET) for case in ALL])
def test_phrase_is_exactly_these_days_or_asked_about_or_no_period(text: str, expected: list[object]) -> None:
    assert meaning(find_periods(text, OF_A_CAREER["today"])) == expected


@pytest.mark.requirement("R3")
@pytest.mark.requirement("R10")
@pytest.mark.parametrize(("text", "candidates"), listed("asked"))
def test_shared_name_has_all_its_bearers(text: str, candidates: list[str], registry: Registry) -> None:
    assert named(text, registry) == sorted(candidates)


@pytest.mark.requirement("R3")
@pytest.mark.requirement("R10")
@pytest.mark.parametrize(("text", "entity"), listed("suggested"))
def test_misspelt_name_is_suggested_and_never_bound(text: str, entity: str, registry: Registry) -> None:
    called = {id_: {name, *aliases} for id_, _, name, aliases in rows()}
    assert named(text, registry) == []
    assert called[entity] & {*suggested(text, registry)}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("total revenue last week", "from 7 July 2025 to 13 July 2025"),
        ("выручка на прошлой неделе", "с 7 июля 2025 по 13 июля 2025"),
        ("total revenue yesterday", "on 19 July 2025"),
        ("total revenue on 03.04.2025", "2025-04-03 or 2025-03-04"),
        ("total revenue on 03/04/2025", "2025-04-03 or 2025-03-04"),
        ("revenue in fiscal year 2025", "not exact"),
    ],
)
def test_the_exact_period_is_printed_or_asked_for(question: str, said: str) -> None:
    with groundplan.open(SALES) as project:
        outcome = project.ask(question, today=date(2025, 7, 20)).outcome
    assert isinstance(outcome, Clarification if " or " in said or said == "not exact" else Answer)
    assert said in outcome.text


@pytest.mark.parametrize(
    ("moment", "zone", "today"),
    [
        ("2025-07-20T20:59:59+00:00", "Europe/Moscow", date(2025, 7, 20)),
        ("2025-07-20T21:00:00+00:00", "Europe/Moscow", date(2025, 7, 21)),
        ("2025-07-20T23:59:59+00:00", "UTC", date(2025, 7, 20)),
        ("2025-03-30T01:30:00+00:00", "Europe/Berlin", date(2025, 3, 30)),
    ],
)
def test_today_is_the_day_of_the_zone(moment: str, zone: str, today: date, monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.fromisoformat(moment).astimezone(tz)

    monkeypatch.setattr(projects, "datetime", Clock)
    assert projects._today(zone) == today


def test_the_table_has_sixty_phrases() -> None:
    assert len(ALL) >= 60
