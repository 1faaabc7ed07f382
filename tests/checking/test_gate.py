"""The gate as a whole: who may make a CheckedPlan, what a refusal carries, what is repaired."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.plan import CheckedPlan, Plan
from groundplan.contracts.verdict import Passed, Refused, Verdict
from tests.checking.asked import SCHEMA, asked, catalog

SOURCE = Path(__file__).parents[2] / "src" / "groundplan"

TOTAL = {"column": "revenue", "function": "sum", "as": "revenue"}
ASKED = ("metric:revenue:sum", "group_by:region", "output:table")


def steps(**aggregate: Any) -> list[dict[str, Any]]:
    params = {"table": "sales", "group_by": ["region"], "metrics": [TOTAL], **aggregate}
    return [
        {
            "id": "total",
            "tool": "aggregate",
            "params": params,
            "satisfies": ["metric:revenue", "group_by:region"],
        },
        {"id": "show", "tool": "show_table", "needs": ["total"], "satisfies": ["output:table"]},
    ]


@pytest.fixture(scope="module")
def tools() -> Catalog:
    return catalog()


def verdict_on(steps: list[dict[str, Any]], tools: Catalog, asks: tuple[str, ...] = ASKED) -> Verdict:
    plan = Plan.model_validate({"strategy": "hand", "steps": steps})
    return check(plan, asked(*asks), tools, {"tables": SCHEMA})


@pytest.mark.requirement("R32")
def test_a_sound_plan_passes_with_its_coverage(tools: Catalog) -> None:
    verdict = verdict_on(steps(), tools)
    assert isinstance(verdict, Passed), verdict
    assert {c.requirement: c.steps for c in verdict.plan.coverage} == {
        "metric:revenue": ("total",),
        "group_by:region": ("total",),
        "output:table": ("show",),
    }
    assert verdict.plan.ends == ("show",)
    assert verdict.plan.inputs["show"]["table"].steps == ("total",)


@pytest.mark.requirement("R33")
def test_a_refusal_says_what_is_missing_and_what_to_remove(tools: Catalog) -> None:
    extra = {
        "id": "odd",
        "tool": "detect_anomalies",
        "params": {"table": "sales", "column": "revenue"},
        "satisfies": ["metric:revenue"],
    }
    verdict = verdict_on([*steps(group_by=[]), extra], tools)
    assert isinstance(verdict, Refused)
    assert "group_by:region" in verdict.missing
    assert verdict.remove == ("odd",)


@pytest.mark.requirement("R33")
@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        ({"group_by": []}, "group_by:region"),
        ({"metrics": [{**TOTAL, "function": "mean"}]}, "metric:revenue"),
        ({"table": "sales"}, "filter:channel"),
    ],
)
def test_a_plan_that_means_something_else_is_refused_with_what_it_lacks(
    changed: dict[str, Any], missing: str, tools: Catalog
) -> None:
    asks = (*ASKED, "filter:channel:=:web") if missing == "filter:channel" else ASKED
    verdict = verdict_on(steps(**changed), tools, asks)
    assert isinstance(verdict, Refused)
    assert missing in [issue.requirement for issue in verdict.issues if issue.code == "meaning/differs"]
    assert missing in verdict.missing


@pytest.mark.requirement("R32")
def test_all_rules_run_so_that_a_planner_repairs_once(tools: Catalog) -> None:
    broken = [
        {"id": "a", "tool": "agregate"},
        {
            "id": "b",
            "tool": "show_table",
            "needs": ["zzz"],
            "params": {"order_by": ["nope"], "table": "sales"},
        },
    ]
    verdict = verdict_on(broken, tools)
    assert isinstance(verdict, Refused)
    families = {issue.code.split("/")[0] for issue in verdict.issues}
    assert {"shape", "names", "coverage"} <= families


@pytest.mark.requirement("R35")
def test_only_the_gate_makes_a_checked_plan(tools: Catalog) -> None:
    verdict = verdict_on(steps(), tools)
    assert isinstance(verdict, Passed)
    checked = verdict.plan
    fields = {name: getattr(checked, name) for name in CheckedPlan.model_fields}
    with pytest.raises(ValidationError, match="only the gate"):
        CheckedPlan(**fields)
    with pytest.raises(ValidationError, match="only the gate"):
        CheckedPlan.model_validate_json(checked.model_dump_json())
    with pytest.raises(TypeError):
        CheckedPlan.model_construct(**fields)
    with pytest.raises(TypeError):
        checked.model_copy(update={"steps": ()})
    with pytest.raises(ValidationError):
        checked.steps = ()  # type: ignore[misc]
    with pytest.raises(TypeError):
        checked.steps[0].params["group_by"] = ["channel"]  # type: ignore[index]


@pytest.mark.requirement("R35")
def test_no_other_source_file_speaks_the_gates_word() -> None:
    makers = [f for f in SOURCE.rglob("*.py") if re.search(r"CheckedPlan(\(|\.model_validate)|MADE_BY", f.read_text())]
    assert sorted(f.relative_to(SOURCE).as_posix() for f in makers) == [
        "checking/gate.py",
        "contracts/plan.py",
    ]


@pytest.mark.requirement("R39")
def test_safe_repairs_are_made_and_logged(tools: Catalog) -> None:
    one_table = SCHEMA.model_copy(update={"tables": SCHEMA.tables[:1]})
    params = {"group_by": ["Region"], "metrics": [TOTAL]}
    sloppy = [{**steps()[0], "params": params}, steps()[1]]
    plan = Plan.model_validate({"strategy": "hand", "steps": sloppy})
    verdict = check(plan, asked(*ASKED), tools, {"tables": one_table})
    assert isinstance(verdict, Passed), verdict
    made = {(r.step, r.path, r.kind, r.before, r.after) for r in verdict.plan.repairs}
    assert ("total", "params.table", "table", None, "sales") in made
    assert ("total", "params.group_by.0", "casing", "Region", "region") in made
    assert ("total", "params.grain", "default", None, "none") in made
    assert verdict.plan.steps[0].params["group_by"] == ("region",)
    assert plan.steps[0].params["group_by"] == ("Region",), "the proposal itself is never modified"


@pytest.mark.requirement("R39")
@pytest.mark.parametrize(
    "change",
    [{"group_by": ["regions"]}, {"metrics": [{**TOTAL, "column": "revenu"}]}, {"grain": "moth"}],
    ids=["grouping", "metric", "grain"],
)
def test_a_repair_that_would_change_the_meaning_is_refused(change: dict[str, Any], tools: Catalog) -> None:
    assert isinstance(verdict_on(steps(**change), tools), Refused)


@pytest.mark.requirement("R36")
def test_steps_with_an_effect_are_listed_for_approval(tools: Catalog) -> None:
    mail = [{"id": "mail", "tool": "send_mail", "params": {"to": "customer"}, "satisfies": ["goal:greet"]}]
    verdict = verdict_on(mail, tools, ("goal:greet",))
    assert isinstance(verdict, Passed), verdict
    assert verdict.plan.writes == ("mail",)
