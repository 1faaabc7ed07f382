"""Words that ask for one number over several things: `of the top 10 customers altogether`."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.text.words import Word

WORDS = frozenset({"altogether", "together", "combined", "вместе", "суммарно"})
PHRASES = frozenset({("in", "all"), ("in", "total"), ("в", "сумме"), ("в", "итоге")})
BEFORE = frozenset({"by", "per", "по"})  # by combined revenue: what it is ranked by
AFTER = frozenset({"in", "for", "during", "since", "last", "this", "from", "в", "за", "с", "на"})


def asks_together(words: Sequence[Word]) -> bool:
    """True if the question asks for all of them at once, not for each."""
    said = [word.lower for word in words]
    for place, word in enumerate(said):
        after = said[place + 1] if place + 1 < len(said) else None
        if word in WORDS and not (place and said[place - 1] in BEFORE) and after not in ("with", "с"):
            return True
        last = said[place + 2] if place + 2 < len(said) else None
        if (word, after) in PHRASES and (last is None or last in AFTER):  # not: in all regions
            return True
    return False
