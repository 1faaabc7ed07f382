"""Search words of a text: names are split, filler is left out, words are stemmed in English and Russian."""

from __future__ import annotations

from bm25s.stopwords import STOPWORDS_EN_PLUS, STOPWORDS_RUSSIAN

from groundplan.text.names import name_words
from groundplan.text.stems import lower, stem

POLITE = "also could help know let like may might must need please shall tell thank thanks us want would"
RUSSIAN_POLITE = "дай дайте мне можешь можно нужно подскажи пожалуйста покажи скажи хочу"
FILLER = frozenset(map(lower, (*STOPWORDS_EN_PLUS, *STOPWORDS_RUSSIAN, *POLITE.split(), *RUSSIAN_POLITE.split())))


def words(text: str) -> list[str]:
    """The stems in order, with repetitions. Numbers are left out: they do not describe a tool."""
    return [stem(word) for word in name_words(text) if len(word) > 1 and word not in FILLER]
