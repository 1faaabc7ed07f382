"""Values of a category that differ only in case, spaces or accents become one value, with a note."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from unicodedata import normalize

import duckdb

from groundplan.sources.tables.files.quoting import literal
from groundplan.sources.tables.files.text_cells import batches, one_below_the_other, write_anew

LATIN = re.compile("[\u00c0-\u024f]")  # letters with accents
MOST_VALUES = 300  # different ones; more name things or are codes
SHORTEST = 2  # a letter may be a code: m and M
ROWS_EACH = 3  # on average, of a category
SHOWN = 3


def unify_spellings(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str]) -> dict[str, str]:
    """Each value is written as it mostly is. Returns a note for each column that was changed."""
    found: dict[str, dict[str, str]] = {}
    for some in batches(connection, table, columns):
        counted = _categories(connection, table, some)
        found |= {column: spelt for column in some if (spelt := _respelt(counted.get(column, {})))}
    if found:
        write_anew(connection, table, {column: _respelling(spelt) for column, spelt in found.items()})
    return {column: _note(spelt) for column, spelt in found.items()}


def _categories(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str]) -> dict[str, dict[str, int]]:
    """By column, its values and how many rows have each, where they are few."""
    places = {column: place for place, column in enumerate(columns)}
    sql = (
        "SELECT place, list(v), list(number) FROM (SELECT place, v, count(*) AS number "  # noqa: S608 - quoted
        f"FROM ({one_below_the_other(table, places)}) WHERE v IS NOT NULL GROUP BY place, v) "
        f"GROUP BY place HAVING count(*) <= {MOST_VALUES} AND sum(number) >= {ROWS_EACH} * count(*)"
    )
    told = connection.execute(sql).fetchall()
    return {columns[place]: dict(zip(values, numbers, strict=True)) for place, values, numbers in told}


def _respelt(counted: Mapping[str, int]) -> dict[str, str]:
    """The usual spelling of each value that has another one."""
    alike: dict[str, list[str]] = defaultdict(list)
    for value in counted:
        alike[_folded(value)].append(value)
    respelt: dict[str, str] = {}
    for folded, values in alike.items():
        if len(folded) >= SHORTEST:
            usual = min(values, key=lambda value: (-counted[value], value != value.strip(), value))
            respelt |= {value: usual for value in values if value != usual}
    return dict(sorted(respelt.items()))


def _folded(value: str) -> str:
    """Without case, accents of Latin letters, the dots of `ё`, and further spaces."""
    plain = value.casefold().replace("ё", "е")
    if not plain.isascii():
        plain = LATIN.sub(lambda letter: normalize("NFKD", letter[0])[0], plain)
    return " ".join(plain.split())


def _respelling(spelt: dict[str, str]) -> str:
    cases = " ".join(f"WHEN {literal(value)} THEN {literal(usual)}" for value, usual in spelt.items())
    return f"CASE v {cases} ELSE v END"


def _note(spelt: dict[str, str]) -> str:
    listed = ", ".join(f"{value!r} as {usual!r}" for value, usual in list(spelt.items())[:SHOWN])
    more = f" and {len(spelt) - SHOWN} more" if len(spelt) > SHOWN else ""
    return f"spellings are unified: {listed}{more}"
