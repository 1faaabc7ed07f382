"""Values of a category that differ only in case or spaces become one value, with a note."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import duckdb

from groundplan.sources.tables.files.quoting import literal, quoted
from groundplan.sources.tables.files.text_cells import write_anew

MOST_VALUES = 300  # different ones; more name things or are codes
SHORTEST = 2  # a letter may be a code: m and M
ROWS_EACH = 3  # on average, of a category
SHOWN = 3


def unify_spellings(connection: duckdb.DuckDBPyConnection, table: str, columns: Iterable[str]) -> dict[str, str]:
    """Each value is written as it mostly is. Returns a note for each column that was changed."""
    found = {column: spelt for column in columns if (spelt := _respelt(connection, table, column))}
    if found:
        write_anew(connection, table, {column: _respelling(column, spelt) for column, spelt in found.items()})
    return {column: _note(spelt) for column, spelt in found.items()}


def _respelt(connection: duckdb.DuckDBPyConnection, table: str, column: str) -> dict[str, str]:
    """The usual spelling of each value that has another one."""
    name = quoted(column)
    sql = f"SELECT {name}, count(*) FROM {quoted(table)} WHERE {name} IS NOT NULL GROUP BY 1 LIMIT {MOST_VALUES + 1}"  # noqa: S608
    counted: dict[str, int] = dict(connection.execute(sql).fetchall())
    if len(counted) > MOST_VALUES or sum(counted.values()) < ROWS_EACH * len(counted):
        return {}
    alike: dict[str, list[str]] = defaultdict(list)
    for value in counted:
        alike[" ".join(value.casefold().replace("ё", "е").split())].append(value)
    respelt: dict[str, str] = {}
    for folded, values in alike.items():
        if len(folded) >= SHORTEST:
            usual = min(values, key=lambda value: (-counted[value], value != value.strip(), value))
            respelt |= {value: usual for value in values if value != usual}
    return dict(sorted(respelt.items()))


def _respelling(column: str, spelt: dict[str, str]) -> str:
    cases = " ".join(f"WHEN {literal(value)} THEN {literal(usual)}" for value, usual in spelt.items())
    return f"CASE {quoted(column)} {cases} ELSE {quoted(column)} END"


def _note(spelt: dict[str, str]) -> str:
    listed = ", ".join(f"{value!r} as {usual!r}" for value, usual in list(spelt.items())[:SHOWN])
    more = f" and {len(spelt) - SHOWN} more" if len(spelt) > SHOWN else ""
    return f"spellings are unified: {listed}{more}"
