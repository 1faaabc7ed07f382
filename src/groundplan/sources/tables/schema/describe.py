"""Describes tables by queries to the engine: kinds, roles, spans, keys and relationships; never rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ibis.expr.types as ir
from ibis.common.exceptions import IbisError

from groundplan.contracts.columns import ColumnKind, Role
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Column, SourceSchema, Table
from groundplan.errors import SourceError, WorldError, crash_place
from groundplan.sources.tables.engine.cancel_scope import Cancelled, CancelScope
from groundplan.sources.tables.engine.executing import Executor
from groundplan.sources.tables.engine.handle import Ask, Handle, kind_of
from groundplan.sources.tables.engine.values import cell
from groundplan.sources.tables.files.naming import CONTROL
from groundplan.sources.tables.schema.keys import find_keys, find_relationships
from groundplan.sources.tables.schema.repeats import find_repeats
from groundplan.sources.tables.tools.dates import ISO_DAY
from groundplan.text.names import singular, split_name

SHORTEST = 3  # letters: names of tables with more may begin the name of a column
EXACT_ROWS = 1_000_000  # in larger tables, distinct values are estimated
COLUMNS_AT_ONCE = 40  # whose statistics one query takes
SECONDS = 30.0  # for each query; a table that is slower is listed, but cannot be asked about
IDENTIFYING = frozenset(
    {"id", "identifier", "key", "code", "number", "no", "ref", "uuid", "guid", "ид", "код", "номер"}
)
CODE = r"^[^\s:,;%()+]*[0-9][^\s:,;%()+]*$"  # one word with digits; engines differ in what a letter is
SPACES = "[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"  # that TRIM takes away, as characters
UNTRIMMED = f"^$|^{SPACES}|{SPACES}$"
MANY_CODES, CODES_EACH = 100, 0.05  # different codes, at least; and of the rows
CALENDAR = frozenset({"year", "quarter", "month", "week", "weekday", "day", "hour", "год", "месяц"})


GetTable = Callable[[str, CancelScope], Handle]


def describe(
    source: str, names: Sequence[str], table: GetTable, executor: Executor, scope: CancelScope
) -> SourceSchema:
    def ask(table: ir.Table) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = executor.run(table, EXACT_ROWS, scope.within(SECONDS)).table.to_pylist()
        return found

    def get(name: str) -> Handle:
        return table(name, scope.within(SECONDS))

    mapper = executor.engine.backend.compiler.type_mapper
    enforced = executor.engine.constraints(scope.within(SECONDS))
    tables = tuple(_table_or_why_not(name, get, mapper, ask, enforced.keys.get(name, ())) for name in names)
    handles = {known.name: get(known.name) for known in tables if known.columns}
    links = find_relationships(tables, handles, ask, enforced.foreign)
    return SourceSchema(
        source=source,
        engine=executor.engine.backend.name,
        tables=tuple(_spelt_out(_with_pointers(known, links), names) for known in tables),
        relationships=links,
    )


def _with_pointers(table: Table, links: Sequence[Relationship]) -> Table:
    """Whole numbers that point at rows, or are pointed at, identify; they measure nothing."""
    ends = [pair for link in links for pair in ((link.table, link.columns), (link.to_table, link.to_columns))]
    pointers = {column for name, columns in ends if name == table.name for column in columns}
    columns = tuple(
        column.model_copy(update={"role": "id"}) if column.role == "measure" and column.name in pointers else column
        for column in table.columns
    )
    return table.model_copy(update={"columns": columns})


def _spelt_out(table: Table, names: Sequence[str]) -> Table:
    """`paintername` is also called painter name, where `painter` is a table."""
    nouns = {singular(name.lower()) for name in names if len(name) > SHORTEST}

    def spelt(column: Column) -> Column:
        name = column.name.lower()
        starts = [noun for noun in nouns if name.startswith(noun) and len(name) > len(noun) + 1 and name.isalpha()]
        noun = max(starts, key=len, default="")
        if not noun or len(split_name(column.name)) > 1 or column.role == "id":
            return column
        return column.model_copy(update={"synonyms": (*column.synonyms, f"{noun} {name.removeprefix(noun)}")})

    return table.model_copy(update={"columns": tuple(map(spelt, table.columns))})


def outline(source: str, names: Sequence[str], executor: Executor, scope: CancelScope) -> SourceSchema | None:
    """Names, types and what the database enforces, by two queries; None where the engine cannot tell."""
    engine, mapper = executor.engine, executor.engine.backend.compiler.type_mapper
    columns: dict[str, list[Column]] = {}
    found = engine.columns(scope.within(SECONDS))
    kinds = {type_: _kind(type_, mapper) for type_ in {type_ for _, _, type_ in found}}
    for table, name, type_ in found:
        columns.setdefault(table, []).append(_outlined(name, type_, kinds[type_]))
    if not columns.keys() >= {*names}:
        return None
    enforced = engine.constraints(scope.within(SECONDS))
    tables = tuple(Table(name=n, columns=tuple(columns[n]), keys=enforced.keys.get(n, ())) for n in names)
    known = tuple(link for link in enforced.foreign if {link.table, link.to_table} <= {*names})
    return SourceSchema(source=source, engine=engine.backend.name, tables=tables, relationships=known)


def _kind(type_: str, mapper: Any) -> ColumnKind:
    try:
        return kind_of(mapper.from_string(type_))
    except Exception:  # noqa: BLE001 - a type that a library lacks concerns one column
        return "other"


def _outlined(name: str, type_: str, kind: ColumnKind) -> Column:
    last = (split_name(name) or ("",))[-1]
    numbers: Role = "id" if last in IDENTIFYING else "measure"
    role: Role = "temporal" if kind == "time" else numbers if kind == "number" else "dimension"
    return Column(name=name, type=type_, kind=kind, role=role)


def with_notes(schema: SourceSchema, notes: Mapping[str, Mapping[str, str]]) -> SourceSchema:
    """The schema with the notes from loading, by table and column."""

    def noted(column: Column, known: Mapping[str, str]) -> Column:
        return column.model_copy(update={"note": known[column.name][:2_000]}) if column.name in known else column

    def annotated(table: Table) -> Table:
        known = notes.get(table.name, {})
        return table.model_copy(update={"columns": tuple(noted(column, known) for column in table.columns)})

    return schema.model_copy(update={"tables": tuple(map(annotated, schema.tables))})


def _table_or_why_not(
    name: str, table: Callable[[str], Handle], mapper: Any, ask: Ask, enforced: Sequence[tuple[str, ...]]
) -> Table:
    """The table; if it cannot be read, a table without columns that states the reason."""
    try:
        return _table(name, table(name), mapper, ask, enforced)
    except Cancelled:
        raise
    except Exception as error:  # noqa: BLE001 - a type that a library lacks concerns one table
        why = str(error) if isinstance(error, WorldError | IbisError) else crash_place(error)
        why = why.removeprefix(f"the table {name!r} cannot be read: ")[:1_900]
        return Table(name=name, columns=(), description=f"cannot be read: {why}", unreadable=why)


def _table(name: str, handle: Handle, mapper: Any, ask: Ask, enforced: Sequence[tuple[str, ...]]) -> Table:
    odd = next((column.name for column in handle.columns if CONTROL.search(column.name)), None)
    if odd is not None:
        raise SourceError(f"the name of the column {odd!r} has a control character; rename it")
    rows = int(ask(handle.table.aggregate(rows=handle.table.count()))[0]["rows"])
    numbers = _statistics(handle, rows, ask)
    types = [mapper.to_string(dtype) for dtype in handle.table.schema().types]
    columns = tuple(_column(handle, place, type_, numbers, rows) for place, type_ in enumerate(types))
    keys = find_keys(handle, columns, rows, ask)
    repeats = find_repeats(handle, columns, rows, ask, IDENTIFYING)
    columns = tuple(column.model_copy(update={"same_for_each": repeats.get(column.name)}) for column in columns)
    return Table(name=name, columns=columns, row_count=rows, keys=tuple(dict.fromkeys((*enforced, *keys))))


def _statistics(handle: Handle, rows: int, ask: Ask) -> dict[str, Any]:
    """Statistics of all columns, in one scan for each few: distinct values of hundreds at once take gigabytes."""
    measures: list[dict[str, ir.Value]] = [_measures(handle, place, rows) for place in range(len(handle.columns))]
    found: dict[str, Any] = {}
    for start in range(0, len(measures), COLUMNS_AT_ONCE):
        asked = {name: measure for one in measures[start : start + COLUMNS_AT_ONCE] for name, measure in one.items()}
        found |= ask(handle.table.aggregate(**asked))[0]
    return found


def _measures(handle: Handle, place: int, rows: int) -> dict[str, ir.Value]:
    known = handle.columns[place]
    column: Any = handle.table[known.name]
    measures: dict[str, ir.Value] = {f"values_{place}": column.count()}
    if known.kind != "other":
        measures[f"distinct_{place}"] = column.nunique() if rows <= EXACT_ROWS else column.approx_nunique()
    if known.kind in ("number", "time"):
        measures[f"least_{place}"], measures[f"greatest_{place}"] = column.min(), column.max()
    if known.kind == "text":
        measures[f"days_{place}"] = column.count(where=column.re_search(ISO_DAY))
        measures[f"codes_{place}"] = column.count(where=column.re_search(CODE))
        measures[f"untrimmed_{place}"] = column.count(where=column.re_search(UNTRIMMED))
    return measures


def _column(handle: Handle, place: int, type_: str, numbers: Mapping[str, Any], rows: int) -> Column:
    known = handle.columns[place]
    values = int(numbers.get(f"values_{place}") or 0)
    distinct = numbers.get(f"distinct_{place}")
    least, greatest = cell(numbers.get(f"least_{place}")), cell(numbers.get(f"greatest_{place}"))
    iso = values > 0 and numbers.get(f"days_{place}") == values
    flag = (least, greatest) in ((0, 1), (0, 0), (1, 1)) and distinct is not None and distinct <= 2
    coded = values > 0 and (numbers.get(f"codes_{place}") or 0) >= 0.95 * values
    numbered = (
        isinstance(least, int) and isinstance(greatest, int) and greatest - least < 2 * rows == 2 * (distinct or 0)
    )
    unique = distinct is not None and distinct >= 0.9 * rows
    is_code = (coded and (distinct or 0) >= max(MANY_CODES, CODES_EACH * rows)) or (numbered and rows >= MANY_CODES)
    return Column(
        name=known.name,
        type=type_,
        kind=known.kind,
        role=_role(handle, known.name, iso, flag, unique, is_code),
        cardinality=None if distinct is None else min(int(distinct), values),
        nulls=rows - values,
        trimmed=numbers.get(f"untrimmed_{place}") == 0,
        least=least,
        greatest=greatest,
    )


def _role(handle: Handle, name: str, iso: bool, flag: bool, unique: bool, is_code: bool) -> Role:
    last = (split_name(name) or ("",))[-1]
    match handle.kind(name):
        case "time":
            return "temporal"
        case "text" if iso:
            return "temporal"
        case "text" if is_code or (unique and last in IDENTIFYING):
            return "id"
        case "number" if not handle.table[name].type().is_integer():
            return "measure"
        case "number" if last in IDENTIFYING or (is_code and last not in CALENDAR):
            return "id"
        case "number":
            return "dimension" if flag or last in CALENDAR else "measure"
        case _:
            return "dimension"
