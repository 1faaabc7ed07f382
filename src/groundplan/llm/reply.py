"""What comes of asking a model: a contract, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from groundplan.contracts.answer import Usage
from groundplan.contracts.contract import Contract
from groundplan.errors import WorldError

Into = TypeVar("Into", bound=Contract)


@dataclass(frozen=True)
class Told(Generic[Into]):
    """An answer that fits its contract and names only what it was given to choose from."""

    value: Into
    repaired: bool  # its punctuation was mended before it could be parsed
    usage: Usage
    model: str
    ms: float
    attempts: int


@dataclass(frozen=True)
class Untold:
    """An answer that cannot be used; `problem` is written so that it can go back to a model."""

    reason: Literal["length", "refused", "not_json", "wrong_shape"]
    problem: str
    text: str  # what the model said
    usage: Usage
    model: str
    ms: float
    attempts: int


class ModelError(WorldError):
    """A model server refused a request, or answered in another protocol than chat completions."""
