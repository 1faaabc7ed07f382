"""How well models read questions, as `groundplan doctor --model M --questions` measured it."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from groundplan.contracts.contract import Contract
from groundplan.settings import state_folder

FILE = "measures.json"
Count = Annotated[int, Field(ge=0)]


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


_FILE = TypeAdapter(list[ModelMeasure])


def find_measure(url: str, model: str) -> ModelMeasure | None:
    """The last measure of this model at this server; None if it was never measured."""
    return next((one for one in _load() if (one.url, one.model) == (url, model)), None)


def keep_measure(measure: ModelMeasure) -> None:
    """Keep the measure in place of an earlier one of the same model and server."""
    others = [one for one in _load() if (one.url, one.model) != (measure.url, measure.model)]
    written = _path().with_suffix(f".{os.getpid()}")
    written.write_bytes(_FILE.dump_json([*others, measure], indent=1))
    written.replace(_path())


def _load() -> list[ModelMeasure]:
    """All measures; none if the file is missing or another version wrote it."""
    try:
        return _FILE.validate_json(_path().read_bytes())
    except (OSError, ValidationError):
        return []


def _path() -> Path:
    return state_folder() / FILE
