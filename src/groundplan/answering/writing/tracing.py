"""Fact ids: the writer puts them into citations, and the verifier resolves them.

    totals.r3.revenue                        a cell in the fourth row of step `totals`
    totals.revenue                           the label of a column
    totals#rows, totals#shown                the number of rows, and the number of rows shown
    facts.items.2.value, plan.steps.1…       a path in the facts, in the plan
    derived:sum(totals.revenue; region=r3)   a sum over the rows with the same region as the fourth row
    derived:share(totals.r3.revenue, sum(totals.revenue))

Column names that are not plain words are in double quotes, as in JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from groundplan.contracts.contract import Scalar
from groundplan.contracts.facts import Item

Function = Literal["sum", "share", "change", "count", "rest"]
STEP, WORD = r"[a-z][a-z0-9_]*", r"[^\W\d]\w*"
COLUMN = rf'(?:{WORD}|"(?:[^"\\]|\\.)*")'
CELL = re.compile(rf"({STEP})\.r(\d+)\.({COLUMN})")
ROWS = re.compile(rf"({STEP})#(rows|shown)")
ALIKE = re.compile(rf"; ({COLUMN})=r(\d+)")
NAMED = re.compile(rf"({STEP})\.({COLUMN})((?:; {COLUMN}=r\d+)*)")
CALL = re.compile(rf"({'|'.join(get_args(Function))})\(")
PLACE = re.compile(r"(?:facts|plan)(?:\.[\w-]+)+")
NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Cell:
    step: str
    row: int
    column: str

    def __str__(self) -> str:
        return f"{self.step}.r{self.row}.{_written(self.column)}"


@dataclass(frozen=True)
class Column:
    """A column's cells: all of them, or those of rows that match a given row in other columns."""

    step: str
    column: str
    alike: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        alike = "".join(f"; {_written(name)}=r{row}" for name, row in self.alike)
        return f"{self.step}.{_written(self.column)}{alike}"


@dataclass(frozen=True)
class Rows:
    step: str
    which: Literal["rows", "shown"] = "rows"

    def __str__(self) -> str:
        return f"{self.step}#{self.which}"


@dataclass(frozen=True)
class Place:
    path: str

    def __str__(self) -> str:
        return self.path


@dataclass(frozen=True)
class Derived:
    function: Function
    arguments: tuple[Trace | int, ...]

    def __str__(self) -> str:
        return "derived:" + _call(self)


Trace = Cell | Column | Rows | Place | Derived


def total(step: str, column: str, *alike: tuple[str, int]) -> Derived:
    return Derived("sum", (Column(step, column, alike),))


def find_trace(fact: str) -> Trace | None:
    """Parse a fact id; None if it is not one."""
    found, end = _argument(fact, len("derived:") if fact.startswith("derived:") else 0)
    return found if end == len(fact) and not isinstance(found, int) else None


def flat(value: object) -> Scalar:
    """A composite value on one line."""
    if isinstance(value, Item):
        return f"{value.title} {value.value}"
    if isinstance(value, Mapping):
        return " ".join(str(flat(item)) for item in value.values())
    if isinstance(value, tuple | list):
        return ", ".join(str(flat(item)) for item in value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _argument(text: str, at: int) -> tuple[Trace | int | None, int]:
    if call := CALL.match(text, at):
        return _derived(text, call)
    if cell := CELL.match(text, at):
        return Cell(cell[1], int(cell[2]), _read(cell[3])), cell.end()
    if rows := ROWS.match(text, at):
        return Rows(rows[1], "rows" if rows[2] == "rows" else "shown"), rows.end()
    if (place := PLACE.match(text, at)) and text.startswith(("facts.", "plan."), at):
        return Place(place[0]), place.end()
    if column := NAMED.match(text, at):
        alike = tuple((_read(name), int(row)) for name, row in ALIKE.findall(column[3]))
        return Column(column[1], _read(column[2]), alike), column.end()
    number = NUMBER.match(text, at)
    return (int(number[0]), number.end()) if number else (None, at)


def _derived(text: str, call: re.Match[str]) -> tuple[Derived | None, int]:
    arguments: list[Trace | int] = []
    at = call.end()
    while True:
        argument, at = _argument(text, at)
        if argument is None:
            return None, at
        arguments.append(argument)
        if text.startswith(", ", at):
            at += 2
            continue
        function = next(name for name in get_args(Function) if name == call[1])
        return (Derived(function, tuple(arguments)), at + 1) if text.startswith(")", at) else (None, at)


def _call(derived: Derived) -> str:
    inner = (_call(item) if isinstance(item, Derived) else str(item) for item in derived.arguments)
    return f"{derived.function}({', '.join(inner)})"


def _written(column: str) -> str:
    return column if re.fullmatch(WORD, column) else json.dumps(column, ensure_ascii=False)


def _read(column: str) -> str:
    return str(json.loads(column)) if column.startswith('"') else column
