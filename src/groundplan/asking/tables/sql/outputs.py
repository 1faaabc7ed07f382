"""The columns of a SELECT: those that `*` stands for, and those that number a ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.names import normal
from groundplan.asking.tables.sql.query import Query
from groundplan.asking.tables.sql.scope import Output, Scope, SelectSource, peeled
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.asking.tables.sql.windows import PLACES
from groundplan.contracts.expression import level


def stars(node: Any, scope: Scope) -> list[Output]:
    """The columns of all sources, or of the one that stands before the star."""
    if any(node.args.get(key) for key in ("except_", "replace", "rename", "except")):
        raise Untranslatable("* with EXCEPT or REPLACE", shown(node))
    wanted = normal(node.table) if isinstance(node, exp.Column) else None
    outputs: list[Output] = []
    for alias, source in scope.sources.items():
        if wanted not in (None, alias):
            continue
        if isinstance(source, SelectSource):
            outputs += source.outputs.values()
        elif source.many is None:
            table = exp.to_identifier(alias, quoted=True)
            outputs += [
                Output(column.name, exp.Column(this=exp.to_identifier(column.name, quoted=True), table=table), scope)
                for column in source.table.columns
            ]
    return outputs


def marked(query: Query, nodes: Sequence[Any]) -> Query:
    """With the outputs that number a ranking, which the result has anyway, and whether some look at other groups."""
    windows = [one for node in nodes for one in _windows(node)]
    if query.having and any(not isinstance(one.this, PLACES) for one in windows):
        raise Untranslatable("a window over groups that a condition chooses", "filter in an outer SELECT")
    places, series = set(query.places), query.series
    for output in query.outputs:
        if output.scope is None:
            continue
        node, _ = peeled(output.node, output.scope)
        if isinstance(node, exp.Window) and isinstance(node.this, PLACES):
            places.add(normal(output.name))
            series = series or query.groups is not None
        elif isinstance(node, exp.Expr) and any(_windows(node)):
            value = output.scope.value(output.node)  # says what orders the series
            series = series or query.groups is not None or level(value) != "row"
    return replace(query, places=frozenset(places), series=series)


def _windows(node: Any) -> Iterator[Any]:
    """Those of its own SELECT, not of subqueries."""
    own = node.find_ancestor(exp.Query)
    return (one for one in node.find_all(exp.Window) if one.find_ancestor(exp.Query) is own)
