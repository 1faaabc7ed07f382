"""Whatever a server does, a question ends typed and in time, and its number is the truth or said to be cut."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import get_args

import pytest

from groundplan.contracts.answer import Answer, Outcome, Refusal
from groundplan.contracts.facts import Truncated
from groundplan.project import Project
from tests.patience import SOON
from tests.sources.trackers import data
from tests.sources.trackers.calling import gitlab_double, youtrack_double
from tests.sources.trackers.serving import Fault, Reply, Request, every, only
from tests.trackers import truth
from tests.trackers.shop import Shop, ask

OPEN = len([*filter(truth.is_open, truth.issues("web"))])
MONTHS = truth.counts(truth.commits("web"), lambda commit: commit["committed_date"][:7])
LIST, AGGREGATE = "open issues of web", "commits in web per month this year"


def counted(answer: Answer) -> int:
    """The open issues that it lists, or the commits that it counts."""
    if answer.tables:
        return sum(int(str(count)) for _, count in answer.tables[0].rows)
    return sum(group.count or 0 for group in answer.facts.groups if group.title == "Issues")


def is_true(answer: Answer) -> bool:
    if answer.tables:
        return {str(month)[:7]: count for month, count in answer.tables[0].rows} == MONTHS
    return counted(answer) == OPEN


def is_told(answer: Answer) -> bool:
    """Whether the text itself says what is missing."""
    state = answer.facts.state
    failures = [failure.issue.problem for failure in answer.facts.failures if failure.issue]
    return (isinstance(state, Truncated) and state.reason in answer.text) or any(f in answer.text for f in failures)


def assert_honest(outcome: Outcome, most: int) -> None:
    assert isinstance(outcome, Answer | Refusal), outcome
    assert "CANARY" not in outcome.model_dump_json(), "what a server writes into an error goes nowhere"
    if isinstance(outcome, Refusal):
        assert outcome.issues
        assert outcome.issues[0].problem in outcome.text
        return
    assert is_true(outcome) or is_told(outcome)
    assert counted(outcome) <= most


def troubled(servers: Shop, question: str, fault: Fault, fails: Callable[[int], bool]) -> None:
    served = servers.youtrack if question == LIST else servers.gitlab
    served.fault, served.fails = fault, fails


@pytest.mark.requirement("R42", "R44", "R48")
@pytest.mark.parametrize(
    "fails", [every(1), every(2), every(3), only(2)], ids=["each call", "each 2nd", "each 3rd", "page 2"]
)
@pytest.mark.parametrize("fault", get_args(Fault))
@pytest.mark.parametrize(("question", "most"), [(LIST, OPEN), (AGGREGATE, sum(MONTHS.values()))], ids=["list", "count"])
def test_a_fault_ends_in_the_truth_or_in_words_about_what_is_missing(
    servers: Shop, project: Project, question: str, most: int, fault: Fault, fails: Callable[[int], bool]
) -> None:
    troubled(servers, question, fault, fails)
    begun = time.monotonic()
    outcome = ask(project, question)
    assert time.monotonic() - begun < SOON
    assert_honest(outcome, most)


@pytest.mark.requirement("R48")
@pytest.mark.parametrize("fault", ["reset", "half a body", "408", "429 after 0", "503"])
@pytest.mark.parametrize("question", [LIST, AGGREGATE])
def test_what_passes_leaves_no_trace_in_the_answer(
    servers: Shop, project: Project, question: str, fault: Fault
) -> None:
    troubled(servers, question, fault, only(2))
    outcome = ask(project, question)
    assert isinstance(outcome, Answer), outcome.text
    assert (is_true(outcome), is_told(outcome), outcome.facts.state.kind) == (True, False, "complete")


def the_same_page(request: Request) -> Reply:
    """A server that looks at neither `page` nor `$skip` and always names a next one."""
    first = {**request.query, "page": ["1"], "$skip": ["0"]}
    if "private-token" not in request.headers:
        return youtrack_double()(Request(request.path, first, request.headers))
    reply = gitlab_double()(Request(request.path, first, request.headers))
    return Reply(reply.status, reply.body, {"X-Next-Page": str(int(request.one("page") or 1) + 1)})


def pages_without_end(request: Request) -> Reply:
    """Always another hundred that nobody has seen."""
    page = int(request.one("page") or 1)
    skip = int(request.one("$skip") or 0)
    moment = truth.at({"at": "2026-02-01T12:00:00+00:00"}, "at")
    if "private-token" in request.headers:
        found = [data.commit("shop/web", page * 100 + number, moment) for number in range(100)]
        return Reply(200, json.dumps(found).encode(), {"X-Next-Page": str(page + 1)})
    issues = [{**data.issue("WEB", skip + number, moment), "resolved": None} for number in range(100)]
    return Reply(200, json.dumps(issues).encode())
