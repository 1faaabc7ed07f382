"""What each step's table is, followed through a plan's steps in the language of readings, without running anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from pydantic import ValidationError

from groundplan.checking.draft import Draft
from groundplan.contracts.columns import Grain
from groundplan.contracts.contract import JsonObject, thaw
from groundplan.contracts.expression import (
    Aggregate,
    Among,
    Column,
    Condition,
    DateCut,
    Expression,
    Node,
    Rows,
    Share,
    level,
    read_condition,
    read_expression,
    walk,
)
from groundplan.contracts.meaning import Sorting, Things, follows_series
from groundplan.contracts.normal_form import both, normal_expression, of_filter, substituted
from groundplan.contracts.plan import Step
from groundplan.contracts.reading import Filter


@dataclass(frozen=True)
class Relation:
    """A table between steps. `columns` defines the columns that are more than the source's own."""

    table: str
    columns: Mapping[str, Expression] = field(default_factory=dict)
    things: Things | None = None
    where: Condition | None = None
    groups: frozenset[Expression] | None = None  # None: its rows are the source's
    having: Condition | None = None
    shown: tuple[str, ...] | None = None  # None: all of them
    distinct: bool = False
    order: Sorting | None = None
    limit: int | None = None
    within: frozenset[Expression] = frozenset()
    along: Expression | None = None

    def column(self, name: str) -> Expression:
        return self.columns.get(name) or Column(name=name)

    def value(self, node: Expression) -> Expression:
        return normal_expression(substituted(node, self.columns))


class Unknown(Exception):
    """The step does something that the language of readings has no words for."""


def relations(draft: Draft) -> dict[str, Relation]:
    """For each step that gives a table, what that table is; absent where it cannot be told."""
    found: dict[str, Relation] = {}
    for step in draft.wiring.steps:
        tool = draft.tools[step.id]
        follow = FOLLOW.get(tool.name) if tool else None
        if tool is None or follow is None:
            continue
        inputs = [_input(origin, found) for origin in draft.wiring.inputs(step, tool).values()]
        if len(inputs) != 1 or inputs[0] is None:
            continue
        try:
            found[step.id] = follow(inputs[0], step, draft)
        except (Unknown, ValidationError, ValueError, KeyError, TypeError, AttributeError):
            continue  # other rules name what is malformed
    return found


def _input(origin: str | Sequence[str], found: Mapping[str, Relation]) -> Relation | None:
    if isinstance(origin, str):
        return Relation(table=origin)
    return found.get(origin[0]) if len(origin) == 1 else None


def _same(relation: Relation, step: Step, draft: Draft) -> Relation:
    return relation


def _filter_rows(relation: Relation, step: Step, draft: Draft) -> Relation:
    if relation.limit is not None or any(map(_ranks, relation.columns.values())):
        raise Unknown  # it would keep others than the best of what is left
    short = [
        of_filter(Filter.model_validate(thaw(c))) for c in cast(Sequence[object], step.params.get("conditions", ()))
    ]
    given = [*short, *([read_condition(step.params["where"])] if "where" in step.params else [])]
    if any(map(_ranks, given)):
        raise Unknown
    kept = both(*(substituted(condition, relation.columns) for condition in given))
    if relation.groups is None:
        return replace(relation, where=both(relation.where, kept))
    return replace(relation, having=both(relation.having, kept))


def _derive_column(relation: Relation, step: Step, draft: Draft) -> Relation:
    name, params = str(step.params["as"]), step.params
    if "expression" not in params:
        raise Unknown
    made = read_expression(params["expression"])
    columns = {**relation.columns, name: relation.value(made)}
    if level(made) == "series" or _ranks(made):
        _refuse_dropped(relation)
    if follows_series(made):
        return replace(relation, columns=columns, along=_along(relation, params))
    return replace(relation, columns=columns)


def _along(relation: Relation, params: JsonObject) -> Expression:
    """A series runs along one group, and the others separate it from the next."""
    along = relation.column(str(params.get("along")))
    by = frozenset(relation.column(str(name)) for name in cast(Sequence[object], params.get("by", ())))
    if frozenset({along, *by}) != relation.groups or along in by or relation.along not in (None, along):
        raise Unknown
    return along


def _refuse_dropped(relation: Relation) -> None:
    """What compares a row with the others needs all of them."""
    if relation.limit is not None or relation.having is not None or relation.distinct:
        raise Unknown


def _ranks(node: Node) -> bool:
    return any(isinstance(part, Among) for part in walk(node))


def _aggregate(relation: Relation, step: Step, draft: Draft) -> Relation:
    if relation.limit is not None or relation.distinct or (relation.groups is not None and relation.things is not None):
        raise Unknown
    names = [str(name) for name in cast(Sequence[object], step.params.get("group_by", ()))]
    groups = {name: _cut(relation, step, draft, name) for name in names}
    measures = {
        str(metric["as"]): normal_expression(_measure(relation, metric))
        for metric in cast(Sequence[Mapping[str, object]], step.params["metrics"])
    }
    inner = relation.groups is not None
    return Relation(
        table=relation.table,
        columns={**groups, **measures},
        things=Things(relation.groups or frozenset(), relation.where) if inner else None,
        where=relation.having if inner else relation.where,
        groups=frozenset(groups.values()),
    )


def _cut(relation: Relation, step: Step, draft: Draft, name: str) -> Expression:
    grain = step.params.get("grain", "none")
    tool = draft.tools[step.id]
    column = draft.input_column(step, tool, name) if tool else None
    if grain == "none" or column is None or column.kind != "time":
        return relation.column(name)
    return DateCut(of=relation.column(name), grain=None if grain == "auto" else cast(Grain, grain))


def _measure(relation: Relation, metric: Mapping[str, object]) -> Expression:
    if "expression" in metric:
        return relation.value(read_expression(metric["expression"]))
    if "column" not in metric:
        return Rows()
    return Aggregate.model_validate(
        {"function": metric["function"], "of": relation.column(str(metric["column"])).model_dump()}
    )


def _rank_rows(relation: Relation, step: Step, draft: Draft) -> Relation:
    if relation.limit is not None:
        raise Unknown
    within = cast(Sequence[object], step.params.get("within", ()))
    return replace(
        relation,
        order=(relation.column(str(step.params["by"])), step.params.get("direction", "top") == "top"),
        limit=cast(int, step.params["limit"]),
        within=frozenset(relation.column(str(name)) for name in within),
    )


def _share_of_total(relation: Relation, step: Step, draft: Draft) -> Relation:
    if relation.groups is None:
        raise Unknown
    _refuse_dropped(relation)
    within = tuple(relation.column(str(name)) for name in cast(Sequence[object], step.params.get("within", ())))
    share = Share(of=relation.column(str(step.params["column"])), within=within)
    return replace(
        relation, columns={**relation.columns, str(step.params.get("as", "share")): normal_expression(share)}
    )


def _select_columns(relation: Relation, step: Step, draft: Draft) -> Relation:
    names = tuple(str(name) for name in cast(Sequence[object], step.params["columns"]))
    distinct = bool(step.params.get("distinct"))
    if distinct and relation.limit is not None:
        raise Unknown  # some of the best rows may be the same
    return replace(relation, shown=names, distinct=relation.distinct or distinct)


def _show_table(relation: Relation, step: Step, draft: Draft) -> Relation:
    order = cast(Sequence[object], step.params.get("order_by", ()))
    limit = cast(int, step.params.get("limit", ALL_SHOWN))
    if limit < ALL_SHOWN:
        if relation.limit is not None:
            raise Unknown
        relation = replace(relation, limit=limit)
    if not order:
        return relation
    return replace(relation, order=(relation.column(str(order[0])), bool(step.params.get("descending"))))


ALL_SHOWN = 1_000  # rows: a table that is cut there says so
FOLLOW: Mapping[str, Callable[[Relation, Step, Draft], Relation]] = {
    "parse_datetime": _same,
    "filter_rows": _filter_rows,
    "derive_column": _derive_column,
    "aggregate": _aggregate,
    "rank_rows": _rank_rows,
    "share_of_total": _share_of_total,
    "select_columns": _select_columns,
    "show_table": _show_table,
    "save_table": _same,
}
