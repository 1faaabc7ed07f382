"""Aggregates over the first rows of an order: `SELECT AVG(x) FROM (SELECT x FROM t ORDER BY x DESC LIMIT 10)`."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from groundplan.asking.tables.sql.derived import value_of
from groundplan.asking.tables.sql.query import Query, same
from groundplan.asking.tables.sql.scope import Output
from groundplan.asking.tables.sql.things import as_things
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import Aggregate, Among, Column, Correlation, Node, Rows, walk
from groundplan.contracts.normal_form import mapped

N = TypeVar("N", bound=Node)


def best_of(query: Query) -> tuple[Query, Among]:
    """The rows or the groups as things without the cut, and the cut as a condition on what they are ordered by."""
    ordering = query.ordering
    if ordering is None or ordering.limit is None or ordering.within or ordering.ties != "cut" or query.series:
        raise Untranslatable("an aggregate over a ranking", "use ORDER BY and LIMIT in the subquery")
    by, descending = ordering.keys[0]
    place = next((number for number, one in enumerate(query.outputs) if same(value_of(one), by)), None)
    if place is None:
        raise Untranslatable("an aggregate over a LIMIT", "it has to be of the value that the rows are ordered by")
    whole = replace(query, ordering=None)
    whole = whole if query.is_rows else as_things(whole)
    of = value_of(whole.outputs[place])
    return whole, Among(of=of, limit=ordering.limit, direction="top" if descending else "bottom")


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
