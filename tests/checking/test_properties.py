"""Thousands of plans, most of them broken: what gets through is sound, and nothing makes the gate raise."""

from __future__ import annotations

import contextlib
import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from groundplan.checking.gate import check
from groundplan.contracts.plan import Plan
from groundplan.contracts.verdict import Passed
from tests.checking.asked import SCHEMA, asked, catalog

TOOLS = catalog()
COLUMNS = {column.name for table in SCHEMA.tables for column in table.columns}
TABLES = {table.name for table in SCHEMA.tables}
ASKS = (
    "metric:revenue:sum",
    "group_by:region",
    "time:date:month",
    "analysis:trend",
    "output:chart",
    "output:table",
)
IDS = [":".join(short.split(":")[:2]) for short in ASKS]

SOUND: list[dict[str, Any]] = [
    {
        "id": "total",
        "tool": "aggregate",
        "params": {
            "table": "sales",
            "group_by": ["date", "region"],
            "grain": "month",
            "metrics": [{"column": "revenue", "function": "sum", "as": "revenue"}],
        },
        "satisfies": ["metric:revenue", "group_by:region", "time:date"],
    },
    {
        "id": "chart",
        "tool": "plot_line",
        "needs": ["total"],
        "params": {"x": "date", "y": "revenue", "color": "region"},
        "satisfies": ["analysis:trend", "output:chart"],
    },
    {"id": "show", "tool": "show_table", "needs": ["total"], "satisfies": ["output:table"]},
]

names = st.one_of(
    st.sampled_from([*sorted(COLUMNS), "Revenue", "nope", 'x"; drop table sales; --', "", "first", "total"]),
    st.text(max_size=12),
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5000) | st.floats(allow_nan=False, allow_infinity=False) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
odd_steps = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["total", "extra", "more", "show"]),
        "tool": st.sampled_from([*TOOLS.tools, "agregate", "run_sql"]),
        "params": st.dictionaries(
            st.sampled_from(["table", "column", "columns", "group_by", "metrics", "by", "limit", "x", "y", "sql"]),
            st.one_of(names, json_values),
            max_size=4,
        ),
        "needs": st.lists(st.sampled_from(["total", "chart", "show", "extra", "nobody"]), max_size=2),
        "satisfies": st.lists(st.sampled_from([*IDS, "analysis:anomaly", "filter:region"]), max_size=3),
    }
)


def _set(path: tuple[Any, ...], value: Any) -> Callable[[list[dict[str, Any]]], None]:
    def change(steps: list[dict[str, Any]]) -> None:
        target: Any = steps
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = value

    return change


places = st.sampled_from(
    [
        (0, "params", "group_by"),
        (0, "params", "metrics"),
        (0, "params", "metrics", 0, "column"),
        (0, "params", "metrics", 0, "function"),
        (0, "params", "metrics", 0, "as"),
        (0, "params", "grain"),
        (0, "params", "table"),
        (0, "satisfies"),
        (1, "params", "x"),
        (1, "params", "y"),
        (1, "params", "color"),
        (1, "needs"),
        (1, "tool"),
        (2, "needs"),
        (2, "satisfies"),
        (2, "params"),
    ]
)
good_values = st.sampled_from(
    [
        "month",
        "revenue",
        "region",
        "sales",
        [*IDS],
        ["total"],
        "sum",
        "plot_area",
        "plot_bar",
        {},
        ["date", "region"],
    ]
)
mutations = st.one_of(
    st.builds(_set, places, st.one_of(good_values, json_values)),
    st.builds(lambda step: lambda steps: steps.append(step), odd_steps),
    st.builds(lambda i: lambda steps: steps.pop(i % len(steps)) if len(steps) > 1 else None, st.integers(0, 5)),
    st.just(lambda steps: steps.reverse()),
)
harmless = st.sampled_from(
    [
        _set((0, "params", "group_by"), ["region", "date"]),
        _set((1, "params"), {"x": "date", "y": "revenue", "facet": "region"}),
        _set((1, "tool"), "plot_area"),
        _set((1, "tool"), "plot_bar"),
        _set((2, "params"), {"order_by": ["revenue"], "descending": True}),
        _set((0, "satisfies"), ["metric:revenue", "group_by:region", "time:date", "output:table"]),
        _set((0, "params", "table"), "sales"),
    ]
)
plans = st.one_of(
    st.lists(harmless, max_size=3),
    st.lists(mutations, min_size=1, max_size=3),
    st.lists(odd_steps, min_size=1, max_size=4),
)

IN_CI, SLOW = 1_000, 5_000


@pytest.mark.requirement("R32", "R35")
def test_no_unsound_plan_is_checked_and_none_makes_the_gate_raise() -> None:
    assert_both_kinds(outcomes_of(IN_CI), IN_CI)


@pytest.mark.slow
@pytest.mark.requirement("R32", "R35")
def test_no_unsound_plan_of_thousands_is_checked_and_none_makes_the_gate_raise() -> None:
    assert_both_kinds(outcomes_of(SLOW), SLOW)


def assert_both_kinds(outcomes: Counter[str], drawn: int) -> None:
    """The generator gives both sound and broken plans."""
    assert outcomes["Passed"] >= 0.02 * drawn, outcomes
    assert outcomes["Refused"] >= 0.2 * drawn, outcomes


def outcomes_of(drawn: int) -> Counter[str]:
    """What became of so many plans; none of those that passed is unsound."""
    outcomes: Counter[str] = Counter()

    @settings(max_examples=drawn, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(plans)
    def checked(made: list[Any]) -> None:
        steps = copy.deepcopy(SOUND)
        if made and isinstance(made[0], dict):
            steps = made
        else:
            for mutate in made:
                with contextlib.suppress(KeyError, IndexError, TypeError):  # an earlier mutation took its place away
                    mutate(steps)
        try:
            plan = Plan.model_validate({"strategy": "hand", "steps": steps})
        except ValidationError:
            outcomes["no plan"] += 1
            return
        verdict = check(plan, asked(*ASKS), TOOLS, {"tables": SCHEMA})
        outcomes[type(verdict).__name__] += 1
        if isinstance(verdict, Passed):
            assert_sound(verdict.plan.model_dump())

    checked()
    return outcomes


def assert_sound(plan: Mapping[str, Any]) -> None:
    """Another, plainer reading of what the gate promises; it shares no code with it."""
    made: set[str] = {"rank", "overall", "difference", "difference_ratio", "share"}
    cited: set[str] = set()
    for step in plan["steps"]:
        assert step["tool"] in TOOLS.tools
        assert step["satisfies"], "a step without a requirement"
        assert set(step["satisfies"]) <= set(IDS)
        cited |= set(step["satisfies"])
        made |= {value for key, value in leaves(step["params"]) if key == "as"}
        if "table" in step["params"]:
            assert step["params"]["table"] in TABLES
        for key, value in leaves(step["params"]):
            if key in (
                "column",
                "columns",
                "group_by",
                "by",
                "x",
                "y",
                "color",
                "facet",
                "order_by",
                "within",
            ):
                assert value in COLUMNS | made, f"{value!r} does not exist"
    assert cited == set(IDS), "a requirement without a step"
    aggregates = [s for s in plan["steps"] if s["tool"] in ("aggregate", "segment_metric", "compare_periods")]
    groups = {v for s in aggregates for k, v in leaves(s["params"]) if k in ("group_by", "by")}
    assert {"region", "date"} <= groups <= {"region", "date", "revenue"}
    assert any(s["params"].get("grain") == "month" for s in aggregates)
    assert any(("function", "sum") in set(leaves(s["params"])) for s in aggregates)


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from leaves(inner, name)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from leaves(inner, key)
    else:
        yield key, value
