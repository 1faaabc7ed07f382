"""Finds keys and foreign keys; the engine verifies both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from groundplan.contracts.schema import Column, Relationship, Table
from groundplan.sources.tables.engine.handle import Ask, Handle
from groundplan.text.names import split_name

MOST_ROWS_FOR_PAIRS = 1_000_000
MOST_PAIRS_TRIED = 6


def find_keys(handle: Handle, columns: Sequence[Column], rows: int, ask: Ask) -> tuple[tuple[str, ...], ...]:
    """Single-column keys; pairs of columns only if there are none."""
    if rows == 0:
        return ()
    likely = [column for column in columns if column.nulls == 0 and column.kind in ("number", "text", "time")]
    likely = [column for column in likely if column.role != "measure" or _whole(handle, column)]
    single = [(column.name,) for column in likely if _unique(handle, column, rows, ask)]
    if single or rows > MOST_ROWS_FOR_PAIRS:
        return tuple(single)
    return tuple(_pairs(handle, [column for column in likely if column.role != "measure"], rows, ask))


def find_relationships(tables: Sequence[Table], handles: Mapping[str, Handle], ask: Ask) -> tuple[Relationship, ...]:
    """Candidates by name, kept only if every value has its row in the other table."""
    likely = (
        Relationship(table=table.name, column=column.name, to_table=other.name, to_column=key[0])
        for table in tables
        for column in table.columns
        for other in tables
        if other.name != table.name
        for key in other.keys
        if len(key) == 1 and _points(column.name, other.name, key[0])
    )
    return tuple(link for link in likely if _holds(link, handles, ask))


def _whole(handle: Handle, column: Column) -> bool:
    return bool(handle.table[column.name].type().is_integer())


def _unique(handle: Handle, column: Column, rows: int, ask: Ask) -> bool:
    if rows <= MOST_ROWS_FOR_PAIRS:
        return column.cardinality == rows
    if column.cardinality is None or column.cardinality < 0.7 * rows:  # an estimate, which may be inaccurate
        return False
    exact = ask(handle.table.aggregate(distinct=handle.table[column.name].nunique()))[0]
    return bool(exact["distinct"] == rows)


def _pairs(handle: Handle, columns: Sequence[Column], rows: int, ask: Ask) -> Iterator[tuple[str, ...]]:
    large = sorted(columns, key=lambda column: -(column.cardinality or 0))
    enough = [
        pair for pair in combinations(large, 2) if (pair[0].cardinality or 0) * (pair[1].cardinality or 0) >= rows
    ]
    for pair in enough[:MOST_PAIRS_TRIED]:
        names = tuple(column.name for column in pair)
        distinct = handle.table.select(list(names)).distinct()
        if ask(distinct.aggregate(rows=distinct.count()))[0]["rows"] == rows:
            yield tuple(column.name for column in columns if column.name in names)


def _points(column: str, table: str, key: str) -> bool:
    """`customer_id` points to `customers.id`; `billing_customer_id` points to `customers.customer_id`."""
    given, wanted = split_name(column), split_name(key)
    if len(wanted) == 1:
        wanted = (*split_name(table), *wanted)
        singular = (*wanted[:-2], _singular(wanted[-2]), wanted[-1])
        return given[-len(wanted) :] in (wanted, singular)
    return given[-len(wanted) :] == wanted


def _singular(word: str) -> str:
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if word.endswith(ending) and not word.endswith("ss"):
            return word.removesuffix(ending) + instead
    return word


def _holds(link: Relationship, handles: Mapping[str, Handle], ask: Ask) -> bool:
    child, parent = handles[link.table], handles[link.to_table]
    if child.kind(link.column) != parent.kind(link.to_column):
        return False
    values = child.table.select(value=child.table[link.column]).filter(lambda t: t["value"].notnull()).distinct()
    known = parent.table.select(known=parent.table[link.to_column])
    return not ask(values.anti_join(known, values["value"] == known["known"]).limit(1))
