"""Faults that the gate finds, and safe repairs that it makes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundplan.contracts.contract import Contract


class Issue(Contract):
    """One fault, with a stable code that is documented under docs/rules."""

    code: Annotated[str, Field(pattern=r"^[a-z]+/[a-z-]+$")]
    problem: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"
    step: str | None = None
    path: str | None = None  # into the plan: steps.2.params.metrics.0.column
    requirement: str | None = None


class Repair(Contract):
    """A safe change to a plan before the check, and why it is safe."""

    step: str
    path: str
    kind: Literal["default", "table", "casing"]
    before: str | None
    after: str
    reason: str
