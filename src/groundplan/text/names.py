"""Splits identifiers into words: names of columns, tables, tools and fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from groundplan.text.stems import lower, stem

_UPPER, _LOWER = "A-ZА-ЯЁ", "a-zа-яё"
_HUMP = re.compile(  # order|Date, HTTP|Request, USD|To|EUR, SKU|Id; the capitals of userIDs and IMDb stay together
    rf"(?<=[{_LOWER}0-9])(?=[{_UPPER}])|"
    rf"(?<=[{_UPPER}])(?=[{_UPPER}](?:[{_LOWER}]{{2}}|(?!s)[{_LOWER}][{_UPPER}])|Id(?![{_LOWER}]))"
)
_UNITS = frozenset(  # stay together
    {"kW", "kWh", "MWh", "GWh", "TWh", "hL", "mL", "dL", "kHz", "MHz", "GHz", "dB", "pH", "mAh", "kPa"}
)
IDENTIFYING = frozenset({"id", "key", "code", "number", "no", "uuid", "guid", "ид", "код", "номер"})
"""Last words of names of columns that identify and do not measure."""
_FAMILY = re.compile("(?<=....)(?:ation|ition|ission|sion|tion|ion|ance|ence|able|ible|ive|al|er|or)$")
_PERSONS = frozenset({"ian", "ians", "ist", "ists", "ant", "ants", "er", "ers", "eer", "eers", "ee", "ees"})
"""Endings that make a person of a word, which is then not its abbreviation."""
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


def is_id(name: str) -> bool:
    """Called as a key: `order_id`, `Booking No`."""
    *_, last = split_name(name) or ("",)
    return last in IDENTIFYING


def stands_for(name: str, id_: str, rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether things may be told by their names without their ids: `Aurora` for `1 / Aurora`.

    The columns are called after the same thing, and in these rows each id has a name that no other has.
    """
    *thing, last = split_name(id_) or ("",)
    if last not in IDENTIFYING or not {*thing} & {*split_name(name)}:
        return False
    pairs = {(row[id_], row[name]) for row in rows}
    named = all(isinstance(called, str) and known is not None for known, called in pairs)
    return named and len(pairs) == len(dict(pairs)) == len({called for _, called in pairs})


@lru_cache(maxsize=100_000)  # columns of a thousand tables, which are gone through several times
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
    if word.startswith(short):
        return word.removeprefix(short) not in _PERSONS  # a clinician is no clinic
    if word[0] in _VOWELS and word[1:].startswith(short):
        return True
    if short[0] != word[0]:
        return False
    if len(short) > 3 and word.endswith(short[1:]):
        return True
    if any(letter in _VOWELS for letter in short[1:]):
        return False
    rest = iter(word)
    return all(letter in rest for letter in short)


def kin(one: str, other: str) -> bool:
    """Words of one family: cancellation and cancelled, readmission and readmitted; not department and departed, and
    not train and trainer."""
    short, long = sorted((one, other), key=len)
    if long.startswith(short) and long.removeprefix(short) in _PERSONS | {"r", "rs"}:
        return False
    roots = {_root(one), _root(other)}
    return len(roots) == 1 and len(roots.pop()) >= 4


@lru_cache(maxsize=20_000)
def _root(word: str) -> str:
    plain = re.sub("miss(?:ion)?$", "mit", stem(word))
    plain = _FAMILY.sub("", plain)
    return plain.removesuffix("t").removesuffix("s").removesuffix("t").removesuffix("s").removesuffix("e")


def singular(word: str) -> str:
    """An English noun in the singular, by its ending: customers, countries, classes."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if word.endswith(ending) and not word.endswith("ss"):
            return word.removesuffix(ending) + instead
    return word


def plural(name: str) -> str:
    """An English name in the plural, by its ending: customers, countries, classes."""
    if not name[-1:].isalpha():
        return f"values of {name}"
    if name.endswith("s"):
        return name
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("x", "z", "ch", "sh")) else f"{name}s"


def is_plural(noun: str) -> bool:
    """Whether a noun takes a plural verb: `units` and `sales`, but not `revenue`."""
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is"))


def things_of(table: str) -> str | None:
    """What its rows are, if the name is English for several things: `order_items`, not `export_2024`."""
    words = worded(table)
    return words if is_plural(words) and words.replace(" ", "").isalpha() and words.isascii() else None
