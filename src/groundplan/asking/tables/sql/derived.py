"""Subqueries beside tables in a FROM: chosen rows seen from another table, and measures of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from groundplan.asking.tables.sql.lifted import lifted
from groundplan.asking.tables.sql.links import whole_link
from groundplan.asking.tables.sql.names import normal
from groundplan.asking.tables.sql.query import Query
from groundplan.asking.tables.sql.scope import Output, Session, TableSource
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    Aggregate,
    All,
    Arithmetic,
    Column,
    Compare,
    Condition,
    Constant,
    Correlation,
    Expression,
    Node,
    Related,
    Rows,
    is_count,
    level,
    parts,
    walk,
)
from groundplan.contracts.join_paths import Path, name_of
from groundplan.contracts.normal_form import mapped_here
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Table

N = TypeVar("N", bound=Node)


@dataclass(frozen=True)
class Seen:
    """A subquery's columns as the main table's rows have them, and the conditions that it brings."""

    outputs: dict[str, Output]
    conditions: list[Condition]


def value_of(output: Output) -> Expression:
    if output.expression is not None:
        return output.expression
    if output.scope is None:
        raise Untranslatable(f"the column {output.name}", "it has no value here")
    return output.scope.value(output.node)


def seen_from(query: Query, source: TableSource, optional: bool) -> Seen:
    """Chosen rows of a table, reached by a path."""
    if source.many is not None or (optional and query.where):
        raise Untranslatable("a LEFT JOIN with a subquery that chooses rows", "put its conditions elsewhere")
    outputs = {normal(one.name): Output(one.name, expression=_at(value_of(one), source)) for one in query.outputs}
    return Seen(outputs, [_at(condition, source) for condition in query.where])


def _at(node: N, source: TableSource) -> N:
    """As seen from the rows that point there."""
    if not source.path:
        return node
    return lifted(node, source.table.name, name_of(source.path))


def measured(query: Query, equal: Sequence[tuple[str, str]], root: Table, optional: bool, session: Session) -> Seen:
    """Groups by the root's key: each measure is one of the rows that point at a row of the root."""
    path: Path = (_link(query, equal, root, session),)
    keys = {normal(name): Column(name=own) for name, own in equal}
    outputs: dict[str, Output] = {}
    for output in query.outputs:
        name, value = normal(output.name), value_of(output)
        if level(value) == "row":
            if name in keys and not optional:
                outputs[name] = Output(output.name, expression=keys[name])
            continue
        outputs[name] = Output(output.name, expression=_related(value, query, path, optional))
    if optional:
        if query.having:
            raise Untranslatable("a LEFT JOIN with a subquery that has HAVING")
        return Seen(outputs, [])
    some = Compare(left=_related(Rows(), query, path, False), operator=">", right=Constant(value=0))
    chosen = [_condition(condition, query, path) for condition in query.having]
    return Seen(outputs, [some, *chosen])


def _link(query: Query, equal: Sequence[tuple[str, str]], root: Table, session: Session) -> Relationship:
    table = query.scope.root
    columns: list[str] = []
    for name, _ in equal:
        output = next(one for one in query.outputs if normal(one.name) == normal(name))
        value = value_of(output)
        if not isinstance(value, Column) or value.table is not None:
            raise Untranslatable("a join by a computed group", name)
        columns.append(value.name)
    groups = {
        value.name if isinstance(value, Column) and value.table is None else "" for _, value in query.groups or ()
    }
    if groups != {*columns}:
        raise Untranslatable("a join with a subquery that has more groups than the join", ", ".join(columns))
    link = whole_link(session, table.name, root, [*zip(columns, (own for _, own in equal), strict=True)])
    if link is None:
        raise Untranslatable("a join with a subquery by no key", f"{root.name} has several rows for one group")
    return link


def _related(value: Expression, query: Query, path: Path, optional: bool) -> Expression:
    """The measure over the rows that the subquery keeps; with a LEFT JOIN, missing where there are none."""
    made = under(value, query)
    if any(isinstance(part, Column) for part in _outside(made)):
        raise Untranslatable("a joined measure beside a group")
    if optional and query.where and any(map(is_count, walk(made))):  # type: ignore[arg-type]
        raise Untranslatable("a LEFT JOIN with a count under conditions", "0 and none would be one; count with FILTER")
    if optional and is_count(made):
        made = Arithmetic(operator="*", left=made, right=Constant(value=1))
    return Related(table=query.scope.root.name, of=made, via=name_of(path))


def _outside(node: Node) -> list[Node]:
    """The parts that are in no aggregate."""
    if isinstance(node, Rows | Aggregate | Correlation):
        return []
    return [node, *(inner for part in parts(node) for inner in _outside(part))]


def under(node: N, query: Query) -> N:
    """The measure of those rows only that the subquery keeps."""
    return under_all(node, query.where)


def under_all(node: N, kept: Sequence[Condition]) -> N:
    """The measure of those rows only that meet all of these."""
    if isinstance(node, Rows | Aggregate | Correlation):
        conditions = [*kept, *([node.where] if node.where is not None else [])]
        where = None if not conditions else conditions[0] if len(conditions) == 1 else All(parts=tuple(conditions))
        return node.model_copy(update={"where": where})  # type: ignore[return-value]
    if level(node) == "series":
        raise Untranslatable("a join with a subquery that has windows")
    return mapped_here(node, lambda part: under_all(part, kept))


def _condition(node: Condition, query: Query, path: Path) -> Condition:
    def change(part: Node) -> Node:
        if isinstance(part, Rows | Aggregate | Correlation):
            return _related(part, query, path, False)
        return mapped_here(part, change)

    return change(node)  # type: ignore[return-value]
