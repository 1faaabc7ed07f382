"""Lists come side by side; where one cannot be had, the other stands in for it and the text says so."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from groundplan.contracts.answer import Refusal
from groundplan.project import Project
from tests.patience import SOON
from tests.trackers import truth
from tests.trackers.shop import Shop, answered, ask, shop

WEEK = ("2026-03-02", "2026-03-08")
COMMITS = len(truth.within(truth.commits("web"), "committed_date", *WEEK))
ISSUES = len([*filter(truth.is_open, truth.issues("web"))])
MERGE_REQUESTS = len([request for request in truth.merge_requests("web") if request["state"] == "opened"])


def was_asked(servers: Shop, what: str) -> bool:
    return any(request.path.endswith(what) for request in servers.gitlab.requests)


@pytest.mark.requirement("R42", "R44")
@pytest.mark.parametrize(("question", "not_done"), [("status of web", "Not done"), ("статус web", "Не выполнено")])
def test_without_youtrack_a_status_has_open_merge_requests_instead_of_issues(
    servers: Shop, project: Project, question: str, not_done: str
) -> None:
    servers.youtrack.fault = "503"
    answer = answered(ask(project, question))
    assert {group.title: group.count for group in answer.facts.groups} == {
        "Commits": COMMITS,
        "Merge requests": MERGE_REQUESTS,
    }
    [failure] = answer.facts.failures
    assert (failure.step, failure.status) == ("issues", "failed")
    assert not_done in answer.text
    assert f"{servers.youtrack.url}/api/issues is busy (HTTP 503)" in answer.text


@pytest.mark.requirement("R42")
def test_what_stands_in_is_not_asked_for_while_nothing_fails(servers: Shop, project: Project) -> None:
    answer = answered(ask(project, "status of web"))
    assert {group.title: group.count for group in answer.facts.groups} == {"Commits": COMMITS, "Issues": ISSUES}
    assert [(failure.step, failure.status) for failure in answer.facts.failures] == [("merge_requests", "skipped")]
    assert not was_asked(servers, "merge_requests")
    assert "Not done" not in answer.text


@pytest.mark.requirement("R42", "R44")
def test_without_gitlab_the_issues_are_left_and_gitlab_is_named(servers: Shop, project: Project) -> None:
    servers.gitlab.fault = "401"
    answer = answered(ask(project, "status of web"))
    assert {group.title: group.count for group in answer.facts.groups} == {"Issues": ISSUES}
    assert f"{servers.gitlab.url}/api/v4/projects/shop%2Fweb/repository/commits refused the token" in answer.text


@pytest.mark.requirement("R42", "R44")
def test_without_both_nothing_is_answered_and_both_are_named(servers: Shop, project: Project) -> None:
    servers.gitlab.fault = servers.youtrack.fault = "403"
    refusal = ask(project, "status of web")
    assert isinstance(refusal, Refusal), refusal.text
    assert all(served.url in refusal.text for served in servers.servers)


@pytest.mark.requirement("R42")
def test_three_lists_are_asked_for_before_the_first_is_answered(tmp_path: Path) -> None:
    """No server answers its first call before every list has been asked for: one after another would never end."""
    together = threading.Barrier(3, timeout=SOON)

    def waiting(calls: int) -> Callable[[int], None]:
        def wait(number: int) -> None:
            if number <= calls:
                together.wait()

        return wait

    with shop(tmp_path) as servers, Project(servers.settings) as project:
        servers.gitlab.before, servers.youtrack.before = waiting(2), waiting(1)
        answer = answered(ask(project, "What happened in project web last week?"))
    assert not together.broken
    assert len(answer.facts.groups) == 3
    assert servers.gitlab.most_at_once == 2
