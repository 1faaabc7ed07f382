"""The lexicon of composing, and the words of tasks and tools as they are compared."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

import yaml

from groundplan.contracts.contract import Contract
from groundplan.text.names import name_words
from groundplan.text.stems import stem

QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<!\w)'[^']*'(?!\w)")
_SPOKEN = re.compile(r"[^\W_]+")


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


def tool_words(name: str) -> tuple[str, ...]:
    """The words of a tool's own name, without the server's name before the dot."""
    return name_words(name.rsplit(".", 1)[-1])


def first_of(words: tuple[str, ...]) -> str:
    """The first word of a part of a task or of a tool's name: mostly its verb."""
    return words[0] if words else "-"


def stems(text: str) -> tuple[str, ...]:
    return tuple(map(stem, name_words(text)))


def spoken(text: str) -> str:
    """Lower-case words with single spaces around them, so that `in` compares whole words."""
    return f" {' '.join(_SPOKEN.findall(text.lower()))} "


def glossed(text: str) -> str:
    """The text with English words for its Russian ones added, since most tools are described in English."""
    known = {stem(word): english for word, english in load_compose_words().glosses.items()}
    return " ".join((text, *(known[word] for word in stems(text) if word in known)))


def unquoted(text: str) -> str:
    return QUOTED.sub(" ", text)
