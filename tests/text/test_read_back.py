"""The read-back: what a person would say, in the language of the question, and different for different readings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from groundplan.contracts.meaning import Meaning, meaning_of
from groundplan.contracts.reading import (
    AnalysisAsked,
    Evidence,
    Filter,
    Goal,
    GroupBy,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Requirement,
    Time,
)
from groundplan.text.read_back import distinct_sentences, read_as, read_back
from tests.questions.notation import reading
from tests.reference.generating import readings

ANY_SPEED = settings(deadline=None, suppress_health_check=list(HealthCheck))
WRITTEN: Mapping[str, Any] = {
    name: written
    for name, written in yaml.safe_load(
        (Path(__file__).parents[1] / "questions/readings.yaml").read_text(encoding="utf-8")
    ).items()
    if "inexpressible" not in written
}
SAID = {
    "Read as: average fee of rows where branch is Hill.": {
        "metric": {"fee": "mean(fee)"},
        "where": ["branch == 'Hill'"],
    },
    "Read as: total fee by branch, where loaned on is in Q3 2025, top 5.": {
        "metric": {"fee": "sum(fee)"},
        "by": {"branch": "branch"},
        "where": ["loaned_on >= '2025-07-01' and loaned_on < '2025-10-01'"],
        "top": 5,
    },
    "Read as: number of loans where loaned on is from 2025-01-01 to 2025-02-14.": {
        "metric": {"loans": "rows()"},
        "where": ["loaned_on >= '2025-01-01' and loaned_on < '2025-02-15'"],
    },
    "Read as: total (pages × price − fee) by month (loaned on), highest first.": {
        "metric": {"income": "sum(pages * price - fee)"},
        "by": {"month": "cut(loaned_on, 'month')"},
        "order": "sum(pages * price - fee)",
    },
    "Read as: share of loans (where renewed is yes), among rows where genre is Crime or Poetry.": {
        "metric": {"rate": "rows(renewed == True) / rows()"},
        "where": ["one_of(genre, 'Crime', 'Poetry')"],
    },
    "Read as: every branch, only those where number of different reader ids is above 500.": {
        "by": {"branch": "branch"},
        "where": ["distinct(reader_id) > 500"],
    },
    "Read as: number of reader ids where number of rows is at least 3, from rows where loaned on is in 2025.": {
        "each": {"keys": ["reader_id"], "measures": {"loans": "rows()"}},
        "metric": {"readers": "rows()"},
        "where": ["loaned_on >= '2025-01-01' and loaned_on < '2026-01-01'", "loans >= 3"],
    },
    "Read as: title of rows where fee is at least 5 and below 10, only the one with the highest pages.": {
        "columns": ["title"],
        "where": ["fee >= 5 and fee < 10"],
        "order": "pages",
        "top": 1,
    },
    "Read as: number of loans where genre begins with sci and title does not contain vol (case as written).": {
        "metric": {"loans": "rows()"},
        "where": ["contains(genre, 'Sci', 'start')", "not contains(title, 'vol', cased=True)"],
    },
    "Read as: total fee (0 if missing) by genre (other if missing).": {
        "metric": {"fee": "sum(filled(fee, 0))"},
        "by": {"genre": "filled(genre, 'other')"},
    },
    "Read as: total fee by branch, top 3 by number of loans, then by branch, lowest first.": {
        "metric": {"fee": "sum(fee)"},
        "by": {"branch": "branch"},
        "order": "rows()",
        "top": 3,
        "then": {"branch": "bottom"},
        "shown": False,
    },
    "Read as: average fee (rounded to 2 decimals) and highest absolute value of (fee − pages) by genre.": {
        "metric": {"fee": "rounded(mean(fee), 'nearest', 2)", "gap": "max(absolute(fee - pages))"},
        "by": {"genre": "genre"},
    },
    "Read as: number of loans by pages (rounded down to a multiple of 100).": {
        "metric": {"loans": "rows()"},
        "by": {"size": "rounded(pages, 'down', -2)"},
    },
    'Read as: average number of characters of title by genre + ", " + branch.': {
        "metric": {"size": "mean(length(title))"},
        "by": {"place": "joined(genre, ', ', branch)"},
    },
    "Read as: percent change of total fee from the month before by month (loaned on).": {
        "metric": {"growth": "growth(sum(fee))"},
        "by": {"month": "cut(loaned_on, 'month')"},
    },
}
IN_RUSSIAN = {
    "Понято так: «название», по убыванию: «сбор», затем по возрастанию: «название».": {
        "columns": ["название"],
        "order": "сбор",
        "then": {"название": "bottom"},
    },
    "Понято так: сумма «сбор» (если не заполнено, то 0), где «жанр» начинается с «фан».": {
        "metric": {"сбор": "sum(filled(сбор, 0))"},
        "where": ["contains(жанр, 'Фан', 'start')"],
    },
    "Понято так: среднее «сбор» (округление до 1 знака после запятой), где модуль «сбор» больше 5.": {
        "metric": {"сбор": "rounded(mean(сбор), 'nearest', 1)"},
        "where": ["absolute(сбор) > 5"],
    },
    "Понято так: сумма «сбор», где число знаков «жанр» больше 5.": {
        "metric": {"сбор": "sum(сбор)"},
        "where": ["length(жанр) > 5"],
    },
    "Понято так: сумма «сбор», разбивка: «отдел», где «дата» — 2025 год, 3 наибольших.": {
        "metric": {"сбор": "sum(сбор)"},
        "by": {"отдел": "отдел"},
        "where": ["дата >= '2025-01-01' and дата < '2026-01-01'"],
        "top": 3,
    },
    "Понято так: число строк «выдачи», где «жанр» — не «Стихи» и «сбор» не меньше 10 000.": {
        "metric": {"выдач": "rows()"},
        "where": ["жанр != 'Стихи'", "сбор >= 10000"],
    },
    "Понято так: среднее «сбор», разбивка: месяц («дата»), по убыванию.": {
        "metric": {"сбор": "mean(сбор)"},
        "by": {"месяц": "cut(дата, 'month')"},
        "order": "mean(сбор)",
    },
}


@pytest.mark.requirement("R66", part="read-back")
@pytest.mark.parametrize("said", SAID)
def test_a_reading_is_one_sentence(said: str) -> None:
    assert read_as(reading("asked", "loans", SAID[said])) == said


@pytest.mark.requirement("R66", part="read-back")
@pytest.mark.parametrize("said", IN_RUSSIAN)
def test_a_russian_question_is_read_back_in_russian(said: str) -> None:
    asked = reading("вопрос", "выдачи", IN_RUSSIAN[said])
    assert read_as(asked.model_copy(update={"language": "ru"})) == said


FEE = Metric(column="fee", usual="sum")
PERIODS = [
    Filter(column="loaned_on", operator="between", values=("2024-01-01", "2025-01-01")),
    Filter(column="loaned_on", operator="between", values=("2025-01-01", "2026-01-01")),
]
ANALYSES: Mapping[str, list[Any]] = {
    "unusual values of fee by day (loaned on)": [
        FEE,
        Time(column="loaned_on", grain="day"),
        AnalysisAsked(label="anomaly"),
    ],
    "how fee and pages go together": [FEE, Metric(column="pages"), AnalysisAsked(label="correlation")],
    "distribution of fee, as a histogram": [
        FEE,
        AnalysisAsked(label="distribution"),
        OutputAsked(label="chart", chart="histogram"),
    ],
    "summary of all columns": [AnalysisAsked(label="summary")],
    "total fee as a share of the whole by branch": [FEE, GroupBy(column="branch"), AnalysisAsked(label="share")],
    "total fee by branch, loaned on in 2025 compared with 2024": [
        FEE,
        GroupBy(column="branch"),
        *PERIODS,
        AnalysisAsked(label="compare"),
    ],
    "total fee by loaned on in suitable periods": [FEE, Time(column="loaned_on"), AnalysisAsked(label="trend")],
    "loans where branch is Hill": [
        Filter(column="branch", operator="=", values=("Hill",)),
        AnalysisAsked(label="detail"),
    ],
    "total fee by branch, lowest 2": [FEE, GroupBy(column="branch"), Rank(direction="bottom", limit=2)],
}


@pytest.mark.parametrize("said", ANALYSES)
def test_an_analysis_is_named(said: str) -> None:
    assert read_back(asking(*ANALYSES[said])) == said


def test_a_task_has_no_sentence() -> None:
    assert read_as(asking(Goal(text="send the mail"))) == ""


def test_names_of_the_data_cannot_act_as_markup() -> None:
    column = Metric(column="<b>fee</b>", function="sum")
    value = Filter(column="branch", operator="=", values=("[here](http://bad)",))
    assert read_back(asking(column, value)) == "total `<b>fee</b>` of rows where branch is `[here](http://bad)`"


def test_columns_with_alike_names_are_told_apart() -> None:
    first, second = (asking(Metric(column=name, function="sum")) for name in ("unit_price", "Unit Price"))
    assert distinct_sentences((first, second)) == ('total "unit_price"', 'total "Unit Price"')


@pytest.mark.parametrize("language", ["en", "ru"])
def test_written_readings_differ_in_their_sentences(language: str) -> None:
    """Of one data set, as if they were readings of one question."""
    found: dict[tuple[str, str], Meaning] = {}
    for name, written in WRITTEN.items():
        asked = reading("asked", "data", written).model_copy(update={"language": language})
        for one in (asked, *changed(asked)):
            assert_told_apart(one, name.partition("-")[0], found)


@pytest.mark.parametrize("language", ["en", "ru"])
@settings(ANY_SPEED, max_examples=10)
@given(asked=st.lists(readings(), min_size=1, max_size=8))
def test_generated_readings_differ_in_their_sentences(language: str, asked: list[Reading]) -> None:
    found: dict[tuple[str, str], Meaning] = {}
    for one in asked:
        told = one.model_copy(update={"language": language})
        for each in (told, *changed(told)):
            assert_told_apart(each, "data", found)


def assert_told_apart(asked: Reading, table: str, found: dict[tuple[str, str], Meaning]) -> None:
    sentence, meaning = read_back(asked), meaning_of(asked)
    assert found.setdefault((table, sentence), meaning) == meaning, sentence


OTHERS: tuple[tuple[Any, ...], ...] = (
    ("=", "!="),
    ("<", "<=", ">", ">="),
    ("+", "-", "*", "/"),
    ("sum", "mean", "median", "min", "max", "std", "count", "count_distinct"),
    ("top", "bottom"),
    ("previous", "year"),
    ("day", "week", "month", "quarter", "year", "hour", "weekday"),
    ("all", "any"),
)


def changed(asked: Reading) -> Iterator[Reading]:
    """The reading with one small thing different."""
    for other in _changed(asked.model_dump(mode="json")["requirements"]):
        try:
            made = Reading.model_validate({**asked.model_dump(mode="json"), "requirements": other})
            meaning_of(made)
        except (ValidationError, ValueError, IndexError):
            continue
        yield made


def _changed(given: Any) -> Iterator[Any]:
    if isinstance(given, dict):
        for key, value in given.items():
            if key not in ("id", "evidence", "also", "implied", "assumed", "name", "ordered", "label", "usual"):
                yield from ({**given, key: other} for other in _changed(value))
    elif isinstance(given, list):
        for place, value in enumerate(given):
            yield from ([*given[:place], other, *given[place + 1 :]] for other in _changed(value))
    elif isinstance(given, bool):
        yield not given
    elif isinstance(given, int | float):
        yield given + 1
    elif isinstance(given, str):
        yield from (other for group in OTHERS if given in group for other in group if other != given)


def asking(*values: Any) -> Reading:
    made = [
        Requirement(id=f"{value.kind}:{place}", value=value, evidence=Evidence(text="asked"))
        for place, value in enumerate(values)
    ]
    return Reading(question="asked", tables=("loans",), requirements=tuple(made))
