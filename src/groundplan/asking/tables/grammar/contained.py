"""Texts that a column must contain, begin or end with: `product name contains lamp`, `whose name starts with A`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from groundplan.asking.tables.grammar.lexicon import Lexicon
from groundplan.asking.tables.grammar.phrases import Cond, Field, Item
from groundplan.contracts.expression import Column, Contains, Place
from groundplan.text.words import Word

PHRASES: tuple[tuple[re.Pattern[str], Place], ...] = (
    (re.compile(r"contain(?:s|ing)?|содерж(?:ит|ат|ащ(?:ий|ая|ее|ие|их|им|ими|ей|его))"), "anywhere"),
    (
        re.compile(r"(?:start|begin)(?:s|ning|ing)? with|начина(?:ется|ются|ющ(?:ийся|аяся|ееся|иеся|ихся)) (?:на|с)"),
        "start",
    ),
    (re.compile(r"end(?:s|ing)? (?:with|in)|(?:за|о)канчива(?:ется|ются|ющ(?:ийся|аяся|ееся|иеся|ихся)) на"), "end"),
)
"""By form, not by stem: a container is something else."""
QUOTED = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|«([^»]+)»|“([^”]+)”|‘([^’]+)’)""")
BETWEEN = frozenset({(), ("that",), ("which",), ("whose", "name"), ("whose", "names")})
"""What may stand between a column and `contains`."""


def contained(text: str, words: tuple[Word, ...], items: Sequence[Item], lexicon: Lexicon) -> Iterator[Item]:
    """A condition for each column of texts that is named right before such a phrase."""
    for place in range(len(words)):
        for size in (1, 2):
            phrase = " ".join(word.lower for word in words[place : place + size])
            kind = next((kind for pattern, kind in PHRASES if pattern.fullmatch(phrase)), None)
            sought = _sought(text, words, place + size, lexicon) if kind else None
            if kind and sought:
                yield from _conditions(kind, sought, place, words, items)


def _conditions(
    kind: Place, sought: tuple[str, int], place: int, words: tuple[Word, ...], items: Sequence[Item]
) -> Iterator[Item]:
    letters, last = sought
    for item in items:
        field = item.value
        between = tuple(word.lower for word in words[item.last : place])
        if item.category != "field" or not isinstance(field, Field) or item.last > place or between not in BETWEEN:
            continue
        if field.column is not None and field.column.kind == "text":
            made = Cond(Contains(of=Column(name=field.column.name), text=letters, place=kind))
            yield Item("condition", item.first, last, made, item.score + last - item.last)


def _sought(text: str, words: tuple[Word, ...], first: int, lexicon: Lexicon) -> tuple[str, int] | None:
    """The letters, and the place behind them: what is quoted, or words up to one that is known."""
    if first >= len(words):
        return None
    quoted = QUOTED.match(text, words[first - 1].end)
    if quoted:
        last = next((place for place in range(first, len(words)) if words[place].start >= quoted.end()), len(words))
        return next(filter(None, quoted.groups())), last
    last = first + 1
    while last < len(words) and _goes_on(text, words, last, lexicon):
        last += 1
    return text[words[first].start : words[last - 1].end], last


def _goes_on(text: str, words: tuple[Word, ...], place: int, lexicon: Lexicon) -> bool:
    known = words[place].lower in lexicon.structure or any(True for _ in lexicon.find(words, place, place + 1))
    return not known and not text[words[place - 1].end : words[place].start].strip()
