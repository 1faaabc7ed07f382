"""Forms of one word meet, by its stem or by the dictionary; different words do not."""

from __future__ import annotations

import pytest

from groundplan.sources.knowledge.word_forms import forms


@pytest.mark.requirement("R3", "R47")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("канал", "каналам"),
        ("достижение", "достижениями"),
        ("мост", "мостов"),
        pytest.param("Ёлка", "елкам", marks=pytest.mark.needs("knowledge")),
        ("за́мок", "замок"),
        ("bridges", "bridge"),
        ("Anna's", "Anna"),
        ("building", "builds"),
        ("RAG", "rag"),
        ("2025", "2025"),
    ],
)
def test_forms_of_a_word_share_something(one: str, other: str) -> None:
    assert set(forms(one)) & set(forms(other))


@pytest.mark.parametrize(("one", "other"), [("люди", "человек"), ("шёл", "идти"), ("Газпрому", "Газпромом")])
def test_the_dictionary_joins_what_stems_leave_apart(one: str, other: str) -> None:
    pytest.importorskip("pymorphy3", reason="needs the extra `knowledge`")
    assert set(forms(one)) & set(forms(other))


@pytest.mark.parametrize(("one", "other"), [("банк", "банан"), ("Алор", "Апор"), ("bank", "tank"), ("24", "25")])
def test_words_that_only_look_alike_stay_apart(one: str, other: str) -> None:
    assert not set(forms(one)) & set(forms(other))
