"""Numbers that a file writes as text become numbers: `1,234.50`, `12 345,50`, `€ 5`, `12%`."""

from __future__ import annotations

import duckdb

from groundplan.sources.tables.files.quoting import literal, quoted

CURRENCY = "[€$£¥₽]"
WHOLE = r"(0|[1-9]\d*|[1-9]\d{0,2}(%s\d{3})+)"  # no leading zeros: `007` is a code
ENGLISH = WHOLE % "," + r"(\.\d+)?"
CONTINENTAL = WHOLE % "[ \u00a0\u202f.]" + r"(,\d+)?"
FORMATS = ((ENGLISH, ",", "."), (CONTINENTAL, " \u00a0\u202f.", ","))
"""How numbers are written, what separates thousands, and what stands before decimals."""


def convert_text_numbers(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    """Every text column of which all values are numbers in one format."""
    described = connection.execute(f"DESCRIBE {quoted(table)}").fetchall()
    for column in [name for name, type_, *_ in described if type_ == "VARCHAR"]:
        for pattern, separators, decimal in FORMATS:
            if _is_written_so(connection, table, column, pattern):
                _convert(connection, table, column, separators, decimal)
                break


def _is_written_so(connection: duckdb.DuckDBPyConnection, table: str, column: str, pattern: str) -> bool:
    whole = f"[-+]?({CURRENCY}\\s*)?[-+]?{pattern}\\s*({CURRENCY}|%)?"
    value = f"trim({quoted(column)})"
    found = connection.execute(
        f"SELECT count({value}) FILTER ({value} <> ''), "  # noqa: S608 - quoted
        f"count(*) FILTER (regexp_full_match({value}, {literal(whole)})) FROM {quoted(table)}"
    ).fetchone()
    return found is not None and found[0] > 0 and found[0] == found[1]


def _convert(connection: duckdb.DuckDBPyConnection, table: str, column: str, separators: str, decimal: str) -> None:
    dropped = literal(f"[{separators}€$£¥₽%+\\s]")
    digits = f"regexp_replace({quoted(column)}, {dropped}, '', 'g')"
    number = f"nullif(replace({digits}, {literal(decimal)}, '.'), '')"
    connection.execute(f"ALTER TABLE {quoted(table)} ALTER {quoted(column)} TYPE DOUBLE USING CAST({number} AS DOUBLE)")
