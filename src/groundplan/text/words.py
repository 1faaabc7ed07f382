"""A question as words with their stems and places."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any, Literal

import snowballstemmer

Language = Literal["en", "ru", "other"]

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,]\d+)*|[<>=]=?|[#%]")
_STEMMERS = {name: snowballstemmer.stemmer(name) for name in ("english", "russian")}


@dataclass(frozen=True)
class Word:
    """`stem` is what words are compared by; `start` and `end` are places in the normalised question."""

    text: str
    lower: str
    stem: str
    start: int
    end: int

    @property
    def plain(self) -> str:
        """Without what an apostrophe adds: who's, it's."""
        return self.lower.partition("'")[0]

    @property
    def is_number(self) -> bool:
        return self.text[0].isdigit()


def normalise(question: str) -> str:
    """One line, single spaces, composed Unicode, no invisible characters."""
    text = unicodedata.normalize("NFKC", question)
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cc") or c.isspace())
    return " ".join(text.split())


def language_of(text: str) -> Language:
    """By script: Cyrillic letters make a question Russian, Latin ones English."""
    cyrillic = len(re.findall(r"[а-яё]", text.lower()))
    latin = len(re.findall(r"[a-z]", text.lower()))
    if not cyrillic and not latin:
        return "other"
    return "ru" if cyrillic >= latin else "en"


def words_of(text: str) -> tuple[Word, ...]:
    return tuple(
        Word(found.group(), lower(found.group()), stem(found.group()), found.start(), found.end())
        for found in _WORD.finditer(text)
    )


def texts_of(text: str) -> tuple[str, ...]:
    """The words alone, for long lists of names that are seldom compared."""
    return tuple(_WORD.findall(text))


@lru_cache(maxsize=20_000)
def split_name(name: str) -> tuple[str, ...]:
    """The words of a column's or table's name: `orderDate`, `order_date`, `Order-Date` are all (order, date)."""
    spaced = re.sub(r"(?<=[a-zа-яё0-9])(?=[A-ZА-ЯЁ])", " ", name)
    return tuple(lower(word) for word in re.findall(r"[^\W_]+", spaced))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    plain = re.sub(r"['’]s?$", "", lower(word))
    if not re.search(r"[а-я]", plain):
        return str(_STEMMERS["english"].stemWord(plain))
    shorter = str(_STEMMERS["russian"].stemWord(plain))
    while len(shorter) > 3 and shorter != plain:  # one cut leaves forms apart: канал is cut like a verb, каналам is not
        plain, shorter = shorter, str(_STEMMERS["russian"].stemWord(shorter))
    return plain


@lru_cache(maxsize=100_000)
def keys_of(word: str) -> frozenset[str]:
    """What a word is looked up by: its stem and, where the dictionary is installed, its Russian lemma.

    Two words are the same when they share a key: stems split the forms of some nouns, lemmas those of unknown names.
    """
    plain = re.sub(r"['’]s?$", "", lower(word))
    if not re.search(r"[а-я]", plain) or (morphology := _morphology()) is None:
        return frozenset({stem(plain)})
    return frozenset({stem(plain), lower(morphology.parse(plain)[0].normal_form)})


@cache
def _morphology() -> Any:
    """The Russian dictionary of the extra `knowledge`; None without it."""
    if find_spec("pymorphy3") is None:
        return None
    from pymorphy3 import MorphAnalyzer

    return MorphAnalyzer()


def lower(word: str) -> str:
    """Small letters, one е, one apostrophe."""
    return word.lower().replace("ё", "е").replace("’", "'")
