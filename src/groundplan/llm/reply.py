"""A model's reply: the filled-in contract, or the reason why it cannot be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from groundplan.contracts.answer import Usage
from groundplan.contracts.contract import Contract
from groundplan.errors import WorldError

Into = TypeVar("Into", bound=Contract)


@dataclass(frozen=True)
class Reply(Generic[Into]):
    """A reply that fits its contract and uses only the names it could choose from."""

    value: Into
    repaired: bool  # its punctuation was corrected before parsing
    usage: Usage
    model: str
    ms: float
    attempts: int


@dataclass(frozen=True)
class UnusableReply:
    """A reply that cannot be used; `problem` is worded so that it can be sent back to the model."""

    reason: Literal["length", "refused", "not_json", "wrong_shape"]
    problem: str
    text: str  # as the model sent it
    usage: Usage
    model: str
    ms: float
    attempts: int


class ModelError(WorldError):
    """A model server refused a request, or did not answer with a chat completion."""
