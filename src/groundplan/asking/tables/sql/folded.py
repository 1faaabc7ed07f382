"""Inner joins that only choose rows, where repeated rows count once: each is `IN (SELECT …)`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.names import normal
from groundplan.asking.tables.sql.outside import names_from_outside
from groundplan.asking.tables.sql.scope import conjuncts

PROOF = (exp.Min, exp.Max)


def folded(node: Any) -> Any | None:
    """`SELECT DISTINCT a.name FROM a JOIN b ON b.a_id = a.id WHERE b.x` with b inside an IN; None if none can be."""
    joins = node.args.get("joins") or []
    plain = all(not j.side and (j.kind or "").upper() in ("", "INNER") and j.args.get("on") for j in joins)
    sources = [node.args["from_"].this, *(join.this for join in joins)]
    if not joins or not plain or not _counts_once(node) or not all(isinstance(one, exp.Table) for one in sources):
        return None
    named = {normal(one.alias_or_name): one for one in sources}
    conditions = [part for join in joins for part in conjuncts(join.args["on"])]
    conditions += [*conjuncts(node.args["where"].this)] if node.args.get("where") else []
    shown = [one for key, one in node.args.items() if key not in ("from_", "joins", "where", "with_")]
    columns = [column for part in shown for one in _listed(part) for column in one.find_all(exp.Column)]
    if len(named) != len(sources) or not all(one.table for part in conditions for one in part.find_all(exp.Column)):
        return None
    kept = {normal(column.table) for column in columns}
    if "" in kept or not kept <= {*named} or len(left := _fold(named, conditions, kept)) == len(named):
        return None
    return _without(node, left, named, conditions)


def _listed(part: Any) -> list[Any]:
    return [one for one in (part if isinstance(part, list) else [part]) if isinstance(one, exp.Expr)]


def _counts_once(node: Any) -> bool:
    """True if no row of the result changes when rows of the FROM are repeated."""
    if any(True for _ in node.find_all(exp.Star, exp.Window)):
        return False
    aggregates = [one for part in _listed([*node.expressions, node.args.get("having"), node.args.get("order")])
                  for one in part.find_all(exp.AggFunc)]  # fmt: skip
    if any(not isinstance(one, PROOF) and not isinstance(one.this, exp.Distinct) for one in aggregates):
        return False
    return bool(node.args.get("distinct") or node.args.get("group") or aggregates)


def _fold(named: dict[str, Any], conditions: list[Any], kept: Collection[str]) -> list[str]:
    """The aliases that are left; the conditions of each other one become an IN among those that are left."""
    left = [*named]
    for alias in [*named] * len(named):
        if alias in kept or alias not in left or len(left) == 1:
            continue
        tied = [one for one in conditions if names_from_outside(one, {*left} - {alias})]
        own = [one for one in tied if not names_from_outside(one, {alias})]
        links = [one for one in tied if one not in own]
        sides = [links[0].this, links[0].expression] if len(links) == 1 and isinstance(links[0], exp.EQ) else []
        if not sides or not all(isinstance(side, exp.Column) for side in sides):
            continue
        there, here = sides if normal(sides[0].table) == alias else reversed(sides)
        inner = exp.select(there.copy()).from_(named[alias].copy())
        inner = inner.where(*(one.copy() for one in own)) if own else inner
        conditions[:] = [one for one in conditions if not any(one is other for other in tied)]
        conditions.append(exp.In(this=here.copy(), query=inner.subquery()))
        left.remove(alias)
    return left


def _without(node: Any, left: list[str], named: dict[str, Any], conditions: list[Any]) -> Any:
    """The SELECT over the tables that are left; what links them stands in WHERE."""
    made = node.copy()
    made.set("from_", exp.From(this=named[left[0]].copy()))
    made.set("joins", [exp.Join(this=named[alias].copy(), kind="CROSS") for alias in left[1:]])
    made.set("where", exp.Where(this=exp.and_(*conditions, copy=True)) if conditions else None)
    return made
