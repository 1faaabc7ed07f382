"""Whether an outcome agrees with independent truths: lenient on labels, rounding and percent."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, JsonValue

from groundplan.answering.writing.phrases import MONTHS_OF_DAYS
from groundplan.contracts.answer import Answer, Outcome, Refusal

Cell = float | str | None
T = TypeVar("T")
Row = Sequence[Cell]

SCALES = {
    "million": 1e6,
    "млн": 1e6,
    "M": 1e6,
    "billion": 1e9,
    "млрд": 1e9,
    "B": 1e9,
    "thousand": 1e3,
    "тыс": 1e3,
    "k": 1e3,
    "K": 1e3,
}
NUMBER = re.compile(r"(-|−)?\d[\d, \u00a0\u202f]*(?:[.,]\d+)?\s*(%|million|billion|thousand|млн|млрд|тыс|[kKMB]\b)?")
NOTHING = {None, "", "none", "unknown", "missing"}


Verdict = Literal["right", "wrong", "refused", "asked"]


class Question(BaseModel):
    """A line of `questions.jsonl`; other keys are for people."""

    id: str
    dataset: str = "data"  # the folder or the file with the tables
    question: str
    expect: Literal["answer", "ask", "refuse"]
    level: str = "?"
    sql: str | None = None  # the truth
    accept: tuple[str, ...] = ()  # other SQL that is as good
    readings: tuple[str | dict[str, JsonValue], ...] = ()  # of an open question: the SQL of each way to read it
    ordered: bool = False
    today: dt.date = dt.date(2026, 1, 15)

    @property
    def truths(self) -> Iterator[str]:
        """The SQL of each result that is right."""
        opened = (one.get("sql") if isinstance(one, dict) else one for one in self.readings)
        yield from (sql for sql in (self.sql, *self.accept, *opened) if sql and isinstance(sql, str))


def judge(question: Question, outcome: Outcome, truths: Iterable[Sequence[Row]]) -> Verdict:
    """Right, or how it is not: an answer to a question that has none is wrong, and a refusal is never."""
    if not isinstance(outcome, Answer):
        if question.expect != "answer":
            return "right"
        return "refused" if isinstance(outcome, Refusal) else "asked"
    if question.expect == "refuse":
        return "wrong"
    return "right" if any(answers(want, question, outcome) for want in truths) else "wrong"


def answers(want: Sequence[Row], question: Question, outcome: Answer) -> bool:
    """Whether a table of the outcome is the wanted one; a single row may also stand first, or in the text."""
    tables = [[cells(row) for row in table.rows] for table in outcome.tables]
    if any(table_is(want, rows, question.ordered) for rows in tables):
        return True
    if not want:
        return any(not rows for rows in tables) or "no rows" in outcome.text.lower()
    if len(want) > 1:
        return False
    (row,) = want
    if text_has(row, outcome.text):
        return True
    labels = [cell for cell in row if isinstance(cell, str)]
    first = any(rows and row_in(row, rows[0]) for rows in tables)
    return first and (not labels or text_has(labels, outcome.text))


def norm(value: Any) -> Cell:
    """One way to write a value: numbers as floats, dates in ISO 8601, text without case and punctuation."""
    match value:
        case None:
            return None
        case float() if math.isnan(value):
            return None
        case bool():
            return str(value).lower()
        case int() | float() | Decimal():
            return float(value)
        case dt.datetime():
            return value.strftime("%Y-%m-%d" if value.time() == dt.time() else "%Y-%m-%d %H:%M")
        case dt.date():
            return value.isoformat()
        case dt.timedelta():
            return value.total_seconds()
    return _norm_text(str(value).strip())


def same(one: Cell, other: Cell) -> bool:
    """Rounded numbers, and fractions beside percents, are the same; so are a label and its beginning."""
    if isinstance(one, float) and isinstance(other, float):
        return any(
            abs(one * scale - other) <= max(0.006 if scale >= 1 else 6e-5, abs(one * scale) * 2e-3)
            for scale in (1, 100, 0.01)
        )
    if one is None or other is None:
        return one is other or {one, other} <= NOTHING
    if isinstance(one, str) and isinstance(other, str):
        long = len(one) > 3 and len(other) > 3
        return one == other or (long and (one.startswith(other) or other.startswith(one)))
    return False


def row_in(want: Row, row: Row) -> bool:
    """Whether the row has every wanted value, each in a column of its own; more columns may follow."""
    return _each_has_its_own(want, row, same)


def table_is(want: Sequence[Row], rows: Sequence[Row], ordered: bool) -> bool:
    if len(rows) != len(want):
        return False
    if ordered:
        return all(row_in(one, other) for one, other in zip(want, rows, strict=True))
    return _each_has_its_own(want, rows, row_in)


def _each_has_its_own(want: Sequence[T], given: Sequence[T], fits: Callable[[T, T], bool]) -> bool:
    """Whether each wanted one finds a fitting one that no earlier one took."""
    left = list(given)
    for one in want:
        found = next((place for place, other in enumerate(left) if fits(one, other)), None)
        if found is None:
            return False
        left.pop(found)
    return True


def text_has(want: Row, text: str) -> bool:
    """Whether the text says every wanted value: numbers up to their rounding, dates in words."""
    words, numbers = _plain(text), list(_numbers(text))
    return all(_says(cell, words, numbers) for cell in want)


def _says(cell: Cell, words: str, numbers: Sequence[tuple[float, float]]) -> bool:
    if cell is None:
        return True
    if isinstance(cell, float):
        return any(
            abs(cell * scale - number) <= max(0.0051 * max(rounded, 1), abs(cell * scale) * 6e-3)
            for number, rounded in numbers
            for scale in (1, 100)
        )
    if re.match(r"^\d{4}-\d\d-\d\d", cell):
        return any(_plain(form) in words for form in _dates(dt.date.fromisoformat(cell[:10])))
    return cell in words


def _dates(day: dt.date) -> Iterator[str]:
    yield day.isoformat()
    yield f"{day.day} {MONTHS_OF_DAYS['ru'][day.month - 1]} {day.year}"
    yield f"{day.day} {day:%B} {day.year}".lower()
    yield f"{day:%B} {day.year}".lower()
    yield f"q{(day.month + 2) // 3} {day.year}"


def _numbers(text: str) -> Iterator[tuple[float, float]]:
    """The numbers in a text with their scale, in each way their separators can be read."""
    for found in NUMBER.finditer(text):
        scale = SCALES.get(found[2] or "", 1)
        body = re.sub(r"[^\d.,\-−]", "", found[0]).replace("−", "-")
        for form in {body.replace(",", ""), body.replace(".", "").replace(",", "."), body.replace(",", ".")}:
            try:
                yield float(form.rstrip(".")) * scale, scale
            except ValueError:
                continue


def _norm_text(text: str) -> Cell:
    try:
        return float(text.replace(",", "").rstrip("%"))
    except ValueError:
        pass
    if moment := re.match(r"^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?", text):
        return moment[1] if moment[2] == "00:00" else f"{moment[1]} {moment[2]}"
    if re.match(r"^\d{4}-\d\d-\d\d$", text):
        return text
    if re.match(r"^\d{4}-\d\d$", text):
        return f"{text}-01"
    return _plain(text).strip()


def _plain(text: str) -> str:
    return re.sub(r"[_\W]+", " ", text.lower())


def cells(row: Sequence[Any]) -> list[Cell]:
    """A row in the form in which rows are compared."""
    return [norm(value) for value in row]
