"""The gate compares what a plan shows with what was asked, in one normal form."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from groundplan.asking.tables.plan import propose
from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.contract import thaw
from groundplan.contracts.meaning import meaning_of
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.reading import Filter, GroupBy, Metric, Reading
from groundplan.contracts.verdict import Passed, Refused
from tests.checking.asked import SCHEMA, catalog
from tests.questions.notation import reading

READINGS: Mapping[str, Mapping[str, Any]] = {
    "a rate": {"metric": {"rate": "rows(region == 'West') / rows()"}},
    "a rate of a month": {
        "metric": {"rate": "rows(region == 'West') / rows()"},
        "where": ["date >= '2025-01-01' and date < '2025-02-01'"],
    },
    "a product": {"metric": {"value": "sum(units * revenue)"}, "by": {"region": "region"}},
    "a percentile": {"metric": {"most": "percentile(revenue, 90)"}, "by": {"region": "region"}},
    "months": {"metric": {"revenue total": "sum(revenue)"}, "by": {"month": "cut(date, 'month')"}},
    "months of the year": {"metric": {"revenue total": "sum(revenue)"}, "by": {"month": "part(date, 'month')"}},
    "growth": {"metric": {"growth": "growth(sum(revenue))"}, "by": {"month": "cut(date, 'month')"}},
    "growth of regions": {
        "metric": {"growth": "growth(sum(revenue))"},
        "by": {"month": "cut(date, 'month')", "region": "region"},
    },
    "a running total": {"metric": {"so far": "running(sum(revenue))"}, "by": {"month": "cut(date, 'month')"}},
    "a running total of some months": {
        "metric": {"so far": "running(sum(revenue))"},
        "by": {"month": "cut(date, 'month')"},
        "where": ["month >= '2025-06-01'"],
    },
    "shares": {"metric": {"part": "share(sum(revenue))"}, "by": {"region": "region"}},
    "shares within": {
        "metric": {"part": "share(sum(revenue), region)"},
        "by": {"region": "region", "channel": "channel"},
    },
    "groups": {"by": {"region": "region"}, "where": ["sum(revenue) > 100"]},
    "named groups": {"metric": {"sales": "rows()"}, "by": {"size": "cases(units < 5, 'small', units < 10, 'large')"}},
    "ranges": {"metric": {"sales": "rows()"}, "by": {"size": "bins(units, 5, 10)"}},
    "ranges of one width": {"metric": {"sales": "rows()"}, "by": {"size": "width(units, 5)"}},
    "the best": {"metric": {"total": "sum(revenue)"}, "by": {"region": "region"}, "top": 3, "order": "sum(revenue)"},
    "the best of each": {
        "metric": {"total": "sum(revenue)"},
        "by": {"region": "region", "channel": "channel"},
        "top": 3,
        "within": ["region"],
    },
    "the best by what is not shown": {
        "metric": {"total": "sum(revenue)"},
        "by": {"region": "region"},
        "top": 3,
        "order": "mean(units)",
        "then": {"rows()": "bottom", "region": "bottom"},
        "shown": False,
    },
    "groups in an order that is not shown": {
        "by": {"region": "region", "channel": "channel"},
        "order": "share(sum(revenue))",
        "then": {"channel": "top"},
        "shown": False,
    },
    "rows in an order that is not shown": {
        "columns": ["date", "revenue"],
        "order": "units",
        "then": {"revenue / units": "bottom", "region": "top"},
        "shown": False,
    },
    "an order": {"metric": {"total": "sum(revenue)"}, "by": {"region": "region"}, "order": "sum(revenue)"},
    "rows": {"columns": ["date", "revenue"], "where": ["revenue > 100 or units > 5"]},
    "the best rows": {"columns": ["date", "revenue"], "order": "revenue / units", "top": 5},
    "different values": {"columns": ["region", "channel"], "distinct": True, "where": ["missing(revenue)"]},
    "things": {
        "each": {"keys": ["channel"], "measures": {"total": "sum(revenue)"}},
        "metric": {"average": "mean(total)"},
        "where": ["total > 5", "region == 'West'"],
    },
    "a total of averages": {
        "each": {"keys": ["channel"], "measures": {"own": "mean(revenue)"}},
        "metric": {"all of them": "sum(own)"},
    },
    "the part of the best": {
        "each": {"keys": ["channel"], "measures": {"total": "sum(revenue)"}},
        "metric": {"part": "sum(total, among_top(total, 3)) / sum(total)"},
    },
    "things by a number of theirs": {
        "each": {"keys": ["channel"], "measures": {"sales": "rows()"}},
        "metric": {"channels": "rows()"},
        "by": {"sales": "sales"},
    },
    "things themselves": {
        "each": {"keys": ["channel"], "measures": {"sales": "rows()"}},
        "where": ["sales > 5"],
        "columns": ["channel", "sales"],
    },
    "a correlation": {"metric": {"together": "correlation(units, revenue)"}, "by": {"region": "region"}},
}
SHORT: Mapping[str, tuple[Any, ...]] = {
    "region == 'West'": ("region", "=", "West"),
    "region != 'West'": ("region", "!=", "West"),
    "units < 5": ("units", "<", 5),
    "units <= 5": ("units", "<=", 5),
    "units > 5": ("units", ">", 5),
    "units >= 5": ("units", ">=", 5),
    "one_of(region, 'West', 'East')": ("region", "in", "West", "East"),
    "not one_of(region, 'West', 'East')": ("region", "not in", "West", "East"),
    "contains(region, 'es')": ("region", "contains", "es"),
    "missing(revenue)": ("revenue", "is null"),
    "not missing(revenue)": ("revenue", "not null"),
    "date >= '2025-01-01' and date < '2025-02-01'": ("date", "between", "2025-01-01", "2025-02-01"),
}
"""A condition, and the same as a column, an operator and values."""
OTHER = {
    "=": "!=", "!=": "=", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+", "*": "/", "/": "*",
    "sum": "mean", "mean": "sum", "count": "count_distinct", "top": "bottom", "all": "any", "any": "all",
    "month": "year", "region": "channel", "channel": "region", "units": "revenue", "revenue": "units",
}  # fmt: skip


@pytest.fixture(scope="module")
def tools() -> Catalog:
    return catalog()


def asked(name: str) -> Reading:
    return reading(name, "sales", READINGS[name])


@pytest.mark.requirement("R69", part="normal form of expressions")
@pytest.mark.parametrize("name", READINGS)
def test_the_plan_of_a_reading_passes(name: str, tools: Catalog) -> None:
    verdict = check(propose(asked(name), SCHEMA), asked(name), tools, {"tables": SCHEMA})
    assert isinstance(verdict, Passed), verdict.issues


@pytest.mark.requirement("R69", part="normal form of expressions")
@pytest.mark.parametrize("name", READINGS)
def test_the_plan_of_another_reading_is_refused(name: str, tools: Catalog) -> None:
    plan = propose(asked(name), SCHEMA)
    passed = [other for other in READINGS if other != name and not _differs(plan, asked(other), tools)]
    assert passed == []


@pytest.mark.requirement("R69", part="normal form of expressions")
@pytest.mark.parametrize("name", READINGS)
def test_a_plan_with_one_param_changed_is_refused(name: str, tools: Catalog) -> None:
    wanted, plan = asked(name), propose(asked(name), SCHEMA)
    grouped = any(step.tool == "aggregate" for step in plan.steps)
    free = {"table descending: False"} if all(r.kind != "rank" for r in wanted.requirements) else set()
    changed = [(path, other) for path, other in _changed_once(plan) if not (grouped and "distinct" in path)]
    changed = [(path, other) for path, other in changed if path not in free]  # an order that nobody asked for
    assert changed
    assert [what for what, other in changed if not _refused(other, wanted, tools)] == []


@pytest.mark.requirement("R69", part="normal form of expressions")
@pytest.mark.parametrize("name", READINGS)
def test_a_plan_that_filters_more_is_refused(name: str, tools: Catalog) -> None:
    wanted, plan = asked(name), propose(asked(name), SCHEMA)
    first, *rest = plan.steps
    condition = {"column": "units", "operator": ">", "values": [1]}
    more = Step(id="more", tool="filter_rows", params={"table": "sales", "conditions": [condition]})
    params = {key: value for key, value in first.params.items() if key != "table"}
    steps = (more, first.model_copy(update={"params": params, "needs": ("more",)}), *rest)
    assert _differs(plan.model_copy(update={"steps": steps}), wanted, tools)


@pytest.mark.requirement("R69", part="normal form of short forms")
@pytest.mark.parametrize("condition", SHORT)
def test_a_short_form_and_the_expression_that_it_stands_for_have_one_plan(condition: str, tools: Catalog) -> None:
    written, short = in_full(condition), in_short(condition)
    assert written != short
    assert meaning_of(written) == meaning_of(short)
    for plan, wanted in ((propose(short, SCHEMA), written), (propose(written, SCHEMA), short)):
        verdict = check(plan, wanted, tools, {"tables": SCHEMA})
        assert isinstance(verdict, Passed), verdict.issues


@pytest.mark.requirement("R69", part="normal form of short forms")
@pytest.mark.parametrize("condition", SHORT)
def test_the_plan_of_another_short_form_is_refused(condition: str, tools: Catalog) -> None:
    plan = propose(in_short(condition), SCHEMA)
    assert [other for other in SHORT if other != condition and not _differs(plan, in_full(other), tools)] == []


def in_full(condition: str) -> Reading:
    """Every part as an expression."""
    return reading(
        "asked", "sales", {"metric": {"total": "sum(revenue)"}, "by": {"channel": "channel"}, "where": [condition]}
    )


def in_short(condition: str) -> Reading:
    """The same, each part as a column with its function, its operator or alone."""
    column, operator, *values = SHORT[condition]
    shorts = {
        "metric": Metric(column="revenue", function="sum", name="total"),
        "group_by": GroupBy(column="channel"),
        "filter": Filter(column=column, operator=operator, values=tuple(values)),
    }
    written = in_full(condition)
    parts = [
        part.model_copy(update={"value": shorts.get(part.value.kind, part.value)}) for part in written.requirements
    ]
    return written.model_copy(update={"requirements": tuple(parts)})


def test_a_series_goes_along_the_group_that_orders_it(tools: Catalog) -> None:
    wanted = asked("growth of regions")
    plan = propose(wanted, SCHEMA)
    steps = [
        step.model_copy(update={"params": {**step.params, "along": "region", "by": ("month",)}})
        if "along" in step.params
        else step
        for step in plan.steps
    ]
    assert _differs(plan.model_copy(update={"steps": tuple(steps)}), wanted, tools)


def test_a_table_that_is_cut_when_shown_is_not_all_of_it(tools: Catalog) -> None:
    wanted = asked("shares")
    *steps, table = propose(wanted, SCHEMA).steps
    cut = table.model_copy(update={"params": {**table.params, "limit": 5}})
    assert _differs(propose(wanted, SCHEMA).model_copy(update={"steps": (*steps, cut)}), wanted, tools)


def _refused(plan: Plan, wanted: Reading, tools: Catalog) -> bool:
    verdict = check(plan, wanted, tools, {"tables": SCHEMA})
    return isinstance(verdict, Refused) and any(
        issue.code == "meaning/differs" or issue.code.startswith(("types/", "names/")) for issue in verdict.issues
    )


def _differs(plan: Plan, wanted: Reading, tools: Catalog) -> bool:
    verdict = check(plan, wanted, tools, {"tables": SCHEMA})
    return isinstance(verdict, Refused) and any(issue.code == "meaning/differs" for issue in verdict.issues)


def _changed_once(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """The plan with one value of its params replaced by another of the same kind."""
    for place, step in enumerate(plan.steps):
        params = thaw(step.params)
        for path, value in _leaves(params):
            other = _other(path, value)
            if other is None:
                continue
            made = Step.model_validate({**step.model_dump(), "params": _put(params, path, other)})
            steps = (*plan.steps[:place], made, *plan.steps[place + 1 :])
            yield f"{step.id} {'.'.join(map(str, path))}: {other!r}", plan.model_copy(update={"steps": steps})


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(inner, (*path, key))
    else:
        yield path, value


def _other(path: tuple[str | int, ...], value: Any) -> Any:
    if path[-1] in ("as", "title"):
        return None
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if path[-1] == "value":
        return "2024-03-01" if value.startswith("20") else f"{value}x"
    return OTHER.get(value)


def _put(params: Any, path: tuple[str | int, ...], value: Any) -> Any:
    made = copy.deepcopy(params)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return made
