"""Period phrases, by their YAML cases and by what must hold of all of them."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from groundplan.contracts.reading import Period
from groundplan.text.periods.find import Found, find_periods

CASES = yaml.safe_load((Path(__file__).parent / "periods.yaml").read_text())
TODAY: date = CASES["today"]
CERTAIN = [*CASES["english"], *CASES["russian"]]
TEXTS = [case[0] for name in ("english", "russian", "unsure", "several") for case in CASES[name]] + CASES["nothing"]
LAST_BUT_ONE = date(9999, 12, 30)  # the day after the last one has no date
MONTHS = {
    1: ("January", "Jan", "январь", "января", "январе", "янв."),
    2: ("February", "Feb", "февраль", "февраля", "феврале", "фев."),
    3: ("March", "Mar", "март", "марта", "марте", "мартом"),
    4: ("April", "Apr", "апрель", "апреля", "апреле", "апр."),
    5: ("May", "май", "мая", "мае", "маю"),
    6: ("June", "Jun", "июнь", "июня", "июне", "июнем"),
    7: ("July", "Jul", "июль", "июля", "июле", "июлю"),
    8: ("August", "Aug", "август", "августа", "августе", "авг."),
    9: ("September", "Sept", "сентябрь", "сентября", "сентябре", "сент."),
    10: ("October", "Oct", "октябрь", "октября", "октябре", "окт."),
    11: ("November", "Nov", "ноябрь", "ноября", "ноябре", "нояб."),
    12: ("December", "Dec", "декабрь", "декабря", "декабре", "дек."),
}

pytestmark = pytest.mark.requirement("R9")


@pytest.mark.parametrize(("text", "phrase", "start", "end"), CERTAIN, ids=[case[0] for case in CERTAIN])
def test_phrase_means_exactly_these_days(text: str, phrase: str, start: date | None, end: date | None) -> None:
    found = only(text)
    assert found.period == Period(start=start or date.min, end=end or date.max, phrase=phrase)
    assert text[found.start : found.end] == phrase


@pytest.mark.parametrize(("text", "periods"), CASES["several"], ids=[case[0] for case in CASES["several"]])
def test_periods_that_do_not_touch_stay_apart(text: str, periods: list[list[date]]) -> None:
    assert [days(found.period) for found in find_periods(text, TODAY) if found.period] == [tuple(p) for p in periods]


@pytest.mark.parametrize("text", CASES["nothing"])
def test_grain_amount_or_name_is_no_period(text: str) -> None:
    assert find_periods(text, TODAY) == ()


@pytest.mark.parametrize("text", [case[0] for case in CERTAIN])
def test_case_of_letters_does_not_matter(text: str) -> None:
    assert days(only(text.upper()).period) == days(only(text).period)


@pytest.mark.parametrize(
    ("week_start", "first"), [(0, date(2025, 7, 14)), (6, date(2025, 7, 13)), (5, date(2025, 7, 12))]
)
def test_week_starts_on_the_day_that_is_asked_for(week_start: int, first: date) -> None:
    (found,) = find_periods("this week", TODAY, week_start=week_start)
    assert days(found.period) == (first, first + timedelta(days=7))


@given(
    st.dates(max_value=LAST_BUT_ONE), st.dates(max_value=LAST_BUT_ONE), st.sampled_from(["from {} to {}", "с {} по {}"])
)
@example(date(2024, 2, 28), date(2024, 2, 29), "from {} to {}")
@example(date(2025, 7, 16), date(2025, 7, 16), "с {} по {}")
def test_range_of_two_days_holds_both(one: date, other: date, form: str) -> None:
    first, last = sorted((one, other))
    found = only("revenue " + form.format(first.isoformat(), last.isoformat()) + " by region")
    assert days(found.period) == (first, last + timedelta(days=1))


@given(st.sampled_from(sorted(MONTHS)), st.integers(1900, 2099), st.data())
def test_month_in_any_form_is_that_calendar_month(month: int, year: int, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(MONTHS[month]))
    following = date(year + month // 12, month % 12 + 1, 1)
    assert days(only(f"x {name} {year}").period) == (date(year, month, 1), following)


@given(st.integers(1, 9999), st.sampled_from(["last {} days", "за последние {} дней"]))
def test_last_days_end_with_today_and_are_so_many(count: int, form: str) -> None:
    start, end = days(only(form.format(count)).period)
    assert end == TODAY + timedelta(days=1)
    assert (end - start).days == count


@given(st.lists(st.sampled_from([word for text in TEXTS for word in text.split()]), max_size=14).map(" ".join))
@example("week 2025 13/04/2025")
@example("2025-03-01 квартал")
def test_any_words_give_phrases_in_order_at_their_places(text: str) -> None:
    end = 0
    for found in find_periods(text, TODAY):
        assert end <= found.start < found.end <= len(text)
        end = found.end
        for period in (found.period, *found.candidates):
            assert period is None or (period.start < period.end and period.phrase == text[found.start : found.end])


@given(st.text(max_size=60))
@example("İstanbul 2024")
@example("٢٠٢٤")
def test_any_text_is_read_without_a_fault(text: str) -> None:
    for found in find_periods(text, TODAY):
        assert text[found.start : found.end].strip() == text[found.start : found.end] != ""


@pytest.mark.timed
def test_question_is_read_in_less_than_two_milliseconds() -> None:
    for text in TEXTS:
        find_periods(text, TODAY)
    started = time.process_time()
    for text in TEXTS:
        find_periods(text, TODAY)
    assert (time.process_time() - started) / len(TEXTS) < 0.002


@pytest.mark.timed
@pytest.mark.parametrize(
    "part", ["1,", "2016, ", "year ", "last ", "2016-", "2016 to 5 to ", "first week of ", "from "]
)
def test_long_text_made_to_be_slow_is_not(part: str) -> None:
    started = time.process_time()
    find_periods(part * (2_000 // len(part)), TODAY)
    assert time.process_time() - started < 1


def test_cases_cover_both_languages() -> None:
    assert min(len(CASES["english"]), len(CASES["russian"])) >= 60


def only(text: str) -> Found:
    (found,) = find_periods(text, TODAY)
    return found


def days(period: Period | None) -> tuple[date, date]:
    assert period is not None
    return period.start, period.end


def midnight(period: Period, day: date) -> datetime:
    local = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(period.timezone))
    return local.astimezone(UTC)
