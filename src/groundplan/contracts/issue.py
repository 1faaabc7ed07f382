"""A fault the gate found, and a safe repair it made."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundplan.contracts.contract import Contract


class Issue(Contract):
    """One fault, with a stable code whose manual page says more."""

    code: Annotated[str, Field(pattern=r"^[a-z]+/[a-z-]+$")]
    problem: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"
    step: str | None = None
    path: str | None = None  # into the plan: steps.2.params.metrics.0.column
    requirement: str | None = None


class Repair(Contract):
    """A safe change made to a plan before it was checked, and why it was safe."""

    step: str
    path: str
    kind: Literal["default", "table", "casing", "query"]
    before: str | None
    after: str
    reason: str
