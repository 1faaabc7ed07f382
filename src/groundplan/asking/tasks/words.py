"""The lexicon of composing, and names as the words they are made of."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

import snowballstemmer
import yaml

from groundplan.contracts.contract import Contract

_HUMP = re.compile(r"(?<=[a-zа-яё0-9])(?=[A-ZА-ЯЁ])|(?<=[A-ZА-ЯЁ])(?=[A-ZА-ЯЁ][a-zа-яё])")
_WORD = re.compile(r"[^\W\d_]+")
QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<!\w)'[^']*'(?!\w)")
_SPOKEN = re.compile(r"[^\W_]+")
_ENGLISH, _RUSSIAN = snowballstemmer.stemmer("english"), snowballstemmer.stemmer("russian")


class ComposeWords(Contract):
    kinds: dict[str, tuple[str, ...]]
    called: dict[str, tuple[str, ...]]
    written: tuple[str, ...]
    comparisons: dict[str, tuple[str, ...]]
    there: tuple[str, ...]
    pointing: tuple[str, ...]
    people: tuple[str, ...]
    telling: tuple[str, ...]
    several: tuple[str, ...]
    changing: tuple[str, ...]
    plain: tuple[str, ...]
    glosses: dict[str, str]


@lru_cache(maxsize=1)
def load_compose_words() -> ComposeWords:
    text = files("groundplan.asking.tasks").joinpath("compose.yaml").read_text(encoding="utf-8")
    return ComposeWords.model_validate(yaml.safe_load(text))


def name_words(name: str) -> tuple[str, ...]:
    """`customerId` and `customer_id` as customer, id."""
    return tuple(word.lower() for word in _WORD.findall(_HUMP.sub(" ", name)))


def tool_words(name: str) -> tuple[str, ...]:
    """Of a tool's own name: that of its server, which stands before a dot, says nothing of it."""
    return name_words(name.rsplit(".", 1)[-1])


def first_of(words: tuple[str, ...]) -> str:
    """What is to be done, mostly: the first word of a part of a task, or of a tool's name."""
    return words[0] if words else "-"


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    word = word.lower()
    return str((_RUSSIAN if "а" <= word[0] <= "ё" else _ENGLISH).stemWord(word))


def stems(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in _WORD.findall(_HUMP.sub(" ", text)))


def spoken(text: str) -> str:
    """Lower-case words with single spaces around them: whether one text is in another is then asked of whole words."""
    return f" {' '.join(_SPOKEN.findall(text.lower()))} "


def glossed(text: str) -> str:
    """With the English for the Russian words that tools are mostly described without."""
    known = {stem(word): english for word, english in load_compose_words().glosses.items()}
    return " ".join((text, *(known[word] for word in stems(text) if word in known)))


def unquoted(text: str) -> str:
    return QUOTED.sub(" ", text)
