"""The report of a suite, in the same format for every suite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, JsonValue

from groundplan.contracts.answer import Usage
from groundplan.contracts.contract import Contract
from groundplan.errors import UsageError

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

    def outside(self, floors: Mapping[str, float], ceilings: Mapping[str, float]) -> list[str]:
        """What is wrong with each score that is below its floor or above its ceiling."""
        unknown = sorted({*floors, *ceilings} - {*self.scores})
        if unknown:
            raise UsageError(f"there is no score {unknown[0]!r}; there are {', '.join(self.scores)}")
        low = [(name, "below", least) for name, least in floors.items() if self.scores[name] < least]
        high = [(name, "above", most) for name, most in ceilings.items() if self.scores[name] > most]
        return [f"{name} is {self.scores[name]}, {side} {bound}" for name, side, bound in low + high]
