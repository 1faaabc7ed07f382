"""However an identifier is written, it has the words people use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.text.names import name_words, spaced, split_name

WORDS = st.lists(st.from_regex(r"[a-z]{2,8}", fullmatch=True), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("orderDate", "order date"),
        ("order_date", "order date"),
        ("Order-Date", "order date"),
        ("sports.team.getStats", "sports team get stats"),
        ("HTTPRequest", "http request"),
        ("getISODate", "get iso date"),
        ("convertUSDToEUR", "convert usd to eur"),
        ("SKUId", "sku id"),
        ("userIDs", "user ids"),
        ("IDsOfUsers", "ids of users"),
        ("customerID", "customer id"),
        ("IMDb rating", "imdb rating"),
        ("output_MWh", "output mwh"),
        ("IPv6", "ipv6"),
        ("q1Sales", "q1 sales"),
        ("line2Total", "line2 total"),
        ("ВыручкаПоРегионам", "выручка по регионам"),
        ("Ёлки", "елки"),
        ("größteStädte", "größte städte"),
        ("検索", "検索"),
        ("__", ""),
    ],
)
def test_a_name_is_split_into_lower_case_words(name: str, words: str) -> None:
    assert " ".join(split_name(name)) == words


def test_digits_may_be_left_out() -> None:
    assert name_words("parse_datetime v2/getISODate 42") == ("parse", "datetime", "v", "get", "iso", "date")


def test_a_name_is_spaced_for_people() -> None:
    assert spaced("getISODate_of (USD)") == "get ISO Date of (USD)"


@given(WORDS)
def test_camel_case_and_snake_case_split_alike(words: list[str]) -> None:
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    assert split_name(camel) == split_name("_".join(words)) == name_words("-".join(words)) == tuple(words)


@given(st.text())
def test_splitting_keeps_every_letter_and_digit(name: str) -> None:
    assert "".join(spaced(name).split()) == "".join(name.replace("_", " ").split())
    assert all(name_words(word) == (word,) for word in name_words(name) if word.isascii())
