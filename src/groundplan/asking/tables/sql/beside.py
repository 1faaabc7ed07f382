"""Grouped subqueries side by side in a FROM: one query of the same groups, each measure over the rows of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.conditions import all_of
from groundplan.asking.tables.sql.derived import under, value_of
from groundplan.asking.tables.sql.joins import named_query, sources_of
from groundplan.asking.tables.sql.names import normal
from groundplan.asking.tables.sql.query import Query
from groundplan.asking.tables.sql.scope import Output, Scope, Session, conjuncts
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    Compare,
    Condition,
    Constant,
    Expression,
    Missing,
    Not,
    Rows,
    is_count,
    level,
    walk,
)
from groundplan.contracts.normal_form import normal_expression


@dataclass(frozen=True)
class Beside:
    """The query of all of them; `names` tells for each of its outputs the alias and the name that SQL gives it."""

    query: Query
    names: tuple[tuple[str, str], ...]
    using: frozenset[str]


@dataclass(frozen=True)
class _Side:
    alias: str
    query: Query
    optional: bool
    equal: tuple[tuple[Expression, Expression], ...] = ()  # its groups, each with the one that it equals


def side_by_side(node: Any, session: Session, ctes: Mapping[str, Any]) -> Beside | None:
    """`FROM a JOIN b ON a.month = b.month`, where both group the same rows by the same; None if it is not that."""
    sources = sources_of(node)
    if len(sources) < 2 or any(named_query(source, ctes) is None for source in sources):
        return None
    using: set[str] = set()
    sides: list[_Side] = []
    joins = [None, *(node.args.get("joins") or ())]
    for source, join in zip(sources, joins, strict=True):
        inner = named_query(source, ctes)
        assert inner is not None
        query = session.query(inner[0], session, inner[1])
        alias = normal(source.alias or source.name)
        if not _is_plain(query) or (sides and query.scope.root != sides[0].query.scope.root):
            return None
        if join is None:
            sides.append(_Side(alias, query, False))
            continue
        side, kind = (join.side or "").upper(), (join.kind or "").upper()
        equal = _equal(join, alias, query, sides, using)
        if side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER") or equal is None:
            return None
        sides.append(_Side(alias, query, side == "LEFT", equal))
    groups = [_groups(side.query) for side in sides]
    if any(one != groups[0] for one in groups) or not all(_is_whole(side) for side in sides[1:]):
        return None
    return _joined(node, sides, frozenset(using))


def _is_plain(query: Query) -> bool:
    return bool(query.groups) and not query.is_cut and query.things is None and not query.series and not query.distinct


def _groups(query: Query) -> frozenset[Expression]:
    return frozenset(normal_expression(value) for _, value in query.groups or ())


def _is_whole(side: _Side) -> bool:
    """Whether the join is by every group, each with the same one."""
    same = [normal_expression(own) for own, other in side.equal if normal_expression(own) == normal_expression(other)]
    return len(same) == len(side.equal) and {*same} == {*_groups(side.query)}


def _equal(
    join: Any, alias: str, query: Query, before: Sequence[_Side], using: set[str]
) -> tuple[tuple[Expression, Expression], ...] | None:
    """The columns that the join says are equal, of this query and of one before; None if it says anything else."""
    firm = {side.alias: side.query for side in before if not side.optional}
    found = []
    for name in join.args.get("using") or ():
        own, others = _output(query, name.name), [_output(one, name.name) for one in firm.values()]
        other = next((one for one in others if one is not None), None)
        if own is None or other is None:
            return None
        using.add(normal(name.name))
        found.append((own, other))
    for part in conjuncts(join.args.get("on")):
        if not isinstance(part, exp.EQ):
            return None
        sides = {normal(one.table): one for one in (part.this, part.expression) if isinstance(one, exp.Column)}
        theirs = next((one for one in sides if one in firm), None)
        if {*sides} != {alias, theirs} or theirs is None:
            return None
        own, other = _output(query, sides[alias].name), _output(firm[theirs], sides[theirs].name)
        if own is None or other is None:
            return None
        found.append((own, other))
    return tuple(found)


def _output(query: Query, name: str) -> Expression | None:
    found = next((one for one in query.outputs if normal(one.name) == normal(name)), None)
    return value_of(found) if found is not None else None


def _joined(node: Any, sides: Sequence[_Side], using: frozenset[str]) -> Beside:
    """Conditions that all share choose the rows; those of one side choose what its measures are of."""
    first = sides[0].query
    common = [one for one in first.where if all(one in side.query.where for side in sides)]
    missing = [value for _, value in first.groups or () if first.scope.nullable(value)]
    known: list[Condition] = [Not(part=Missing(of=value)) for value in missing]
    if any(not side.optional for side in sides[1:]):
        common += [one for one in known if one not in common]  # a missing value equals none
    having: list[Condition] = []
    outputs: list[Output] = []
    names: list[tuple[str, str]] = []
    for number, side in enumerate(sides):
        where = [*side.query.where, *(known if number and side.optional else ())]
        query = replace(side.query, where=tuple(one for one in where if one not in common))
        if side.optional and query.having:
            raise Untranslatable("a LEFT JOIN with a subquery that has HAVING")
        if query.where and not side.optional:
            some = Rows(where=all_of(query.where))
            having.append(Compare(left=some, operator=">", right=Constant(value=0)))
        having += [under(condition, query) for condition in query.having]
        for output in query.outputs:
            value = value_of(output)
            if side.optional and level(value) == "row":
                continue
            if side.optional and query.where and any(map(is_count, walk(value))):  # type: ignore[arg-type]
                _refuse_bare(node, side.alias, output.name)
            outputs.append(Output(f"{side.alias} {output.name}", expression=under(value, query)))
            names.append((side.alias, output.name))
    scope = Scope(first.scope.session, first.scope.root, {}, own=first.scope.own)
    scope.groups = tuple(value for _, value in first.groups or ())
    made = Query(scope, tuple(outputs), where=tuple(common), groups=first.groups, having=tuple(having))
    return Beside(made, tuple(names), using)


def _refuse_bare(node: Any, alias: str, name: str) -> None:
    """Where a LEFT JOIN finds no group, SQL has no count; ours is 0."""
    for column in node.find_all(exp.Column):
        named = normal(column.name) == normal(name) and normal(column.table) in ("", alias)
        filled = isinstance(column.parent, exp.Coalesce) and column.parent.expressions[0].name == "0"
        if named and not filled:
            raise Untranslatable("a count of a LEFT JOIN", f"write COALESCE({shown(column)}, 0)")
