"""Subqueries that name tables of the SELECT around them."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.names import normal
from groundplan.asking.tables.sql.scope import conjuncts


def sources(select: Any) -> set[str]:
    """The names of what it reads."""
    from_ = select.args.get("from_")
    found = [*([from_.this] if from_ else []), *(join.this for join in select.args.get("joins") or ())]
    return {normal(one.alias_or_name) for one in found}


def names_from_outside(node: Any, names: set[str]) -> bool:
    """True if it names a table that neither these are nor its own subqueries read."""
    if isinstance(node, exp.Column):
        return bool(node.table) and normal(node.table) not in names
    known = names | sources(node) if isinstance(node, exp.Select) else names
    return any(names_from_outside(part, known) for part in node.iter_expressions())


def tied(select: Any) -> tuple[Any, list[Any]]:
    """The subquery without the conditions that name something from outside, and these."""
    own: list[Any] = []
    outer: list[Any] = []
    where = select.args.get("where") if select.args.get("from_") else None
    names = sources(select)
    for part in conjuncts(where.this) if where else ():
        (outer if names_from_outside(part, names) else own).append(part)
    if not outer:
        return select, []
    alone = select.copy()
    alone.set("where", exp.Where(this=exp.and_(*own, copy=True)) if own else None)
    return alone, outer
