"""Splits a request for several things into clauses."""

from __future__ import annotations

import re

SENTENCE_END = re.compile(r"(?<=[.!?;])[\"')\]]*\s+|\n+")
CONJUNCTIONS = "and then|and also|as well as|after that|then|and|also|plus|but|а также|после этого|затем|потом|и"
JOINT = re.compile(rf",?\s+(?:{CONJUNCTIONS})\s+|,\s+", re.IGNORECASE)


def clauses(text: str) -> tuple[str, ...]:
    """The sentences; a single sentence is split at commas and conjunctions."""
    sentences = _stripped(SENTENCE_END.split(text))
    return sentences if len(sentences) > 1 else _stripped(JOINT.split(text))


def _stripped(pieces: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(piece.strip() for piece in pieces if piece.strip()))
