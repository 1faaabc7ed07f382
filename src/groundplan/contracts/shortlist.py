"""The few tools that may serve a reading: what a planner gets to choose from."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundplan.contracts.contract import Contract
from groundplan.contracts.tool import ToolName

Why = Literal["template", "retrieved", "safety"]


class Candidate(Contract):
    """One tool, and why it is here."""

    tool: ToolName
    score: Annotated[float, Field(ge=0)] = 0.0  # what retrieval gave it; 0 when no query found it
    why: Why
    queries: tuple[str, ...] = ()  # `combined`, or the ids of the requirements whose query found it


class Shortlist(Contract):
    """Template tools first, then retrieved ones by score, then the safety set: it alone may exceed the cap."""

    tools: tuple[Candidate, ...]
    cap: Annotated[int, Field(ge=8, le=12)] = 12

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(candidate.tool for candidate in self.tools)
