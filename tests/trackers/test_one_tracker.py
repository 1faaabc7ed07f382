"""One of the trackers is set up, or a project in one of them only: what can be had comes, and nothing else breaks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from groundplan.contracts.answer import Answer
from groundplan.project import Project
from tests.trackers import truth
from tests.trackers.shop import Shop, answered, ask

ISSUES = len([*filter(truth.is_open, truth.issues("web"))])
COMMITS = len(truth.within(truth.commits("web"), "committed_date", "2026-03-02", "2026-03-08"))


@pytest.fixture
def gitlab_alone(servers: Shop) -> Iterator[Project]:
    with Project({"gitlab": servers.settings["gitlab"]}) as project:
        yield project


@pytest.fixture
def youtrack_alone(servers: Shop) -> Iterator[Project]:
    with Project({"youtrack": servers.settings["youtrack"]}) as project:
        yield project


@pytest.mark.requirement("R48")
def test_a_status_is_what_the_only_tracker_knows(gitlab_alone: Project, youtrack_alone: Project) -> None:
    found = [answered(ask(project, "status of web")).facts.groups for project in (gitlab_alone, youtrack_alone)]
    assert [[(group.title, group.count) for group in groups] for groups in found] == [
        [("Commits", COMMITS)],
        [("Issues", ISSUES)],
    ]


def test_a_list_needs_nothing_that_stands_in_for_it(youtrack_alone: Project) -> None:
    [group] = answered(ask(youtrack_alone, "open issues of web")).facts.groups
    assert (group.title, group.count) == ("Issues", ISSUES)


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(
    "question", ["open issues of web", "open issues by assignee", "commits and open issues of web", "задачи web"]
)
def test_a_list_that_no_tracker_holds_is_not_left_out_in_silence(
    servers: Shop, gitlab_alone: Project, question: str
) -> None:
    outcome = ask(gitlab_alone, question)
    assert not isinstance(outcome, Answer), outcome.text
    assert servers.gitlab.requests == []


@pytest.mark.requirement("R42", "R44")
def test_a_project_that_one_tracker_does_not_know_is_named(servers: Shop) -> None:
    settings = servers.settings
    settings["youtrack"] = {**settings["youtrack"], "projects": {"api": "API"}}
    with Project(settings) as project:
        answer = answered(ask(project, "status of web"))
    assert ("Commits", COMMITS) in [(group.title, group.count) for group in answer.facts.groups]
    assert "'web' is not configured; available: api" in answer.text
