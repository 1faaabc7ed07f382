"""Models in order, the smallest first; the caller moves on when the gate has refused."""

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
        """The one whose turn it is."""
        return self.models[0]

    def next(self) -> Cascade | None:
        """What is left after a refusal; None when the largest model was refused too."""
        return Cascade(self.models[1:]) if len(self.models) > 1 else None
