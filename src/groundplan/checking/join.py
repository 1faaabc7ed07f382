"""What a join makes of two tables: it follows a relationship, keeps every row of the left one and repeats none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from groundplan.checking.relation import Relation, Unknown, read_param
from groundplan.contracts.expression import (
    Column,
    Expression,
    Found,
    FoundGroup,
    Holds,
    Overall,
    Related,
    Sort,
    is_count,
)
from groundplan.contracts.join_paths import SEPARATOR
from groundplan.contracts.normal_form import normal_expression
from groundplan.contracts.plan import Step
from groundplan.contracts.relationship import Relationship

Pairs = Sequence[tuple[Expression, Expression]]


def joined(left: Relation, right: Relation, step: Step, links: Sequence[Relationship]) -> Relation:
    """The left table with columns of the one row that each of its rows points at, or with measures of those that
    point at it; raises Unknown for any other join."""
    if step.params.get("how", "left") != "left" or "columns" not in step.params or not _has_own_rows(left):
        raise Unknown
    chosen = cast(Sequence[Mapping[str, object]], step.params["columns"])
    on = cast(Sequence[Mapping[str, object]], step.params["on"])
    pairs = [(left.column(str(pair["left"])), right.column(str(pair["right"]))) for pair in on]
    if right.groups is None:
        made = _looked_up(left, right, pairs, chosen, links)
    else:
        made = _related(left, right, pairs, chosen, links)
    return left.with_columns(made)


def with_overall(left: Relation, right: Relation, step: Step) -> Relation:
    """The left table with measures of all rows of another; raises Unknown if that has more rows than one."""
    whole = Relation(table=right.table, columns=right.columns, where=right.where, groups=frozenset())
    if right != whole or left.shown is not None:
        raise Unknown
    table = None if right.table == left.table else right.table
    made: dict[str, Expression] = {}
    for one in cast(Sequence[Mapping[str, object]], step.params["columns"]):
        measure = right.measure(str(one["column"]))
        made[str(one["as"])] = normal_expression(Overall(table=table, of=measure, where=right.where))
    return left.with_columns(made)


def with_found(left: Relation, right: Relation, step: Step) -> Relation:
    """The left table with whether a value is found in rows or groups of another; raises Unknown if those are other
    than kept, or the first of an order."""
    of, among = left.column(str(step.params["column"])), right.column(str(step.params["among"]))
    if left.shown is not None:
        raise Unknown
    found = _found(of, among, right) if right.groups is None else _found_group(of, among, right, right.groups)
    return left.with_columns({str(step.params["as"]): normal_expression(Holds(condition=found))})


def _found(of: Expression, among: Expression, right: Relation) -> Found:
    kept = Relation(table=right.table, columns=right.columns, where=right.where)
    if right != kept or not isinstance(among, Column) or among != Column(name=among.name):
        raise Unknown
    return Found(of=of, table=right.table, column=among.name, where=right.where)


def _found_group(of: Expression, among: Expression, right: Relation, groups: frozenset[Expression]) -> FoundGroup:
    kept = Relation(
        table=right.table,
        columns=right.columns,
        where=right.where,
        groups=groups,
        having=right.having,
        order=right.cut_by,
        limit=right.limit,
        ties=right.ties,
        cut_by=right.cut_by,
    )
    if right != kept or among not in groups:
        raise Unknown
    order = (Sort(by=by, direction="top" if descends else "bottom") for by, descends in right.cut_by)
    return FoundGroup(
        of=of,
        table=right.table,
        keys=(among, *(groups - {among})),
        where=right.where,
        having=right.having,
        order=tuple(order),
        limit=right.limit,
        ties=right.ties,
    )


def _has_own_rows(relation: Relation) -> bool:
    return relation.groups is None and relation.things is None and relation.limit is None and not relation.distinct


def _looked_up(
    left: Relation, right: Relation, pairs: Pairs, chosen: Sequence[Mapping[str, object]], links: Sequence[Relationship]
) -> dict[str, Expression]:
    if right != Relation(table=right.table) or any("otherwise" in one for one in chosen):
        raise Unknown  # rows that are left out of the right table would be taken for missing ones
    table, via = _owner([first for first, _ in pairs])
    link = _link(pairs, table or left.table, right.table, links)
    path = _longer(via, link)
    named = {str(one["as"]): {"table": right.table, "via": path, "name": one["column"]} for one in chosen}
    return {name: read_param(Column.model_validate, given) for name, given in named.items()}


def _related(
    left: Relation, right: Relation, pairs: Pairs, chosen: Sequence[Mapping[str, object]], links: Sequence[Relationship]
) -> dict[str, Expression]:
    whole = Relation(table=right.table, columns=right.columns, groups=frozenset(second for _, second in pairs))
    if right != whole or _owner([first for first, _ in pairs]) != (None, None):
        raise Unknown
    table, via = _owner([second for _, second in pairs])
    link = _link([(second, first) for first, second in pairs], table or right.table, left.table, links)
    made: dict[str, Expression] = {}
    for one in chosen:
        measure = right.measure(str(one["column"]))
        if measure in whole.groups or is_count(measure) != ("otherwise" in one):  # type: ignore[operator]
            raise Unknown
        made[str(one["as"])] = Related(table=right.table, via=_longer(via, link), of=measure)
    return made


def _owner(columns: Sequence[Expression]) -> tuple[str | None, str | None]:
    """The table that the columns are of, with the path to it."""
    owners = {(column.table, column.via) if isinstance(column, Column) else None for column in columns}
    owner = owners.pop() if len(owners) == 1 else None
    if owner is None:
        raise Unknown
    return owner


def _link(pairs: Pairs, table: str, to_table: str, links: Sequence[Relationship]) -> Relationship:
    """The relationship that the join follows."""
    named = {(getattr(first, "name", None), getattr(second, "name", None)) for first, second in pairs}
    for link in links:
        same = {*zip(link.columns, link.to_columns, strict=True)} == named
        if (link.table, link.to_table) == (table, to_table) and same:
            return link
    raise Unknown


def _longer(via: str | None, link: Relationship) -> str:
    return f"{via}{SEPARATOR}{link.name}" if via else link.name
