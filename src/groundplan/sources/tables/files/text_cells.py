"""The values of a text column as conversion sees them: trimmed, without missing ones."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from groundplan.sources.tables.files.quoting import literal, quoted

KEPT = "temp.values_of_columns"
MOST_ALTERED = 200_000  # columns to write, times those of their table: half a second
IN_LIST = 100  # columns that one list holds
LIST = '"list  {}"'  # no column has two blanks in its name
AT_ONCE, CELL = 20_000_000, 16  # bytes of the columns that one query reads beside each other; and of a short value
MARKS = ("-", "–", "—", "--", "---", "?", "n/a", "na", "n.a.", "#n/a", "null", "nan", "..", "...", "…", "н/д")
WORDLESS = ("-", "–", "—", "--", "---", "n/a", "n.a.", "#n/a", "null", "nan", "н/д", "пусто")  # of a text
MISSING = f"(?i)(?:{'|'.join(map(re.escape, MARKS))})?"  # or blank
IS_MARK = f"regexp_full_match(trim(v), {literal('(?i)' + '|'.join(map(re.escape, WORDLESS)))})"
SAMPLE = 1_000  # rows to look at before all are read
LONGEST = 1_000  # characters of a cell to look at
SAMPLED_CELLS = 200_000  # at most, of the columns together


@dataclass(frozen=True)
class Written:
    """How a column is written. The expression converts a trimmed value `v`."""

    type: str
    expression: str
    note: str


@dataclass(frozen=True)
class Cells:
    """The different values of columns that may be numbers or dates: in one table, so that one query reads all columns.

    It is temporary, and kept until `forget`.
    """

    connection: duckdb.DuckDBPyConnection
    places: Mapping[str, int]

    def ask(self, columns: Iterable[str], expressions: Sequence[str]) -> dict[str, tuple[Any, ...]]:
        """For each of the columns that has values, a row of aggregates over them, each called `v`."""
        return self._asked(columns, expressions, "NOT is_missing")

    def missing_marks(self, columns: Iterable[str]) -> dict[str, list[str]]:
        """The marks that the columns use for missing values."""
        found = self._asked(columns, ["list(v)"], "is_missing AND v <> ''")
        return {column: sorted(marks) for column, (marks,) in found.items()}

    def _asked(self, columns: Iterable[str], expressions: Sequence[str], where: str) -> dict[str, tuple[Any, ...]]:
        asked = {self.places[column]: column for column in columns}
        if not asked:
            return {}
        sql = (
            f"SELECT place, {', '.join(expressions)} FROM {KEPT} "  # noqa: S608 - our own
            f"WHERE {where} AND place IN ({', '.join(map(str, asked))}) GROUP BY place"
        )
        return {asked[place]: tuple(row) for place, *row in self.connection.execute(sql).fetchall()}

    def forget(self) -> None:
        self.connection.execute(f"DROP TABLE {KEPT}")


def collect(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str]) -> Cells:
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {KEPT} (place INTEGER, v VARCHAR, is_missing BOOLEAN)")
    cells = Cells(connection, {column: place for place, column in enumerate(columns)})
    for some in batches(connection, table, columns):
        values = one_below_the_other(table, {column: cells.places[column] for column in some})
        connection.execute(
            f"INSERT INTO {KEPT} SELECT place, v, {_is_missing('v')} "  # noqa: S608 - quoted
            f"FROM (SELECT DISTINCT place, trim(v) AS v FROM ({values})) WHERE v IS NOT NULL"
        )
    return cells


def batches(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str]) -> Iterator[list[str]]:
    """The columns of which one query may read all values: a wide table takes few, a long one a query for each."""
    listed = ", ".join(f"sum(strlen({quoted(column)}))" for column in columns) or "0"
    rows, *lengths = connection.execute(f"SELECT count(*), {listed} FROM {quoted(table)}").fetchone() or ()  # noqa: S608
    some, taken = list[str](), 0
    for column, length in zip(columns, lengths, strict=bool(columns)):
        size = CELL * rows + (length or 0)
        if some and taken + size > AT_ONCE:
            yield some
            some, taken = [], 0
        some, taken = [*some, column], taken + size
    if some:
        yield some


def one_below_the_other(table: str, places: Mapping[str, int]) -> str:
    """A query for the values of the columns, each beside the place of its column."""
    numbers, values = ", ".join(map(str, places.values())), ", ".join(map(quoted, places))
    if len(places) == 1:  # without copies of its values
        return f"SELECT {numbers} AS place, {values} AS v FROM {quoted(table)}"  # noqa: S608 - quoted
    return f"SELECT unnest([{numbers}]) AS place, unnest([{values}]) AS v FROM {quoted(table)}"  # noqa: S608 - quoted


def likely(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str], patterns: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    """The columns, each with the patterns that its first values do not rule out: a query for each would take long."""
    rows = min(SAMPLE, SAMPLED_CELLS // max(1, len(columns)))
    listed = ", ".join(f"left(trim({quoted(column)}), {LONGEST})" for column in columns) or "0"
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
    present = f"[CASE WHEN NOT {_is_missing('trim(v)')} THEN trim(v) END]"
    items = {column: f"[CAST({how.expression} AS {how.type}) FOR v IN {present}][1]" for column, how in columns.items()}
    write_anew(connection, table, items)


def write_anew(connection: duckdb.DuckDBPyConnection, table: str, items: Mapping[str, str]) -> None:
    """Other values in some columns: by an expression for each, of its own value `v`.

    A column is altered by itself, so that no other is copied. In a wide table that takes long, because each time
    all its names are: columns with the same expression are made as one list there, in a new table.
    """
    described = [name for name, *_ in connection.execute(f"DESCRIBE {quoted(table)}").fetchall()]
    alike: dict[str, list[str]] = defaultdict(list)
    for column, expression in items.items():
        alike[expression].append(column)
    if len(items) * len(described) <= MOST_ALTERED:
        _alter(connection, table, alike)
        return
    made, lists = _in_lists(alike)
    listed = ", ".join(f"{made.get(name, quoted(name))} AS {quoted(name)}" for name in described)  # `* REPLACE` is slow
    rows = f"(SELECT *, {', '.join(lists)} FROM {quoted(table)})"  # noqa: S608 - quoted
    connection.execute(f"CREATE OR REPLACE TABLE {quoted(table)} AS SELECT {listed} FROM {rows}")  # noqa: S608


def _alter(connection: duckdb.DuckDBPyConnection, table: str, alike: Mapping[str, Sequence[str]]) -> None:
    for expression, columns in alike.items():
        connection.execute(f"CREATE OR REPLACE TEMP MACRO written(v) AS {expression}")
        for column in map(quoted, columns):
            connection.execute(f"ALTER TABLE {quoted(table)} ALTER {column} TYPE USING written({column})")


def _in_lists(alike: Mapping[str, Sequence[str]]) -> tuple[dict[str, str], list[str]]:
    parts = [
        (expression, columns[start : start + IN_LIST])
        for expression, columns in alike.items()
        for start in range(0, len(columns), IN_LIST)
    ]
    made = {
        column: f"{LIST.format(place)}[{number}]"
        for place, (_, some) in enumerate(parts)
        for number, column in enumerate(some, 1)
    }
    return made, [
        f"[{expression} FOR v IN [{', '.join(map(quoted, some))}]] AS {LIST.format(place)}"
        for place, (expression, some) in enumerate(parts)
    ]


def clear_marks(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str]) -> dict[str, str]:
    """Marks such as `N/A` among the values of a text are missing values. Returns a note for each such column."""
    found: dict[str, list[str]] = {}
    for some in batches(connection, table, columns):
        places = {column: place for place, column in enumerate(some)}
        values = one_below_the_other(table, places)
        told = connection.execute(
            f"SELECT place, list(DISTINCT v) FILTER (is_mark) FROM (SELECT *, {IS_MARK} AS is_mark FROM ({values})) "  # noqa: S608
            "GROUP BY place HAVING bool_or(is_mark) AND NOT bool_and(is_mark)"
        )
        found |= {some[place]: sorted(marks) for place, marks in told.fetchall()}
    if found:
        write_anew(connection, table, dict.fromkeys(found, f"CASE WHEN NOT {IS_MARK} THEN v END"))
    return {name: listed_marks(marks) for name, marks in found.items()}


def listed_marks(marks: Sequence[str]) -> str:
    return f"missing values: {', '.join(map(repr, marks))}"


def _is_missing(text: str) -> str:
    """Whether the value is a mark, or blank."""
    return f"regexp_full_match({text}, {literal(MISSING)})"
