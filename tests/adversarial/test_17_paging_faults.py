"""Pages that are missing, repeated or shifted: the number of rows is right, or the result says that it is not whole."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from groundplan.contracts.answer import Answer
from groundplan.contracts.facts import Complete, Truncated
from groundplan.project import Project
from tests.sources.trackers import data
from tests.sources.trackers.calling import (
    call,
    column,
    gitlab,
    gitlab_double,
    youtrack,
    youtrack_double,
)
from tests.sources.trackers.serving import only, serving
from tests.sources.trackers.test_gitlab import _at
from tests.sources.trackers.test_youtrack import truth
from tests.trackers.shop import Shop, ask, shop
from tests.trackers.test_faults import AGGREGATE, LIST, counted, pages_without_end, the_same_page, troubled


@pytest.mark.requirement("R44")
@pytest.mark.parametrize("question", [LIST, AGGREGATE])
def test_a_failing_second_page_leaves_the_first_and_says_so(servers: Shop, project: Project, question: str) -> None:
    troubled(servers, question, "500", only(2))
    outcome = ask(project, question)
    assert isinstance(outcome, Answer), outcome.text
    assert (counted(outcome), outcome.facts.state.kind) == (100, "truncated")
    assert "Not everything is shown" in outcome.text
    assert "HTTP 500" in outcome.text


@pytest.mark.requirement("R42", "R48")
@pytest.mark.parametrize(
    ("behaviour", "reason", "requests"),
    [(the_same_page, "so later rows are missing", 2), (pages_without_end, "used up its requests", 5)],
)
@pytest.mark.parametrize("question", [LIST, AGGREGATE])
def test_pages_that_lead_nowhere_are_left_and_told(
    tmp_path: Path, question: str, behaviour: Any, reason: str, requests: int
) -> None:
    with shop(tmp_path, behaviour, behaviour, requests=5) as servers, Project(servers.settings) as project:
        outcome = ask(project, question)
    assert isinstance(outcome, Answer), outcome.text
    assert outcome.facts.state.kind == "truncated"
    assert reason in outcome.text
    assert sum(len(served.requests) for served in servers.servers) == requests


@pytest.mark.requirement("R42", "R49")
def test_more_than_the_limit_leaves_the_newest_and_says_so(tmp_path: Path) -> None:
    with serving(gitlab_double()) as served:
        result = call(gitlab(served, tmp_path), "gitlab_commits", projects=["shop/web"], limit=40)
    newest = sorted(gitlab_double().commits["shop/web"], key=_at, reverse=True)[:40]
    assert set(column(result, "id")) == {commit["short_id"] for commit in newest}
    assert result.facts.state == Truncated(reason="the limit is 40, and there are more")
    assert len(served.requests) == 1


def test_a_limit_at_the_end_of_a_page_says_that_there_is_more(tmp_path: Path) -> None:
    with serving(gitlab_double()) as served:
        result = call(gitlab(served, tmp_path), "gitlab_commits", projects=["shop/web"], limit=100)
    assert (result.facts.rows, result.facts.state.kind) == (100, "truncated")


def test_a_row_that_comes_while_pages_are_read_is_counted_at_most_once(tmp_path: Path) -> None:
    double = gitlab_double()

    def push(number: int) -> None:
        if number == 2:
            double.commits["shop/web"].append(data.commit("shop/web", 999, datetime(2027, 1, 1, tzinfo=UTC), 1))

    with serving(double, before=push) as served:
        result = call(gitlab(served, tmp_path), "gitlab_commits", projects=["shop/web"])
    ids = column(result, "id")
    assert len(ids) == len(set(ids)) == 250, "those that were there when the reading began"


def test_a_row_that_goes_while_pages_are_read_marks_the_result(tmp_path: Path) -> None:
    double = gitlab_double()

    def withdraw(number: int) -> None:
        if number == 2:
            double.merge_requests["shop/web"].remove(
                max(double.merge_requests["shop/web"], key=lambda m: m["created_at"])
            )

    with serving(double, before=withdraw) as served:
        result = call(gitlab(served, tmp_path), "gitlab_merge_requests", projects=["shop/web"])
    assert isinstance(result.facts.state, Truncated)
    assert "changed while it was read" in result.facts.state.reason


@pytest.mark.requirement("R48")
@pytest.mark.parametrize("most", [1_000, 42, 7], ids=["as asked", "42 a page", "7 a page"])
def test_every_issue_comes_whatever_the_server_sends_at_once(tmp_path: Path, most: int) -> None:
    with serving(youtrack_double(most=most)) as served:
        result = call(youtrack(served, tmp_path), "youtrack_issues", projects=["WEB"])
    assert set(column(result, "id")) == {issue["idReadable"] for issue in truth("WEB")}
    assert (result.facts.rows, result.facts.state) == (243, Complete())
    assert all(request.one("$top") == "100" for request in served.requests)
