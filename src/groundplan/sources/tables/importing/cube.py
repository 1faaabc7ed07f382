"""Cube: cubes in YAML with dimensions, measures and joins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from groundplan.sources.tables.importing import measures
from groundplan.sources.tables.importing.collected import Collected, Part, told, whole_file
from groundplan.sources.tables.importing.measures import ImportedMeasure, link, referred
from groundplan.sources.tables.importing.sql import column_name, parsed, text_of
from groundplan.sources.tables.schema.sql_expression import Unsupported
from groundplan.text.located_yaml import Located

WHOLE = re.compile(r"\s*select\s+\*\s+from\s+([\w.\"]+)\s*;?\s*", re.IGNORECASE)
NOT_READ = ("segments", "extends", "hierarchies", "access_policy", "refresh_key")


def collect(files: Sequence[Located], into: Collected) -> None:
    parts = [whole_file(file) for file in files]
    cubes = [cube for part in parts for cube in part.items("cubes")]
    found = {cube.text("name"): table for cube in cubes if (table := _table(cube, into))}
    where = {cube.text("name"): cube.where for cube in cubes}
    into.aliases = {n: into.dataset(table, where[n], n)["name"] for n, table in found.items()}
    known: list[ImportedMeasure] = []
    for cube in cubes:
        if cube.text("name") in found:
            known += _cube(cube, found[cube.text("name")], into)
    for cube in cubes:
        for join in cube.items("joins"):
            if {cube.text("name"), join.text("name")} <= {*found}:
                link(
                    join.text("sql"), cube.text("name"), join.text("name"), join.text("relationship"), into, join.where
                )
            else:
                into.note(f"join {join.text('name')!r}: one of the cubes is not imported", join.where)
    measures.collect(known, into)
    for view in (view for part in parts for view in part.items("views")):
        into.note(f"view {view.text('name')!r} is left out: questions find their tables themselves", view.where)


def _table(cube: Part, into: Collected) -> str | None:
    whole = WHOLE.fullmatch(cube.text("sql"))
    table = cube.text("sql_table") or (whole.group(1) if whole else "")
    if not table or "{" in table:
        what = "its `sql` is a query, and a data set is a table" if cube.text("sql") else "it has no `sql_table`"
        into.note(f"cube {cube.text('name')!r} is left out: {what}", cube.where)
        return None
    return table.replace('"', "")


def _cube(cube: Part, table: str, into: Collected) -> list[ImportedMeasure]:
    dataset = into.dataset(table, cube.where)
    name, key = cube.text("name"), None
    dataset.update(told(cube.value, name))
    for unread in NOT_READ:
        if cube.value.get(unread):
            into.note(f"cube {name!r}: `{unread}` is not read", cube.file.where((*cube.at, unread)))
    for dimension in cube.items("dimensions"):
        column = _dimension(dimension, name, into)
        if column is None:
            continue
        into.field(dataset, {**column, **told(dimension.value, dimension.text("name"))}, dimension.where)
        if dimension.value.get("primary_key") is True and (one := column_name(parsed(column["expression"], name))):
            key = key or one
            into.key(dataset, [one], dimension.where)
    return [
        ImportedMeasure(
            name, one, one.text("type"), one.text("sql"), [f.text("sql") for f in one.items("filters")], key
        )
        for one in cube.items("measures")
    ]


def _dimension(given: Part, own: str, into: Collected) -> dict[str, Any] | None:
    name = given.text("name")
    if any(given.value.get(key) for key in ("case", "sub_query", "latitude")):
        into.note(f"dimension {name!r}: only `sql` is read", given.where)
        return None
    try:
        node = parsed(referred(given.text("sql") or name, own), own)
    except Unsupported as error:
        into.note(f"dimension {name!r}: {error}", given.where)
        return None
    time = {"dimension": {"is_time": True}} if given.text("type") == "time" else {}
    return {"name": name, "expression": column_name(node) or text_of(node), **time}
