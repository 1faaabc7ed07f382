"""Expressions as the params of steps: over the columns that earlier steps made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from groundplan.contracts.contract import Contract
from groundplan.contracts.expression import (
    Aggregate,
    Alike,
    All,
    Among,
    Change,
    Column,
    Compare,
    Condition,
    Constant,
    Expression,
    Found,
    FoundGroup,
    Node,
    Overall,
    Related,
    Rows,
    Share,
    bare_overalls,
    level,
    parts,
    quotient,
)
from groundplan.contracts.normal_form import CONDITIONS, looked_in, mapped, normal_condition, normal_expression

N = TypeVar("N", bound=Node)
C = TypeVar("C", bound=Contract)
Sought = Found | FoundGroup
"""What looks for a value among rows or groups of a table."""


def told_with(metric: Expression) -> tuple[Expression, ...]:
    """The measures that an answer states beside a rate, a share or a change."""
    match metric:
        case Share(of=of) | Change(of=of):
            return (of,)
        case _:
            return quotient(metric) or ()


def bases(node: Node) -> Iterator[Expression]:
    """The largest measures of single groups in it: what has to be computed first."""
    if not isinstance(node, CONDITIONS) and is_measured(node):
        yield node
        return
    for part in parts(node):
        if level(part) != "row":
            yield from bases(part)


def is_measured(node: Expression) -> bool:
    """Whether one aggregation gives it: no other groups are looked at, and no overall value stands beside."""
    return level(node) == "group" and not bare_overalls(node)


def overalls(node: Contract) -> Iterator[Overall]:
    if isinstance(node, Overall):
        yield node
    elif isinstance(node, Sought):
        yield from overalls(node.of)
    else:
        for part in parts(node):
            yield from overalls(part)


def founds(node: Contract) -> Iterator[Sought]:
    if isinstance(node, Sought):
        yield node
    elif not isinstance(node, Overall | Related):
        for part in parts(node):
            yield from founds(part)


def kept_rows(found: Sought) -> Condition:
    """The rows or groups among which a value is looked for, in normal form."""
    return normal_condition(looked_in(found))


def in_place(node: C, names: Mapping[Node, str]) -> C:
    """With columns of the present table in place of what was joined."""
    if isinstance(node, Sought):
        if node in names:
            return Compare(left=Column(name=names[node]), operator="=", right=Constant(value=True))  # type: ignore[return-value]
        return node.model_copy(update={"of": in_place(node.of, names)})  # type: ignore[return-value]
    if node in names:
        return Column(name=names[node])  # type: ignore[return-value, index]
    if isinstance(node, Column | Related | Overall):
        return node
    return mapped(node, lambda part: in_place(part, names))  # type: ignore[type-var]


def by_name(node: N, names: Mapping[Expression, str]) -> N:
    """The same over the columns of measures that were computed, by their normal form."""
    if isinstance(node, Overall | Alike):
        return node
    if isinstance(node, Sought):
        return node.model_copy(update={"of": by_name(node.of, names)})  # type: ignore[return-value]
    if not isinstance(node, CONDITIONS):
        name = names.get(normal_expression(node))
        if name is not None:
            return Column(name=name)  # type: ignore[return-value]
    return mapped(node, lambda part: by_name(part, names))


def by_choice(node: N, chosen: Mapping[Condition, str]) -> N:
    """The same over the columns that say which rows are among the best."""
    name = chosen.get(node) if isinstance(node, Among) else None
    if name is not None:
        return Compare(left=Column(name=name), operator="=", right=Constant(value=True))  # type: ignore[return-value]
    return mapped(node, lambda part: by_choice(part, chosen))


def metric_params(measure: Expression, name: str) -> dict[str, Any]:
    """In short where a function of a column says it."""
    match measure:
        case Rows(where=None):
            return {"function": "count", "as": name}
        case Aggregate(function=function, of=Column(name=column), where=None, percent=None):
            return {"column": column, "function": function, "as": name}
        case _:
            return {"expression": as_json(measure), "as": name}


def all_of(conditions: Sequence[Condition]) -> Condition:
    return conditions[0] if len(conditions) == 1 else All(parts=tuple(conditions))


def as_json(node: Node) -> dict[str, Any]:
    return node.model_dump(mode="json", exclude_defaults=False, exclude_none=True)
