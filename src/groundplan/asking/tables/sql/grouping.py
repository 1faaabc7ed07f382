"""Values of single rows among measures: what the groups decide is the same in all rows of a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, get_args

from groundplan.asking.tables.sql.query import same
from groundplan.asking.tables.sql.scope import Scope
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.columns import Grain
from groundplan.contracts.expression import (
    Aggregate,
    Arithmetic,
    Column,
    Constant,
    Correlation,
    DateCut,
    DatePart,
    Expression,
    Filled,
    Found,
    FoundGroup,
    Node,
    Overall,
    Rows,
    level,
    parts,
)
from groundplan.contracts.normal_form import CONDITIONS, mapped

N = TypeVar("N", bound=Node)


def is_decided(node: Node, groups: Sequence[Expression]) -> bool:
    """Whether all rows of a group have the same value of it."""
    if not isinstance(node, CONDITIONS) and any(same(node, group) for group in groups):
        return True
    if isinstance(node, DatePart) and node.part in get_args(Grain):  # the quarter of a day, of rows grouped by quarters
        return is_decided(node.of, groups) or any(same(DateCut(of=node.of, grain=node.part), one) for one in groups)
    if isinstance(node, Overall):
        return True
    if isinstance(node, Column):
        return False
    return all(is_decided(part, groups) for part in parts(node))


def of_group(node: Expression, groups: Sequence[Expression], scope: Scope, name: str) -> Expression:
    """The least of a value that the groups decide is it; overall values are the same for all groups."""
    if not is_decided(node, groups) or scope.kind(node) not in ("number", "text", "time"):
        raise Untranslatable("a column that is neither a group nor an aggregate", name)
    return node if _is_overall(node) else Aggregate(function="min", of=node)


def _is_overall(node: Node) -> bool:
    """Whether it is made of overall values and constants only."""
    if isinstance(node, Arithmetic | Filled):
        return all(map(_is_overall, parts(node)))
    return isinstance(node, Overall | Constant)


def of_groups(node: N, groups: Sequence[Expression], scope: Scope, name: str) -> N:
    """A measure or a condition on groups, in which every value is one of the group."""

    def change(part: Node) -> Node:
        if isinstance(part, Rows | Aggregate | Correlation | Constant | Overall):
            return part
        if isinstance(part, Found | FoundGroup):
            raise Untranslatable("a subquery beside a condition on groups", name)
        if not isinstance(part, CONDITIONS) and level(part) == "row":
            return of_group(part, groups, scope, name)
        if part.kind == "share":
            return part.model_copy(update={"of": change(part.of)})
        return mapped(part, change)

    return change(node)  # type: ignore[return-value]
