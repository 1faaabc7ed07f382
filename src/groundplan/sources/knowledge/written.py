"""The mappings in a knowledge base's YAML and JSON files, with the line of everything in them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from groundplan.errors import SourceError
from groundplan.text.located_yaml import File, Located, Place, whole
from groundplan.text.strict_json import JsonRefused, parse_strictly

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Written(Located):
    """A mapping from a file; YAML has line numbers, JSON counts as one line."""

    value: dict[str, JsonValue]

    def read(self, model: type[Model], value: object, at: Place = ()) -> Model:
        """A part of the file as a contract; the error lists everything that is wrong with it."""
        try:
            return model.model_validate(value)
        except ValidationError as error:
            found = (self.fault(_said(detail), (*at, *detail["loc"])) for detail in error.errors(include_url=False))
            raise SourceError("\n".join(found)) from error


def load_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SourceError(f"{path}:1: cannot be read ({error.strerror}); name a file that is there") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}:1: is no UTF-8 text; save it as UTF-8") from error


def read_json(path: Path, text: str) -> Written:
    """Of any size: a graph may be large."""
    try:
        value = parse_strictly(text)
    except JsonRefused as error:
        raise SourceError(f"{path}:{error.line}: {error}; correct the JSON") from error
    if not isinstance(value, dict):
        raise SourceError(f"{path}:1: the file holds no mapping; write keys with values")
    return Written(path, value)


def read_yaml(path: Path, text: str, lines_above: int = 0) -> Written:
    """Dates stay text, keys are unique and aliases are refused: a file means what it shows."""
    problems: list[str] = []
    found = whole(File(path, text.encode(), lines_above), problems, as_written=True)
    if problems or found is None or not isinstance(found.value, dict):
        raise SourceError("\n".join(problems))
    return Written(path, found.value, found.lines)


def _said(detail: ErrorDetails) -> str:
    place = ".".join(str(part) for part in detail["loc"])
    match detail["type"]:
        case "missing":
            return f"{place} is missing; add it"
        case "extra_forbidden":
            return f"{place} is no key that is known here; correct or remove it"
        case _:
            message = detail["msg"].removeprefix("Value error, ")
            return f"{place}: {message[0].lower()}{message[1:]}; correct it" if place else f"{message}; correct it"
