"""Numbers and dates that a file writes as text become numbers and dates, with a note; codes stay text.

Categories whose values differ only in case or spaces are unified.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import duckdb

from groundplan.sources.tables.files.quoting import quoted
from groundplan.sources.tables.files.text_cells import Cells, Written, clear_marks, convert, likely, listed_marks
from groundplan.sources.tables.files.text_dates import DATES
from groundplan.sources.tables.files.text_numbers import FORMATS, Format, as_numbers, has_separators, may_be_either
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
    numbers: dict[Cells, list[Format]] = {}
    written: dict[Cells, Written] = {}
    for place, (column, patterns) in enumerate(likely(connection, table, _text_columns(connection, table), PATTERNS)):
        cells = Cells(connection, table, column, place)
        fitting = {*cells.matching(patterns)}
        numbers[cells] = [form for form in FORMATS if form.pattern in fitting]
        dates = next((read(cells) for pattern, read in DATES.items() if pattern in fitting), None)
        if dates:
            written[cells] = dates
    written |= _numbers({cells: forms for cells, forms in numbers.items() if forms}, comma_decimals)
    for cells in numbers:
        cells.forget()
    notes = _convert(connection, table, written)
    notes |= clear_marks(connection, table, [name for name in _text_columns(connection, table) if name not in notes])
    return notes | unify_spellings(
        connection, table, [name for name in _text_columns(connection, table) if name not in notes]
    )


def _text_columns(connection: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    described = connection.execute(f"DESCRIBE {quoted(table)}").fetchall()
    return [name for name, type_, *_ in described if type_ == "VARCHAR" and not CODES & {*split_name(name)}]


def _numbers(columns: Mapping[Cells, list[Format]], comma_decimals: bool) -> dict[Cells, Written]:
    """Columns that can be read in two ways are read like the others of the table."""
    unclear = {cells for cells, forms in columns.items() if may_be_either(cells, forms)}
    others = {forms[0].decimal for cells, forms in columns.items() if cells not in unclear and has_separators(cells)}
    decimal = _decimal(others, comma_decimals)
    written: dict[Cells, Written] = {}
    for cells, forms in columns.items():
        form = next((form for form in forms if cells not in unclear or form.decimal == decimal), None)
        read = as_numbers(cells, form) if form else Written("VARCHAR", "v", EITHER_NUMBER)
        if read:
            written[cells] = read
    return written


def _decimal(others: Iterable[str], comma_decimals: bool) -> str | None:
    found = {*others}
    if len(found) == 1:
        return found.pop()
    return None if comma_decimals else "."


def _convert(connection: duckdb.DuckDBPyConnection, table: str, written: Mapping[Cells, Written]) -> dict[str, str]:
    changed = {cells: how for cells, how in written.items() if how.type != "VARCHAR"}
    marks = {cells: cells.missing_marks() for cells in changed}
    if changed:
        convert(connection, table, {cells.column: how for cells, how in changed.items()})
    return {cells.column: how.note + _missing(marks.get(cells, [])) for cells, how in written.items()}


def _missing(marks: Sequence[str]) -> str:
    return f"; {listed_marks(marks)}" if marks else ""
