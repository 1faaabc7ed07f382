"""Functions that clean texts, such as TRIM: left out where loading or the values make them idle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.names import trim
from groundplan.asking.tables.sql.scope import Scope, peeled
from groundplan.asking.tables.sql.statement import named, shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import Cases, Compare, Condition, Constant, Expression, OneOf

CLEANING: Mapping[type[Any], Callable[[str], str]] = {exp.Trim: trim, exp.Lower: str.lower, exp.Upper: str.upper}
MOST_TEXTS = 64  # of a column, that are told one by one


def uncleaned(node: Any, scope: Scope) -> Any:
    """The column inside `REGEXP_REPLACE(amount, …)` where loading has made it a number or a date already."""
    inner = node
    while _cleans(inner):
        inner = inner.this
    if inner is node or not isinstance(inner, exp.Column):
        return node
    found, within = peeled(inner, scope)
    if isinstance(found, exp.Column) and within.kind(within.value(found)) in ("number", "time"):
        return inner
    return node


def _cleans(node: Any) -> bool:
    """`NULLIF(x, '-')` and a cast to text may clean a number that is written as text; `NULLIF(x, 0)` changes one."""
    if isinstance(node, exp.Nullif):
        other = node.expression
        return isinstance(other, exp.Literal) and other.is_string and not any(map(str.isdigit, other.name))
    if isinstance(node, exp.Cast):
        return node.to.this in exp.DataType.TEXT_TYPES
    return isinstance(node, exp.Replace | exp.RegexpReplace | exp.Trim | exp.Paren | exp.Upper | exp.Lower)


def changed_texts(node: Any, scope: Scope) -> tuple[Expression, Callable[[str], str], tuple[str, ...]] | None:
    """A column under LOWER, UPPER, TRIM and REPLACE, what these do, and all of its values; None for anything else."""
    changes: list[Callable[[str], str]] = []
    inner, within = peeled(node, scope)
    while (change := _change(inner)) is not None:
        changes.append(change)
        inner, within = peeled(inner.this, within)
    if not changes or not isinstance(inner, exp.Column):
        return None
    of = within.value(inner)
    domain = within.domain(of)
    if domain is None:
        return None

    def changed(text: str) -> str:
        for one in reversed(changes):
            text = one(text)
        return text

    return of, changed, domain


def _change(node: Any) -> Callable[[str], str] | None:
    """What TRIM, LOWER, UPPER and REPLACE of constants do with a text."""
    if type(node) in CLEANING and not node.expression:
        return CLEANING[type(node)]
    old, new = node.args.get("expression"), node.args.get("replacement")
    if isinstance(node, exp.Replace) and all(isinstance(one, exp.Literal) and one.is_string for one in (old, new)):
        return lambda text: text.replace(old.name, new.name) if old.name else text
    return None


def _cleaned(node: Any, scope: Scope) -> Expression:
    """TRIM, REPLACE, LOWER: left out where they provably change nothing, else each value by what it becomes."""
    inner = uncleaned(node, scope)
    if inner is not node:
        return scope.value(inner)
    found = changed_texts(node, scope)
    if found is not None:
        of, change, domain = found
        if all(change(text) == text for text in domain):
            return of
        if len({change(text) for text in domain}) <= MOST_TEXTS:
            return by_text(of, change, domain)
    elif isinstance(node, exp.Trim) and not node.expression:
        value = scope.value(node.this)
        if scope.is_trimmed(value):
            return value
    raise Untranslatable(named(node), f"{shown(node)}: it may change the values")


def by_text(of: Expression, change: Callable[[str], str], domain: Sequence[str]) -> Expression:
    """Every text that the column holds, under the one that it is turned into."""
    turned: dict[str, list[str]] = {}
    for text in domain:
        turned.setdefault(change(text), []).append(text)
    conditions: list[Condition] = [
        OneOf(of=of, values=tuple(texts))
        if len(texts) > 1
        else Compare(left=of, operator="=", right=Constant(value=texts[0]))
        for texts in turned.values()
    ]
    return Cases(conditions=tuple(conditions), values=tuple(turned))


def _nullif(node: Any, scope: Scope) -> Expression:
    value, other = scope.value(node.this), scope.value(node.expression)
    domain = scope.domain(value)
    if isinstance(other, Constant) and domain is not None and other.value not in domain:
        return value
    if other == Constant(value="") and scope.is_trimmed(value):
        return value
    raise Untranslatable("NULLIF", f"{shown(node)}; it is understood only as a divisor, NULLIF(…, 0)")


READERS: Mapping[type[Any], Callable[[Any, Scope], Expression]] = {
    exp.Nullif: _nullif,
    exp.Trim: _cleaned,
    exp.Lower: _cleaned,
    exp.Upper: _cleaned,
    exp.Replace: _cleaned,
    exp.RegexpReplace: _cleaned,
}
