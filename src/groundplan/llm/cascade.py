"""Models ordered from smallest to largest; the caller moves to the next one when the gate refuses a plan."""

from __future__ import annotations

from dataclasses import dataclass

from groundplan.errors import UsageError
from groundplan.llm.client import Model


@dataclass(frozen=True)
class Cascade:
    models: tuple[Model, ...]

    def __post_init__(self) -> None:
        if not self.models:
            raise UsageError("a cascade needs at least one model")

    @property
    def model(self) -> Model:
        """The current model."""
        return self.models[0]

    def next(self) -> Cascade | None:
        """The cascade without its first model; None if that was the last."""
        return Cascade(self.models[1:]) if len(self.models) > 1 else None
