"""Stems and, for Russian words, lemmas: what the inflections of a word have in common."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

import Stemmer

if TYPE_CHECKING:
    from pymorphy3 import MorphAnalyzer

SHORTEST = 3  # letters of a Russian stem
_RUSSIAN = re.compile(r"[а-я]")
_POSSESSIVE = re.compile(r"'s?$")


def lower(word: str) -> str:
    """Lower case, with one е and one apostrophe."""
    return word.lower().replace("ё", "е").replace("’", "'")


def is_russian(word: str) -> bool:
    return bool(_RUSSIAN.search(lower(word)))


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The English or Russian stem, by script. Russian endings are cut repeatedly while three letters remain."""
    plain = _POSSESSIVE.sub("", lower(word))
    if not is_russian(plain):
        return str(Stemmer.Stemmer("english", 0).stemWord(plain))  # a new one: stemmers are not thread-safe
    cut = Stemmer.Stemmer("russian", 0).stemWord
    shorter = str(cut(plain))
    while len(shorter) >= SHORTEST and shorter != plain:  # cut once, канал and каналам have different stems
        plain, shorter = shorter, str(cut(shorter))
    return plain


@lru_cache(maxsize=100_000)
def lemma(word: str) -> str | None:
    """The dictionary form of a Russian word; None for other words, and without the extra `knowledge`."""
    if not is_russian(word) or (dictionary := _dictionary()) is None:
        return None
    return lower(dictionary.parse(_POSSESSIVE.sub("", lower(word)))[0].normal_form)


@lru_cache(maxsize=100_000)
def keys_of(word: str) -> frozenset[str]:
    """The stem and the lemma. Two words match if they share a key.

    Both are needed: some forms of a noun have different stems, and the dictionary lacks names.
    """
    return frozenset(filter(None, (stem(word), lemma(word))))


@lru_cache(maxsize=1)
def _dictionary() -> MorphAnalyzer | None:
    """Loading takes half a second."""
    if find_spec("pymorphy3") is None:
        return None
    from pymorphy3 import MorphAnalyzer

    return MorphAnalyzer()
