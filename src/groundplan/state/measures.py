"""How well models read questions and how fast they write, as `groundplan doctor --model M` measured it."""

from __future__ import annotations

import os
from datetime import date
from typing import Annotated, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from groundplan.contracts.contract import Contract
from groundplan.settings import state_folder

FILE, SPEEDS = "measures.json", "speeds.json"
FAST = 20.0  # tokens per second: a draft takes a few seconds
Count = Annotated[int, Field(ge=0)]
T = TypeVar("T", bound=Contract)


class ModelMeasure(Contract):
    """What a model made of `n` questions whose answers are known."""

    url: str
    model: str
    right: Count
    wrong: Count
    declined: Count  # refused or asked back, where there was an answer
    n: Annotated[int, Field(ge=1)]
    date: date

    @property
    def share(self) -> float:
        """The part that was right, from 0 to 1."""
        return self.right / self.n


class ModelSpeed(Contract):
    url: str
    model: str
    tokens_per_second: Annotated[float, Field(ge=0)]


_MEASURES = TypeAdapter(list[ModelMeasure])
_SPEEDS = TypeAdapter(list[ModelSpeed])


def find_measure(url: str, model: str) -> ModelMeasure | None:
    """The last measure of this model at this server; None if it was never measured."""
    return next((one for one in _read(_MEASURES, FILE) if (one.url, one.model) == (url, model)), None)


def keep_measure(measure: ModelMeasure) -> None:
    """Keep the measure in place of an earlier one of the same model and server."""
    others = [one for one in _read(_MEASURES, FILE) if (one.url, one.model) != (measure.url, measure.model)]
    _write(_MEASURES.dump_json([*others, measure], indent=1), FILE)


def is_fast(url: str, model: str) -> bool:
    """True if the model at this server was last measured to write fast enough to draft answers."""
    speeds = {(one.url, one.model): one.tokens_per_second for one in _read(_SPEEDS, SPEEDS)}
    return speeds.get((url, model), 0.0) >= FAST


def keep_speed(speed: ModelSpeed) -> None:
    """Keep the speed in place of an earlier one of the same model and server."""
    others = [one for one in _read(_SPEEDS, SPEEDS) if (one.url, one.model) != (speed.url, speed.model)]
    _write(_SPEEDS.dump_json([*others, speed], indent=1), SPEEDS)


def _read(kind: TypeAdapter[list[T]], name: str) -> list[T]:
    """Everything the file holds; nothing if it is missing or another version wrote it."""
    try:
        return kind.validate_json((state_folder() / name).read_bytes())
    except (OSError, ValidationError):
        return []


def _write(content: bytes, name: str) -> None:
    path = state_folder() / name
    written = path.with_suffix(f".{os.getpid()}")
    written.write_bytes(content)
    written.replace(path)
