"""Words that the question itself explains: `refunds by port (crossings with a negative fare)`.

The explanation takes the place of the words, and the question is read again. An aside that only adds a condition is no
explanation: `(not online)`, `(with VAT)`. What is explained must be one phrase of unread words with nothing negated
before it: `not paid (invoice = open)` may explain `paid` or `not paid`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from groundplan.asking.tables.grammar.lexicon import load
from groundplan.text.words import Word, words_of

THAT_IS = r"(?:i\.\s?e\.?|ie|that is|meaning|т\.\s?е\.?|то есть)[,:]?\s+"
IN_BRACKETS = re.compile(rf"\s*\((?P<that_is>{THAT_IS})?(?P<said>[^()]+?)(?P<i_mean>,?\s+i mean)?\)", re.I)
AT_THE_END = re.compile(rf"\s*[,;]?\s+(?P<that_is>{THAT_IS})(?P<said>[^()]+?)\s*[.?!]*$", re.I)


@dataclass(frozen=True)
class Restated:
    """A question with an explanation in the place of the words that it explains."""

    text: str
    words: str
    explanation: str


def restated(text: str, unread: Sequence[str]) -> Restated | None:
    found = IN_BRACKETS.search(text) or AT_THE_END.search(text)
    if found is None or not (found["that_is"] or found.groupdict().get("i_mean") or _says_which(found["said"])):
        return None
    words = words_of(text[: found.start()])
    run = _run(words, unread)
    if run is None:
        return None
    first, last = run
    while first and words[first - 1].lower in load().explained["leading"]:
        first -= 1
    if any(_negates(words, place) for place in range(max(first - 1, 0), last + 1)):
        return None
    start, end, said = words[first].start, words[last].end, found["said"].strip()
    rest = f"{text[end : found.start()]}{text[found.end() :]}"
    return Restated(f"{text[:start]}{said}{rest}".strip(), text[start:end], said)


def _says_which(said: str) -> bool:
    """`orders without a customer`: a noun, and what holds for it."""
    words = words_of(said)
    first, *others = [word.lower for word in words] or [""]
    conditions = load().explained["conditions"]
    is_noun = bool(first) and first not in load().structure | conditions and not _negates(words, 0)
    return is_noun and not conditions.isdisjoint(others)


def _run(words: Sequence[Word], unread: Sequence[str]) -> tuple[int, int] | None:
    """The places of the first and the last unread word among these, if they stand together, and once."""
    texts = [word.text for word in words]
    here = [word for word in unread if word in texts]
    size = len(here)
    places = [place for place in range(len(texts)) if size and texts[place : place + size] == here]
    return (places[0], places[0] + size - 1) if len(places) == 1 else None


def _negates(words: Sequence[Word], place: int) -> bool:
    return any(value in ("not", "missing", "lacking") for _, value in load().find(tuple(words), place, place + 1))
