"""What counts as the same word, and where a request is cut."""

from __future__ import annotations

import pytest

from groundplan.catalog.search.clauses import clauses
from groundplan.catalog.search.search_words import words


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("getTeamStats", "get stats of the team"),
        ("get_team_stats", "stats: get the team's"),
        ("sports.team.getStats", "please get team stats for sports"),
        ("HTTPRequest", "an HTTP request"),
        ("plotting_lines", "plot a line"),
        ("ВыручкаПоРегионам", "выручку по региону"),
        ("каналы", "по каналу"),
        ("größteStädte", "Größte Städte?"),
        ("検索", "検索 42"),
    ],
)
def test_a_name_has_the_words_people_use_for_it(written: str, asked: str) -> None:
    assert set(words(written)) == set(words(asked))


def test_filler_numbers_and_single_letters_are_no_words() -> None:
    assert words("Could you please tell me the 42 x in 2024, покажи мне") == []


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Plot revenue. Then list outliers!", ("Plot revenue.", "Then list outliers!")),
        ("plot revenue by month and then list outliers", ("plot revenue by month", "list outliers")),
        ("построй график, затем найди выбросы", ("построй график", "найди выбросы")),
        ("Plot revenue, costs. List outliers.", ("Plot revenue, costs.", "List outliers.")),
        ("plot revenue", ("plot revenue",)),
        ("version 1.5 of candy", ("version 1.5 of candy",)),
    ],
)
def test_a_request_is_cut_into_sentences_or_a_single_one_into_clauses(text: str, parts: tuple[str, ...]) -> None:
    assert clauses(text) == parts
