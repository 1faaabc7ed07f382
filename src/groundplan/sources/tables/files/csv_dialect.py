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
PAGE = re.compile(r"\s*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
CONTROLS = bytes({*range(32)} - {*b"\a\t\n\r\x0b\x0c\x1a\x1b"})  # those that texts of terminals hold are left out
MOST_CONTROLS = 0.02  # of the bytes of a text
YEAR = re.compile(r"(1[89]|20|21)\d\d")


@dataclass(frozen=True)
class Dialect:
    separator: str | None  # None: the file has one column
    first: Sequence[str]  # the cells of the first row
    has_titles: bool  # the first row names the columns; if False, DuckDB decides
    above: int = 0  # lines before that row: a heading of the whole table

    @property
    def has_comma_decimals(self) -> bool:
        """Semicolons separate where commas stand before decimals, so that no point is taken for one unseen."""
        return self.separator == ";"


def find_dialect(path: Path) -> Dialect:
    text = _sample(path)
    above = _lines_above(text)
    text = "".join(text.splitlines(keepends=True)[above:])
    separator = _separator(text)
    rows = [row for row in islice(csv.reader(text.splitlines(keepends=True), delimiter=separator or ","), ROWS) if row]
    return Dialect(separator, rows[0] if rows else (), bool(rows) and _are_titles(rows[0], rows[1:]), above)


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


def is_page(path: Path) -> bool:
    """A web page, whatever the file is called."""
    return bool(PAGE.match(_sample(path)))


def is_text(path: Path) -> bool:
    """False where bytes stand for no letters: a picture, an archive, a spreadsheet."""
    with path.open("rb") as file:
        start = file.read(SAMPLE)
    controls = len(start) - len(start.translate(None, CONTROLS))
    return encoding_of(start) == "utf-16" or controls <= MOST_CONTROLS * len(start)


def _lines_above(text: str) -> int:
    """The lines of a heading: of one cell each, above titles that are as many as the cells of the rows below."""
    lines = text.splitlines(keepends=True)[:ROWS]
    top, *below = [line for line in lines if line.strip()] or [""]
    parts = {mark: sum(map(bool, map(str.strip, top.split(mark)))) for mark in SEPARATORS}
    if any(parts[mark] > 1 and all(line.count(mark) >= top.count(mark) for line in below) for mark in SEPARATORS):
        return 0  # the first line is like the others
    return max((_above_titles(lines, mark) for mark in SEPARATORS), default=0)


def _above_titles(lines: Sequence[str], separator: str) -> int:
    reader = csv.reader(lines, delimiter=separator)
    try:
        read = [(row, reader.line_num) for row in reader]
    except csv.Error:  # a cell of another separator's file, too long for one
        return 0
    first = next((place for place, (row, _) in enumerate(read) if sum(bool(cell.strip()) for cell in row) > 1), 0)
    titles, below = (read[first][0] if read else []), [row for row, _ in read[first + 1 :] if row]
    heading = any(any(row) for row, _ in read[:first])
    even = len(below) > 1 and all(len(row) == len(titles) for row in below)
    named = all(titles) and len({*titles}) == len(titles) and _are_titles(titles, below)
    return read[first - 1][1] if heading and even and named else 0


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
