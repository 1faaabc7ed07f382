"""Loads a suite's JSONL files."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from groundplan.errors import UsageError

Row = TypeVar("Row", bound=BaseModel)


def load_rows(file: Path, row: type[Row], holds: str) -> list[Row]:
    """All rows of a file; `holds` names the files of the suite's folder for the error message."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"{file} cannot be read; name a folder with {holds}") from error
    return [_parsed(file, number, line, row) for number, line in enumerate(lines, 1) if line.strip()]


def _parsed(file: Path, number: int, line: str, row: type[Row]) -> Row:
    try:
        return row.model_validate_json(line)
    except ValidationError as error:
        raise UsageError(f"{file}:{number}: {error.errors()[0]['msg']}; each line is one JSON object") from error
