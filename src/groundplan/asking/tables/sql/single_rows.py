"""Subqueries of one row beside other rows in a FROM: each name of their columns is the number itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.measures import is_measure
from groundplan.asking.tables.sql.names import find_name, normal
from groundplan.asking.tables.sql.scope import Session

CLAUSES = ("group", "having", "qualify", "order", "limit", "distinct", "with_", "joins")


def written_in(node: Any, session: Session, ctes: Mapping[str, Any]) -> Any:
    """`SELECT x / total.t FROM rows CROSS JOIN total`, with the SELECT of `total` in the place of its column."""
    if not node.args.get("from_"):
        return node
    first, joins = node.args["from_"].this, node.args.get("joins") or []
    sources = {normal(one.alias or one.name): one for one in (first, *(join.this for join in joins))}
    free = {normal(first.alias or first.name), *(normal(j.this.alias or j.this.name) for j in joins if _is_cross(j))}
    single = {alias: inner for alias in free if (inner := _single(sources[alias], ctes)) is not None}
    if not single or (len(sources) > len(single) and normal(first.alias or first.name) in single):
        return node
    made = node.copy()
    kept = {alias: _columns(source, session, ctes) for alias, source in sources.items() if alias not in single}
    if not _drop_groups(made, single, kept):
        return node
    for column in [*made.find_all(exp.Column)]:
        value = _named(column, single, kept)
        if value is not None and column.find_ancestor(exp.Query) is made:
            column.replace(exp.Subquery(this=value))
    made.set("joins", [join for join in made.args.get("joins") or [] if _alias(join.this) not in single])
    if len(sources) == len(single):
        made.set("from_", None)
    return made


def _alias(node: Any) -> str:
    return normal(node.alias or node.name)


def _is_cross(join: Any) -> bool:
    plain = not join.side and (join.kind or "").upper() in ("", "CROSS", "INNER") and not join.args.get("using")
    on = join.args.get("on")
    return plain and (on is None or on == exp.true() or on.sql() in ("1 = 1", "TRUE"))


def _single(source: Any, ctes: Mapping[str, Any]) -> dict[str, Any] | None:
    """The columns of a subquery that aggregates all rows, each as a SELECT of its own; None for anything else."""
    if isinstance(source, exp.Subquery):
        inner = source.this
    elif isinstance(source, exp.Table) and not source.db and normal(source.name) in ctes:
        inner = ctes[normal(source.name)][0]
    else:
        return None
    if not isinstance(inner, exp.Select) or any(inner.args.get(key) for key in CLAUSES):
        return None
    if not inner.args.get("from_") or not all(map(is_measure, inner.expressions)):
        return None
    found = {}
    for one in inner.expressions:
        alone = inner.copy()
        alone.set("expressions", [one.copy()])
        found[normal(one.alias_or_name)] = alone
    return found


def _columns(source: Any, session: Session, ctes: Mapping[str, Any]) -> frozenset[str]:
    """The names of a source's columns, as far as they can be told."""
    inner = source.this if isinstance(source, exp.Subquery) else None
    if isinstance(source, exp.Table) and not source.db and normal(source.name) in ctes:
        inner = ctes[normal(source.name)][0]
    if inner is not None:
        return frozenset(normal(one.alias_or_name) for one in inner.selects)
    name = find_name(source.name, (table.name for table in session.schema.tables))
    table = session.schema.find(name) if name else None
    return frozenset(normal(column.name) for column in table.columns) if table else frozenset()


def _named(column: Any, single: Mapping[str, Mapping[str, Any]], kept: Mapping[str, frozenset[str]]) -> Any:
    """The SELECT that the column stands for, or None."""
    name = normal(column.name)
    if column.table:
        found = single.get(normal(column.table), {}).get(name)
        return found.copy() if found is not None else None
    if any(name in columns for columns in kept.values()):
        return None
    hits = [columns[name] for columns in single.values() if name in columns]
    return hits[0].copy() if len(hits) == 1 else None


def _drop_groups(made: Any, single: Mapping[str, Mapping[str, Any]], kept: Mapping[str, frozenset[str]]) -> bool:
    """A number that is the same for all rows groups nothing; False if nothing else does."""
    group = made.args.get("group")
    if group is None or not group.expressions:
        return True
    left = [one for one in group.expressions if not (isinstance(one, exp.Column) and _named(one, single, kept))]
    group.set("expressions", left)
    return bool(left)
