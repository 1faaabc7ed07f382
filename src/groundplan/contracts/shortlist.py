"""The shortlist of tools from which a planner chooses for a reading."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundplan.contracts.contract import Contract
from groundplan.contracts.tool import ToolName

Why = Literal["template", "retrieved", "safety"]


class Candidate(Contract):
    """One tool, and why it is on the list."""

    tool: ToolName
    score: Annotated[float, Field(ge=0)] = 0.0  # from retrieval; 0 if no query found it
    why: Why
    queries: tuple[str, ...] = ()  # `combined`, or the ids of the requirements whose query found it


class Shortlist(Contract):
    """Template tools, then retrieved tools by score, then the safety set, which alone may exceed the cap."""

    tools: tuple[Candidate, ...]
    cap: Annotated[int, Field(ge=8, le=12)] = 12

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(candidate.tool for candidate in self.tools)
