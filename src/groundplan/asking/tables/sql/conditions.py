"""Conditions: comparisons, texts, ranges, sets and what other tables hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql import semi_joins, single_values, time_spans
from groundplan.asking.tables.sql.cleaning import changed_texts
from groundplan.asking.tables.sql.scope import Scope, conjuncts, peeled
from groundplan.asking.tables.sql.statement import named, shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    All,
    AnyOf,
    Cases,
    Column,
    Compare,
    ComparisonOperator,
    Condition,
    Constant,
    Contains,
    DateCut,
    DatePart,
    Expression,
    Holds,
    Missing,
    Not,
    OneOf,
    Place,
    Rows,
    level,
    parts,
)
from groundplan.contracts.normal_form import MIRRORED, lowered

COMPARISONS: Mapping[type[Any], ComparisonOperator] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
PLACES: Mapping[tuple[bool, bool], Place] = {
    (True, True): "anywhere",
    (False, True): "start",
    (True, False): "end",
    (False, False): "whole",
}
FUNCTIONS: Mapping[type[Any], Place] = {exp.Contains: "anywhere", exp.StartsWith: "start", exp.EndsWith: "end"}
YES, NO = frozenset({"true", "t", "yes", "y", "1"}), frozenset({"false", "f", "no", "n", "0"})


def read_condition(node: Any, scope: Scope) -> Condition:
    """The condition that SQL writes so; raises Untranslatable."""
    if type(node) in COMPARISONS:
        return _compare(node, COMPARISONS[type(node)], scope)
    reader = READERS.get(type(node))
    if reader is not None:
        return reader(node, scope)
    value = scope.value(node)
    if scope.kind(value) == "boolean":
        return holds(value)
    raise Untranslatable(f"{named(node)} as a condition", shown(node))


def holds(value: Expression) -> Condition:
    """That a yes-or-no value is yes; unknown where it is missing."""
    if isinstance(value, Holds):
        return value.condition
    match value:
        case Cases(conditions=(condition, Not(part=other)), values=(True, False), otherwise=None) if condition == other:
            return condition
    return Compare(left=value, operator="=", right=Constant(value=True))


def all_of(conditions: list[Condition] | tuple[Condition, ...]) -> Condition | None:
    """One condition of several; None of none."""
    flat: list[Condition] = []
    for condition in conditions:
        flat.extend(condition.parts if isinstance(condition, All) else (condition,))
    flat = [*dict.fromkeys(flat)]
    return None if not flat else flat[0] if len(flat) == 1 else All(parts=tuple(flat))


def _and(node: Any, scope: Scope) -> Condition:
    found = all_of([scope.condition(part) for part in conjuncts(node)])
    assert found is not None
    return found


def _or(node: Any, scope: Scope) -> Condition:
    found = [*dict.fromkeys(scope.condition(part) for part in _disjuncts(node))]
    return found[0] if len(found) == 1 else AnyOf(parts=tuple(found))


def _disjuncts(node: Any) -> list[Any]:
    if isinstance(node, exp.Or):
        return [*_disjuncts(node.this), *_disjuncts(node.expression)]
    if isinstance(node, exp.Paren) and isinstance(node.this, exp.Or):
        return _disjuncts(node.this)
    return [node]


def _not(node: Any, scope: Scope) -> Condition:
    inner = node.this.unnest() if isinstance(node.this, exp.Paren) else node.this
    if isinstance(inner, exp.In) and inner.args.get("query"):
        return semi_joins.found(inner, scope, negated=True)
    if isinstance(inner, exp.Exists):
        return semi_joins.exists(inner, scope, negated=True)
    return Not(part=scope.condition(node.this))


def _inside(node: Any, scope: Scope) -> Condition:
    return scope.condition(node.this)


def _is(node: Any, scope: Scope) -> Condition:
    if isinstance(node.expression, exp.Null):
        return Missing(of=scope.value(node.this))
    if isinstance(node.expression, exp.Boolean):
        condition = scope.condition(node.this)
        certain = Compare(left=Holds(condition=condition), operator="=", right=Constant(value=True))
        if node.expression.this:
            return certain if not known(condition, scope) else condition
        return Compare(left=Holds(condition=Not(part=condition)), operator="=", right=Constant(value=True))
    raise Untranslatable("IS", shown(node))


def known(node: Condition, scope: Scope) -> bool:
    """Whether it always either holds or does not: none of its values can be missing."""
    if isinstance(node, Missing):
        return True
    if isinstance(node, All | AnyOf | Not):
        return all(known(part, scope) for part in parts(node))  # type: ignore[arg-type]
    return not any(scope.nullable(part) for part in parts(node))  # type: ignore[arg-type]


def _between(node: Any, scope: Scope) -> Condition:
    low, high = node.args["low"], node.args["high"]
    return All(parts=(_compared(node.this, ">=", low, scope), _compared(node.this, "<=", high, scope)))


def _compare(node: Any, operator: ComparisonOperator, scope: Scope) -> Condition:
    return _compared(node.this, operator, node.expression, scope)


def _compared(left: Any, operator: ComparisonOperator, right: Any, scope: Scope) -> Condition:
    shifted = time_spans.compared_shift(left, operator, right, scope)
    if shifted is not None:
        return shifted
    first = single_values.equal_to_first(left, right, scope) if operator == "=" else None
    if first is not None:
        return first
    spelt = _spelt(left, operator, right, scope) or _spelt(right, MIRRORED[operator], left, scope)
    return spelt or compare(scope.value(left), operator, scope.value(right), scope)


def compare(left: Expression, operator: ComparisonOperator, right: Expression, scope: Scope) -> Condition:
    """Both sides are of one kind: a text beside a number or a date is read as one, as SQL does."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        raise Untranslatable("a comparison of two constants", f"{left.value!r} and {right.value!r}")
    if isinstance(left, Constant):
        return compare(right, MIRRORED[operator], left, scope)
    kind = scope.kind(left)
    if isinstance(right, Constant):
        return _with_constant(left, kind, operator, right, scope)
    other = scope.kind(right)
    if "other" not in (kind, other) and kind != other:
        raise Untranslatable(f"a comparison of {kind} with {other} values")
    return Compare(left=left, operator=operator, right=right)


def _with_constant(
    left: Expression, kind: str, operator: ComparisonOperator, right: Constant, scope: Scope
) -> Condition:
    value = right.value
    match kind, value:
        case "time", str():
            return _with_moment(left, operator, value, scope)
        case "number", str():
            try:
                value = float(value)
            except ValueError:
                raise Untranslatable(f"a comparison of a number with {value!r}") from None
            value = int(value) if value.is_integer() else value
        case "boolean", str() if value.lower() in YES | NO:
            value = value.lower() in YES
        case "boolean", int() if not isinstance(value, bool) and value in (0, 1):
            value = bool(value)
        case (
            ("number", bool())
            | ("text", int() | float())
            | ("time", int() | float())
            | ("boolean", int() | float() | str())
        ) if not (kind == "boolean" and isinstance(value, bool)):
            raise Untranslatable(f"a comparison of {kind} values with {value!r}")
    if kind == "boolean" and isinstance(value, bool) and operator in ("=", "!="):
        condition = holds(left)
        if not (isinstance(condition, Compare) and condition.left == left):
            return condition if value == (operator == "=") else Not(part=condition)
    return Compare(left=left, operator=operator, right=Constant(value=value))


def _with_moment(left: Expression, operator: ComparisonOperator, text: str, scope: Scope) -> Condition:
    """A day beside a timestamp is its midnight in SQL, and the whole day in the language of readings."""
    if isinstance(left, DatePart):
        return Compare(left=left, operator=operator, right=Constant(value=int(text)))
    if isinstance(left, DateCut) and re.fullmatch(r"\d{4}-\d\d", text):
        text = f"{text}-01"
    if not scope.is_moment(Constant(value=text)):
        raise Untranslatable(f"a comparison of a date with {text!r}", "write dates as 2025-12-31")
    moment = datetime.fromisoformat(text)
    midnight = (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0)
    if isinstance(left, DateCut) and left.grain == "day" and isinstance(left.of, Column) and midnight:
        return Compare(left=left.of, operator=operator, right=Constant(value=moment.date().isoformat()))
    clock = scope.has_clock(left) or (isinstance(left, DateCut) and left.grain in ("hour", "minute"))
    if not clock and not midnight:
        raise Untranslatable("a comparison of a day with a time of day", text)
    whole_day = not clock or (midnight and operator in ("<", ">="))
    written = moment.date().isoformat() if whole_day else moment.isoformat()
    return Compare(left=left, operator=operator, right=Constant(value=written))


def _spelt(side: Any, operator: ComparisonOperator, other: Any, scope: Scope) -> Condition | None:
    """`LOWER(TRIM(name)) = 'acme'`: those of the column's values that it turns into the text."""
    if operator not in ("=", "!=") or not isinstance(other, exp.Literal) or not other.is_string:
        return None
    found = changed_texts(side, scope)
    if found is None:
        return _any_case(side, operator, other.name, scope)
    of, change, domain = found
    kept = tuple(text for text in domain if change(text) == other.name)
    return _among(of, kept, domain, other.name, operator == "=")


def _any_case(side: Any, operator: ComparisonOperator, text: str, scope: Scope) -> Condition | None:
    """`LOWER(name) = 'acme'`: the whole text, in any case."""
    inner, within = peeled(side, scope)
    if isinstance(inner, exp.Trim) and not inner.expression:  # letters in another case are no spaces
        folded, deeper = peeled(inner.this, within)
        if isinstance(folded, exp.Lower | exp.Upper) and deeper.is_trimmed(deeper.value(folded.this)):
            inner, within = folded, deeper
    if isinstance(inner, exp.Upper):
        if not text.isascii() or text != text.upper():
            return None
    elif not isinstance(inner, exp.Lower) or text != lowered(text):
        return None
    made = Contains(of=within.value(inner.this), text=text, place="whole")
    return made if operator == "=" else Not(part=made)


def _among(of: Expression, kept: tuple[str, ...], domain: tuple[str, ...], text: str, wanted: bool = True) -> Condition:
    """That the value is one of these; where none is left, it is compared with a text that no value has."""
    if not kept and text in domain:
        raise Untranslatable("a text that the column does not hold", repr(text))
    kept = kept or (text,)
    single = Compare(left=of, operator="=", right=Constant(value=kept[0]))
    made: Condition = single if len(kept) == 1 else OneOf(of=of, values=kept)
    return made if wanted else Not(part=made)


def _in(node: Any, scope: Scope) -> Condition:
    if node.args.get("query"):
        return semi_joins.found(node, scope)
    if node.args.get("unnest") or node.args.get("field"):
        raise Untranslatable("IN over a list", shown(node))
    if not all(isinstance(one, exp.Literal | exp.Boolean | exp.Neg | exp.Cast) for one in node.expressions):
        raise Untranslatable("IN with anything but constants", shown(node))
    found = changed_texts(node.this, scope)
    if found is not None:
        of, change, domain = found
        wanted = {one.name for one in node.expressions}
        return _among(of, tuple(text for text in domain if change(text) in wanted), domain, min(wanted))
    of = scope.value(node.this)
    made = [compare(of, "=", scope.value(one), scope) for one in node.expressions]
    plain = [
        one.right.value
        for one in made
        if isinstance(one, Compare) and one.left == of and isinstance(one.right, Constant)
    ]
    if len(plain) != len(made) or scope.has_clock(of):
        return made[0] if len(made) == 1 else AnyOf(parts=tuple(made))
    return OneOf(of=of, values=tuple(dict.fromkeys(plain)))


def _like(node: Any, scope: Scope) -> Condition:
    if not isinstance(node.expression, exp.Literal):
        raise Untranslatable("LIKE with anything but a text", shown(node))
    made = matching(node, node.this, node.expression.name, isinstance(node, exp.ILike), scope)
    return Not(part=made) if node.args.get("negate") else made


def matching(node: Any, side: Any, pattern: str, any_case: bool, scope: Scope) -> Condition:
    """A text that holds another; by the column's values where these are all known."""
    changed = changed_texts(side, scope)
    of = changed[0] if changed else scope.value(side)
    if scope.kind(of) != "text":
        raise Untranslatable(f"LIKE on {scope.kind(of)} values", shown(node))
    domain = changed[2] if changed else scope.domain(of)
    if changed is None and (found := _placed(of, pattern, any_case)) is not None:
        return found
    if domain is None:
        raise Untranslatable("this LIKE", f"{shown(node)}; use ILIKE '%text%'")
    change = changed[1] if changed else str
    flags = re.DOTALL | (re.IGNORECASE if any_case else 0)
    regex = re.compile("".join(".*" if c == "%" else "." if c == "_" else re.escape(c) for c in pattern), flags)
    return _among(of, tuple(text for text in domain if regex.fullmatch(change(text))), domain, pattern)


def _placed(of: Expression, pattern: str, any_case: bool) -> Condition | None:
    """A pattern with `%` only at its ends: the text stands anywhere, at the start, at the end, or is all of it."""
    if pattern and not pattern.strip("%"):
        return Contains(of=of, text="")
    core = pattern.removeprefix("%").removesuffix("%")
    if not core or "%" in core or "_" in core:
        return None
    place = PLACES[pattern.startswith("%"), pattern.endswith("%")]
    return Contains(of=of, text=core, place=place, cased=not any_case)


def _contains(node: Any, scope: Scope) -> Condition:
    if not isinstance(node.expression, exp.Literal):
        raise Untranslatable(named(node), shown(node))
    text, place = node.expression.name, FUNCTIONS[type(node)]
    inner, within = peeled(node.this, scope)
    lower = isinstance(inner, exp.Lower) and text == lowered(text)
    of = within.value(inner.this if lower else inner)
    if within.kind(of) != "text":
        raise Untranslatable(f"{named(node)} on {within.kind(of)} values", shown(node))
    return Contains(of=of, text=text, place=place, cased=not lower)


def _alike(node: Any, scope: Scope) -> Condition:
    """`IS DISTINCT FROM` a constant: another value, or none."""
    other = scope.value(node.expression)
    if not isinstance(other, Constant):
        raise Untranslatable("IS DISTINCT FROM an expression", shown(node))
    of = scope.value(node.this)
    equal = compare(of, "=", other, scope)
    if isinstance(node, exp.NullSafeEQ):
        return All(parts=(equal, Not(part=Missing(of=of))))
    return AnyOf(parts=(Missing(of=of), Not(part=equal)))


def _any_of_group(node: Any, scope: Scope) -> Condition:
    """`BOOL_OR(c)`: at least one row of the group meets it; `BOOL_AND(c)`: none fails it."""
    inner = node.this.this if isinstance(node.this, exp.Cast) else node.this
    met = scope.condition(inner)
    if level(met) != "row" or not known(met, scope):
        raise Untranslatable(f"{named(node)} of what may be missing", f"{shown(node)}; use COUNT(*) FILTER (WHERE …)")
    if isinstance(node, exp.LogicalOr):
        return Compare(left=Rows(where=met), operator=">", right=Constant(value=0))
    return Compare(left=Rows(where=Not(part=met)), operator="=", right=Constant(value=0))


def _exists(node: Any, scope: Scope) -> Condition:
    return semi_joins.exists(node, scope)


READERS: Mapping[type[Any], Callable[[Any, Scope], Condition]] = {
    exp.Paren: _inside,
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _in,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Contains: _contains,
    exp.StartsWith: _contains,
    exp.EndsWith: _contains,
    exp.NullSafeEQ: _alike,
    exp.NullSafeNEQ: _alike,
    exp.Exists: _exists,
    exp.LogicalOr: _any_of_group,
    exp.LogicalAnd: _any_of_group,
}
