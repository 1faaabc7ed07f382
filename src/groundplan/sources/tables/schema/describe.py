"""Describes tables by queries to the engine: kinds, roles, spans, keys and relationships; never rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ibis.expr.types as ir
from ibis.common.exceptions import IbisError

from groundplan.contracts.columns import ColumnKind, Role
from groundplan.contracts.facts import TableColumn
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Column, SourceSchema, Table
from groundplan.errors import SourceError, WorldError, crash_place
from groundplan.sources.tables.engine.cancel_scope import Cancelled, CancelScope
from groundplan.sources.tables.engine.executing import Executor
from groundplan.sources.tables.engine.handle import Ask, Handle, kind_of
from groundplan.sources.tables.engine.lacks import LACKS
from groundplan.sources.tables.engine.values import cell
from groundplan.sources.tables.files.naming import CONTROL
from groundplan.sources.tables.files.text_numbers import unit_in
from groundplan.sources.tables.schema.keys import find_keys, find_relationships
from groundplan.sources.tables.schema.repeats import find_names, find_repeats
from groundplan.sources.tables.schema.samples import Sample, Samples
from groundplan.sources.tables.schema.statistics import EXACT_ROWS, Numbers, statistics
from groundplan.text.names import singular, split_name

SHORTEST = 3  # letters: names of tables with more may begin the name of a column
TABLES_AT_ONCE = 4
SECONDS = 30.0  # for each query; a table that is slower is listed, but cannot be asked about
IDENTIFYING = frozenset(
    {"id", "identifier", "key", "code", "number", "no", "ref", "uuid", "guid", "ид", "код", "номер"}
)
MANY_CODES, CODES_EACH = 100, 0.05  # different codes, at least; and of the rows
CALENDAR = frozenset({"year", "quarter", "month", "week", "weekday", "day", "hour", "год", "месяц"})


GetTable = Callable[[str, CancelScope], Handle]


def describe(
    source: str, names: Sequence[str], table: GetTable, executor: Executor, scope: CancelScope, samples: Samples
) -> tuple[SourceSchema, tuple[Relationship, ...]]:
    """The schema, and the relationships that hold only if a column of a large table turns out to be its key."""

    def ask(table: ir.Table) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = executor.run(table, EXACT_ROWS, scope.within(SECONDS)).table.to_pylist()
        return found

    def get(name: str) -> Handle:
        return table(name, scope.within(SECONDS))

    mapper = executor.engine.backend.compiler.type_mapper
    enforced = executor.engine.constraints(scope.within(SECONDS))

    def described(name: str) -> Table:
        keys = enforced.keys.get(name, ())
        return _table_or_why_not(name, lambda: _described(name, get(name), mapper, ask, keys, sampled))

    def sampled(name: str, handle: Handle) -> Sample | None:
        return samples.find(name, handle, executor, scope)

    with ThreadPoolExecutor(TABLES_AT_ONCE) as pool:
        tables = tuple(pool.map(described, names))
    handles = {known.name: get(known.name) for known in tables if known.columns}
    large = {name: samples.taken[name] for name in handles if name in samples.taken}
    links, unproven = find_relationships(tables, handles, large, ask, enforced.foreign, enforced.declared)
    schema = SourceSchema(
        source=source,
        engine=executor.engine.backend.name,
        tables=tuple(_spelt_out(_with_pointers(known, links), names) for known in tables),
        relationships=links,
        lacks=LACKS.get(executor.engine.backend.name, ()),
    )
    return schema, unproven


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
    name = engine.backend.name
    return SourceSchema(source=source, engine=name, tables=tables, relationships=known, lacks=LACKS.get(name, ()))


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
        if column.name not in known:
            return column
        note = known[column.name][:2_000]
        return column.model_copy(update={"note": note, "unit": unit_in(note) or column.unit})

    def annotated(table: Table) -> Table:
        known = notes.get(table.name, {})
        return table.model_copy(update={"columns": tuple(noted(column, known) for column in table.columns)})

    return schema.model_copy(update={"tables": tuple(map(annotated, schema.tables))})


def with_key(schema: SourceSchema, link: Relationship) -> SourceSchema:
    """The schema with this relationship, and with the key that it points at."""
    tables = tuple(
        table.model_copy(update={"keys": tuple(dict.fromkeys((*table.keys, link.to_columns)))})
        if table.name == link.to_table
        else table
        for table in schema.tables
    )
    return schema.model_copy(update={"tables": tables}).joined((link,))


def _table_or_why_not(name: str, describe: Callable[[], Table]) -> Table:
    """The table; if it cannot be read, a table without columns that states the reason."""
    try:
        return describe()
    except Cancelled:
        raise
    except Exception as error:  # noqa: BLE001 - a type that a library lacks concerns one table
        why = str(error) if isinstance(error, WorldError | IbisError) else crash_place(error)
        why = why.removeprefix(f"the table {name!r} cannot be read: ")[:1_900]
        return Table(name=name, columns=(), description=f"cannot be read: {why}", unreadable=why)


def _described(
    name: str,
    handle: Handle,
    mapper: Any,
    ask: Ask,
    enforced: Sequence[tuple[str, ...]],
    sampled: Callable[[str, Handle], Sample | None],
) -> Table:
    odd = next((column.name for column in handle.columns if CONTROL.search(column.name)), None)
    if odd is not None:
        raise SourceError(f"the name of the column {odd!r} has a control character; rename it")
    types = [mapper.to_string(dtype) for dtype in handle.table.schema().types]
    sample = sampled(name, handle)
    if sample is not None:
        return _estimated(name, handle, types, sample, enforced)
    rows = int(ask(handle.table.aggregate(rows=handle.table.count()))[0]["rows"])
    numbers = statistics(handle, rows, ask)
    columns = tuple(
        _column(handle, known, type_, numbers, rows) for known, type_ in zip(handle.columns, types, strict=True)
    )
    keys = find_keys(handle, columns, rows, ask)
    repeats = find_repeats(handle, columns, rows, ask, IDENTIFYING)
    names = find_names(handle, columns, rows, ask, IDENTIFYING)
    columns = tuple(
        c.model_copy(update={"same_for_each": repeats.get(c.name), "one_for_each": names.get(c.name)}) for c in columns
    )
    return Table(name=name, columns=columns, row_count=rows, keys=tuple(dict.fromkeys((*enforced, *keys))))


def _estimated(
    name: str, handle: Handle, types: Sequence[str], sample: Sample, enforced: Sequence[tuple[str, ...]]
) -> Table:
    """A large table by its sample. Only the database itself says what identifies its rows, or is never missing."""
    keys = {key[0] for key in enforced if len(key) == 1}

    def column(known: TableColumn, type_: str) -> Column:
        found = _column(handle, known, type_, sample.numbers, sample.rows)
        is_required = not handle.table[known.name].type().nullable or any(known.name in key for key in enforced)
        unseen = 0 if is_required else None
        estimated = {"sampled": True, "nulls": found.nulls or unseen, "trimmed": False}
        return found.model_copy(update=estimated | ({"cardinality": sample.rows} if known.name in keys else {}))

    columns = tuple(column(known, type_) for known, type_ in zip(handle.columns, types, strict=True))
    return Table(name=name, columns=columns, row_count=sample.told_rows, keys=tuple(enforced))


def _column(handle: Handle, known: TableColumn, type_: str, found: Numbers, rows: int) -> Column:
    numbers = found.get(known.name, {})
    values = int(numbers.get("values") or 0)
    distinct = numbers.get("distinct")
    least, greatest = cell(numbers.get("least")), cell(numbers.get("greatest"))
    iso = values > 0 and numbers.get("days") == values
    flag = (least, greatest) in ((0, 1), (0, 0), (1, 1)) and distinct is not None and distinct <= 2
    coded = values > 0 and (numbers.get("codes") or 0) >= 0.95 * values
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
        nulls=rows - values if numbers else None,
        trimmed=numbers.get("untrimmed") == 0,
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
