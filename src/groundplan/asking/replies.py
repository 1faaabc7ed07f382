"""Completes a question with the reply to its clarification."""

from __future__ import annotations

import re

from groundplan.contracts.answer import Clarification
from groundplan.text.words import normalise, words_of

LONGEST_REPLY = 12  # words; a longer text is a new question


def complete(question: str, asked: Clarification, reply: str) -> str | None:
    """The question completed with the reply; None if the text does not answer the clarification.

    A reply is the number of a candidate, the candidate itself, or words that only one candidate has. If there are no
    candidates, any short text is a reply.
    """
    said = normalise(reply)
    if not asked.candidates:
        short = 0 < len(words_of(said)) <= LONGEST_REPLY
        return _completed(question, asked, said) if short and asked.open else None
    place = _chosen(asked.candidates, said)
    return None if place is None else _completed(question, asked, asked.candidates[place])


def _chosen(candidates: tuple[str, ...], said: str) -> int | None:
    """The index of the candidate that the reply means; None if there is not exactly one."""
    number = re.fullmatch(r"\W*(\d{1,3})\W*", said)
    if number and said not in candidates:
        return int(number[1]) - 1 if 1 <= int(number[1]) <= len(candidates) else None
    plain = [_plain(candidate) for candidate in candidates]
    if _plain(said) in plain:
        return plain.index(_plain(said))
    stems = {word.stem for word in words_of(said)}
    shared = [len(stems & {word.stem for word in words_of(candidate)}) for candidate in plain]
    best = max(shared)
    return shared.index(best) if best and shared.count(best) == 1 and len(stems) <= LONGEST_REPLY else None


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower().replace("_", " ")))


def _completed(question: str, asked: Clarification, choice: str) -> str:
    """The question with the choice in place of the unclear words, or appended to it."""
    words = asked.put.replace("{choice}", choice).replace("{missing}", asked.missing)
    place = question.find(asked.missing) if asked.missing else -1
    if place < 0:
        return f"{question.rstrip('?!. ')}, {choice}"
    return question[:place] + words + question[place + len(asked.missing) :]
