"""Numbers and dates that a file writes as text become numbers and dates, with a note; codes stay text.

Categories whose values differ only in case or spaces are unified.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import duckdb

from groundplan.sources.tables.files.quoting import literal, quoted
from groundplan.sources.tables.files.text_cells import (
    Cells,
    Written,
    clear_marks,
    collect,
    convert,
    likely,
    listed_marks,
)
from groundplan.sources.tables.files.text_dates import DATES
from groundplan.sources.tables.files.text_numbers import FORMATS, as_numbers, with_separators
from groundplan.sources.tables.files.text_spellings import unify_spellings
from groundplan.text.names import split_name

CODES = frozenset(
    {"code", "zip", "postcode", "phone", "telephone", "tel", "fax", "isbn", "ean", "sku", "version", "iban", "ip"}
    | {"код", "индекс", "телефон", "тел", "факс", "версия", "артикул", "инн", "кпп"}
)
PATTERNS = (*(form.pattern for form in FORMATS), *DATES)
EITHER_NUMBER = "text: thousands and decimals cannot be told apart; write such numbers as 1234.5"


def convert_text(connection: duckdb.DuckDBPyConnection, table: str, comma_decimals: bool = False) -> dict[str, str]:
    """Converts each text column that is written in one way, and returns notes.

    `comma_decimals`: the file may well write 1.5 as 1,5, so that 1,234 alone decides nothing.
    """
    fitting = dict(likely(connection, table, _text_columns(connection, table), PATTERNS))
    cells = collect(connection, table, [*fitting])
    matched = _matched(cells, fitting)
    written = _dates(cells, matched) | _numbers(cells, matched, comma_decimals)
    notes = _convert(connection, table, cells, written)
    cells.forget()
    notes |= clear_marks(connection, table, [name for name in _text_columns(connection, table) if name not in notes])
    return notes | unify_spellings(
        connection, table, [name for name in _text_columns(connection, table) if name not in notes]
    )


def _text_columns(connection: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    described = connection.execute(f"DESCRIBE {quoted(table)}").fetchall()
    return [name for name, type_, *_ in described if type_ == "VARCHAR" and not CODES & {*split_name(name)}]


def _matched(cells: Cells, likely: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """By column, the patterns that every value matches."""
    patterns = [pattern for pattern in PATTERNS if any(pattern in fitting for fitting in likely.values())]
    counts = [f"count(*) FILTER (regexp_full_match(v, {literal(pattern)}))" for pattern in patterns]
    told = cells.ask(likely, ["count(*)", *counts])
    matched = {column: dict(zip(patterns, counted, strict=True)) for column, (_, *counted) in told.items()}
    return {
        column: [pattern for pattern in likely[column] if counted[pattern] == told[column][0]]
        for column, counted in matched.items()
    }


def _dates(cells: Cells, matched: Mapping[str, Sequence[str]]) -> dict[str, Written]:
    first = {column: next((form for form in DATES if form in fitting), None) for column, fitting in matched.items()}
    written: dict[str, Written] = {}
    for pattern, read in DATES.items():
        written |= read(cells, [column for column, form in first.items() if form == pattern])
    return written


def _numbers(cells: Cells, matched: Mapping[str, Sequence[str]], comma_decimals: bool) -> dict[str, Written]:
    """Columns that can be read in two ways, `1,234` as 1234 or as 1.234, are read like the others of the table."""
    forms = {column: [form for form in FORMATS if form.pattern in fitting] for column, fitting in matched.items()}
    forms = {column: some for column, some in forms.items() if some}
    separated = with_separators(cells, forms)
    unclear = {column for column in separated if len({form.decimal for form in forms[column]}) > 1}
    decimal = _decimal({forms[column][0].decimal for column in separated - unclear}, comma_decimals)
    read = {
        column: next((form for form in some if column not in unclear or form.decimal == decimal), None)
        for column, some in forms.items()
    }
    written = {column: Written("VARCHAR", "v", EITHER_NUMBER) for column, form in read.items() if form is None}
    for form in FORMATS:
        written |= as_numbers(cells, [column for column, chosen in read.items() if chosen == form], form)
    return written


def _decimal(others: Iterable[str], comma_decimals: bool) -> str | None:
    found = {*others}
    if len(found) == 1:
        return found.pop()
    return None if comma_decimals else "."


def _convert(
    connection: duckdb.DuckDBPyConnection, table: str, cells: Cells, written: Mapping[str, Written]
) -> dict[str, str]:
    changed = {column: how for column, how in written.items() if how.type != "VARCHAR"}
    marks = cells.missing_marks(changed)
    if changed:
        convert(connection, table, changed)
    return {column: how.note + _missing(marks.get(column, [])) for column, how in written.items()}


def _missing(marks: Sequence[str]) -> str:
    return f"; {listed_marks(marks)}" if marks else ""
