"""Filters that are applied where the rows lie: what was asked for, all of it and nothing else, or the gate says no."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.asking.lists import plan as retrieval
from groundplan.asking.lists.plan import load_rules
from groundplan.asking.remote_tables import Fetching
from groundplan.asking.tables import plan as rules
from groundplan.checking.gate import check
from groundplan.context import Context
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.verdict import Passed, Refused, Verdict
from groundplan.project import AsyncProject
from tests.trackers.shop import described

DATES = {
    "commits": ("committed_at",),
    "merge_requests": ("created_at", "updated_at", "merged_at"),
    "issues": ("created_at", "updated_at", "resolved_at"),
}
STATUSES = {
    "commits": {},
    "merge_requests": {"state": ("opened", "merged")},
    "issues": {"status": ("open", "resolved")},
}
GROUPS = {"commits": "author", "merge_requests": "author", "issues": "assignee"}
PERIODS = (("2026-03-02", "2026-03-09"), ("2026-01-01", "2026-04-01"))
OTHER = {
    "projects": ["api", "web", "other"],
    "since": "2025-12-01",
    "until": "2026-12-01",
    "state": "closed",
    "status": "all",
}
"""In place of what was pushed: never what a reading below asks for."""


@cache
def world() -> AsyncProject:
    return described()


def tables() -> SourceSchema:
    return Context(world().catalog, world().schemas, retriever=None).tables  # type: ignore[arg-type]


def fetching(timezone: str = "UTC") -> Fetching:
    return Fetching({tool.output.table: tool for tool in world().catalog.tools.values() if tool.output.table}, timezone)


def judged(plan: Plan, reading: Reading) -> Verdict:
    return check(plan, reading, world().catalog, world().schemas)


def need(id_: str, **value: Any) -> dict[str, Any]:
    return {"id": id_, "value": {"kind": id_.partition(":")[0], **value}, "evidence": {"text": "said"}}


def kept(column: str, operator: str, values: tuple[str, ...], table: str | None = None) -> dict[str, Any]:
    id_ = f"filter:{table}.{column}" if table else f"filter:{column}"
    return need(id_, table=table, column=column, operator=operator, values=values)


def asked(tables: list[str], *needs: dict[str, Any]) -> Reading:
    return Reading.model_validate(
        {"question": "a question", "tables": tables, "requirements": needs, "intents": [{"name": "comparison"}]}
    )


def listing(tables: list[str], *needs: dict[str, Any]) -> Reading:
    return asked(tables, *(need(f"intent:{table}", intent=table) for table in tables), *needs)


def counting(table: str, *needs: dict[str, Any]) -> Reading:
    return asked([table], *needs, need("metric:rows", function="count"), need("output:table", label="table"))


@st.composite
def filters(draw: st.DrawFn, table: str, named: bool) -> list[dict[str, Any]]:
    """Any of: projects, a period, a status."""
    owner = table if named else None
    found = []
    if projects := draw(st.sampled_from([(), ("web",), ("api",), ("web", "api")])):
        found.append(kept("project", "in" if len(projects) > 1 else "=", projects, owner))
    if column := draw(st.sampled_from([None, *DATES[table]])):
        found.append(kept(column, "between", draw(st.sampled_from(PERIODS)), owner))
    for column, values in STATUSES[table].items():
        if value := draw(st.sampled_from([None, *values])):
            found.append(kept(column, "=", (value,), owner))
    return found


@st.composite
def lists(draw: st.DrawFn) -> Reading:
    tables = draw(st.lists(st.sampled_from([*DATES]), min_size=1, max_size=3, unique=True))
    about = dict.fromkeys([*tables, *(["merge_requests"] if "issues" in tables else [])])
    return listing(tables, *(one for table in about for one in draw(filters(table, named=True))))


@st.composite
def numbers(draw: st.DrawFn) -> Reading:
    table = draw(st.sampled_from([*DATES]))
    grouped = [need(f"group_by:{GROUPS[table]}", column=GROUPS[table])] if draw(st.booleans()) else []
    return counting(table, *draw(filters(table, named=False)), *grouped)


def planned(reading: Reading, timezone: str = "UTC") -> Plan:
    if reading.requirements[0].kind == "intent":
        return retrieval.propose(reading, fetching(timezone), load_rules())
    return rules.propose(reading, tables(), fetching(timezone))


def spoilt(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """The plan with one pushed param left out or changed, each in turn."""
    for place, step in enumerate(plan.steps):
        pushed = dict(step.params) if step.tool and step.tool.startswith(("gitlab_", "youtrack_")) else {}
        for name, value in pushed.items():
            others = {key: one for key, one in pushed.items() if key != name}
            if (name, value) != ("by", "created"):  # what the tool does without it anyway
                yield f"{step.id} without {name}", _with_params(plan, place, others)
            other = OTHER.get(name) or ("created" if value == "updated" else "updated")
            yield f"{step.id} with another {name}", _with_params(plan, place, {**others, name: other})


def _with_params(plan: Plan, place: int, params: dict[str, Any]) -> Plan:
    steps = [*plan.steps]
    steps[place] = steps[place].model_copy(update={"params": params})
    return Plan.model_validate_json(plan.model_copy(update={"steps": tuple(steps)}).model_dump_json())


@pytest.mark.requirement("R23", "R32")
@settings(max_examples=60, deadline=None)
@given(reading=st.one_of(lists(), numbers()), timezone=st.sampled_from(["UTC", "Europe/Moscow"]))
def test_what_is_planned_passes(reading: Reading, timezone: str) -> None:
    plan = planned(reading, timezone)
    verdict = judged(plan, reading)
    assert isinstance(verdict, Passed), verdict.issues
    assert {repair.kind for repair in verdict.plan.repairs} <= {"default"}, "nothing had to be put right"
    assert all(item.ok for item in verdict.plan.coverage)


@pytest.mark.requirement("R23", "R32")
@settings(max_examples=40, deadline=None)
@given(reading=st.one_of(lists(), numbers()))
def test_any_filter_that_is_left_out_or_changed_is_refused(reading: Reading) -> None:
    for fault, plan in spoilt(planned(reading)):
        verdict = judged(plan, reading)
        assert isinstance(verdict, Refused), fault
        assert any(issue.code.startswith(("coverage/", "meaning/")) for issue in verdict.issues), fault


STATUS_OF_WEB = listing(["issues"], kept("project", "=", ("web",), "issues"))


@pytest.mark.requirement("R32")
@pytest.mark.parametrize(
    ("reading", "params"),
    [
        (STATUS_OF_WEB, {"projects": ["web"], "status": "open"}),
        (STATUS_OF_WEB, {"projects": ["web"], "since": "2026-01-01"}),
        (STATUS_OF_WEB, {"projects": ["web"], "assignee": "anna"}),
        (STATUS_OF_WEB, {"projects": ["api"]}),
        (STATUS_OF_WEB, {"projects": ["web", "api"]}),
        (
            listing(["issues"], kept("created_at", "between", PERIODS[0], "issues")),
            {"since": "2026-02-02", "until": "2026-03-09"},
        ),
        (
            listing(["issues"], kept("created_at", "between", PERIODS[0], "issues")),
            {"since": "2026-03-02", "until": "2026-03-09", "by": "updated"},
        ),
    ],
    ids=["status", "half a period", "assignee", "another project", "one project more", "longer", "another date"],
)
def test_a_filter_that_nobody_asked_for_is_refused(reading: Reading, params: dict[str, Any]) -> None:
    cited = [requirement.id for requirement in reading.requirements]
    step = {"id": "issues", "tool": "youtrack_issues", "params": params, "satisfies": cited}
    verdict = judged(Plan.model_validate({"strategy": "hand", "steps": [step]}), reading)
    assert isinstance(verdict, Refused)
    assert "coverage/unasked-filter" in {issue.code for issue in verdict.issues}


@pytest.mark.requirement("R32")
@pytest.mark.parametrize(
    ("cited", "code"), [(True, "coverage/unfiltered"), (False, "coverage/missing")], ids=["cited", "not cited"]
)
def test_a_filter_that_was_asked_for_is_not_left_out(cited: bool, code: str) -> None:
    satisfies = ["intent:issues", *(["filter:issues.project"] if cited else [])]
    step = {"id": "issues", "tool": "youtrack_issues", "satisfies": satisfies}
    verdict = judged(Plan.model_validate({"strategy": "hand", "steps": [step]}), STATUS_OF_WEB)
    assert isinstance(verdict, Refused)
    assert {issue.code for issue in verdict.issues} == {code}


def test_what_a_server_cannot_filter_is_left_to_the_rows() -> None:
    """A second date, and a value that the tool does not list."""
    reading = counting(
        "issues",
        kept("created_at", "between", PERIODS[1]),
        kept("resolved_at", "between", PERIODS[0]),
        kept("status", "=", ("stalled",)),
        kept("priority", "=", ("Major",)),
    )
    plan = planned(reading)
    assert plan.steps[0].params == {"since": "2026-01-01", "until": "2026-04-01", "by": "created"}
    [rows] = [step for step in plan.steps if step.tool == "filter_rows"]
    assert set(rows.satisfies) == {"filter:resolved_at", "filter:status", "filter:priority"}
    assert isinstance(judged(plan, reading), Passed)


@pytest.mark.requirement("R32")
@pytest.mark.parametrize(
    ("table", "column"), [("merge_requests", "author"), ("issues", "assignee"), ("commits", "author")]
)
def test_a_name_that_rows_show_is_not_sent_as_a_user_name(table: str, column: str) -> None:
    reading = counting(table, kept(column, "=", ("Anna Berg",)))
    plan = planned(reading)
    assert plan.steps[0].params == {}
    assert "filter_rows" in [step.tool for step in plan.steps if f"filter:{column}" in step.satisfies]
    assert isinstance(judged(plan, reading), Passed)


def test_days_begin_in_the_time_zone_of_the_question() -> None:
    reading = listing(["commits"], kept("committed_at", "between", PERIODS[0], "commits"))
    assert planned(reading, "Europe/Moscow").steps[0].params["timezone"] == "Europe/Moscow"
    assert "timezone" not in planned(reading).steps[0].params


@pytest.mark.requirement("R42")
def test_the_list_that_stands_in_has_filters_of_its_own_and_waits_for_a_failure() -> None:
    reading = listing(
        ["issues"],
        kept("project", "=", ("web",), "issues"),
        kept("project", "=", ("web",), "merge_requests"),
        kept("state", "=", ("opened",), "merge_requests"),
    )
    plan = planned(reading)
    assert [(step.id, dict(step.params)) for step in plan.steps] == [
        ("issues", {"projects": ("web",)}),
        ("merge_requests", {"projects": ("web",), "state": "opened"}),
    ]
    assert plan.fallback is not None
    assert (plan.fallback.when, plan.fallback.steps) == (("FAILED",), ("merge_requests",))


def test_nothing_stands_in_for_what_is_asked_for_itself() -> None:
    assert planned(listing(["issues", "merge_requests"])).fallback is None
