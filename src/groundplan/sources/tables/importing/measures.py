"""Measures of Cube and Lightdash: an aggregation of SQL that names members in braces."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from groundplan.sources.tables.importing.collected import Collected, Part
from groundplan.sources.tables.importing.sql import aggregate, column, parsed, text_of, under, written_out
from groundplan.sources.tables.schema.sql_expression import Unsupported, bounded

REFERENCE = re.compile(r"\$?\{\s*([\w.]+)\s*\}")
OWN = ("CUBE", "TABLE")
TO_ONE = ("many_to_one", "one_to_one", "many-to-one", "one-to-one", "belongsTo", "belongs_to", "hasOne", "has_one")
TO_MANY = ("one_to_many", "one-to-many", "hasMany", "has_many")
UNREAD = ("rolling_window", "multi_stage", "time_shift", "group_by", "reduce_by", "case", "percentile")


@dataclass(frozen=True)
class ImportedMeasure:
    dataset: str
    part: Part
    kind: str
    sql: str  # empty: rows are counted
    filters: Sequence[str] = ()
    key: str | None = None  # a column that every row has
    unread: str = ""  # what it says that cannot be expressed

    @property
    def name(self) -> str:
        return self.part.text("name")


def collect(measures: Sequence[ImportedMeasure], into: Collected) -> None:
    known = {(one.dataset, one.name): one for one in measures}
    for one in measures:
        try:
            with bounded():
                node = _expression(one, known, ())
        except Unsupported as error:
            into.note(f"measure {one.name!r}: {error}", one.part.where)
            continue
        for found in node.find_all(exp.Column):
            found.set("table", exp.to_identifier(into.aliases.get(found.table, found.table)))
        into.metric(one.name, text_of(node), one.part.where, one.part.value)


def _expression(
    one: ImportedMeasure, known: Mapping[tuple[str, str], ImportedMeasure], above: tuple[ImportedMeasure, ...]
) -> Any:
    if one in above:
        raise Unsupported("it is defined by itself")
    above = (*above, one)
    unread = one.unread or next((f"`{key}`" for key in UNREAD if one.part.value.get(key)), "")
    if unread:
        raise Unsupported(f"{unread} is not supported")
    if one.kind == "number":
        return _referring(one.sql, one.dataset, known, above)
    if one.sql:
        of = _referring(one.sql, one.dataset, {}, above)
    elif one.kind == "count" and one.key:
        of = column(one.dataset, one.key)
    else:
        raise Unsupported("rows are counted, and there is no primary key" if one.kind == "count" else "it has no `sql`")
    node = aggregate(one.kind, of)
    for text in one.filters:
        node = under(node, _referring(text, one.dataset, {}, above))
    return node


def _referring(
    text: str, own: str, known: Mapping[tuple[str, str], ImportedMeasure], above: tuple[ImportedMeasure, ...]
) -> Any:
    """The SQL with data sets and columns in place of `{CUBE}.x` and `${orders.x}`, and measures written out."""
    node = exp.paren(parsed(referred(text, own), own))
    for found in [*node.find_all(exp.Column)]:
        measure = known.get((found.table, found.name))
        if measure is not None:
            found.replace(exp.paren(written_out(_expression(measure, known, above))))
    return node.this


def referred(text: str, own: str) -> str:
    def put(found: re.Match[str]) -> str:
        first, _, last = found.group(1).partition(".")
        dataset = own if first in OWN else first
        if last:
            return f"{dataset}.{last}"
        is_dataset = first in OWN or text[found.end() : found.end() + 1] == "."
        return dataset if is_dataset else f"{own}.{first}"

    return REFERENCE.sub(put, text)


def link(sql: str, own: str, other: str, kind: str, into: Collected, where: str) -> None:
    """The relationship of a join of two data sets, by the names that the file has for them."""
    try:
        ends, columns = _joined(sql, own, other, kind)
    except Unsupported as error:
        into.note(f"join {other!r}: {error}", where)
        return
    into.link([into.aliases.get(end, end) for end in ends], columns, where)


def _joined(sql: str, own: str, other: str, kind: str) -> tuple[list[str], list[list[str]]]:
    """From many rows to one; a join to many rows is the relationship the other way round."""
    if kind not in (*TO_ONE, *TO_MANY):
        raise Unsupported(f"the relationship {kind!r} is not supported")
    node = parsed(referred(sql, own), own).unnest()
    sides: dict[str, list[str]] = {own: [], other: []}
    for one in node.flatten() if isinstance(node, exp.And) else [node]:
        pair: list[Any] = [one.args.get("this"), one.args.get("expression")]
        if not isinstance(one, exp.EQ) or {getattr(side, "table", None) for side in pair} != {own, other}:
            raise Unsupported(f"{one.sql()!r} is no equality of a column of each side")
        for side in pair:
            sides[side.table].append(side.name)
    turn = 1 if kind in TO_ONE else -1
    return [own, other][::turn], [sides[own], sides[other]][::turn]
