"""Finds columns that repeat a property of a thing in each of its rows: the volume of a batch, the name of a driver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ibis

from groundplan.contracts.schema import Column
from groundplan.sources.tables.engine.handle import Ask, Handle
from groundplan.text.names import split_name

MOST_ROWS, MOST_COLUMNS = 200_000, 60  # of tables that are searched
MOST_THINGS = 3  # kinds of things, the most numerous first
FEWEST = 20  # things; and things with several rows
MOST_PAIRS = 6  # of an id and a name that are compared


def find_repeats(
    handle: Handle, columns: Sequence[Column], rows: int, ask: Ask, identifying: frozenset[str]
) -> dict[str, str]:
    """The column that identifies the thing, by the column that is the same in all rows of each thing."""
    if not 2 * FEWEST <= rows <= MOST_ROWS or len(columns) > MOST_COLUMNS:
        return {}
    things = [
        column
        for column in columns
        if (column.role == "id" or (split_name(column.name) or ("",))[-1] in identifying)
        and column.nulls == 0
        and FEWEST <= (column.cardinality or 0) < 0.95 * rows
    ]
    found: dict[str, str] = {}
    for thing in sorted(things, key=lambda column: -(column.cardinality or 0))[:MOST_THINGS]:
        others = [
            column for column in columns if column.name not in found and column != thing and column.kind != "other"
        ]
        for name in _same_in_all_rows(handle, thing, others, ask):
            found[name] = thing.name
    return found


def find_names(
    handle: Handle, columns: Sequence[Column], rows: int, ask: Ask, identifying: frozenset[str]
) -> dict[str, str]:
    """The column of ids, by the text that has one value for each id and no value for two."""
    if not 2 <= rows <= MOST_ROWS or len(columns) > MOST_COLUMNS:
        return {}
    ids = [c for c in columns if c.role == "id" or (split_name(c.name) or ("",))[-1] in identifying]
    texts = [c for c in columns if c.kind == "text" and c not in ids]
    alike = [(i, t) for i in ids for t in texts if i.cardinality == t.cardinality and i.nulls == t.nulls]
    found: dict[str, str] = {}
    for thing, name in [pair for pair in alike if 2 <= (pair[0].cardinality or 0) < rows][:MOST_PAIRS]:
        pairs = handle.table.select([thing.name, name.name]).distinct()
        number = ask(pairs.aggregate(number=pairs.count()))[0]["number"]
        if number == (thing.cardinality or 0) + bool(thing.nulls):
            found.setdefault(name.name, thing.name)
    return found


def _same_in_all_rows(handle: Handle, thing: Column, others: Sequence[Column], ask: Ask) -> list[str]:
    table = handle.table
    counts: dict[str, Any] = {"n": table.count()}
    for place, column in enumerate(others):
        counts |= {f"d{place}": table[column.name].nunique(), f"c{place}": table[column.name].count()}
    each = table.group_by(table[thing.name].name("thing")).aggregate(**counts)
    several = each.filter(each["n"] > 1)
    varies: dict[str, Any] = {"things": several.count()}
    for place, _ in enumerate(others):
        different = several[f"d{place}"] > 1
        partly = (several[f"c{place}"] > 0) & (several[f"c{place}"] < several["n"])
        varies[f"v{place}"] = ibis.coalesce((different | partly).ifelse(1, 0).sum(), 0)
    told = ask(several.aggregate(**varies))[0]
    if told["things"] < FEWEST:
        return []
    return [column.name for place, column in enumerate(others) if not told[f"v{place}"]]
