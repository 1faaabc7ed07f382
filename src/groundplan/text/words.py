"""Splits a question into words with their stems and positions."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from groundplan.text.stems import lower, stem

Language = Literal["en", "ru", "other"]
SHORT = 60  # characters: a value of a table, not a question

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,]\d+)*|[<>=]=?|[#%]")


@dataclass(frozen=True)
class Word:
    """Words are compared by `stem`; `start` and `end` are positions in the normalised question."""

    text: str
    lower: str
    stem: str
    start: int
    end: int

    @property
    def plain(self) -> str:
        """The word without a contraction: `who` for who's."""
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
    """Decided by script: mostly Cyrillic words mean Russian, mostly Latin ones English."""
    cyrillic = len(re.findall(r"[а-яё]+", text.lower()))
    latin = len(re.findall(r"[a-z]+", text.lower()))
    if not cyrillic and not latin:
        return "other"
    return "ru" if cyrillic >= latin else "en"


def words_of(text: str) -> tuple[Word, ...]:
    return _short_words(text) if len(text) <= SHORT else _words(text)


@lru_cache(maxsize=20_000)
def _short_words(text: str) -> tuple[Word, ...]:
    """Values of tables are looked at for every question about them."""
    return _words(text)


def _words(text: str) -> tuple[Word, ...]:
    return tuple(
        Word(found.group(), lower(found.group()), stem(found.group()), found.start(), found.end())
        for found in _WORD.finditer(text)
    )


def texts_of(text: str) -> tuple[str, ...]:
    """The words without stems, for long lists of names that are rarely compared."""
    return tuple(_WORD.findall(text))
