"""The word forms that searches compare: the stem and the dictionary form of every word."""

from __future__ import annotations

import re
import unicodedata

from groundplan.text.stems import is_russian, lemma, lower, stem

WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
STRESS = "\u0301"  # marks the stressed vowel in Russian texts


def forms(text: str) -> list[str]:
    """The forms in order, with repetitions; a hyphen marks stems."""
    plain = lower(unicodedata.normalize("NFKC", text).replace(STRESS, ""))
    return [form for word in WORD.findall(plain) for form in (f"{stem(word)}-", _dictionary_form(word))]


def _dictionary_form(word: str) -> str:
    """English words unchanged; Russian words by their lemma, or by their stem if no dictionary is installed."""
    return (lemma(word) or stem(word)) if is_russian(word) else word
