"""Text as the words that are searched: names taken apart, filler left out, stems in English and Russian."""

from __future__ import annotations

import re
from functools import lru_cache

import snowballstemmer
from bm25s.stopwords import STOPWORDS_EN_PLUS, STOPWORDS_RUSSIAN

HUMP = re.compile(r"(?<=[a-zа-яё])(?=[A-ZА-ЯЁ])|(?<=[A-ZА-ЯЁ])(?=[A-ZА-ЯЁ][a-zа-яё])")  # camel|Case, HTTP|Request
LETTERS = re.compile(r"[^\W\d_]+")
POLITE = "also could help know let like may might must need please shall tell thank thanks us want would"
RUSSIAN_POLITE = "дай дайте мне можешь можно нужно подскажи пожалуйста покажи скажи хочу"
FILLER = frozenset((*STOPWORDS_EN_PLUS, *STOPWORDS_RUSSIAN, *POLITE.split(), *RUSSIAN_POLITE.split()))


def words(text: str) -> list[str]:
    """In order, with repetitions; numbers are values, never what a tool is about."""
    return [_stem(word) for word in spaced(text).lower().split() if len(word) > 1 and word not in FILLER]


def spaced(name: str) -> str:
    """`getTeamStats` and `get_team_stats` as people would write them."""
    return " ".join(LETTERS.findall(HUMP.sub(" ", name)))


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    language = "russian" if "а" <= word[0] <= "ё" else "english"
    return str(snowballstemmer.stemmer(language).stemWord(word))
