"""How a CSV file is written: its encoding, its separator, and whether its first row names the columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

SEPARATORS = ",;\t|"
UTF8 = "utf-8-sig"
SAMPLE = 500_000  # bytes
ROWS = 200  # of the sample, to compare with the first one
OLD_CYRILLIC = re.compile(rb"[\xc0-\xff]{3}")  # such byte runs are words in Cyrillic and rare in Latin text
QUOTED = re.compile(r'"(?:[^"]|"")*"')  # may hold separators and line ends
NUMBER_OR_DATE = re.compile(r"[-+]?[€$£¥₽]?\s*\d[\d\s.,:/%T-]*[€$£¥₽]?")
YEAR = re.compile(r"(1[89]|20|21)\d\d")


@dataclass(frozen=True)
class Dialect:
    separator: str | None  # None: the file has one column
    first: Sequence[str]  # the cells of the first row
    has_titles: bool  # the first row names the columns; if False, DuckDB decides

    @property
    def has_comma_decimals(self) -> bool:
        """Semicolons separate where commas stand before decimals, so that no point is taken for one unseen."""
        return self.separator == ";"


def find_dialect(path: Path) -> Dialect:
    text = _sample(path)
    separator = _separator(text)
    rows = [row for row in islice(csv.reader(text.splitlines(keepends=True), delimiter=separator or ","), ROWS) if row]
    return Dialect(separator, rows[0] if rows else (), bool(rows) and _are_titles(rows[0], rows[1:]))


def encoding_of(sample: bytes) -> str:
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        sample.decode(UTF8)
    except UnicodeDecodeError:
        return "cp1251" if OLD_CYRILLIC.search(sample) else "latin-1"
    return UTF8


def _sample(path: Path) -> str:
    """The first lines; none is cut."""
    with path.open("rb") as file:
        start = file.read(SAMPLE) + file.readline()
    return start.decode(encoding_of(start), errors="replace")


def _separator(text: str) -> str | None:
    """The most frequent separator in the header, outside quotes."""
    header = QUOTED.sub("", text).lstrip().partition("\n")[0]
    best = max(SEPARATORS, key=header.count)
    return best if best in header else None


def _are_titles(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Titles are words. A year may be a title too, above a column that has no years."""
    columns = [[row[place] for row in below if place < len(row)] for place in range(len(first))]
    return any(first) and all(_may_be_title(cell.strip(), column) for cell, column in zip(first, columns, strict=True))


def _may_be_title(cell: str, below: Sequence[str]) -> bool:
    if not NUMBER_OR_DATE.fullmatch(cell):
        return True
    return bool(YEAR.fullmatch(cell)) and not any(YEAR.fullmatch(value.strip()) for value in below)
