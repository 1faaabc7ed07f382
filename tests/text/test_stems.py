"""Forms of one word share a key; different words do not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.text.stems import keys_of, lemma, lower, stem

ENGLISH = ["revenue", "sales", "building", "generalizations", "orders", "shipped", "average", "monthly"]
RUSSIAN = ["выручка", "каналам", "достижениями", "продажи", "регионов", "средняя", "ежемесячно", "заказы"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("orders", "Order"),
        ("building", "builds"),
        ("Anna's", "Anna"),
        ("Anna’s", "anna"),
        ("channels'", "channel"),
        ("канал", "каналам"),
        ("актёр", "актерами"),
        ("достижение", "достижениями"),
        ("цену", "цены"),
        ("чек", "чеки"),
    ],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(("one", "other"), [("банк", "банан"), ("Алор", "Апор"), ("bank", "tank"), ("24", "25")])
def test_words_that_only_look_alike_share_no_key(one: str, other: str) -> None:
    assert not keys_of(one) & keys_of(other)


@pytest.mark.parametrize(("one", "other"), [("люди", "человек"), ("шёл", "идти")])
def test_the_dictionary_joins_forms_with_different_stems(one: str, other: str) -> None:
    pytest.importorskip("pymorphy3", reason="needs the extra `knowledge`")
    assert stem(one) != stem(other)
    assert keys_of(one) & keys_of(other)


def test_a_lemma_is_a_russian_dictionary_form_with_one_е() -> None:
    pytest.importorskip("pymorphy3", reason="needs the extra `knowledge`")
    assert [lemma(word) for word in ("Ёлками", "elephants", "2025")] == ["елка", None, None]


@pytest.mark.usefixtures("without_dictionary")
def test_stems_alone_serve_where_the_dictionary_is_not_installed() -> None:
    assert lemma("технологиями") is None
    assert keys_of("технологиями") == {stem("технологиями")}


@given(st.text())
def test_any_text_has_a_stem_whatever_its_case(text: str) -> None:
    assert stem(text) == stem(lower(text))


def test_threads_do_not_disturb_each_other() -> None:
    words = [*ENGLISH, *RUSSIAN]
    alone = [stem.__wrapped__(word) for word in words]
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(stem.__wrapped__, words * 100)] == alone * 100
