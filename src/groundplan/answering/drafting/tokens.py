"""The closed list of words of drafted sentences, and a sentence as tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from groundplan.contracts.contract import Language
from groundplan.text.plain_yaml import load_yaml
from groundplan.text.stems import lower, stem

TOKEN = re.compile(r"\{(\w+)\}(?:['’]s\b)?|([^\W\d_]+(?:['’-][^\W\d_]+)*)|(\s+)|(.)", re.DOTALL)
POSSESSIVE = re.compile(r"['’]s?$")
MARKS = frozenset(",;:()–—-/.")


@dataclass(frozen=True)
class Token:
    """A slot's id, a word or phrase with its kind, or a punctuation mark."""

    kind: str  # `slot`, `mark`, `label`, `unknown`, or a key of words.yaml
    text: str
    columns: frozenset[str] = frozenset()  # of a label


@cache
def words_of(language: Language) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """For each kind, its phrases, each as words."""
    told = load_yaml(files(__package__).joinpath("words.yaml").read_text(encoding="utf-8"))[language]
    return {kind: tuple(tuple(lower(phrase).split()) for phrase in phrases) for kind, phrases in told.items()}


@cache
def _phrases(language: Language) -> tuple[tuple[tuple[str, ...], str], ...]:
    """All phrases with their kinds, the longest first."""
    found = [(phrase, kind) for kind, phrases in words_of(language).items() for phrase in phrases]
    return tuple(sorted(found, key=lambda item: -len(item[0])))


@lru_cache(maxsize=20_000)
def _beginning(word: str, language: Language) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The phrases that begin with a word, the longest first."""
    return tuple(item for item in _phrases(language) if _matches(item[0][0], word))


def kinds_of(word: str, language: Language) -> frozenset[str]:
    """The kinds of a single word."""
    return frozenset(kind for phrase, kind in _beginning(lower(word), language) if len(phrase) == 1)


def tokens(sentence: str, labels: Mapping[tuple[str, ...], frozenset[str]], language: Language) -> list[Token]:
    """The sentence as tokens; a label of a column, by stems, goes before a word of the list if it is longer."""
    found, at, raw = [], 0, list(_raw(sentence))
    while at < len(raw):
        kind, text = raw[at]
        if kind != "word":
            found.append(Token(kind, text))
            at += 1
            continue
        token, length = _longest([word for kind, word in _run(raw, at)], labels, language)
        found.append(token)
        at += length
    return found


def _raw(sentence: str) -> Iterator[tuple[str, str]]:
    for slot, word, space, mark in TOKEN.findall(sentence):
        if slot:
            yield "slot", slot
        elif word:
            yield "word", POSSESSIVE.sub("", lower(word))
        elif not space:
            yield ("mark" if mark in MARKS else "unknown"), mark


def _run(raw: Sequence[tuple[str, str]], at: int) -> Sequence[tuple[str, str]]:
    """The words up to the next slot or mark."""
    end = next((place for place in range(at, len(raw)) if raw[place][0] != "word"), len(raw))
    return raw[at:end]


def _longest(
    words: Sequence[str], labels: Mapping[tuple[str, ...], frozenset[str]], language: Language
) -> tuple[Token, int]:
    label = max((phrase for phrase in labels if _begins(words, phrase)), key=len, default=())
    listed = next((item for item in _beginning(words[0], language) if _starts(words, item[0])), None)
    if label and (listed is None or len(label) >= len(listed[0])):
        return Token("label", " ".join(words[: len(label)]), labels[label]), len(label)
    if listed is None:
        return Token("unknown", words[0]), 1
    return Token(listed[1], " ".join(words[: len(listed[0])])), len(listed[0])


def _begins(words: Sequence[str], label: tuple[str, ...]) -> bool:
    return len(words) >= len(label) and all(stem(word) == part for word, part in zip(words, label, strict=False))


def _starts(words: Sequence[str], phrase: tuple[str, ...]) -> bool:
    return len(words) >= len(phrase) and all(_matches(part, word) for part, word in zip(phrase, words, strict=False))


def _matches(pattern: str, word: str) -> bool:
    return word.startswith(pattern[:-1]) if pattern.endswith("*") else word == pattern
