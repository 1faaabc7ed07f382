"""Words that look like a query stay words: what a server receives has the shape that code gave it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from groundplan.contracts.answer import Refusal
from groundplan.contracts.plan import Proposal
from groundplan.project import Project
from groundplan.sources.youtrack.query import IssueParams, compose
from tests.sources.trackers.youtrack_query import Term, parse
from tests.trackers.shop import Shop, ask

PIECES = ["{", "}", '"', "\\", " or ", "project: SECRET", "..", "#Unresolved", "-", ",", ":", "*", "sort by: x", "Анна"]
hostile = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), min_size=1, max_size=6).map("".join)
BREAK_OUT = "} or project: SECRET {"
SET_UP = {"WEB", "API"}


def terms_sent(servers: Shop) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Of every query that YouTrack received; one with an alternative is no query of ours."""
    for request in servers.youtrack.requests:
        [terms] = parse(request.one("query") or "").alternatives
        yield from ((term.attribute, term.values) for term in terms)


def assert_only_what_is_set_up(servers: Shop, outcome: Any) -> None:
    assert all(set(values) <= SET_UP for attribute, values in terms_sent(servers) if attribute == "project")
    assert {request.path.split("/")[4] for request in servers.gitlab.requests} <= {"shop%2Fweb", "shop%2Fapi"}
    assert "of SECRET" not in outcome.model_dump_json(), "an issue of a project that is not set up"


@pytest.mark.requirement("R48")
@pytest.mark.parametrize(
    "question",
    [
        f"open issues of web {BREAK_OUT}",
        f"open issues of {BREAK_OUT}",
        f"status of {BREAK_OUT}",
        f"status of web {BREAK_OUT}",
        f"what happened in web {BREAK_OUT} last week?",
        f"how many issues where state is {BREAK_OUT}",
        f'how many issues where assignee is "{BREAK_OUT}"',
        f"открытые задачи web {BREAK_OUT} по исполнителям",
        "open issues of web project: SECRET",
        "open issues of web #Resolved or #Unresolved",
        "commits of web/../../secret",
    ],
)
def test_a_question_never_changes_the_shape_of_what_is_sent(servers: Shop, project: Project, question: str) -> None:
    assert_only_what_is_set_up(servers, ask(project, question))


def by_hand(tool: str, param: str, value: Any, column: str) -> Proposal:
    """A plan that asks for exactly what its reading does, so that the gate has nothing against it."""
    table = {"youtrack_issues": "issues", "gitlab_commits": "commits", "gitlab_merge_requests": "merge_requests"}[tool]
    operator = "in" if isinstance(value, list) else "contains" if tool == "gitlab_commits" else "="
    values = value if isinstance(value, list) else [value]
    wanted = {"kind": "filter", "table": table, "column": column, "operator": operator, "values": values}
    needs = [
        {"id": f"intent:{table}", "value": {"kind": "intent", "intent": table}, "evidence": {"text": "those"}},
        {"id": f"filter:{table}.{column}", "value": wanted, "evidence": {"text": "such"}},
    ]
    step = {"id": table, "tool": tool, "params": {param: value}, "satisfies": [need["id"] for need in needs]}
    plan = {"strategy": "hand", "steps": [step], "render": "GROUPED_BULLETS"}
    return Proposal.model_validate({"reading": {"question": "those of such", "requirements": needs}, "plan": plan})


@pytest.mark.requirement("R48")
@pytest.mark.parametrize("value", [BREAK_OUT, 'x" or project: SECRET', "x\\", "}", "{"])
@pytest.mark.parametrize(
    ("param", "column"),
    [("projects", "project"), ("states", "state"), ("assignee", "assignee_login"), ("reporter", "reporter_login")],
)
def test_a_value_of_a_plan_that_could_be_syntax_is_not_sent_to_youtrack(
    servers: Shop, project: Project, param: str, column: str, value: str
) -> None:
    given: Any = [value] if param in ("projects", "states") else value
    outcome = project.run(by_hand("youtrack_issues", param, given, column)).outcome
    assert isinstance(outcome, Refusal), outcome.text
    assert outcome.issues[0].code == "running/tool", "it passed the gate, and the source itself refused it"
    assert servers.youtrack.requests == []


@pytest.mark.requirement("R48")
@pytest.mark.parametrize(
    ("tool", "column", "name"),
    [("gitlab_commits", "signature", "author"), ("gitlab_merge_requests", "username", "author_username")],
)
def test_a_value_of_a_plan_is_one_parameter_for_gitlab(
    servers: Shop, project: Project, tool: str, column: str, name: str
) -> None:
    value = "anna&state=opened&author=boris#x"
    project.run(by_hand(tool, "author", value, column))
    assert servers.gitlab.requests
    for request in servers.gitlab.requests:
        assert [sent.replace("\\", "") for sent in request.query[name]] == [value]
        assert request.query.get("state", ["all"]) == ["all"]


def test_the_query_of_a_plain_question_is_the_one_that_is_expected(servers: Shop, project: Project) -> None:
    """So that the tests above look at something."""
    ask(project, "open issues of web")
    assert dict(terms_sent(servers)) == {"project": ("WEB",), "tag": ("#Unresolved",), "sort by": ("created", "desc")}
    assert json.loads(servers.youtrack.last.body if servers.youtrack.last else b"[]")


@pytest.mark.requirement("R48")
@given(assignee=hostile, state=hostile)
@example(assignee="} or project: SECRET {", state="Open")
@example(assignee="anna, project: SECRET", state="x or project: SECRET")
def test_a_value_is_refused_or_stays_a_value(assignee: str, state: str) -> None:
    try:
        asked = IssueParams(assignee=assignee, states=(state,), status="open")
    except ValidationError:
        return
    assert parse(compose(asked, ["WEB"])).alternatives == (
        (
            Term("project", ("WEB",)),
            Term("tag", ("#Unresolved",)),
            Term("state", (state.strip(),)),
            Term("assignee", (assignee.strip(),)),
            Term("sort by", ("created", "desc")),
        ),
    )


@pytest.mark.parametrize("value", ["C. [bot]", "anna, project: SECRET", "a or b", "-me", "#x", "1 .. 2", "Анна Берг"])
def test_values_without_braces_and_quotes_are_taken(value: str) -> None:
    assert f"Assignee: {{{value}}}" in compose(IssueParams(assignee=value), ["WEB"])


def test_the_parser_of_the_tests_would_see_a_value_break_out() -> None:
    broken = "project: {WEB} Assignee: {" + "} or project: SECRET {" + "}"
    assert len(parse(broken).alternatives) == 2
