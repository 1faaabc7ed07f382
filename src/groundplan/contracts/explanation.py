"""Why a plan has the steps it has, and what became of each word of the question."""

from __future__ import annotations

from typing import Literal

from groundplan.contracts.asks import all_requirements
from groundplan.contracts.contract import Contract
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading

Fate = Literal["used", "structure", "replaced", "not understood"]


class Reason(Contract):
    """A requirement, the words that ask for it, and the steps that serve it."""

    requirement: str
    words: str
    implied: bool  # it follows from the words, but they do not name it
    steps: tuple[str, ...]


class WordFate(Contract):
    """What became of a word of the question."""

    text: str
    start: int
    fate: Fate
    requirements: tuple[str, ...] = ()  # those that it asks for; none if it only goes with other words


def reasons(reading: Reading, plan: Plan) -> tuple[Reason, ...]:
    return tuple(
        Reason(
            requirement=requirement.id,
            words=requirement.words,
            implied=requirement.implied,
            steps=tuple(step.id for step in plan.steps if requirement.id in step.satisfies),
        )
        for requirement in all_requirements(reading)
    )
