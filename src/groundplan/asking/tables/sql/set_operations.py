"""INTERSECT and EXCEPT of two SELECTs of one column: different values of the first that the second has, or has not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql import semi_joins
from groundplan.asking.tables.sql.derived import value_of
from groundplan.asking.tables.sql.names import normal
from groundplan.asking.tables.sql.query import Ordering, Query, same
from groundplan.asking.tables.sql.scope import Session
from groundplan.asking.tables.sql.statement import most_rows, shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import Expression, level

OPERATIONS = (exp.Intersect, exp.Except)


def read_set_operation(node: Any, session: Session, ctes: Mapping[str, Any]) -> Query:
    """The first SELECT, with what the second has as a condition; raises Untranslatable."""
    if not node.args.get("distinct"):
        raise Untranslatable(f"{node.key.upper()} ALL", shown(node))
    query, other = (session.query(side, session, ctes) for side in (node.this, node.expression))
    if len(query.outputs) != 1 or len(other.outputs) != 1:
        raise Untranslatable(f"{node.key.upper()} of several columns", "use EXISTS or NOT EXISTS")
    value, wanted = value_of(query.outputs[0]), value_of(other.outputs[0])
    _refuse_other_rows(query, value, node)
    if _may_lack(query, value) and _may_lack(other, wanted):  # both are alike here, and compare with nothing elsewhere
        raise Untranslatable(f"{node.key.upper()} where values may be missing", "add IS NOT NULL to one side")
    condition = semi_joins.among(other, wanted, value, query.scope, node, negated=isinstance(node, exp.Except))
    made = replace(query, where=(*query.where, condition), distinct=query.groups is None)
    return _in_order(made, value, node)


def _refuse_other_rows(query: Query, value: Expression, node: Any) -> None:
    """Rows of one table, or groups by what is shown."""
    groups = [group for _, group in query.groups or ()]
    by_value = query.groups is None or (len(groups) == 1 and same(groups[0], value))
    if query.things is not None or query.series or query.is_cut or not by_value or level(value) != "row":
        raise Untranslatable(f"{node.key.upper()} of these rows", f"{shown(node)}; use IN or NOT IN")


def _may_lack(query: Query, value: Expression) -> bool:
    return query.scope.nullable(value) and not semi_joins.keeps_known(value, query)


def _in_order(query: Query, value: Expression, node: Any) -> Query:
    """Ordered by the only column, and cut."""
    order, most = node.args.get("order"), most_rows(node)
    if order is None and most is None:
        return replace(query, ordering=None)
    keys = order.expressions if order is not None else []
    if len(keys) != 1 or not _is_shown(keys[0].this, query):
        raise Untranslatable(f"{node.key.upper()} in this order", shown(node))
    if keys[0].args.get("nulls_first") and query.scope.nullable(value):
        raise Untranslatable("NULLS FIRST", shown(node))
    return replace(query, ordering=Ordering(((value, bool(keys[0].args.get("desc"))),), most))


def _is_shown(key: Any, query: Query) -> bool:
    if isinstance(key, exp.Literal):
        return bool(key.name == "1" and not key.is_string)
    return isinstance(key, exp.Column) and normal(key.name) == normal(query.outputs[0].name)
