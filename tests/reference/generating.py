"""Tables and readings for the three-way test: small tables with every nuisance, readings with every part."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, get_args

from hypothesis import strategies as st

from groundplan.contracts import expression as e
from groundplan.contracts.reading import (
    ColumnsAsked,
    Each,
    EachMeasure,
    Evidence,
    Filter,
    GroupBy,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Requirement,
    Time,
)

TEXTS = ("north", "Süd", "восток", "東京", "e\u0301🙂", "a'b", "")
DAYS = [date(2023, 12, 31), date(2024, 1, 1), date(2024, 2, 29), date(2024, 3, 1), date(2025, 1, 1), date(2025, 2, 28)]
MOMENTS = [
    datetime(2024, 1, 1),
    datetime(2024, 1, 1, 13, 30),
    datetime(2024, 2, 29, 23, 59, 59),
    datetime(2025, 3, 1, 7),
]
ZONED = [  # the day differs from the one of UTC, or the clock jumps there
    datetime(2024, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=3))),
    datetime(2024, 2, 29, 23, 30, tzinfo=timezone(timedelta(hours=-5))),
    datetime(2024, 3, 10, 7, 30, tzinfo=UTC),
    datetime(2024, 11, 3, 5, 30, tzinfo=UTC),
]

ROW = st.fixed_dictionaries(
    {
        "g": st.none() | st.sampled_from(TEXTS),
        "h": st.sampled_from(("p", "q")),
        "n": st.none() | st.integers(-3, 40),
        "x": st.none() | st.integers(-8, 80).map(lambda quarter: quarter / 4),
        "m": st.none() | st.integers(-8, 400).map(lambda quarter: Decimal(quarter) / 4),  # exact as a double, too
        "f": st.none() | st.booleans(),
        "d": st.none() | st.sampled_from(DAYS),
        "d2": st.sampled_from(DAYS),
        "t": st.none() | st.sampled_from(MOMENTS),
        "z": st.none() | st.sampled_from(ZONED),
    }
)
TABLES = (st.lists(ROW, max_size=2) | st.lists(ROW, min_size=4, max_size=14)).map(
    lambda rows: [{"id": place, **row} for place, row in enumerate(rows)]
)


def column(name: str) -> e.Column:
    return e.Column(name=name)


def constant(value: Any) -> e.Constant:
    return e.Constant(value=value)


AMOUNTS: st.SearchStrategy[e.Expression] = st.sampled_from(("n", "x", "m")).map(column)  # whole, double, decimal
PARTS_OF_DATES: st.SearchStrategy[e.Expression] = st.builds(
    e.DatePart,
    of=st.sampled_from(("d", "t", "z")).map(column),
    part=st.sampled_from(("weekday", "month", "quarter", "year", "day", "week")),
)
NUMBERS: st.SearchStrategy[e.Expression] = st.one_of(
    st.sampled_from(("n", "x", "m", "id")).map(column),
    st.builds(
        e.Arithmetic,
        operator=st.sampled_from("+-*/"),
        left=AMOUNTS,
        right=AMOUNTS | st.sampled_from((2, 0.5, 0)).map(constant),
    ),
    st.builds(
        e.Filled,
        of=AMOUNTS,
        otherwise=AMOUNTS | st.just(column("id")) | st.sampled_from((0, 2.5)).map(constant),
    ),
    st.builds(
        e.Rounded,
        of=AMOUNTS,
        how=st.sampled_from(get_args(e.Rounding)),
        digits=st.sampled_from((-1, 0, 1)),
    ),
    st.builds(e.Length, of=st.deferred(lambda: LABELS)),
    st.builds(e.Absolute, of=AMOUNTS),
    st.builds(
        e.Elapsed,
        start=st.sampled_from(("d", "d2", "t", "z")).map(column),
        end=st.sampled_from(("d", "d2")).map(column) | st.just(constant("2025-06-30")),
        unit=st.sampled_from(("second", "hour", "day", "week")),
    ),
    PARTS_OF_DATES,
)
FILLED: st.SearchStrategy[e.Expression] = st.builds(
    e.Filled, of=st.just(column("g")), otherwise=st.just(column("h")) | st.just(constant("north"))
)
JOINED: st.SearchStrategy[e.Expression] = st.builds(
    e.Concatenated,
    parts=st.lists(
        FILLED
        | st.sampled_from(("g", "h")).map(column)
        | st.sampled_from((" ", "%", "")).map(constant)
        | PARTS_OF_DATES,
        min_size=2,
        max_size=3,
    ).map(lambda parts: (*parts, column("h"))),
)
LABELS: st.SearchStrategy[e.Expression] = st.just(column("g")) | FILLED | JOINED
DIRECTIONS = st.sampled_from(("top", "bottom"))
TIES = st.sampled_from(("cut", "cut", *get_args(e.Ties)))
COMPARISONS = st.sampled_from(("=", "!=", "<", "<=", ">", ">="))
LEAVES: st.SearchStrategy[e.Condition] = st.one_of(
    st.builds(e.Compare, left=NUMBERS, operator=COMPARISONS, right=st.integers(-2, 20).map(constant)),
    st.builds(e.Compare, left=st.sampled_from("xm").map(column), operator=COMPARISONS, right=st.just(column("n"))),
    st.builds(e.Compare, left=st.just(column("d")), operator=COMPARISONS, right=st.just(column("d2"))),
    st.builds(
        e.Compare,
        left=st.just(column("z")),
        operator=COMPARISONS,
        right=st.sampled_from(("d", "t")).map(column) | st.just(constant("2024-03-10T07:30:00")),
    ),
    st.builds(
        e.Compare,
        left=st.sampled_from(("d", "t", "z")).map(column),
        operator=COMPARISONS,
        right=st.sampled_from(("2024-01-01", "2024-02-29", "2025-01-01")).map(constant),
    ),
    st.builds(
        e.Compare, left=st.just(column("f")), operator=st.sampled_from(("=", "!=")), right=st.booleans().map(constant)
    ),
    st.builds(e.OneOf, of=LABELS, values=st.lists(st.none() | st.sampled_from(TEXTS), min_size=1).map(tuple)),
    st.builds(
        e.Contains,
        of=LABELS,
        text=st.sampled_from(("o", "Ü", "ВОС", "京", "🙂", "'", "North", "süD", "no", "TH", "%", "")),
        place=st.sampled_from(("anywhere", "start", "end", "whole")),
        cased=st.booleans(),
    ),
    st.builds(e.Missing, of=st.sampled_from(("g", "n", "x", "m", "d", "t", "z", "f")).map(column)),
    st.builds(
        e.Compare,
        left=AMOUNTS,
        operator=COMPARISONS,
        right=st.deferred(lambda: OVERALL),
    ),
    st.builds(
        lambda names, where: e.Found(of=names[0], table="data", column=names[1], where=where),
        st.sampled_from(
            (
                (column("g"), "g"),
                (column("n"), "id"),
                (e.Arithmetic(operator="+", left=column("n"), right=constant(1)), "n"),
                (column("d"), "d2"),
            )
        ),
        st.none() | st.deferred(lambda: LEAVES),
    ),
    st.deferred(lambda: FOUND_GROUPS),
)
CONDITIONS: st.SearchStrategy[e.Condition] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(e.Not, part=inner),
        st.builds(e.All, parts=st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(e.AnyOf, parts=st.lists(inner, min_size=1, max_size=3).map(tuple)),
    ),
    max_leaves=4,
)


@st.composite
def measures(draw: st.DrawFn, numbers: st.SearchStrategy[e.Expression] = NUMBERS, plain: bool = False) -> e.Expression:
    where = None if plain else draw(st.none() | CONDITIONS)
    match draw(st.integers(0, 3)):
        case 0:
            return e.Rows(where=where)
        case 1:
            return e.Aggregate(
                function="percentile", of=draw(numbers), percent=draw(st.sampled_from((10, 50, 90))), where=where
            )
        case _:
            functions = ("sum", "mean", "median", "min", "max", "count", "count_distinct", "std")
            return e.Aggregate(function=draw(st.sampled_from(functions)), of=draw(numbers), where=where)


EXACT: st.SearchStrategy[e.Expression] = st.just(e.Rows()) | st.builds(
    e.Aggregate, function=st.sampled_from(("sum", "min", "max", "count")), of=AMOUNTS
)


@st.composite
def _found_groups(draw: st.DrawFn) -> e.Condition:
    """By a condition, by an order in which no two groups tie, or by both."""
    cut = e.DateCut(of=column("d"), grain="month")
    of, key = draw(
        st.sampled_from(
            ((column("h"), column("h")), (column("n"), column("n")), (column("n"), column("id")), (cut, cut))
        )
    )
    keys = (key, *draw(st.sampled_from(((), (column("f"),)))))
    having = draw(
        st.none() | st.builds(e.Compare, left=EXACT, operator=COMPARISONS, right=st.integers(0, 3).map(constant))
    )
    order: tuple[e.Sort, ...] = ()
    limit = draw(st.none() | st.integers(1, 3))
    ties = draw(TIES) if limit is not None else "cut"
    if limit is not None:
        by = (draw(EXACT), *(keys if limit > 1 and ties == "cut" else ()))
        order = tuple(e.Sort(by=one, direction=draw(DIRECTIONS)) for one in by)
    where = draw(st.none() | LEAVES)
    return e.FoundGroup(of=of, table="data", keys=keys, where=where, having=having, order=order, limit=limit, ties=ties)


FOUND_GROUPS: st.SearchStrategy[e.Condition] = _found_groups()


OVERALL: st.SearchStrategy[e.Expression] = st.builds(
    e.Overall,
    of=st.deferred(lambda: measures(plain=True)),
    where=st.none() | st.deferred(lambda: CONDITIONS),
)


ROUNDED: st.SearchStrategy[e.Expression] = st.builds(
    e.Rounded,
    of=st.builds(
        e.Aggregate,
        function=st.sampled_from(("sum", "mean", "median", "min", "max")),
        of=AMOUNTS,  # other sums are not exact, and a half of them is none
    ),
    how=st.sampled_from(get_args(e.Rounding)),
    digits=st.sampled_from((-1, 0)),
)


@st.composite
def totals(draw: st.DrawFn) -> e.Expression:
    first = draw(measures())
    if draw(st.integers(0, 4)) == 0:
        first = e.Filled(of=first, otherwise=constant(draw(st.sampled_from((0, 7)))))
    match draw(st.integers(0, 9)):
        case 9:
            return draw(ROUNDED)
        case 0:
            return e.Arithmetic(operator=draw(st.sampled_from("+-*/")), left=first, right=draw(OVERALL))
        case 1:
            return draw(OVERALL)
    if draw(st.integers(0, 2)):
        return first
    return e.Arithmetic(operator=draw(st.sampled_from("+-*/")), left=first, right=draw(measures()))


GROUPS: st.SearchStrategy[GroupBy | Time] = st.one_of(
    st.sampled_from(("g", "h", "f")).map(lambda name: GroupBy(column=name)),
    st.builds(
        Time, column=st.sampled_from(("d", "z")), grain=st.sampled_from(("day", "week", "month", "quarter", "year"))
    ),
    st.builds(
        lambda name, part: GroupBy(column="part", expression=e.DatePart(of=column(name), part=part), ordered=True),
        st.sampled_from(("t", "z")),
        st.sampled_from(("weekday", "month", "hour")),
    ),
    st.just(GroupBy(column="band", expression=e.Bins(of=column("x"), edges=(0, 5, 10)))),
    st.just(GroupBy(column="price band", expression=e.Bins(of=column("m"), edges=(1, 2.5, 50)))),
    (FILLED | JOINED).map(lambda of: GroupBy(column="label", expression=of)),
    CONDITIONS.map(lambda c: GroupBy(column="side", expression=e.Holds(condition=c))),
)


PLAIN: st.SearchStrategy[e.Condition] = LEAVES.filter(
    lambda condition: (
        not any(isinstance(part, e.Overall | e.Found | e.FoundGroup | e.Among) for part in e.walk(condition))
    )
)
ALIKE: st.SearchStrategy[e.Expression] = st.builds(
    e.Alike,
    of=st.builds(e.Rows, where=st.none() | PLAIN)
    | st.builds(
        e.Aggregate,
        function=st.sampled_from(("sum", "mean", "min", "max", "count")),
        of=AMOUNTS,
        where=st.none() | PLAIN,
    ),
    by=st.lists(st.sampled_from(("g", "h", "f")), min_size=1, max_size=2, unique=True).map(
        lambda names: tuple(map(column, names))
    ),
)


@st.composite
def readings(draw: st.DrawFn) -> Reading:
    found: list[tuple[str, Any]] = [
        (f"filter:{place}", Filter(condition=condition))
        for place, condition in enumerate(draw(st.lists(CONDITIONS, max_size=2)))
    ]
    if draw(st.integers(0, 5)) == 0:
        condition = e.Compare(left=draw(AMOUNTS), operator=draw(COMPARISONS), right=draw(ALIKE))
        found.append(("filter:alike", Filter(condition=condition)))
    kind = draw(st.integers(0, 7))
    if kind == 0:
        found += draw(_of_rows())
    elif kind == 1:
        found += draw(_of_things())
    else:
        found += draw(_of_groups())
    found.append(("output:table", OutputAsked(label="table")))
    made = tuple(Requirement(id=id_, value=value, evidence=Evidence(text="asked")) for id_, value in found)
    return Reading(question="asked", tables=("data",), requirements=made)


@st.composite
def _of_rows(draw: st.DrawFn) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = [("columns:shown", ColumnsAsked(columns=("id", "g", "h")))]
    if draw(st.booleans()):
        ties = NUMBERS | st.sampled_from(("id", "h", "f", "d", "t")).map(column)
        found.append(("rank:rows", _rank(draw, draw(ties), ("h",), ties)))
    return found


@st.composite
def _of_things(draw: st.DrawFn) -> list[tuple[str, Any]]:
    """A measure of each thing, then a measure of things."""
    own = draw(measures())
    made = (EachMeasure(name="own", expression=own),)
    cut = e.DateCut(of=column(draw(st.sampled_from(("d", "t")))), grain=draw(st.sampled_from(("month", "year"))))
    key = EachMeasure(name="key", expression=draw(st.just(cut) | CONDITIONS.map(lambda c: e.Holds(condition=c))))
    things = draw(
        st.sampled_from(
            (
                Each(keys=("h", "g"), measures=made),
                Each(keys=("h", "key"), measures=made, computed=(key,)),
            )
        )
    )
    found: list[tuple[str, Any]] = [("each:thing", things)]
    if things.computed and draw(st.booleans()):
        found.append(("group_by:key", GroupBy(column="key")))
    of_own = st.just(column("own"))
    found.append(("metric:0", Metric(expression=draw(measures(of_own, plain=True)), name="m0")))
    if draw(st.booleans()):
        limit = draw(st.integers(0, 5).map(constant) | OVERALL)
        condition = e.Compare(left=column("own"), operator=draw(COMPARISONS), right=limit)
        found.append(("filter:own", Filter(condition=condition)))
    if draw(st.booleans()):
        found.append(("group_by:h", GroupBy(column="h")))
    return found


def _name(group: GroupBy | Time) -> str:
    """One axis of time, and each other column once."""
    return "time" if isinstance(group, Time) else group.column


@st.composite
def _of_groups(draw: st.DrawFn) -> list[tuple[str, Any]]:
    groups = draw(st.lists(GROUPS, min_size=draw(st.integers(0, 1)), max_size=2, unique_by=_name))
    found: list[tuple[str, Any]] = [(f"{group.kind}:{group.column}", group) for group in groups]
    ranked = bool(groups) and draw(st.integers(0, 2)) == 0
    once = st.lists(totals(), min_size=0 if ranked else 1, max_size=2, unique_by=lambda one: one.model_dump_json())
    expressions = draw(once)  # what is asked twice is shown once
    axes = [group for group in groups if isinstance(group, Time) or group.ordered]
    if groups and draw(st.booleans()):
        expressions.append(draw(_series(bool(axes))))
    found += [(f"metric:{n}", Metric(expression=one, name=f"m{n}")) for n, one in enumerate(expressions)]
    if groups and draw(st.integers(0, 3)) == 0:
        limit = draw(st.integers(0, 6).map(constant) | OVERALL)
        condition = e.Compare(left=draw(measures()), operator=draw(COMPARISONS), right=limit)
        found.append(("filter:having", Filter(condition=condition)))
    if ranked:
        named = [column(group.column) for group in groups if group.column not in ("g", "label", "band", "price band")]
        ties = totals().filter(lambda one: e.level(one) == "group") | (
            st.sampled_from(named) if named else st.nothing()
        )
        within = (groups[0].column,) if len(groups) > 1 else ()
        by = draw((st.none() if expressions else st.nothing()) | ties | _series(bool(axes)))
        found.append(("rank:groups", _rank(draw, by, within, ties)))
    return found


@st.composite
def _series(draw: st.DrawFn, ordered: bool) -> e.Expression:
    of = draw(measures())
    if not ordered:
        return e.Share(of=of)
    match draw(st.integers(0, 3)):
        case 0:
            return e.Share(of=of)
        case 1:
            return e.Running(of=of)
        case 2:
            return e.Moving(of=of, periods=draw(st.integers(2, 3)))
        case _:
            return e.Change(of=of, ratio=draw(st.booleans()))


def _rank(
    draw: st.DrawFn, by: e.Expression | None, within: tuple[str, ...], ties: st.SearchStrategy[e.Expression]
) -> Rank:
    limit = draw(st.none() | st.integers(1, 3))
    sorts = st.builds(e.Sort, by=ties, direction=DIRECTIONS)
    then = draw(st.lists(sorts, max_size=2, unique_by=lambda one: one.by.model_dump_json()))
    return Rank(
        direction=draw(DIRECTIONS),
        limit=limit,
        by=by,
        within=draw(st.sampled_from(((), within))) if limit else (),
        then=tuple(one for one in then if one.by != by),  # the same again orders nothing
        shown=draw(st.booleans()),
        ties=draw(TIES) if limit else "cut",
    )
