"""The report of a suite, in the same format for every suite."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue

from groundplan.contracts.answer import Usage
from groundplan.contracts.contract import Contract

Share = Annotated[float, Field(ge=0, le=1)]


class Miss(Contract):
    """One item that was not entirely correct."""

    id: str
    question: str
    expected: JsonValue
    got: JsonValue
    why: str


class Report(Contract):
    suite: str
    n: int  # scored items
    scores: dict[str, Share]
    misses: tuple[Miss, ...] = ()
    usage: Usage = Usage()
    seconds: float
    extra: dict[str, float] = {}  # costs: milliseconds, tokens, attempts
