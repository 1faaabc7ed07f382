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
_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]+")


def spaced(name: str) -> str:
    """`orderDate`, `order_date` and `HTTPRequest` as `order Date`, `order date` and `HTTP Request`."""
    return _HUMP.sub(" ", name).replace("_", " ")


def worded(name: str) -> str:
    """`product_category` as words in a sentence; short abbreviations keep their capitals."""
    words = spaced(name).split()
    return " ".join(word if _is_short_upper(word) else word.lower() for word in words) or name


def _is_short_upper(word: str) -> bool:
    """An abbreviation: `ID`, `(EUR)`."""
    return word.isupper() and len(word.strip("().,")) <= 4


@lru_cache(maxsize=20_000)
def split_name(name: str) -> tuple[str, ...]:
    """The words in lower case, with their digits: `q1Sales` is (q1, sales)."""
    return tuple(lower(word) for word in _WORD.findall(spaced(name)))


def name_words(name: str) -> tuple[str, ...]:
    """The words in lower case, without digits: in names and descriptions of tools, digits are values or versions."""
    return tuple(lower(word) for word in _LETTERS.findall(spaced(name)))


def singular(word: str) -> str:
    """An English noun in the singular, by its ending: customers, countries, classes."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if word.endswith(ending) and not word.endswith("ss"):
            return word.removesuffix(ending) + instead
    return word
