"""What a reply to a question back means: a candidate, a no, or a question of its own."""

from __future__ import annotations

import pytest

from groundplan.asking.replies import chosen, complete, declines, to_remember, with_readings
from groundplan.contracts.answer import Clarification, MeantColumn, Refusal, refused
from groundplan.contracts.reading import Evidence, Metric, Reading, Requirement


def reading(column: str) -> Reading:
    metric = Metric(column=column, function="sum")
    asked = Requirement(id=f"metric:{column}", value=metric, evidence=Evidence(text="total"))
    return Reading(question="the total?", requirements=(asked,))


READ_BACKS = ("total revenue by region", "average cost by region")
TWO = Clarification(text="Which?", missing="it", candidates=READ_BACKS, readings=(reading("revenue"), reading("cost")))
WORDS = Clarification(text="Which?", missing="it", candidates=("2025-04-03", "2025-03-04"))
CONFIRM = Clarification(
    text="Read as: total revenue by region. Run it?", missing="", candidates=READ_BACKS[:1], readings=TWO.readings[:1]
)


@pytest.mark.parametrize(
    ("asked", "reply", "place"),
    [
        (TWO, "2", 1),
        (TWO, " 1. ", 0),
        (TWO, "3", None),
        (TWO, "Average cost by region.", 1),
        (TWO, "average", 1),
        (TWO, "by region", None),  # both have it
        (TWO, "average cost by month", None),  # another question, though most of its words are offered
        (TWO, "yes", None),  # to which?
        (CONFIRM, "yes", 0),
        (CONFIRM, "Да!", 0),
        (CONFIRM, "1", 0),
        (CONFIRM, "total revenue by region", 0),
        (CONFIRM, "total cost by region", None),
        (CONFIRM, "revenue", None),
        (CONFIRM, "no", None),
        (WORDS, "2025-03-04", 1),
    ],
)
def test_a_reply_chooses_one_candidate_or_none(asked: Clarification, reply: str, place: int | None) -> None:
    assert chosen(asked, reply) == place


@pytest.mark.parametrize(("reply", "says_no"), [("no", True), ("Нет.", True), ("yes", False), ("nothing", False)])
def test_a_no_declines_all_that_is_offered(reply: str, says_no: bool) -> None:
    assert declines(TWO, reply) is declines(CONFIRM, reply) is declines(WORDS, reply) is says_no


def test_a_candidate_that_is_called_no_is_chosen() -> None:
    asked = Clarification(text="Which?", missing="it", candidates=("yes", "no"))
    assert (chosen(asked, "no"), declines(asked, "no")) == (1, False)


def test_words_without_a_reading_complete_the_question() -> None:
    asked = Clarification(text="Which?", missing="03/04/2025", candidates=WORDS.candidates)
    assert complete("revenue on 03/04/2025?", asked, "2") == "revenue on 2025-03-04?"


def test_each_candidate_is_read_before_it_is_offered() -> None:
    """One that would be refused is left out; one that could mean two things becomes both of them."""
    known: dict[str, Reading | Clarification | Refusal] = {"of 2025-04-03": reading("a"), "of 2025-03-04": reading("b")}
    assert with_readings(WORDS, "of it", known.__getitem__).readings == (reading("a"), reading("b"))
    known["of 2025-03-04"] = no = refused("reading/unread-word", "it is unknown", "ask otherwise")
    assert with_readings(WORDS, "of it", known.__getitem__).candidates == ("2025-04-03",)
    known["of 2025-03-04"] = TWO
    offered = with_readings(WORDS, "of it", known.__getitem__)
    assert offered.candidates == ("2025-04-03", *READ_BACKS)
    assert offered.readings == (reading("a"), *TWO.readings)
    assert with_readings(WORDS, "of it", lambda _: no) is WORDS
    assert with_readings(TWO, "of it", lambda _: no) is TWO


def test_a_word_is_remembered_for_a_chosen_column_and_a_clear_wish() -> None:
    column = MeantColumn(table="trips", column="qty_t")
    asked = Clarification(text="Which?", missing="mileage", candidates=("trips", "qty_t"), means=(None, column))
    for reply in ("2 remember", "2, remember it.", "qty_t and remember", "2 запомни"):
        assert (chosen(asked, reply), to_remember(asked, reply)) == (1, (column, "mileage")), reply
    for reply in ("2", "1 remember", "remember", "remember 2", "no, remember"):
        assert to_remember(asked, reply) is None, reply
    assert complete("total mileage", asked, "2 remember") == "total qty_t"


def test_a_single_column_is_confirmed_and_remembered() -> None:
    column = MeantColumn(table="trips", column="qty_t")
    asked = CONFIRM.model_copy(update={"missing": "mileage", "means": (column,)})
    assert to_remember(asked, "yes, remember") == to_remember(asked, "remember") == (column, "mileage")
    assert to_remember(asked, "yes") is None
    assert declines(asked, "no")
