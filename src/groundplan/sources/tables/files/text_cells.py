"""The values of a text column as conversion sees them: trimmed, without missing ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from groundplan.sources.tables.files.quoting import literal, quoted

AT_ONCE = 40  # columns whose different values one query collects: each takes megabytes
MARKS = ("-", "–", "—", "--", "---", "?", "n/a", "na", "n.a.", "#n/a", "null", "nan", "..", "...", "…", "н/д")
UNKNOWN = ("-", "–", "—", "--", "---", "n/a", "n.a.", "#n/a", "null", "nan", "н/д", "пусто")  # of a text: no words
MISSING = f"(?i){'|'.join(map(re.escape, MARKS))}"
SAMPLE = 1_000  # values to look at before all are read


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
        """The patterns that every value matches. A sample rules out most columns."""
        likely = self._matching(patterns, f"({self._present()} LIMIT {SAMPLE})")
        if not likely:
            return []
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {self._kept} AS SELECT DISTINCT v FROM ({self._present()})"  # noqa: S608
        )
        return self._matching(likely, self._kept)

    def ask(self, expressions: Sequence[str]) -> tuple[Any, ...]:
        """One row of aggregates over the distinct values, each called `v`."""
        return self._ask(expressions, self._kept)

    def forget(self) -> None:
        self.connection.execute(f"DROP TABLE IF EXISTS {self._kept}")

    def missing_marks(self) -> list[str]:
        """The marks that the column uses for missing values."""
        sql = f"SELECT DISTINCT {_trimmed(self.column)} FROM {quoted(self.table)} WHERE {_is_missing(self.column)}"  # noqa: S608
        return sorted(mark for (mark,) in self.connection.execute(sql).fetchall() if mark)

    def _matching(self, patterns: Sequence[str], rows: str) -> list[str]:
        counts = [f"count(*) FILTER (regexp_full_match(v, {literal(pattern)}))" for pattern in patterns]
        total, *matched = self._ask(["count(*)", *counts], rows)
        return [pattern for pattern, count in zip(patterns, matched, strict=True) if 0 < count == total]

    def _ask(self, expressions: Sequence[str], rows: str) -> tuple[Any, ...]:
        return self.connection.execute(f"SELECT {', '.join(expressions)} FROM {rows}").fetchone() or ()  # noqa: S608

    @property
    def _kept(self) -> str:
        return f"temp.values_{self.place}"

    def _present(self) -> str:
        column = quoted(self.column)
        return (
            f"SELECT {_trimmed(self.column)} AS v FROM {quoted(self.table)} "  # noqa: S608 - quoted
            f"WHERE {column} IS NOT NULL AND NOT {_is_missing(self.column)}"
        )


def convert(connection: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, Written]) -> None:
    """Writes the table anew with these columns converted; missing values become null."""
    present, items = [], []
    for place, (column, written) in enumerate(columns.items()):
        macro, value = f"convert_{place}", f'"value {place} to convert"'
        connection.execute(f"CREATE OR REPLACE TEMP MACRO {macro}(v) AS CAST({written.expression} AS {written.type})")
        present.append(f"CASE WHEN NOT {_is_missing(column)} THEN {_trimmed(column)} END AS {value}")
        items.append((value, f"{macro}({value}) AS {quoted(column)}"))
    kept = f"* EXCLUDE ({', '.join(value for value, _ in items)}) REPLACE ({', '.join(item for _, item in items)})"
    rows = f"SELECT *, {', '.join(present)} FROM {quoted(table)}"  # noqa: S608 - quoted
    connection.execute(f"CREATE OR REPLACE TABLE {quoted(table)} AS SELECT {kept} FROM ({rows})")  # noqa: S608


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
    if not found:
        return {}
    items = [f"CASE WHEN NOT {_is_unknown(name)} THEN {quoted(name)} END AS {quoted(name)}" for name in found]
    sql = f"CREATE OR REPLACE TABLE {quoted(table)} AS SELECT * REPLACE ({', '.join(items)}) FROM {quoted(table)}"  # noqa: S608
    connection.execute(sql)
    return {name: listed_marks(marks) for name, marks in found.items()}


def listed_marks(marks: Sequence[str]) -> str:
    return f"missing values: {', '.join(map(repr, marks))}"


def _is_missing(column: str) -> str:
    """Whether the value is a mark, or blank."""
    return f"regexp_full_match({_trimmed(column)}, {literal(f'(?:{MISSING})?')})"


def _is_unknown(column: str) -> str:
    """A list, a histogram: DuckDB plans `IN` and `DISTINCT` of each column as joins, minutes for 2,000 columns."""
    return f"list_contains([{', '.join(map(literal, UNKNOWN))}], lower({_trimmed(column)}))"


def _trimmed(column: str) -> str:
    return f"trim({quoted(column)})"
