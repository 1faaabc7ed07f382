"""A tracker through the gate and the runner, as any other source: facts, coverage, and what is missing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.sources.trackers.calling import gitlab, gitlab_double, youtrack, youtrack_double
from tests.sources.trackers.serving import Fault, serving

from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.facts import Facts
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.verdict import Passed, Refused, Verdict
from groundplan.running.run import run
from groundplan.sources.gitlab.source import GitLab
from groundplan.sources.youtrack.source import YouTrack

CATALOG = Catalog.load([*GitLab.tools(), *YouTrack.tools()])
COMMITS = {"id": "commits", "tool": "gitlab_commits", "params": {"projects": ["shop/web"], "since": "2026-12-01"}}
ISSUES = {"id": "issues", "tool": "youtrack_issues", "params": {"projects": ["WEB"], "status": "open"}}
KEPT = [
    ("commits", "project", "=", "shop/web"),
    ("commits", "committed_at", ">=", "2026-12-01"),
    ("issues", "project", "=", "WEB"),
    ("issues", "status", "=", "open"),
]


async def checked(sources: dict[str, Any], *steps: dict[str, Any], kept: Any = KEPT) -> Verdict:
    lists = [need(f"intent:{step['id']}", {"kind": "intent", "intent": step["id"]}) for step in steps]
    filters = [
        need(
            f"filter:{table}.{column}",
            {"kind": "filter", "table": table, "column": column, "operator": sign, "values": [value]},
        )
        for table, column, sign, value in kept
        if table in {step["id"] for step in steps}
    ]
    reading = Reading.model_validate({"question": "the status of the shop", "requirements": [*lists, *filters]})
    cited = [{**step, "satisfies": [r.id for r in reading.requirements if f":{step['id']}" in r.id]} for step in steps]
    plan = Plan.model_validate({"strategy": "rules", "steps": cited})
    return check(plan, reading, CATALOG, {name: await source.describe() for name, source in sources.items()})


def need(id_: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": id_, "value": value, "evidence": {"text": "status"}}


def status(folder: Path, *steps: dict[str, Any], fault: Fault | None = None) -> Facts | Refused:
    async def through(sources: dict[str, Any]) -> Facts | Refused:
        verdict = await checked(sources, *steps)
        facts = await run(verdict.plan, sources) if isinstance(verdict, Passed) else verdict
        for source in sources.values():
            await source.close()
        return facts

    with serving(gitlab_double(), fault=fault) as one, serving(youtrack_double()) as other:
        return asyncio.run(through({"gitlab": gitlab(one, folder), "youtrack": youtrack(other, folder)}))


@pytest.mark.requirement("R42", "R44", "R48")
def test_commits_and_issues_make_one_set_of_facts(tmp_path: Path) -> None:
    facts = status(tmp_path, COMMITS, ISSUES)
    assert isinstance(facts, Facts), facts
    commits, issues = facts.groups
    assert {item.kind for item in commits.items} == {"commit"}
    assert {item.kind for item in issues.items} == {"issue"}
    assert (issues.title, issues.count, facts.state.kind) == ("Issues", 162, "complete")
    assert all(item.ok for item in facts.coverage)


@pytest.mark.requirement("R42", "R44")
def test_one_tracker_that_fails_leaves_the_other_and_is_named(tmp_path: Path) -> None:
    facts = status(tmp_path, COMMITS, ISSUES, fault="401")
    assert isinstance(facts, Facts), facts
    assert facts.found
    assert [group.title for group in facts.groups] == ["Issues"]
    [failure] = facts.failures
    assert (failure.step, failure.status) == ("commits", "failed")
    assert {item.requirement for item in facts.coverage if item.ok} == {
        "intent:issues",
        "filter:issues.project",
        "filter:issues.status",
    }


@pytest.mark.parametrize(
    "params", [{"projects": "WEB"}, {"url": "http://x"}, {"state": "any"}, {"timezone": "../../etc/passwd"}]
)
def test_the_gate_refuses_params_that_no_tool_has(tmp_path: Path, params: dict[str, Any]) -> None:
    assert isinstance(status(tmp_path, {**ISSUES, "params": params}), Refused)
