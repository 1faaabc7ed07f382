"""A reading changed by hand: its parts as chips, and what each of them could be instead."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundplan.contracts.contract import Contract
from groundplan.contracts.reading import Evidence, Kind, Value

SuggestionGroup = Literal["function", "column", "grain", "value", "period", "comparison", "order"]
"""What a suggestion changes, so that a list of them can be divided."""


class Change(Contract):
    """`to` takes the place of a requirement. Without `to` it is removed; without `requirement` it is added."""

    requirement: Annotated[str, Field(max_length=256)] | None = None
    to: Value | None = None


class Chip(Contract):
    """One part of a reading, in words, with the words of the question that ask for it."""

    requirement: str
    kind: Kind
    label: str
    words: tuple[Evidence, ...] = ()
    implied: bool = False
    removable: bool = True


class Suggestion(Contract):
    label: str
    group: SuggestionGroup
    change: Change
