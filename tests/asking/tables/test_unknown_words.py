"""A noun that the data does not know is asked back, with candidates that can be read."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

import groundplan
from groundplan.asking.replies import complete
from groundplan.asking.tables.route import read_plain
from groundplan.budget import Budget, spending
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.meaning import meaning_of
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.errors import TooMuch
from tests.asking.tables.test_grammar import LOANS, VALUES

SCHEMA = SourceSchema(source="library", engine="duckdb", tables=(LOANS,))
TODAY = date(2026, 1, 15)


def asked(question: str) -> Reading | Clarification | Refusal:
    return read_plain(question, SCHEMA, {LOANS.name: VALUES}, today=TODAY).answer


@pytest.mark.parametrize(
    ("question", "meant", "same_as"),
    [
        ("how many takeouts in Hill last month", "library loans", "how many loans in Hill last month"),
        ("average thickness by branch", "pages", "average pages by branch"),
        ("total levy in 2025", "fee", "total fee in 2025"),
        ("which shelf has the most loans", "branch", "which branch has the most loans"),
        ("сколько прокатов в Hill", "library loans", "how many loans in Hill"),
    ],
)
def test_an_unknown_noun_is_asked_back_and_the_reply_completes_the_question(
    question: str, meant: str, same_as: str
) -> None:
    asks = asked(question)
    assert isinstance(asks, Clarification)
    assert asks.missing in question
    assert meant in asks.candidates
    completed = complete(question, asks, meant)
    assert completed is not None
    found, other = asked(completed), asked(same_as)
    assert isinstance(found, Reading)
    assert isinstance(other, Reading)
    assert meaning_of(found) == meaning_of(other)


def test_each_candidate_is_read_and_each_in_another_way() -> None:
    question = "total levy by branch in 2025"
    asks = asked(question)
    assert isinstance(asks, Clarification)
    read = [asked(complete(question, asks, candidate) or "") for candidate in asks.candidates]
    meanings = [meaning_of(one) for one in read if isinstance(one, Reading)]
    assert len(set(meanings)) == len(asks.candidates)


@pytest.mark.parametrize(
    "question",
    [
        "fee by postcode",  # a group that the data does not have
        "fee in Leeds",  # a value
        "fee in leeds",
        "how many loans did we mislay",  # a verb
        "total fee of the loans shredded in 2025",
        "which readers are rich",  # an adjective
        "how many frobs and quuxes by branch",  # two
    ],
)
def test_values_verbs_and_groups_are_refused_by_name(question: str) -> None:
    refusal = asked(question)
    assert isinstance(refusal, Refusal)
    assert refusal.issues[0].code == "reading/unread-word"


def test_a_russian_question_is_asked_back_in_russian() -> None:
    asks = asked("сколько прокатов в Hill")
    assert isinstance(asks, Clarification)
    assert asks.text == "В данных нет ничего с названием «прокатов». Что имеется в виду?"
    assert asks.candidates[0] == "library loans"
    assert "`1 запомни`" in asks.notes[0]


def test_looking_for_what_is_meant_leaves_enough_to_say_what_is_not_known() -> None:
    """Trying every name in a long question costs more than there is; it is refused by the word, not for its length."""
    question = "total levy by branch in 2025, only loans in Hill with more than 100 pages, largest first"
    assert isinstance(within(60_000, question), Clarification)
    found = within(14_000, question)
    assert isinstance(found, Refusal)
    assert "'levy'" in found.text
    with pytest.raises(TooMuch):
        within(1_000, question)


def within(steps: int, question: str) -> Reading | Clarification | Refusal:
    with spending(Budget("reading the question", "ask for less at once", steps=steps)):
        return asked(question)


@pytest.mark.parametrize(
    ("question", "example"),
    [
        ("crates by zorp", "ask for what is there: total duty_eur by harbour"),
        ("buoys by zorp", "ask for what is there: number of buoys by colour"),
        ("insurance by zorp", "ask for what is there: total insurance_eur by harbour"),
        ("tariff by zorp", "ask for what is there: total takings_eur by theatre"),
    ],
)
def test_an_example_is_of_the_table_that_was_asked_about(question: str, example: str, tmp_path: Path) -> None:
    (tmp_path / "actors.csv").write_text("theatre,takings_eur\nOdeon,10.5\nOdeon,20.5\nGlobe,30.5\n")
    (tmp_path / "buoys.csv").write_text("buoy_no,colour\n1,red\n2,red\n3,green\n")
    (tmp_path / "crates.csv").write_text("harbour,duty_eur,insurance_eur\nOslo,1.5,3\nOslo,2.5,4\nRiga,3.5,5\n")
    with groundplan.open(tmp_path) as project:
        outcome = project.ask(question).outcome
    assert isinstance(outcome, Refusal)
    assert example in (outcome.issues[0].hint or "")
