"""Whether a word that the data does not know may name a column: a verb, by its place and its ending, names none."""

from __future__ import annotations

import re
from collections.abc import Sequence

from groundplan.text.names import is_plural
from groundplan.text.words import Word, words_of

NO_NAME_AFTER = (  # these words, because a verb follows
    "i we you they he she it who that did do does to will would can could should may might must never",
    "я мы вы он она они кто чтобы",
)
NO_VERB_AFTER = (
    "a an the this these those our my your of in on at by per for from with without within across between and or than",
    "в во на по из у к от до с со без для о об и или за при",
)
ASKING = ("which", "what", "each", "every")
RUSSIAN_VERB = re.compile(r"(?:(?<!ос)(?<!ес)ть|ться|тся|[аяие]ли|[ая]ла|[аяи]лся|[аяи]лась|[аяи]лись|[уюая]ют|ует)$")


def may_name(phrase: str, text: str) -> bool:
    """Visits `fall` in March, which clinic `earns`, they `cover`; but income by `salesperson`, `dormant` accounts."""
    words, said = words_of(text), words_of(phrase)
    places = range(len(words) - len(said) + 1)
    place = next((at for at in places if words[at].lower == said[0].lower), None) if said else None
    if place is None:
        return bool(said)
    before = words[place - 1].lower if place else ""
    if _is_among(before, NO_VERB_AFTER):
        return True
    if _is_among(before, NO_NAME_AFTER) or (len(said) == 1 and RUSSIAN_VERB.search(said[0].lower)):
        return False
    if not before:
        return len(words) == len(said) or words[len(said)].lower not in ("a", "an", "the", "our", "my", "your")
    return not (len(said) == 1 and _has_subject(words, place))


def _is_among(word: str, lines: Sequence[str]) -> bool:
    return any(word in line.split() for line in lines)


def _has_subject(words: Sequence[Word], place: int) -> bool:
    """A noun in the plural before the word, or one in the singular and the word ends as its verb would."""
    before, said = words[place - 1].lower, words[place].lower
    if is_plural(before) and len(before) > 3 and before.isalpha():
        return True
    return place > 1 and words[place - 2].lower in ASKING and is_plural(said)
