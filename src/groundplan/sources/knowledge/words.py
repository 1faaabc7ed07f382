"""Text as what is compared: of every word its stem and its dictionary form, in Russian and English.

Either may be what two forms of a word share: stems part some Russian words that the dictionary joins, and the
dictionary does not know names. A word counts by both, so that neither fault hides it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

import snowballstemmer

if TYPE_CHECKING:
    from pymorphy3 import MorphAnalyzer

WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
RUSSIAN = re.compile(r"[а-я]")
SHORTEST_STEM = 3
STRESS = "\u0301"  # a mark that Russian texts put over a vowel for the reader's sake


def forms(text: str) -> list[str]:
    """In order, with repetitions; a stem never equals a dictionary form by chance."""
    plain = unicodedata.normalize("NFKC", text).replace(STRESS, "").lower()
    return [form for word in WORD.findall(plain) for form in _forms(word.replace("ё", "е").replace("’", "'"))]


@lru_cache(maxsize=200_000)
def _forms(word: str) -> tuple[str, str]:
    stem = _stem(word)
    return f"{stem}-", _dictionary_form(word, stem)


def _stem(word: str) -> str:
    if not RUSSIAN.search(word):
        return str(snowballstemmer.stemmer("english").stemWord(word.removesuffix("'s")))
    russian = snowballstemmer.stemmer("russian")
    shorter = str(russian.stemWord(word))
    while len(shorter) > SHORTEST_STEM and shorter != word:  # one cut leaves forms apart: канал, каналам
        word, shorter = shorter, str(russian.stemWord(shorter))
    return word


def _dictionary_form(word: str, stem: str) -> str:
    """English words stand for themselves; Russian ones without a dictionary have their stem alone."""
    if not RUSSIAN.search(word):
        return word
    dictionary = _dictionary()
    return str(dictionary.parse(word)[0].normal_form).replace("ё", "е") if dictionary else stem


@lru_cache(maxsize=1)
def _dictionary() -> MorphAnalyzer | None:
    """Of the extra `knowledge`; it takes half a second to load."""
    if not find_spec("pymorphy3"):
        return None
    from pymorphy3 import MorphAnalyzer

    return MorphAnalyzer()
