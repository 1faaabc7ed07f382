"""Context that changes a phrase: a name it is part of, or a word that makes its bounds vague."""

from __future__ import annotations

from groundplan.text.periods.period_words import BLURS, UNITS
from groundplan.text.periods.tokens import Sentence

MARKS_BEFORE = set("#№$€£₽@")
JOINTS = set("-/.,_:")


def is_in_a_name(sentence: Sentence, at: int, after: int) -> bool:
    """Whether it is part of a name or number such as INV-2024-03, #2024, 2024/15 or 2024k."""
    before, behind = sentence.word(at - 1), sentence.word(after)
    if sentence.glued(at) and sentence.word(at - 2) not in BLURS:
        joined = before in JOINTS and sentence.glued(at - 1)
        if joined or before in MARKS_BEFORE or before == "_" or before.isalnum():
            return True
    return sentence.glued(after) and (behind.isalnum() or (behind in JOINTS and _carries_on(sentence, after + 1)))


def find_blur(sentence: Sentence, at: int, free_from: int) -> int | None:
    """The position of a word with vague bounds before the phrase: early, mid-, летом, "week 12 of". None if none is."""
    place = at - 1
    while sentence.word(place) in ("of", "the", "-"):
        place -= 1
    word = sentence.word(place)
    if word not in BLURS:
        week = sentence.number(place) and sentence.word(place - 1) == "week"
        weeks = UNITS.get(word) == "week" and not word.isascii() and sentence.number(place - 1)
        place = place - 1 if week or weeks else -1
    return place if place >= free_from else None


def _carries_on(sentence: Sentence, at: int) -> bool:
    return sentence.glued(at) and sentence.tokens[at].kind != "symbol"
