"""A table whose values cannot be read in time can still be asked about; only what names a value is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from groundplan.contracts.answer import Answer, Refusal
from groundplan.project import Project
from groundplan.sources.tables.schema import distinct
from tests.asking.tables.described import SALES

NOTE = "the values of 'sales' could not be read in time, so words that name one were not looked up there"


@pytest.fixture(scope="module")
def quick() -> Iterator[Project]:
    with Project(SALES) as project:
        yield project


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    with patched(monkeypatch) as project:
        yield project


@contextmanager
def patched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setattr(distinct, "SECONDS", 1e-9)
    with Project(SALES) as project:
        yield project


@pytest.mark.parametrize("question", ["total revenue by region", "выручка по регионам"])
def test_what_names_no_value_is_answered_with_a_note(
    quick: Project, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = quick.ask(question).outcome
    with patched(monkeypatch) as slow:
        outcome = slow.ask(question).outcome
    assert isinstance(outcome, Answer), outcome
    assert isinstance(expected, Answer)
    assert outcome.tables == expected.tables
    assert NOTE in outcome.notes
    assert expected.notes == ()


@pytest.mark.parametrize("question", ["total revenue in the West", "выручка по регионам для West"])
def test_what_names_a_value_is_refused_with_the_note(slow: Project, question: str) -> None:
    outcome = slow.ask(question).outcome
    assert not isinstance(outcome, Answer), outcome.text
    assert NOTE in outcome.notes
    assert isinstance(outcome, Refusal) or "West" in outcome.text


def test_a_slow_table_is_left_alone_for_a_while(slow: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    slow.ask("total revenue by region")
    monkeypatch.setattr(distinct, "SECONDS", 10.0)
    assert NOTE in slow.ask("total cost by region").outcome.notes, "nobody waits for it again"


def test_a_table_that_was_slow_is_read_again_later(slow: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distinct, "SLOW_FOR", 0.0)
    slow.ask("total revenue by region")
    monkeypatch.setattr(distinct, "SECONDS", 10.0)
    outcome = slow.ask("total revenue in the West").outcome
    assert isinstance(outcome, Answer)
    assert outcome.notes == ()
