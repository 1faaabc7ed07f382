"""A question as words with their stems and places."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

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
        Word(found.group(), _lower(found.group()), stem(found.group()), found.start(), found.end())
        for found in _WORD.finditer(text)
    )


def split_name(name: str) -> tuple[str, ...]:
    """The words of a column's or table's name: `orderDate`, `order_date`, `Order-Date` are all (order, date)."""
    spaced = re.sub(r"(?<=[a-zа-яё0-9])(?=[A-ZА-ЯЁ])", " ", name)
    return tuple(_lower(word) for word in re.findall(r"[^\W_]+", spaced))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    plain = re.sub(r"['’]s?$", "", _lower(word))
    if not re.search(r"[а-я]", plain):
        return str(_STEMMERS["english"].stemWord(plain))
    shorter = str(_STEMMERS["russian"].stemWord(plain))
    while len(shorter) > 3 and shorter != plain:  # one cut leaves forms apart: канал is cut like a verb, каналам is not
        plain, shorter = shorter, str(_STEMMERS["russian"].stemWord(shorter))
    return plain


def _lower(word: str) -> str:
    return word.lower().replace("ё", "е").replace("’", "'")
