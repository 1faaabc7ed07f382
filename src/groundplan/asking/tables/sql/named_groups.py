"""A ranking of groups beside the tables that their keys point at: what these call each group is shown with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.beside import Beside
from groundplan.asking.tables.sql.derived import value_of
from groundplan.asking.tables.sql.joins import named_query, sources_of
from groundplan.asking.tables.sql.links import known_link
from groundplan.asking.tables.sql.names import find_table, normal
from groundplan.asking.tables.sql.query import Query
from groundplan.asking.tables.sql.scope import Output, Session, conjuncts, find_column
from groundplan.contracts.expression import Column, Expression, Missing, Not
from groundplan.contracts.join_paths import SEPARATOR, name_of
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Table


def with_names(node: Any, session: Session, ctes: Mapping[str, Any]) -> Beside | None:
    """`FROM best JOIN clients c ON c.id = best.client_id`, where `best` are the first groups; else None."""
    sources = sources_of(node)
    grouped = [one for one in sources if named_query(one, ctes) is not None]
    if len(grouped) != 1 or len(sources) < 2:
        return None
    (source,) = grouped
    inner = named_query(source, ctes)
    assert inner is not None
    query = session.query(inner[0], session, inner[1])
    if not query.groups or not query.is_cut or query.things is not None or query.distinct:
        return None
    own = normal(source.alias or source.name)
    groups, names, using = [*query.groups], [(own, output.name) for output in query.outputs], set[str]()
    outputs = [*query.outputs]
    for table_node, join in _joined(node, source):
        table, alias = find_table(table_node, session.schema), normal(table_node.alias or table_node.name)
        found = _pointing(join, own, alias, query, table, session, using)
        if found is None:
            return None
        path, by = found
        for name in _used(node, alias, table, [one for _, one in names]):
            value: Expression = by if name in path[1].to_columns else Column(table=table.name, name=name, via=path[0])
            if value not in (one for _, one in groups):
                groups.append((name, value))
            outputs.append(Output(name, expression=value))
            names.append((alias, name))
    scope = query.scope
    scope.groups = tuple(value for _, value in groups)
    return Beside(replace(query, outputs=tuple(outputs), groups=tuple(groups)), tuple(names), frozenset(using))


def _joined(node: Any, source: Any) -> list[tuple[Any, Any]]:
    """Each table with the JOIN whose ON ties it to the groups; the FROM's own table has that of the groups."""
    first, joins = node.args["from_"].this, node.args.get("joins") or ()
    if first is source:
        return [(join.this, join) for join in joins]
    (own,) = (join for join in joins if join.this is source)
    return [(first, own), *((join.this, join) for join in joins if join is not own)]


def _pointing(
    join: Any, own: str, alias: str, query: Query, table: Table, session: Session, using: set[str]
) -> tuple[tuple[str, Relationship], Column] | None:
    """The path from a group's rows to the one row of the table, and the group that leads there."""
    kind, side = (join.kind or "").upper(), (join.side or "").upper()
    parts = [*conjuncts(join.args.get("on"))]
    named = [name.name for name in join.args.get("using") or ()]
    if kind not in ("", "INNER", "OUTER") or side not in ("", "LEFT") or len(parts) + len(named) != 1:
        return None
    if named:
        using.add(normal(named[0]))
        mine, theirs = named[0], named[0]
    else:
        (part,) = parts
        sides = {normal(one.table): one.name for one in (part.this, part.expression) if isinstance(one, exp.Column)}
        if not isinstance(part, exp.EQ) or {*sides} != {own, alias}:
            return None
        mine, theirs = sides[own], sides[alias]
    output = next((one for one in query.outputs if normal(one.name) == normal(mine)), None)
    by = value_of(output) if output is not None else None
    if not isinstance(by, Column) or all(by != value for _, value in query.groups or ()):
        return None
    column = find_column(table, theirs)
    begin = by.table or query.scope.root.name
    link = known_link(session, begin, table, ((by.name, column.name),)) if column is not None else None
    if link is None:
        return None
    has_partner = link.orphans == 0 or link.known == "proven"
    is_known = not query.scope.nullable(by) or Not(part=Missing(of=by)) in query.where
    if not (side == "LEFT" and join.this.alias_or_name and normal(join.this.alias_or_name) == alias) and not (
        has_partner and is_known
    ):
        return None  # an inner join would drop groups after they were counted
    return (SEPARATOR.join(filter(None, (by.via, name_of((link,))))), link), by


def _used(node: Any, alias: str, table: Table, others: list[str]) -> list[str]:
    """The table's columns that the SELECT names."""
    taken = {normal(name) for name in others}
    found = []
    for column in node.find_all(exp.Column):
        held = find_column(table, column.name)
        own = normal(column.table) == alias or (not column.table and normal(column.name) not in taken)
        if held is not None and own and column.find_ancestor(exp.Query) is node:
            found.append(held.name)
    return [*dict.fromkeys(found)]
