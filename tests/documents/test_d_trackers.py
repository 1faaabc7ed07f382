"""The retrieval planner's flows: statuses as people say them, and plans that can be seen with priority and query."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from groundplan.interfaces.cli.main import app
from groundplan.project import Project
from tests.trackers import truth
from tests.trackers.shop import TODAY, Shop, answered, ask, listed, shop


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with shop(tmp_path_factory.mktemp("shop"), request_seconds=10, requests=60) as opened:
        yield opened


@pytest.fixture
def project(servers: Shop, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.chdir(servers.folder)
    with Project(servers.settings) as opened:
        yield opened


def state(issue: truth.Thing) -> str | None:
    found = next(field["value"] for field in issue["customFields"] if field["name"] == "State")
    return found["name"] if found else None


@pytest.mark.requirement("R23")
@pytest.mark.parametrize(
    ("question", "projects"),
    [
        ("in-progress issues in web", ("web",)),
        ("issues in progress", ("web", "api")),
        ("задачи в работе", ("web", "api")),
    ],
)
def test_issues_in_progress_are_those_with_that_state(
    project: Project, question: str, projects: tuple[str, ...]
) -> None:
    wanted = [issue for issue in truth.issues(*projects) if state(issue) == "In Progress"]
    assert wanted
    answer = answered(ask(project, question))
    assert sum(group.count for group in answer.facts.groups) == len(wanted)


@pytest.mark.requirement("R23")
def test_open_issues_hold_those_in_progress(project: Project) -> None:
    """`unresolved` names both statuses: one condition covers them."""
    wanted = [issue for issue in truth.issues("web") if truth.is_open(issue)]
    answer = answered(ask(project, "unresolved issues in web"))
    assert sum(group.count for group in answer.facts.groups) == len(wanted)


@pytest.mark.requirement("R23")
def test_merge_requests_have_no_such_state_and_it_is_asked(project: Project) -> None:
    assert ask(project, "merge requests in progress in web").kind == "clarification"


@pytest.mark.requirement("R23")
def test_plans_are_shown_with_priority_source_and_query_string(servers: Shop, project: Project) -> None:
    lines = (
        "plan0_query: priority 8, gitlab: Retrieve recent commits for activity status projects:web dates:last week",
        "plan1_query: priority 8, youtrack: Retrieve open issues for health status "
        "projects:web statuses:open,in-progress",
    )
    planned = project.plan("status of web", today=TODAY)
    assert planned.plan is not None
    assert planned.plan.provenance.log == lines
    assert planned.response.log[:2] == lines  # what HTTP returns
    for options in ([], ["--json"]):
        done = CliRunner().invoke(app, ["explain", "status of web", "--today", TODAY.isoformat(), *options])
        told = " ".join(done.stdout.split())
        assert all(line in told for line in lines), done.stdout
        if options:
            assert tuple(json.loads(done.stdout)["log"]) == lines


@pytest.mark.requirement("R23")
def test_both_lists_of_a_question_are_there(servers: Shop, project: Project) -> None:
    told = listed(servers.asked("commits and issues per project last week"))
    commits = truth.within(truth.commits("web", "api"), "committed_date", "2026-03-02", "2026-03-08")
    issues = truth.within(truth.issues("web", "api"), "created", "2026-03-02", "2026-03-08")
    assert sum(count for title, (count, _) in told.items() if title.startswith("Commits")) == len(commits)
    assert sum(count for title, (count, _) in told.items() if title.startswith("Issues")) == len(issues)


@pytest.mark.requirement("R23")
@pytest.mark.parametrize("name", ["Anna", "Anna Berg"])
def test_commits_by_a_person_are_that_persons(project: Project, name: str) -> None:
    week = truth.within(truth.commits("web", "api"), "committed_date", "2026-03-02", "2026-03-08")
    wanted = [commit for commit in week if name in commit["author_name"]]
    assert 0 < len(wanted) < len(week)
    answer = answered(ask(project, f"commits by {name} last week"))
    assert sum(group.count for group in answer.facts.groups) == len(wanted)


@pytest.mark.requirement("R23")
def test_issues_assigned_to_a_person_are_that_persons(project: Project) -> None:
    wanted = [issue for issue in truth.issues("web") if "Anna" in (truth.assignee(issue) or "")]
    answer = answered(ask(project, "issues assigned to Anna in web"))
    assert sum(group.count for group in answer.facts.groups) == len(wanted) > 0


@pytest.mark.requirement("R23")
@pytest.mark.parametrize("question", ["commits assigned to Anna last week", "status of web by Anna"])
def test_a_list_that_has_no_such_person_is_asked_about(project: Project, question: str) -> None:
    assert ask(project, question).kind in ("clarification", "refusal")


@pytest.mark.requirement("R23")
def test_nobody_of_that_name_is_an_honest_none(project: Project) -> None:
    told = ask(project, "commits by Zanzibar last week")
    assert told.kind == "answer"
    assert sum(group.count for group in answered(told).facts.groups) == 0
