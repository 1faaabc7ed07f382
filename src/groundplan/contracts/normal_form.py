"""One way to write each expression and condition, so that two of the same meaning are equal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import date, timedelta
from functools import reduce
from typing import TypeVar

from groundplan.contracts.contract import Contract, Scalar
from groundplan.contracts.expression import (
    Absolute,
    Aggregate,
    Alike,
    All,
    Among,
    AnyOf,
    Arithmetic,
    ArithmeticOperator,
    Column,
    Compare,
    ComparisonOperator,
    Concatenated,
    Condition,
    Constant,
    Contains,
    Correlation,
    Expression,
    Filled,
    Found,
    FoundGroup,
    Holds,
    Missing,
    Node,
    Not,
    OneOf,
    Overall,
    Related,
    Rounded,
    Rows,
    Sort,
    Ties,
    is_count,
)
from groundplan.contracts.reading import Filter

N = TypeVar("N", bound=Node)
OPPOSITE: Mapping[ComparisonOperator, ComparisonOperator] = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}
MIRRORED: Mapping[ComparisonOperator, ComparisonOperator] = {
    "=": "=",
    "!=": "!=",
    "<": ">",
    ">": "<",
    "<=": ">=",
    ">=": "<=",
}


def normal_expression(node: Expression) -> Expression:
    """Operands of chains of sums and of products in one order, numbers as floats, conditions in normal form."""
    inner = _rebuilt(node)
    match inner:
        case Constant(value=int() as number) if not isinstance(number, bool):
            return Constant(value=float(number))
        case Arithmetic(operator="+" | "*"):
            first, *rest = sorted(_operands(inner, inner.operator), key=_key)
            return reduce(lambda left, right: Arithmetic(operator=inner.operator, left=left, right=right), rest, first)
        case Overall(of=of, where=where) if where is not None:
            return Overall(table=inner.table, of=normal_expression(_under(of, where)))
        case Alike(by=by):
            return inner.model_copy(update={"by": tuple(sorted({*by}, key=_key))})
        case Filled():
            return _filled(inner.of, inner.otherwise)
        case Aggregate(function="percentile", percent=50):
            return inner.model_copy(update={"function": "median", "percent": None})
        case Rounded(of=of) if (inner.digits >= 0 and is_count(of)) or _is_rounded(of, inner):
            return of
        case Absolute(of=of) if isinstance(of, Absolute) or is_count(of):
            return of
        case Concatenated():
            return _concatenated(inner)
        case _:
            return inner


def _under(node: N, where: Condition) -> N:
    """The measures of those rows only that meet the condition."""
    if isinstance(node, Rows | Aggregate | Correlation):
        return node.model_copy(update={"where": both(node.where, where)})  # type: ignore[return-value]
    return mapped(node, lambda part: _under(part, where))


def _filled(of: Expression, otherwise: Expression) -> Expression:
    """Each in turn is filled by the next; what is never missing is the last."""
    match of:
        case Filled():
            return _filled(of.of, _filled(of.otherwise, otherwise))
        case Constant() | Holds():
            return of
    return of if is_count(of) or of == otherwise else Filled(of=of, otherwise=otherwise)


def _is_rounded(node: Expression, by: Rounded) -> bool:
    return isinstance(node, Rounded) and node.digits <= by.digits


def _concatenated(node: Concatenated) -> Expression:
    """Without texts in texts, with constants that stand side by side as one, and without empty ones."""
    found: list[Expression] = []
    for part in node.parts:
        for one in part.parts if isinstance(part, Concatenated) else (part,):
            if found and isinstance(one, Constant) and isinstance(found[-1], Constant):
                found[-1] = Constant(value=f"{found[-1].value}{one.value}")
            elif one != Constant(value=""):
                found.append(one)
    if len(found) < 2:
        return found[0] if found else Constant(value="")
    return Concatenated(parts=tuple(found))


def _operands(node: Expression, operator: ArithmeticOperator) -> Iterator[Expression]:
    """What a chain of sums, or of products, is made of."""
    if isinstance(node, Arithmetic) and node.operator == operator:
        yield from _operands(node.left, operator)
        yield from _operands(node.right, operator)
    else:
        yield node


def in_whole_days(node: Condition, times: Collection[tuple[str | None, str]]) -> Condition:
    """In normal form, with days compared by their beginnings: `<=` a day is `<` the next one.

    `times` are the columns that hold times, each with the table it is of if that is another one.
    """
    match node:
        case All(parts=parts) | AnyOf(parts=parts):
            return normal_condition(type(node)(parts=tuple(in_whole_days(part, times) for part in parts)))
        case Compare(left=Column() as of, operator="<=" | ">", right=Constant(value=str() as day)) if (
            of.table,
            of.name,
        ) in times:
            after = _day_after(day)
            operator: ComparisonOperator = "<" if node.operator == "<=" else ">="
            return Compare(left=node.left, operator=operator, right=Constant(value=after)) if after else node
        case _:
            return node


def _day_after(text: str) -> str | None:
    try:
        return (date.fromisoformat(text) + timedelta(days=1)).isoformat() if len(text) == len("2025-12-31") else None
    except (ValueError, OverflowError):
        return None


def normal_condition(node: Condition) -> Condition:
    """Negations stand at the leaves, nested `all` and `any` are flat, and parts are in one order and without repeats.

    A comparison with a missing value is unknown, and so is its negation: `not (x < 5)` is `x >= 5`.
    """
    match node:
        case Not(part=part):
            return _negated(normal_condition(part))
        case All(parts=parts):
            return _joined(All, map(normal_condition, parts))
        case AnyOf(parts=parts):
            return _joined(AnyOf, map(normal_condition, parts))
        case OneOf(of=of, values=values):
            return _one_of(normal_expression(of), values)
        case Compare():
            return _compared(normal_expression(node.left), node.operator, normal_expression(node.right))
        case Contains(of=of, text=text, place="whole", cased=True):
            return Compare(left=normal_expression(of), operator="=", right=Constant(value=text))
        case Contains(of=of, text="", place="anywhere" | "start" | "end"):
            return Contains(of=normal_expression(of), text="")
        case Contains(of=of, text=text, cased=cased):
            written = text if cased else lowered(text)
            return node.model_copy(update={"of": normal_expression(of), "text": written})
        case Missing(of=of):
            return Missing(of=normal_expression(of))
        case Among(of=of):
            return node.model_copy(update={"of": normal_expression(of)})
        case Found(of=of, where=where):
            kept = normal_condition(where) if where is not None else None
            return node.model_copy(update={"of": normal_expression(of), "where": kept})
        case FoundGroup():
            return _found_group(node)


def _found_group(node: FoundGroup) -> Condition:
    """All groups of a column are its values; the keys after the first have no order of their own."""
    kept = normal_condition(node.where) if node.where is not None else None
    having = normal_condition(node.having) if node.having is not None else None
    of, (first, *others) = normal_expression(node.of), map(normal_expression, node.keys)
    match first:
        case Column(name=name, table=None, via=None) if having is None and node.limit is None:
            return Found(of=of, table=node.table, column=name, where=kept)
    keys = (first, *sorted({*others} - {first}, key=_key))
    order: dict[Expression, Sort] = {}
    for one in node.order:
        by = normal_expression(one.by)
        order.setdefault(by, Sort(by=by, direction=one.direction))
    ties = settled_ties(node.limit, node.ties)
    update = {"of": of, "keys": keys, "where": kept, "having": having, "order": tuple(order.values()), "ties": ties}
    return node.model_copy(update=update)


def settled_ties(limit: int | None, ties: Ties) -> Ties:
    """Where nothing is cut nothing ties, and of a first place all are kept."""
    return "cut" if limit in (None, 1) else ties


def lowered(text: str) -> str:
    """In lower case as engines write it: letter by letter, and those that would become two stay."""
    return "".join(lower if len(lower := letter.lower()) == 1 else letter for letter in text)


def both(*conditions: Condition | None) -> Condition | None:
    """The condition that all of them hold, in normal form; None where there is none."""
    given = [condition for condition in conditions if condition is not None]
    return normal_condition(All(parts=tuple(given))) if given else None


def substituted(node: N, definitions: Mapping[str, Expression]) -> N:
    """The same with columns replaced by what they are defined as."""
    if isinstance(node, Column):
        return definitions.get(node.name, node) if node.table is None and node.via is None else node  # type: ignore[return-value]
    inside = mapped if isinstance(node, Alike) else mapped_here  # which is over the columns of the same table
    return inside(node, lambda part: substituted(part, definitions))


def of_filter(asked: Filter) -> Condition:
    """A filter's short form as a condition."""
    if asked.condition is not None:
        return asked.condition
    column = Column(table=asked.table, name=asked.column or "")
    values = asked.values
    match asked.operator:
        case "is null":
            return Missing(of=column)
        case "not null":
            return Not(part=Missing(of=column))
        case "in":
            return OneOf(of=column, values=values)
        case "not in":
            return Not(part=OneOf(of=column, values=values))
        case "contains":
            return Contains(of=column, text=str(values[0]))
        case "between":
            start, end = (Constant(value=_known(value)) for value in values)
            return All(
                parts=(Compare(left=column, operator=">=", right=start), Compare(left=column, operator="<", right=end))
            )
        case _:
            if values[0] is None:
                missing = Missing(of=column)
                return missing if asked.operator == "=" else Not(part=missing)
            return Compare(left=column, operator=asked.operator, right=Constant(value=values[0]))


def _known(value: Scalar) -> str | int | float | bool:
    if value is None:
        raise ValueError("a range has two bounds")
    return value


def _compared(left: Expression, operator: ComparisonOperator, right: Expression) -> Condition:
    if (isinstance(left, Constant) and not isinstance(right, Constant)) or (
        not isinstance(right, Constant) and _key(right) < _key(left)
    ):
        left, operator, right = right, MIRRORED[operator], left
    match left, operator, right:
        case Holds(condition=condition), "=" | "!=", Constant(value=bool() as yes) if _is_certain(condition):
            return condition if yes == (operator == "=") else _negated(condition)
    return Compare(left=left, operator=operator, right=right)


def _is_certain(node: Condition) -> bool:
    """Whether it is never unknown: it holds or it does not, also where values are missing."""
    match node:
        case All(parts=parts) | AnyOf(parts=parts):
            return all(map(_is_certain, parts))
        case Not(part=part):
            return _is_certain(part)
        case _:
            return isinstance(node, Missing | Among | Found | FoundGroup)


def _one_of(of: Expression, values: Iterable[Scalar]) -> Condition:
    known = {_number(value) for value in values if value is not None}
    parts: list[Condition] = [
        Compare(left=of, operator="=", right=Constant(value=value)) for value in sorted(known, key=repr)
    ]
    if None in values:
        parts.append(Missing(of=of))
    return _joined(AnyOf, parts)


def _number(value: Scalar) -> str | int | float | bool:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value  # type: ignore[return-value]


def _negated(node: Condition) -> Condition:
    match node:
        case All(parts=parts):
            return _joined(AnyOf, map(_negated, parts))
        case AnyOf(parts=parts):
            return _joined(All, map(_negated, parts))
        case Compare():
            return node.model_copy(update={"operator": OPPOSITE[node.operator]})
        case Not(part=part):
            return part
        case _:
            return Not(part=node)


def _joined(kind: type[All] | type[AnyOf], conditions: Iterable[Condition]) -> Condition:
    flat: dict[str, Condition] = {}
    for condition in conditions:
        for part in condition.parts if isinstance(condition, kind) else (condition,):
            flat[_key(part)] = part
    ordered = tuple(flat[key] for key in sorted(flat))
    return ordered[0] if len(ordered) == 1 else kind(parts=ordered)


def _rebuilt(node: Expression) -> Expression:
    def inner(part: Node) -> Node:
        if isinstance(part, CONDITIONS):
            return normal_condition(part)
        return normal_expression(part)

    return mapped(node, inner)


CONDITIONS = (All, AnyOf, Not, Compare, OneOf, Contains, Among, Found, FoundGroup, Missing)


def mapped(node: N, change: Callable[[Node], Node]) -> N:
    """A copy whose parts are changed; the node itself where none is."""
    update: dict[str, object] = {}
    for name in type(node).model_fields:
        value = getattr(node, name)
        if isinstance(value, Contract):
            update[name] = change(value)  # type: ignore[arg-type]
        elif isinstance(value, tuple) and any(isinstance(item, Contract) for item in value):
            update[name] = tuple(change(item) for item in value)
    return node.model_copy(update=update) if update else node  # type: ignore[return-value]


def mapped_here(node: N, change: Callable[[Node], Node]) -> N:
    """As `mapped`, but what is said of other rows stays: overall values, related measures, rows that are alike."""
    if isinstance(node, Related | Overall | Alike):
        return node
    if isinstance(node, Found | FoundGroup):
        return node.model_copy(update={"of": change(node.of)})  # type: ignore[return-value]
    return mapped(node, change)


def looked_in(found: Found | FoundGroup) -> Found | FoundGroup:
    """The rows or groups among which it looks, whatever value it looks for."""
    return found.model_copy(update={"of": Constant(value=True)})


def _key(node: Node) -> str:
    return node.model_dump_json()
