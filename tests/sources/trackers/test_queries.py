"""Whatever a value holds, a query keeps its shape: the same terms, with that value in its place or not at all."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.sources.trackers.youtrack_query import Term, parse

from groundplan.sources.youtrack.query import IssueParams, compose

PIECES = ["{", "}", '"', "\\", " or ", "project: SECRET", "..", "#Unresolved", "-", ",", ":", "*", "sort by: x", "Анна"]
hostile = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), min_size=1, max_size=6).map("".join)


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
