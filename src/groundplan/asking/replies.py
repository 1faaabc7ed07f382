"""Replies to a clarification: which candidate is meant, and the question that words without a reading complete."""

from __future__ import annotations

import re
from collections.abc import Callable

from groundplan.contracts.answer import Clarification, MeantColumn, Refusal
from groundplan.contracts.reading import Reading
from groundplan.text.words import normalise, words_of

LONGEST_REPLY = 12  # words; a longer text is a new question
MOST_READ = 12  # candidates; with more, only the chosen one is read
REMEMBER = re.compile(r"[\s,;.]*\b(?:and |и )?(?:remember(?: it)?|запомни(?:ть)?)[\s.!]*$", re.I)
YES, NO = frozenset({"yes", "y", "approve", "да", "д"}), frozenset({"no", "n", "нет", "н"})


def yes_or_no(text: str) -> bool | None:
    """True for `yes` or `да`, False for `no` or `нет`; None for any other text."""
    said = text.strip().lower().rstrip(".!")
    return said in YES if said in YES | NO else None


def chosen(asked: Clarification, reply: str) -> int | None:
    """The index of the candidate that the reply means: by its number, its text, or words that only it has.

    None if it is not exactly one. The one reading of a confirmation is also chosen by `yes`, and never by some words.
    """
    said = normalise(_without_wish(asked, reply))
    number = re.fullmatch(r"\W*(\d{1,3})\W*", said)
    if number and said not in asked.candidates:
        return int(number[1]) - 1 if 1 <= int(number[1]) <= len(asked.candidates) else None
    plain = [_plain(candidate) for candidate in asked.candidates]
    if _plain(said) in plain:
        return plain.index(_plain(said))
    if asked.confirms:
        return 0 if yes_or_no(said) else None
    return _by_words(plain, said, whole=bool(asked.readings))


def to_remember(asked: Clarification, reply: str) -> tuple[MeantColumn, str] | None:
    """The column and its new name, if the reply chooses a column and ends in `remember`."""
    place = chosen(asked, reply)
    wished = _without_wish(asked, reply) != reply
    meant = asked.means[place] if wished and place is not None else None
    return (meant, asked.missing) if meant else None


def _without_wish(asked: Clarification, reply: str) -> str:
    """The reply without `remember` at its end, where something can be remembered; alone it says yes."""
    if not asked.means:
        return reply
    left = REMEMBER.sub("", reply)
    return left or ("yes" if asked.confirms else reply)


def declines(asked: Clarification, reply: str) -> bool:
    """True if the reply says no to all that was offered."""
    return bool(asked.candidates) and chosen(asked, reply) is None and yes_or_no(_without_wish(asked, reply)) is False


def complete(question: str, asked: Clarification, reply: str) -> str | None:
    """The question completed with the reply; None if the text does not answer the clarification.

    If there are no candidates, any short text is a reply.
    """
    if not asked.candidates:
        said = normalise(reply)
        short = 0 < len(words_of(said)) <= LONGEST_REPLY
        return _completed(question, asked, said) if short and asked.open else None
    place = chosen(asked, reply)
    return None if place is None else _completed(question, asked, asked.candidates[place])


def with_readings(
    asked: Clarification, question: str, read: Callable[[str], Reading | Clarification | Refusal | None]
) -> Clarification:
    """The clarification with readings: those of the questions that its candidates complete.

    A candidate that cannot be read is left out; one with several readings is replaced by their sentences. If none can
    be read, or there are many, it stays as it is.
    """
    if asked.readings or not 0 < len(asked.candidates) <= MOST_READ:
        return asked
    offered: dict[str, Reading] = {}
    for candidate in asked.candidates:
        match read(_completed(question, asked, candidate)):
            case Reading() as found:
                offered.setdefault(candidate, found)
            case Clarification(candidates=candidates, readings=readings) if readings:
                offered |= dict(zip(candidates, readings, strict=True))
    if not offered:
        return asked
    return asked.model_copy(update={"candidates": tuple(offered), "readings": tuple(offered.values())})


def _by_words(candidates: list[str], said: str, *, whole: bool) -> int | None:
    """The candidate that shares most words with the reply; `whole`: the only one that has them all."""
    stems = {word.stem for word in words_of(said)}
    shared = [len(stems & {word.stem for word in words_of(candidate)}) for candidate in candidates]
    best = max(shared, default=0)
    if not best or shared.count(best) > 1 or len(stems) > LONGEST_REPLY or (whole and best < len(stems)):
        return None
    return shared.index(best)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower().replace("_", " ")))


def _completed(question: str, asked: Clarification, choice: str) -> str:
    """The question with the choice in place of the unclear words, or appended to it."""
    words = asked.put.replace("{choice}", choice).replace("{missing}", asked.missing)
    place = question.find(asked.missing) if asked.missing else -1
    if place < 0:
        return f"{question.rstrip('?!. ')}, {choice}"
    return question[:place] + words + question[place + len(asked.missing) :]
