"""IN and EXISTS with a subquery: rows of another table that point here, or that are pointed at."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.joins import adopt
from groundplan.asking.tables.sql.names import normal
from groundplan.asking.tables.sql.query import Query
from groundplan.asking.tables.sql.scope import Scope, conjuncts
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    All,
    AnyOf,
    Column,
    Compare,
    Condition,
    Constant,
    Expression,
    Holds,
    Missing,
    Node,
    Not,
    Related,
    Rows,
    level,
    walk,
)
from groundplan.contracts.join_paths import SEPARATOR
from groundplan.contracts.normal_form import mapped
from groundplan.contracts.relationship import Relationship


def found(node: Any, scope: Scope, *, negated: bool = False) -> Condition:
    """`x IN (SELECT …)`; with NOT, values that are missing decide: nothing compares with them."""
    query = node.args["query"]
    union = query.this if isinstance(query, exp.Subquery) else query
    if isinstance(union, exp.Union):
        sides = [exp.In(this=node.this, query=exp.Subquery(this=side)) for side in (union.this, union.expression)]
        parts = tuple(found(side, scope, negated=negated) for side in sides)
        return All(parts=parts) if negated else AnyOf(parts=parts)
    inner = scope.session.query(query.this if isinstance(query, exp.Subquery) else query, scope.session, scope.ctes)
    if len(inner.outputs) != 1:
        raise Untranslatable("IN with several columns", shown(node))
    output = inner.outputs[0]
    wanted = output.scope.value(output.node) if output.scope else output.expression
    value = scope.value(node.this)
    if wanted is None:
        raise Untranslatable("this IN", shown(node))
    if negated and inner.scope.nullable(wanted) and not _keeps_known(wanted, inner):
        raise Untranslatable("NOT IN where values may be missing", f"{shown(node)}; use NOT EXISTS")
    if scope.nullable(value) and (negated or not _is_plain(node)):
        raise Untranslatable("NOT IN where values may be missing", f"{shown(node)}; use NOT EXISTS")
    made = _semi(inner, wanted, value, scope, node)
    return _none(made) if negated else _some(made, node)


def _is_plain(node: Any) -> bool:
    """Whether it only chooses rows, so that what is unknown counts as what does not hold."""
    above = node.parent
    while isinstance(above, exp.And | exp.Or | exp.Paren):
        above = above.parent
    return above is None or isinstance(above, exp.Where | exp.Having | exp.Join | exp.If)


def _some(made: Condition, node: Any) -> Condition:
    """That something is found; never unknown where that would matter."""
    if _is_plain(node) or isinstance(made, Compare):
        return made
    return Compare(left=Holds(condition=made), operator="=", right=Constant(value=True))


def _keeps_known(wanted: Expression, inner: Query) -> bool:
    return Not(part=Missing(of=wanted)) in inner.where


def exists(node: Any, scope: Scope, *, negated: bool = False) -> Condition:
    """`EXISTS (SELECT … WHERE other.key = this.key)`."""
    select = node.this.this if isinstance(node.this, exp.Subquery) else node.this
    if (
        not isinstance(select, exp.Select)
        or not select.args.get("from_")
        or any(select.args.get(key) for key in ("group", "having", "limit", "qualify"))
    ):
        raise Untranslatable("this EXISTS", shown(node))
    names = {
        normal(one.alias_or_name)
        for one in (select.args["from_"].this, *(join.this for join in select.args.get("joins") or ()))
    }
    outer: list[Any] = []
    own: list[Any] = []
    for part in conjuncts(select.args["where"].this) if select.args.get("where") else ():
        tables = {normal(column.table) for column in part.find_all(exp.Column) if column.table}
        (outer if tables - names else own).append(part)
    if len(outer) != 1 or not isinstance(outer[0], exp.EQ):
        raise Untranslatable("EXISTS with another condition than one equal column", shown(node))
    first, second = outer[0].this, outer[0].expression
    here, there = (
        (second, first) if normal(first.table if isinstance(first, exp.Column) else "") in names else (first, second)
    )
    where = exp.Where(this=exp.and_(*own, copy=True)) if own else None
    asked = select.copy()
    asked.set("expressions", [there.copy()])
    asked.set("where", where)
    inner = scope.session.query(asked, scope.session, scope.ctes)
    output = inner.outputs[0]
    assert output.scope is not None
    made = _semi(inner, output.scope.value(output.node), scope.value(here), scope, node)
    return _none(made) if negated else _some(made, node)


def _none(made: Condition) -> Condition:
    """That nothing is found; conditions that are unknown find nothing."""
    if isinstance(made, Compare):
        return Not(part=made)
    return Compare(left=Holds(condition=made), operator="=", right=Constant(value=False))


def _semi(inner: Query, wanted: Expression, value: Expression, scope: Scope, node: Any) -> Condition:
    plain = inner.is_rows or (inner.groups is not None and not inner.having) or inner.distinct
    if not plain or inner.is_cut or inner.things or not isinstance(wanted, Column) or not isinstance(value, Column):
        raise Untranslatable("this subquery in a condition", f"{shown(node)}; use rows of one table, linked by a key")
    if any(level(condition) != "row" for condition in inner.where):
        raise Untranslatable("this subquery in a condition", shown(node))
    if value.table is not None or wanted.table is not None:
        raise Untranslatable("a subquery linked by a column of a third table", shown(node))
    link = _link(inner, wanted.name, value.name, scope)
    if link is None:
        raise Untranslatable("a subquery that no key links", shown(node))
    conditions = [*inner.where]
    if link.table == inner.scope.root.name and link.to_table == scope.root.name and link.columns == (wanted.name,):
        where = conditions[0] if len(conditions) == 1 else All(parts=tuple(conditions)) if conditions else None
        count = Related(table=link.table, of=Rows(where=where), via=link.name)
        return Compare(left=count, operator=">", right=Constant(value=0))
    lifted = [_lifted(condition, link, inner.scope.root.name) for condition in conditions]
    there = Not(part=Missing(of=Column(table=link.to_table, name=link.to_columns[0], via=link.name)))
    return All(parts=(there, *lifted)) if lifted else there


def _link(inner: Query, wanted: str, value: str, scope: Scope) -> Relationship | None:
    here, there = scope.root, inner.scope.root
    if here.name == there.name:
        return None
    for link in scope.session.links:
        if (link.table, link.columns, link.to_table, link.to_columns) == (there.name, (wanted,), here.name, (value,)):
            return link
        if (link.table, link.columns, link.to_table, link.to_columns) == (here.name, (value,), there.name, (wanted,)):
            return link
    if (value,) in here.keys:
        return adopt(scope.session, _made(there.name, wanted, here.name, value))
    if (wanted,) in there.keys:
        return adopt(scope.session, _made(here.name, value, there.name, wanted))
    return None


def _made(table: str, column: str, to_table: str, to_column: str) -> Relationship:
    return Relationship(table=table, columns=(column,), to_table=to_table, to_columns=(to_column,))


def _lifted(node: Condition, link: Relationship, table: str) -> Condition:
    """The condition on the row that is pointed at, as seen from the row that points."""
    if any(isinstance(part, Related) for part in walk(node)):
        raise Untranslatable("a subquery in a subquery")

    def lift(part: Node) -> Node:
        if isinstance(part, Column):
            via = link.name if part.table is None else f"{link.name}{SEPARATOR}{part.via}"
            return Column(table=part.table or table, name=part.name, via=via)
        return mapped(part, lift)

    return lift(node)  # type: ignore[return-value]
