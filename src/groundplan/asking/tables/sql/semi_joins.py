"""IN and EXISTS with a subquery: rows of another table that point here, that are pointed at, or hold the value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.correlated import around
from groundplan.asking.tables.sql.derived import value_of
from groundplan.asking.tables.sql.found_groups import found_group, refuse_unlike, takes_groups
from groundplan.asking.tables.sql.lifted import lifted
from groundplan.asking.tables.sql.links import known_link, whole_link
from groundplan.asking.tables.sql.names import normal
from groundplan.asking.tables.sql.outside import names_from_outside, sources, tied
from groundplan.asking.tables.sql.query import Query
from groundplan.asking.tables.sql.scope import Scope
from groundplan.asking.tables.sql.statement import most_rows, shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    All,
    AnyOf,
    Column,
    Compare,
    Condition,
    Constant,
    Expression,
    Found,
    FoundGroup,
    Holds,
    Missing,
    Not,
    OneOf,
    Related,
    Rows,
    level,
)
from groundplan.contracts.relationship import Relationship


def found(node: Any, scope: Scope, *, negated: bool = False) -> Condition:
    """`x IN (SELECT …)`; with NOT, values that are missing decide: nothing compares with them."""
    query = node.args["query"].unnest()
    if isinstance(query, exp.Union):
        parts = tuple(_among(node, side, scope, negated) for side in _sides(query))
        return All(parts=parts) if negated else AnyOf(parts=parts)
    return _among(node, query, scope, negated)


def _sides(query: Any) -> Iterator[Any]:
    """The SELECTs of a UNION, however many."""
    if isinstance(query, exp.Union):
        yield from _sides(query.this.unnest())
        yield from _sides(query.expression.unnest())
    else:
        yield query


def _among(node: Any, query: Any, scope: Scope, negated: bool) -> Condition:
    inner = scope.session.query(query, scope.session, scope.ctes)
    if len(inner.outputs) != 1:
        raise Untranslatable("IN with several columns", shown(node))
    wanted, value = value_of(inner.outputs[0]), scope.value(node.this)
    unknown = scope.nullable(value) or (inner.scope.nullable(wanted) and not keeps_known(wanted, inner))
    if unknown and (negated or not is_plain(node)):
        raise Untranslatable("NOT IN where values may be missing", f"{shown(node)}; use NOT EXISTS")
    return among(inner, wanted, value, scope, node, negated=negated)


def among(
    inner: Query, wanted: Expression, value: Expression, scope: Scope, node: Any, *, negated: bool = False
) -> Condition:
    """That the value is one of those; a missing one is not."""
    made = _semi(inner, wanted, value, scope, node)
    return _none(made) if negated else _some(made, node)


def is_plain(node: Any) -> bool:
    """Whether it only chooses rows, so that what is unknown counts as what does not hold."""
    above = node.parent
    while isinstance(above, exp.And | exp.Or | exp.Paren):
        above = above.parent
    if isinstance(above, exp.Coalesce):
        return [*above.expressions] == [exp.false()]
    return above is None or isinstance(above, exp.Where | exp.Having | exp.Join | exp.If)


def _some(made: Condition, node: Any) -> Condition:
    """That something is found; never unknown where that would matter."""
    if is_plain(node) or isinstance(made, Compare | Found | FoundGroup):
        return made
    return Compare(left=Holds(condition=made), operator="=", right=Constant(value=True))


def keeps_known(wanted: Expression, inner: Query) -> bool:
    """True if rows whose value is missing are dropped: a condition says so, or compares it with something."""
    return any(_drops_missing(condition, wanted) for condition in inner.where)


def _drops_missing(condition: Condition, wanted: Expression) -> bool:
    match condition:
        case Compare(left=left, right=right):
            return wanted in (left, right)
        case OneOf(of=of, values=values):
            return of == wanted and None not in values
        case Found(of=of) | FoundGroup(of=of):
            return of == wanted
        case All(parts=parts):
            return any(_drops_missing(part, wanted) for part in parts)
    return condition == Not(part=Missing(of=wanted))


def exists(node: Any, scope: Scope, *, negated: bool = False) -> Condition:
    """`EXISTS (SELECT … WHERE other.column = this.column)`."""
    select = node.this.this if isinstance(node.this, exp.Subquery) else node.this
    if not isinstance(select, exp.Select) or not select.args.get("from_") or select.args.get("qualify"):
        raise Untranslatable("this EXISTS", shown(node))
    group = select.args.get("group")
    if not group and (select.args.get("having") or any(one.find(exp.AggFunc) for one in select.expressions)):
        raise Untranslatable("EXISTS of an aggregate over all rows, which has one row", shown(node))
    most_rows(select)  # none of no rows exists
    asked, outer = tied(select)
    if len(outer) > 1 and not group:
        return _counted(select, scope, node, negated)
    if len(outer) != 1 or not isinstance(outer[0], exp.EQ):
        raise Untranslatable("EXISTS with another condition than one equal column", shown(node))
    first, second = outer[0].this, outer[0].expression
    names = sources(select)
    here, there = (
        (second, first) if normal(first.table if isinstance(first, exp.Column) else "") in names else (first, second)
    )
    asked.set("expressions", [there.copy()])
    for key in ("distinct", "order", "limit"):  # of some rows, some are left
        asked.set(key, None)
    if group:
        asked.set("group", _grouped_also(group, there, names))
    inner = scope.session.query(asked, scope.session, scope.ctes)
    output = inner.outputs[0]
    assert output.scope is not None
    return among(inner, output.scope.value(output.node), scope.value(here), scope, node, negated=negated)


def _counted(select: Any, scope: Scope, node: Any, negated: bool) -> Condition:
    """Tied to the row by several columns: the number of such rows is above 0."""
    asked = select.copy()
    asked.set("expressions", [exp.Count(this=exp.Star())])
    for key in ("distinct", "order", "limit"):
        asked.set(key, None)
    number = around(exp.Subquery(this=asked), scope)
    assert number is not None
    made = Compare(left=number, operator=">", right=Constant(value=0))
    return _none(made) if negated else _some(made, node)


def _grouped_also(group: Any, there: Any, names: set[str]) -> Any:
    """The groups for each value of the column that is linked."""
    if group.args.get("all") or any(isinstance(one, exp.Literal) for one in group.expressions):
        raise Untranslatable("EXISTS with groups by their places", shown(group))
    if any(names_from_outside(one, names) for one in group.expressions):
        raise Untranslatable("EXISTS with groups by a column from outside", shown(group))
    made = group.copy()
    made.append("expressions", there.copy())
    return made


def _none(made: Condition) -> Condition:
    """That nothing is found; conditions that are unknown find nothing."""
    if isinstance(made, Compare | Found | FoundGroup):
        return Not(part=made)
    return Compare(left=Holds(condition=made), operator="=", right=Constant(value=False))


def _semi(inner: Query, wanted: Expression, value: Expression, scope: Scope, node: Any) -> Condition:
    if takes_groups(inner) or not isinstance(wanted, Column) or wanted.table is not None:
        return found_group(inner, wanted, value, scope, node)
    plain = inner.is_rows or (inner.groups is not None and not inner.having) or inner.distinct
    if not plain or inner.things:
        raise Untranslatable("this subquery in a condition", f"{shown(node)}; use a column of the rows of one table")
    if any(level(condition) != "row" for condition in inner.where):
        raise Untranslatable("this subquery in a condition", shown(node))
    conditions = [*inner.where]
    linked = isinstance(value, Column) and value.table is None and not scope.own
    link = _link(inner, wanted.name, value.name, scope) if linked and isinstance(value, Column) else None
    if link is None:
        return _off_keys(inner, wanted, value, scope, node)
    if link.table == inner.scope.root.name and link.to_table == scope.root.name and link.columns == (wanted.name,):
        where = conditions[0] if len(conditions) == 1 else All(parts=tuple(conditions)) if conditions else None
        count = Related(table=link.table, of=Rows(where=where), via=link.name)
        return Compare(left=count, operator=">", right=Constant(value=0))
    there_ = [lifted(condition, inner.scope.root.name, link.name) for condition in conditions]
    there = Not(part=Missing(of=Column(table=link.to_table, name=link.to_columns[0], via=link.name)))
    return All(parts=(there, *there_)) if there_ else there


def _off_keys(inner: Query, wanted: Column, value: Expression, scope: Scope, node: Any) -> Condition:
    """That the value is one of the column's, whatever links the two tables."""
    refuse_unlike(inner.scope, wanted, value, scope, node)
    kept = [condition for condition in inner.where if condition != Not(part=Missing(of=wanted))]
    where = None if not kept else kept[0] if len(kept) == 1 else All(parts=tuple(kept))
    return Found(of=value, table=inner.scope.root.name, column=wanted.name, where=where)


def _link(inner: Query, wanted: str, value: str, scope: Scope) -> Relationship | None:
    here, there, session = scope.root, inner.scope.root, scope.session
    if here.name == there.name:
        return None
    sides = (there.name, here, ((wanted, value),)), (here.name, there, ((value, wanted),))
    for table, to, equal in sides:
        if (link := known_link(session, table, to, equal)) is not None:
            return link
    return next((link for side in sides if (link := whole_link(session, *side)) is not None), None)
