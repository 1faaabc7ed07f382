"""The values of a text column as conversion sees them: trimmed, without missing ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from groundplan.sources.tables.files.quoting import literal, quoted

AT_ONCE = 10  # columns whose different values one query collects: each takes megabytes, and time to plan
MARKS = ("-", "–", "—", "--", "---", "?", "n/a", "na", "n.a.", "#n/a", "null", "nan", "..", "...", "…", "н/д")
WORDLESS = ("-", "–", "—", "--", "---", "n/a", "n.a.", "#n/a", "null", "nan", "н/д", "пусто")  # of a text
MISSING = f"(?i)(?:{'|'.join(map(re.escape, MARKS))})?"  # or blank
UNKNOWN = f"(?i){'|'.join(map(re.escape, WORDLESS))}"
SAMPLE = 1_000  # rows to look at before all are read
SAMPLED_CELLS = 200_000  # at most, of the columns together


@dataclass(frozen=True)
class Written:
    """How a column is written. The expression converts a trimmed value `v`."""

    type: str
    expression: str
    note: str


@dataclass(frozen=True)
class Cells:
    """The distinct values of a column that may be numbers or dates are kept in a temporary table until `forget`."""

    connection: duckdb.DuckDBPyConnection
    table: str
    column: str
    place: int

    def matching(self, patterns: Sequence[str]) -> list[str]:
        """The patterns that every value matches."""
        column = quoted(self.column)
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {self._kept} AS SELECT DISTINCT {_trimmed(self.column)} AS v "  # noqa: S608
            f"FROM {quoted(self.table)} WHERE {column} IS NOT NULL AND NOT {_is_missing(self.column)}"
        )
        counts = [f"count(*) FILTER (regexp_full_match(v, {literal(pattern)}))" for pattern in patterns]
        total, *matched = self.ask(["count(*)", *counts])
        return [pattern for pattern, count in zip(patterns, matched, strict=True) if 0 < count == total]

    def ask(self, expressions: Sequence[str]) -> tuple[Any, ...]:
        """One row of aggregates over the distinct values, each called `v`."""
        sql = f"SELECT {', '.join(expressions)} FROM {self._kept}"  # noqa: S608
        return self.connection.execute(sql).fetchone() or ()

    def forget(self) -> None:
        self.connection.execute(f"DROP TABLE IF EXISTS {self._kept}")

    def missing_marks(self) -> list[str]:
        """The marks that the column uses for missing values."""
        sql = f"SELECT DISTINCT {_trimmed(self.column)} FROM {quoted(self.table)} WHERE {_is_missing(self.column)}"  # noqa: S608
        return sorted(mark for (mark,) in self.connection.execute(sql).fetchall() if mark)

    @property
    def _kept(self) -> str:
        return f"temp.values_{self.place}"


def likely(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str], patterns: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    """The columns, each with the patterns that its first values do not rule out: a query for each would take long."""
    rows = min(SAMPLE, SAMPLED_CELLS // max(1, len(columns)))
    listed = ", ".join(map(_trimmed, columns)) or "0"
    sample = connection.execute(f"SELECT {listed} FROM {quoted(table)} LIMIT {rows}").fetchall()  # noqa: S608 - quoted
    if not sample:
        return
    missing, compiled = re.compile(MISSING), {pattern: re.compile(pattern) for pattern in patterns}
    for column, cells in zip(columns, zip(*sample, strict=True), strict=bool(columns)):
        values = {cell for cell in cells if cell is not None and not missing.fullmatch(cell)}
        fitting = [pattern for pattern, form in compiled.items() if all(map(form.fullmatch, values))]
        if fitting:
            yield column, fitting


def convert(connection: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, Written]) -> None:
    """Writes the table anew with these columns converted; missing values become null."""
    present, items = [], {}
    for place, (column, written) in enumerate(columns.items()):
        macro, value = f"convert_{place}", f'"value {place} to convert"'
        connection.execute(f"CREATE OR REPLACE TEMP MACRO {macro}(v) AS CAST({written.expression} AS {written.type})")
        present.append(f"CASE WHEN NOT {_is_missing(column)} THEN {_trimmed(column)} END AS {value}")
        items[column] = f"{macro}({value})"
    write_anew(connection, table, items, f"(SELECT *, {', '.join(present)} FROM {quoted(table)})")  # noqa: S608 - quoted


def write_anew(
    connection: duckdb.DuckDBPyConnection, table: str, items: Mapping[str, str], rows: str | None = None
) -> None:
    """The table with other expressions for some columns. All are listed: for 2,000, `* REPLACE` takes a minute."""
    described = connection.execute(f"DESCRIBE {quoted(table)}").fetchall()
    listed = (f"{items[name]} AS {quoted(name)}" if name in items else quoted(name) for name, *_ in described)
    made = f"SELECT {', '.join(listed)} FROM {rows or quoted(table)}"  # noqa: S608 - quoted
    connection.execute(f"CREATE OR REPLACE TABLE {quoted(table)} AS {made}")


def clear_marks(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str]) -> dict[str, str]:
    """Marks such as `N/A` among the values of a text are missing values. Returns a note for each such column."""
    found: dict[str, list[str]] = {}
    for start in range(0, len(columns), AT_ONCE):
        some = columns[start : start + AT_ONCE]
        marked = [
            f"CASE WHEN bool_or(NOT {_is_unknown(name)}) "
            f"THEN map_keys(histogram({quoted(name)}) FILTER ({_is_unknown(name)})) END"
            for name in some
        ]
        sql = f"SELECT {', '.join(marked)} FROM {quoted(table)}"  # noqa: S608 - quoted
        told = connection.execute(sql).fetchone() or ()
        found |= {name: sorted(marks) for name, marks in zip(some, told, strict=True) if marks}
    if found:
        items = {name: f"CASE WHEN NOT {_is_unknown(name)} THEN {quoted(name)} END" for name in found}
        write_anew(connection, table, items)
    return {name: listed_marks(marks) for name, marks in found.items()}


def listed_marks(marks: Sequence[str]) -> str:
    return f"missing values: {', '.join(map(repr, marks))}"


def _is_missing(column: str) -> str:
    """Whether the value is a mark, or blank."""
    return f"regexp_full_match({_trimmed(column)}, {literal(MISSING)})"


def _is_unknown(column: str) -> str:
    """By a pattern: DuckDB plans `IN` for each column as a join, minutes for 2,000 columns."""
    return f"regexp_full_match({_trimmed(column)}, {literal(UNKNOWN)})"


def _trimmed(column: str) -> str:
    return f"trim({quoted(column)})"
