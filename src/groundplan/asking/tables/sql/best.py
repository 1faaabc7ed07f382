"""Aggregates over the first rows of an order: `SELECT AVG(x) FROM (SELECT x FROM t ORDER BY x DESC LIMIT 10)`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from sqlglot import exp

from groundplan.asking.tables.sql.derived import value_of
from groundplan.asking.tables.sql.found_groups import found_group
from groundplan.asking.tables.sql.names import normal
from groundplan.asking.tables.sql.query import Query, same
from groundplan.asking.tables.sql.scope import Output
from groundplan.asking.tables.sql.things import as_things
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    Aggregate,
    Among,
    Column,
    Correlation,
    Expression,
    Missing,
    Node,
    Not,
    Rows,
    walk,
)
from groundplan.contracts.normal_form import mapped

N = TypeVar("N", bound=Node)


def best_of(query: Query, node: Any) -> tuple[Query, Among | None]:
    """The rows, or the groups as things, without the cut; it is a condition, on what they are ordered by or on keys."""
    ordering = query.ordering
    if ordering is None or ordering.limit is None or ordering.within or ordering.ties != "cut" or query.series:
        raise Untranslatable("an aggregate over a ranking", "use ORDER BY and LIMIT in the subquery")
    by, descending = ordering.keys[0]
    place = next((number for number, one in enumerate(query.outputs) if same(value_of(one), by)), None)
    if place is None or not _is_only_of(node, query.outputs[place].name):
        chosen = _found(query, node)
        return chosen if chosen.is_rows else as_things(chosen), None
    whole = replace(query, ordering=None)
    whole = whole if query.is_rows else as_things(whole)
    of = value_of(whole.outputs[place])
    return whole, Among(of=of, limit=ordering.limit, direction="top" if descending else "bottom")


def _is_only_of(node: Any, name: str) -> bool:
    """True if each aggregate is of the column, and nothing chooses or groups what was cut."""
    of = [one.this for select in node.expressions for one in select.find_all(exp.AggFunc)]
    plain = all(isinstance(one, exp.Column) and normal(one.name) == normal(name) for one in of)
    return plain and not any(node.args.get(key) for key in ("where", "group", "having", "qualify"))


def _found(query: Query, node: Any) -> Query:
    """Only the rows whose key is among the keys of the first; a missing key would not be found.

    Of groups that tie any may be cut off, as by IN. Rows tie too often: their key has to be in the order.
    """
    root, scope, ordering = query.scope.root, query.scope, query.ordering
    if query.groups is None:
        ordered = [by for by, _ in ordering.keys] if ordering else []
        keys: list[Expression] = [
            by for by in ordered if isinstance(by, Column) and by.table is None and (by.name,) in root.keys
        ]
    else:
        keys = [value for _, value in query.groups] if len(query.groups) == 1 else []
    known = (one for one in keys if not scope.nullable(one) or Not(part=Missing(of=one)) in query.where)
    key = next(known, None)
    if key is None or query.things is not None:
        needed = "it has to be of groups by one key that is never missing, or of rows ordered by their key"
        raise Untranslatable("an aggregate over a LIMIT", f"or of what orders them; {needed}")
    chosen = found_group(query, key, key, scope, node)
    return replace(query, where=(*query.where, chosen), having=(), ordering=None)


def is_special(query: Query) -> bool:
    """Whether it speaks of things, or of the first rows: not of a table's rows as they are."""
    return query.things is not None or any(
        isinstance(part, Among) for output in query.outputs for part in walk(value_of(output))
    )


def of_best(output: Output, best: Among) -> Output:
    return Output(output.name, expression=_of_best(value_of(output), best))


def _of_best(node: N, best: Among) -> N:
    """Only values of the order itself: whichever of two that tie is cut off, the values that are left are the same."""
    match node:
        case Aggregate(of=of, where=None) if same(of, best.of):
            return node.model_copy(update={"where": best})
        case Aggregate() | Rows() | Correlation() | Column():
            raise Untranslatable("an aggregate over a LIMIT", "it has to be of the value that the rows are ordered by")
    return mapped(node, lambda part: _of_best(part, best))
