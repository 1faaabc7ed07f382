"""What kind of task it is, before it is planned."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundplan.contracts.contract import Contract

Line = Annotated[str, Field(max_length=500)]


class TaskAnalysis(Contract):
    """By the words of a task, or by a model."""

    complexity: Literal["simple", "moderate", "complex"]
    requires_tools: bool = True
    requires_routing: bool
    suggested_node_types: Annotated[tuple[Literal["tool", "llm", "agent", "router"], ...], Field(max_length=4)] = ()
    key_entities: Annotated[tuple[Line, ...], Field(max_length=20)] = ()
    intent: Line = ""
