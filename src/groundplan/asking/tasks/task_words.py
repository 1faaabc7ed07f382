"""The lexicon of workflow planning, and functions to compare the words of tasks and tools."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

from groundplan.contracts.contract import Contract
from groundplan.text.names import name_words
from groundplan.text.plain_yaml import load_yaml
from groundplan.text.stems import stem

QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<!\w)'[^']*'(?!\w)")
_SPOKEN = re.compile(r"[^\W_]+")


class Reached(Contract):
    params: tuple[str, ...]
    fields: tuple[str, ...]


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
    placed: tuple[str, ...]
    changing: tuple[str, ...]
    reading: tuple[str, ...]
    reached: Reached
    plain: tuple[str, ...]
    glosses: dict[str, str]


@lru_cache(maxsize=1)
def load_compose_words() -> ComposeWords:
    text = files("groundplan.asking.tasks").joinpath("compose.yaml").read_text(encoding="utf-8")
    return ComposeWords.model_validate(load_yaml(text))


def tool_words(name: str) -> tuple[str, ...]:
    """The words of a tool's name, without the server's name."""
    return name_words(name.rsplit(".", 1)[-1])


def first_of(words: tuple[str, ...]) -> str:
    """The first word of a task part or of a tool's name, usually the verb."""
    return words[0] if words else "-"


def stems(text: str) -> tuple[str, ...]:
    return tuple(map(stem, name_words(text)))


def spoken(text: str) -> str:
    """The words in lower case with single spaces around them, so that `in` compares whole words."""
    return f" {' '.join(_SPOKEN.findall(text.lower()))} "


def glossed(text: str) -> str:
    """The text with English translations of its Russian words, because most tools are described in English."""
    known = {stem(word): english for word, english in load_compose_words().glosses.items()}
    return " ".join((text, *(known[word] for word in stems(text) if word in known)))


def unquoted(text: str) -> str:
    return QUOTED.sub(" ", text)
