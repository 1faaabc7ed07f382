"""Splits identifiers into words: names of columns, tables, tools and fields."""

from __future__ import annotations

import re
from functools import lru_cache

from groundplan.text.stems import lower

_UPPER, _LOWER = "A-ZА-ЯЁ", "a-zа-яё"
_HUMP = re.compile(  # order|Date, HTTP|Request, USD|To|EUR, SKU|Id; the capitals of userIDs and IMDb stay together
    rf"(?<=[{_LOWER}0-9])(?=[{_UPPER}])|"
    rf"(?<=[{_UPPER}])(?=[{_UPPER}](?:[{_LOWER}]{{2}}|(?!s)[{_LOWER}][{_UPPER}])|Id(?![{_LOWER}]))"
)
_UNITS = frozenset(  # stay together
    {"kW", "kWh", "MWh", "GWh", "TWh", "hL", "mL", "dL", "kHz", "MHz", "GHz", "dB", "pH", "mAh", "kPa"}
)
_VOWELS = "aeiouаеиоуыэюя"
_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]+")


def spaced(name: str) -> str:
    """`orderDate`, `order_date` and `HTTPRequest` as `order Date`, `order date` and `HTTP Request`."""
    parts = (part if part in _UNITS else _HUMP.sub(" ", part) for part in re.split(r"([\W_]+)", name))
    return "".join(parts).replace("_", " ")


def worded(name: str) -> str:
    """`product_category` as words in a sentence; short abbreviations keep their capitals."""
    words = spaced(name).split()
    return " ".join(word if _is_short_upper(word) else word.lower() for word in words) or name


def _is_short_upper(word: str) -> bool:
    """An abbreviation: `ID`, `(EUR)`."""
    return word.strip("().,") in _UNITS or (word.isupper() and len(word.strip("().,")) <= 4)


@lru_cache(maxsize=20_000)
def split_name(name: str) -> tuple[str, ...]:
    """The words in lower case, with their digits: `q1Sales` is (q1, sales)."""
    return tuple(lower(word) for word in _WORD.findall(spaced(name)))


def name_words(name: str) -> tuple[str, ...]:
    """The words in lower case, without digits: in names and descriptions of tools, digits are values or versions."""
    return tuple(lower(word) for word in _LETTERS.findall(spaced(name)))


@lru_cache(maxsize=50_000)
def is_short_for(short: str, word: str) -> bool:
    """The beginning of the word, its consonants in order, or its first letter and its end."""
    if not 3 <= len(short) < len(word):
        return False
    if word.startswith(short) or (word[0] in _VOWELS and word[1:].startswith(short)):
        return True
    if short[0] != word[0]:
        return False
    if len(short) > 3 and word.endswith(short[1:]):
        return True
    if any(letter in _VOWELS for letter in short[1:]):
        return False
    rest = iter(word)
    return all(letter in rest for letter in short)


def singular(word: str) -> str:
    """An English noun in the singular, by its ending: customers, countries, classes."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if word.endswith(ending) and not word.endswith("ss"):
            return word.removesuffix(ending) + instead
    return word
