"""Reads the YAML and JSON files of a knowledge base, with the line of every value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from groundplan.errors import SourceError
from groundplan.regular_files import read_regular
from groundplan.text.located_yaml import File, Located, Place, whole
from groundplan.text.strict_json import JsonRefused, parse_strictly

MOST_BYTES = 256_000_000  # of one file
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class ParsedFile(Located):
    """A mapping read from a file; YAML has line numbers, JSON counts as one line."""

    value: dict[str, JsonValue]

    def read(self, model: type[Model], value: object, at: Place = ()) -> Model:
        """A part of the file as a contract; the error lists all its faults."""
        try:
            return model.model_validate(value)
        except ValidationError as error:
            found = (self.fault(_message(detail), (*at, *detail["loc"])) for detail in error.errors(include_url=False))
            raise SourceError("\n".join(found)) from error


def load_text(path: Path) -> str:
    try:
        return read_regular(path, MOST_BYTES).decode("utf-8")
    except OSError as error:
        raise SourceError(f"{path}:1: cannot be read ({error.strerror}); name a file that exists") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}:1: is not UTF-8 text; save it as UTF-8") from error


def read_json(path: Path, text: str) -> ParsedFile:
    """Without the size limit of other JSON, because a graph may be large."""
    try:
        value = parse_strictly(text)
    except JsonRefused as error:
        raise SourceError(f"{path}:{error.line}: {error}; correct the JSON") from error
    if not isinstance(value, dict):
        raise SourceError(f"{path}:1: the file is not a mapping; write keys with values")
    return ParsedFile(path, value)


def read_yaml(path: Path, text: str, lines_above: int = 0) -> ParsedFile:
    """Dates stay text, keys must be unique, and aliases are refused."""
    problems: list[str] = []
    found = whole(File(path, text.encode(), lines_above), problems, as_written=True)
    if problems or found is None or not isinstance(found.value, dict):
        raise SourceError("\n".join(problems))
    return ParsedFile(path, found.value, found.lines)


def _message(detail: ErrorDetails) -> str:
    place = ".".join(str(part) for part in detail["loc"])
    match detail["type"]:
        case "missing":
            return f"{place} is missing; add it"
        case "extra_forbidden":
            return f"{place} is not a known key; correct or remove it"
        case _:
            message = detail["msg"].removeprefix("Value error, ")
            return f"{place}: {message[0].lower()}{message[1:]}; correct it" if place else f"{message}; correct it"
