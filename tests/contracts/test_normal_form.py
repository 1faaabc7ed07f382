"""The normal form: the same meaning is written the same way, and another meaning another way."""

from __future__ import annotations

import operator
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.contracts.expression import (
    All,
    AnyOf,
    Column,
    Compare,
    Condition,
    Constant,
    Missing,
    Not,
    OneOf,
)
from groundplan.contracts.normal_form import both, normal_condition, normal_expression
from tests.questions.notation import condition, value

COMPARISONS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
Cells = Mapping[str, int | None]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a > 5", "5 < a"),
        ("not a < 5", "a >= 5"),
        ("not (a < 5 and b == 1)", "b != 1 or a >= 5"),
        ("not (a < 5 or missing(b))", "not missing(b) and a >= 5"),
        ("one_of(a, 1, 2)", "a == 2 or a == 1"),
        ("one_of(a, 1)", "a == 1.0"),
        ("not one_of(a, 1, 2)", "a != 1 and a != 2"),
        ("a < b", "b > a"),
        ("(a == 1 and b == 2) and c == 3", "a == 1 and (c == 3 and b == 2)"),
        ("a == 1 and a == 1", "a == 1"),
        ("contains(a, 'West')", "contains(a, 'west')"),
        ("contains(a, 'ΑΣ', 'end')", "contains(a, 'ασ', 'end')"),
        ("contains(a, 'West', 'whole', cased=True)", "a == 'West'"),
        ("filled(filled(a, b), 1) > 2", "filled(a, filled(b, 1)) > 2"),
        ("filled(rows(), 0) > 2", "rows() > 2"),
        ("rounded(rows(), 'nearest', 2) > 2", "rows() > 2"),
        ("rounded(rounded(a, 'down', 1), 'nearest', 2) > 2", "rounded(a, 'down', 1) > 2"),
        ("absolute(absolute(a)) > 2", "absolute(a) > 2"),
        ("joined(joined(a, ' '), '-', b) == 'x'", "joined(a, ' -', b) == 'x'"),
        ("joined(a, '') == 'x'", "a == 'x'"),
        ("holds(missing(a)) == True", "missing(a)"),
        ("holds(missing(a)) != True", "not missing(a)"),
        ("a + b > 1", "b + a > 1"),
        ("rows(a == 1 and b == 2) > 5", "rows(b == 2 and a == 1) > 5"),
    ],
)
def test_the_same_condition_is_written_the_same_way(one: str, other: str) -> None:
    assert normal_condition(condition(one)) == normal_condition(condition(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a > 5", "a >= 5"),
        ("a > 5", "a < 5"),
        ("a == '5'", "a == 5"),
        ("a == 1 or b == 2", "a == 1 and b == 2"),
        ("not missing(a)", "missing(a)"),
        ("a != 1", "a != 1 or missing(a)"),
        ("holds(a > 5) == True", "a > 5"),  # where `a` is missing, their negations differ
        ("a - b > 1", "b - a > 1"),
        ("contains(a, 'West')", "contains(a, 'west', cased=True)"),
        ("contains(a, 'west', 'start')", "contains(a, 'west', 'end')"),
        ("contains(a, 'strasse')", "contains(a, 'straße')"),
        ("contains(a, 'i̇')", "contains(a, 'İ')"),
        ("filled(a, b) > 1", "filled(b, a) > 1"),
        ("filled(sum(a), 0) > 1", "sum(a) > 1"),
        ("rounded(a, 'nearest') > 1", "rounded(a, 'nearest', 1) > 1"),
        ("rounded(a, 'down') > 1", "rounded(a, 'toward_zero') > 1"),
        ("rounded(rounded(a, 'nearest', 2), 'nearest', 1) > 1", "rounded(a, 'nearest', 1) > 1"),
        ("rounded(rows(), 'nearest', -2) > 1", "rows() > 1"),
        ("absolute(a) > 1", "a > 1"),
        ("joined(a, b) == 'x'", "joined(b, a) == 'x'"),
        ("length(a) > 1", "a > 1"),
        ("among_top(a, 5)", "among_bottom(a, 5)"),
        ("among_top(a, 5)", "among_top(a, 6)"),
    ],
)
def test_another_condition_is_written_another_way(one: str, other: str) -> None:
    assert normal_condition(condition(one)) != normal_condition(condition(other))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a * b", "b * a", True),
        ("a * (b * c)", "(c * a) * b", True),
        ("a + (b + c)", "(c + a) + b", True),
        ("a * (b + c)", "(a * b) + c", False),
        ("a - (b - c)", "(a - b) - c", False),
        ("a - b", "b - a", False),
        ("a / b", "b / a", False),
        ("sum(a * b, c == 1)", "sum(b * a, 1 == c)", True),
        ("sum(a, c == 1)", "sum(a)", False),
        ("sum(a) / sum(b)", "sum(a / b)", False),
        ("cases(a > 1, 'x', b > 1, 'y')", "cases(b > 1, 'y', a > 1, 'x')", False),
        ("cases(a > 1, 'x')", "cases(1 < a, 'x')", True),
        ("part(a, 'month')", "cut(a, 'month')", False),
        ("moving(sum(a), 7)", "moving(sum(a), 8)", False),
        ("growth(sum(a))", "change(sum(a))", False),
        ("growth(sum(a))", "yearly_growth(sum(a))", False),
    ],
)
def test_expressions_are_equal_where_their_meaning_is(one: str, other: str, same: bool) -> None:
    assert (normal_expression(value(one)) == normal_expression(value(other))) is same


def test_conditions_that_were_joined_twice_are_joined_once() -> None:
    first, second = condition("a == 1"), condition("b == 2")
    assert both(both(first), second) == both(second, None, first)
    assert both(None) is None


columns = st.builds(Column, name=st.sampled_from(["a", "b"]))
leaves: st.SearchStrategy[Condition] = st.one_of(
    st.builds(
        Compare,
        left=columns,
        operator=st.sampled_from(sorted(COMPARISONS)),
        right=st.one_of(columns, st.builds(Constant, value=st.integers(0, 3))),
    ),
    st.builds(Missing, of=columns),
    st.builds(OneOf, of=columns, values=st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=1, max_size=3)),
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(All, parts=st.lists(inner, min_size=1, max_size=3)),
        st.builds(AnyOf, parts=st.lists(inner, min_size=1, max_size=3)),
        st.builds(Not, part=inner),
    ),
    max_leaves=8,
)
cells = st.fixed_dictionaries({name: st.one_of(st.none(), st.integers(0, 3)) for name in ("a", "b")})


@given(node=conditions, row=cells)
def test_the_normal_form_holds_for_the_same_rows(node: Condition, row: Cells) -> None:
    assert holds(normal_condition(node), row) is holds(node, row)


@given(node=conditions)
def test_what_is_in_normal_form_stays_as_it_is(node: Condition) -> None:
    once = normal_condition(node)
    assert normal_condition(once) == once


@given(parts=st.permutations([condition("a == 1"), condition("b > 2"), condition("missing(a)"), condition("a < b")]))
def test_the_order_of_parts_says_nothing(parts: list[Condition]) -> None:
    assert normal_condition(All(parts=tuple(parts))) == normal_condition(All(parts=tuple(reversed(parts))))
    assert normal_condition(AnyOf(parts=tuple(parts))) == normal_condition(AnyOf(parts=tuple(reversed(parts))))


@given(node=conditions)
def test_two_negations_are_none(node: Condition) -> None:
    assert normal_condition(Not(part=Not(part=node))) == normal_condition(node)


def holds(node: Condition, row: Cells) -> bool | None:
    """As SQL decides it: None is unknown."""
    match node:
        case All(parts=parts):
            found = {holds(part, row) for part in parts}
            return False if False in found else None if None in found else True
        case AnyOf(parts=parts):
            found = {holds(part, row) for part in parts}
            return True if True in found else None if None in found else False
        case Not(part=part):
            inner = holds(part, row)
            return None if inner is None else not inner
        case Missing(of=of):
            return cell(of, row) is None
        case OneOf(of=of, values=values):
            named = [
                Missing(of=of) if v is None else Compare(left=of, operator="=", right=Constant(value=v)) for v in values
            ]
            return holds(AnyOf(parts=tuple(named)), row)
        case Compare(left=left, operator=name, right=right):
            one, other = cell(left, row), cell(right, row)
            return None if one is None or other is None else COMPARISONS[name](one, other)
    raise AssertionError(node)


def cell(node: object, row: Cells) -> float | None:
    return node.value if isinstance(node, Constant) else row[node.name]  # type: ignore[attr-defined,return-value]
