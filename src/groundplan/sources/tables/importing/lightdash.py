"""Lightdash: what the `meta` of dbt models says about joins, dimensions and metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from groundplan.sources.tables.importing import measures
from groundplan.sources.tables.importing.collected import Collected, Part, told, whole_file
from groundplan.sources.tables.importing.measures import ImportedMeasure, link, referred
from groundplan.sources.tables.importing.sql import column_name, parsed, text_of
from groundplan.sources.tables.schema.sql_expression import Unsupported
from groundplan.text.located_yaml import Located

OPERATOR = re.compile(r"^$|^[!<>]|%|^in(TheP|TheN|Between)")  # everything but equality
NOT_READ = ("sets", "explores", "default_filters", "required_filters", "sql_filter", "sql_where")


def collect(files: Sequence[Located], into: Collected) -> None:
    known: list[ImportedMeasure] = []
    for file in files:
        for model in whole_file(file).items("models"):
            known += _model(model, into)
    measures.collect(known, into)


def _meta(part: Part) -> Part:
    """In newer files `meta` is under `config`."""
    own = part.inner("meta")
    return own if own.value else part.inner("config").inner("meta")


def _model(model: Part, into: Collected) -> list[ImportedMeasure]:
    meta, columns = _meta(model), [(column, _meta(column)) for column in model.items("columns")]
    if not meta.value and not any(own.value for _, own in columns):
        return []
    dataset = into.dataset(model.text("name"), model.where)
    name = dataset["name"]
    dataset.update(told(meta.value, name))
    key = meta.text("primary_key")
    if key:
        into.key(dataset, [key], meta.where)
    for unread in NOT_READ:
        if meta.value.get(unread):
            into.note(f"model {name!r}: `{unread}` is not read", meta.where)
    for join in meta.items("joins"):
        other = into.dataset(join.text("join"), join.where)["name"]
        into.aliases |= {model.text("name"): name, join.text("join"): other}
        kind = join.text("relationship") or "many-to-one"
        if join.text("alias"):
            into.note(f"join {other!r}: an alias is not supported", join.where)
        else:
            link(join.text("sql_on"), model.text("name"), join.text("join"), kind, into, join.where)
    found = [_measure(name, one, one.text("sql"), key) for one in meta.items("metrics")]
    for column, own in columns:
        _dimension(dataset, column, own, into)
        sql = f"${{TABLE}}.{column.text('name')}"
        found += [_measure(name, one, one.text("sql") or sql, key) for one in own.items("metrics")]
    return found


def _measure(dataset: str, given: Part, sql: str, key: str) -> ImportedMeasure:
    filters, unread = [], ""
    for column, value in (pair for one in given.items("filters") for pair in one.value.items()):
        values = value if isinstance(value, list) else [value]
        odd = [one for one in values if one is None or (isinstance(one, str) and OPERATOR.search(one))]
        unread = unread or (f"the filter {column}: {odd[0]}" if odd else "")
        filters.append(f"${{TABLE}}.{column} IN ({', '.join(map(_constant, values))})")
    return ImportedMeasure(dataset, given, given.text("type"), sql, filters, key or None, unread)


def _constant(value: Any) -> str:
    if isinstance(value, bool | int | float):
        return str(value)
    quoted = str(value).replace("'", "''")
    return f"'{quoted}'"


def _dimension(dataset: dict[str, Any], column: Part, meta: Part, into: Collected) -> None:
    given, name = meta.inner("dimension"), column.text("name")
    expression = name
    if given.text("sql"):
        try:
            node = parsed(referred(given.text("sql"), dataset["name"]), dataset["name"])
        except Unsupported as error:
            into.note(f"dimension {name!r}: {error}", given.where)
            return
        expression = column_name(node) or text_of(node)
    time = {"dimension": {"is_time": True}} if given.text("type") in ("date", "timestamp") else {}
    field: Mapping[str, Any] = {"name": name, "expression": expression, **time, **told(given.value, name)}
    into.field(dataset, dict(field), column.where)
    for one in meta.items("additional_dimensions"):
        try:
            node = parsed(referred(one.text("sql"), dataset["name"]), dataset["name"])
        except Unsupported as error:
            into.note(f"dimension {one.text('name')!r}: {error}", one.where)
            continue
        item = {"name": one.text("name"), "expression": column_name(node) or text_of(node)}
        into.field(dataset, {**item, **told(one.value, one.text("name"))}, one.where)
