"""A question as the user asked it: text, date, time zone, strategy, and what the caller allows."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from groundplan.contracts.bounds import NO_BOUNDS, Bounds
from groundplan.contracts.contract import Contract, Name, Scalar, StepId

NO_MODEL = "rules"  # the strategy that calls no model, neither to read nor to plan


class Question(Contract):
    text: Annotated[str, Field(max_length=100_000)]
    today: date
    timezone: str = "UTC"
    bounds: Bounds = NO_BOUNDS
    inputs: dict[StepId, Scalar] = {}  # for a task that takes them; None: to be given when it runs
    strategy: Name | None = None  # None: rules first, then a model if they cannot settle the question
