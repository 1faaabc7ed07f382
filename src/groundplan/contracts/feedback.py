"""What people say about answers, and the pairs of question and right reading that come of it."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from groundplan.contracts.contract import Contract
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.run import storable

Thumb = Literal["good", "bad"]


class Feedback(Contract):
    """A thumb, and why."""

    thumb: Thumb
    reason: Annotated[str, Field(max_length=2_000), AfterValidator(storable)] = ""


class Review(Contract):
    """A bad answer that waits for review: what was asked, how it was read and what was planned."""

    run: str
    question: str
    reason: str = ""
    at: datetime
    today: date  # to which the words of the question refer
    reading: Reading | None = None
    plan: Plan | None = None


class Regression(Contract):
    """A question with the reading that a person found right."""

    run: str
    question: str
    today: date
    reading: Reading
