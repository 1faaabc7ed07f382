"""Text as the forms that are compared: the stem and the dictionary form of every word."""

from __future__ import annotations

import re
import unicodedata

from groundplan.text.stems import is_russian, lemma, lower, stem

WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
STRESS = "\u0301"  # Russian texts mark the stressed vowel with it


def forms(text: str) -> list[str]:
    """In order, with repetitions; the hyphen keeps stems apart from dictionary forms."""
    plain = lower(unicodedata.normalize("NFKC", text).replace(STRESS, ""))
    return [form for word in WORD.findall(plain) for form in (f"{stem(word)}-", _dictionary_form(word))]


def _dictionary_form(word: str) -> str:
    """English words as they are; Russian words by their stem where no dictionary is installed."""
    return (lemma(word) or stem(word)) if is_russian(word) else word
