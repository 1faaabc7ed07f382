"""The retrieval planner's flows: statuses as people say them, and plans that can be seen with priority and query."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from groundplan.contracts.answer import Answer
from groundplan.contracts.contract import Scalar
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


MONTH, BEFORE, WEEK = ("2026-03-01", "2026-03-31"), ("2026-02-01", "2026-02-28"), ("2026-03-02", "2026-03-08")


def numbers(first: str, last: str) -> dict[str, int]:
    """Of the project web: what was committed, opened, merged and closed from the first day to the last."""
    merged = [request for request in truth.merge_requests("web") if request["merged_at"]]
    closed = [issue for issue in truth.issues("web") if issue["resolved"] is not None]
    return {
        "commits": len(truth.within(truth.commits("web"), "committed_date", first, last)),
        "merge requests opened": len(truth.within(truth.merge_requests("web"), "created_at", first, last)),
        "merge requests merged": len(truth.within(merged, "merged_at", first, last)),
        "issues opened": len(truth.within(truth.issues("web"), "created", first, last)),
        "issues closed": len(truth.within(closed, "resolved", first, last)),
    }


def days_to_close(first: str, last: str) -> float:
    closed = [issue for issue in truth.issues("web") if issue["resolved"] is not None]
    spans = [
        truth.at(one, "resolved") - truth.at(one, "created") for one in truth.within(closed, "resolved", first, last)
    ]
    return sum(span.total_seconds() for span in spans) / len(spans) / 86_400


def compared(answer: Answer) -> dict[str, tuple[int, int]]:
    """By the title of a table: the number of the period and of the one before."""
    return {one.title: (one.rows[0][0], one.rows[0][1]) for one in answer.tables if "previous" in one.columns}


@pytest.mark.requirement("R23")
@pytest.mark.parametrize(
    "question", ["analytics for web this month", "statistics of web", "metrics for web in March 2026"]
)
def test_analytics_are_numbers_compared_with_the_month_before(project: Project, question: str) -> None:
    answer = answered(ask(project, question))
    now, then = numbers(*MONTH), numbers(*BEFORE)
    assert compared(answer) == {name: (now[name], then[name]) for name in now}
    weekly = next(one for one in answer.tables if one.columns == ("committed_at", "commits"))
    weeks = truth.counts(
        truth.within(truth.commits("web"), "committed_date", *MONTH),
        lambda commit: truth.monday(truth.at(commit, "committed_date").date()),
    )
    assert {str(week): count for week, count in weekly.rows} == weeks
    closing = next(one for one in answer.tables if "mean days to close" in one.columns)
    expected = [days_to_close(*BEFORE), days_to_close(*MONTH)]
    assert [row[1] for row in closing.rows] == pytest.approx(expected)
    assert "Issues closed rose from 5 (February 2026) to 7 (March 2026)" in answer.text


@pytest.mark.requirement("R23")
def test_analytics_are_asked_in_russian_too(project: Project) -> None:
    answer = answered(ask(project, "аналитика web за этот месяц"))
    assert [*compared(answer).values()] == [*zip(numbers(*MONTH).values(), numbers(*BEFORE).values(), strict=True)]
    assert "Закрытые задачи: рост с 5 (февраль 2026) до 7 (март 2026)" in answer.text


@pytest.mark.requirement("R23")
@pytest.mark.parametrize(
    ("question", "open_"), [("analytics for web this month", True), ("analytics for web last month", False)]
)
def test_a_period_that_is_not_over_is_told(project: Project, question: str, open_: bool) -> None:
    told = any("is not over" in note for note in answered(ask(project, question)).notes)
    assert told == open_


@pytest.mark.requirement("R23")
def test_analytics_show_their_plans(project: Project) -> None:
    planned = project.plan("analytics for web this month", today=TODAY)
    assert planned.plan is not None
    assert planned.plan.provenance.log == (
        "plan0_query: priority 9, gitlab: Retrieve commit metrics from GitLab projects:web dates:this month",
        "plan1_query: priority 9, youtrack: Retrieve issue metrics from YouTrack projects:web dates:this month",
    )


@pytest.mark.requirement("R23")
@pytest.mark.parametrize(
    "question", ["analytics by project last week", "analytics for web by Anna", "analytics by week"]
)
def test_analytics_that_would_be_other_numbers_are_asked_about(project: Project, question: str) -> None:
    assert ask(project, question).kind == "clarification"


def counts_of(answer: Answer) -> list[dict[Scalar, Scalar]]:
    """Of each table: the last column by the first."""
    return [{row[0]: row[-1] for row in one.rows} for one in answer.tables]


@pytest.mark.requirement("R23")
@pytest.mark.parametrize(
    "question",
    ["how many commits and issues per project last week", "сколько коммитов и задач по проектам за прошлую неделю"],
)
def test_both_lists_are_counted(project: Project, question: str) -> None:
    commits = {name: len(truth.within(truth.commits(name), "committed_date", *WEEK)) for name in ("web", "api")}
    issues = {name: len(truth.within(truth.issues(name), "created", *WEEK)) for name in ("web", "api")}
    answer = answered(ask(project, question))
    assert counts_of(answer) == [commits, issues]
    assert not answer.notes


@pytest.mark.requirement("R23")
def test_both_lists_are_there_in_russian(servers: Shop, project: Project) -> None:
    told = listed(servers.asked("коммиты и задачи по проектам за прошлую неделю"))
    commits = truth.within(truth.commits("web", "api"), "committed_date", *WEEK)
    issues = truth.within(truth.issues("web", "api"), "created", *WEEK)
    assert sum(count for title, (count, _) in told.items() if title.startswith("Commits")) == len(commits)
    assert sum(count for title, (count, _) in told.items() if title.startswith("Issues")) == len(issues)


@pytest.mark.requirement("R23")
@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("how many commits by Anna last week", "Anna"),
        ("how many commits did Anna make last week", "Anna"),
        ("сколько коммитов сделал Борис за прошлую неделю", "Борис"),
    ],
)
def test_commits_of_a_person_are_counted(project: Project, question: str, name: str) -> None:
    week = truth.within(truth.commits("web", "api"), "committed_date", *WEEK)
    wanted = [commit for commit in week if name in commit["author_name"]]
    assert 0 < len(wanted) < len(week)
    assert [one.rows for one in answered(ask(project, question)).tables] == [((len(wanted),),)]


@pytest.mark.requirement("R23")
def test_a_persons_issues_are_counted_by_a_column_and_along_time(project: Project) -> None:
    wanted = [issue for issue in truth.issues("web", "api") if "Anna" in issue["reporter"]["fullName"]]
    by_state = answered(ask(project, "how many issues by Anna by state"))
    assert counts_of(by_state) == [truth.counts(wanted, state)]
    months = truth.counts(wanted, lambda issue: truth.at(issue, "created").strftime("%Y-%m-01"))
    monthly = answered(ask(project, "issues by Anna per month"))
    assert counts_of(monthly) == [months]


@pytest.mark.requirement("R23")
@pytest.mark.parametrize(
    "question", ["average commits by Anna per week", "compare commits and issues in web last week"]
)
def test_what_is_no_count_of_a_person_is_asked_about(project: Project, question: str) -> None:
    assert ask(project, question).kind == "clarification"
