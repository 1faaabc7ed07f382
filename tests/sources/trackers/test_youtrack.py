"""YouTrack's issues against a double: whole, exact in time, and never of a project that was not asked for."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.sources.tables import tooling
from tests.sources.trackers import data
from tests.sources.trackers.calling import call, column, configured, tools, youtrack, youtrack_double
from tests.sources.trackers.serving import serving

from groundplan.contracts.facts import Complete, Truncated
from groundplan.errors import SourceError, ToolError
from groundplan.sources.tables.source import Tables
from groundplan.sources.youtrack.source import TABLES, YouTrack


def truth(project: str) -> list[dict[str, Any]]:
    return [issue for issue in youtrack_double().issues if issue["project"]["shortName"] == project]


@pytest.mark.requirement("R9", "R48")
@pytest.mark.parametrize("server", ["Asia/Tokyo", "UTC", "America/Los_Angeles"])
@pytest.mark.parametrize(("zone", "hours"), [("UTC", 0), ("Europe/Moscow", 3)])
def test_a_period_is_exact_wherever_the_server_stands(tmp_path: Path, server: str, zone: str, hours: int) -> None:
    since = datetime(2026, 3, 1, tzinfo=UTC) - timedelta(hours=hours)
    with serving(youtrack_double(zone=server)) as served:
        asked = {"since": "2026-03-01", "until": "2026-03-08", "timezone": zone, "projects": ["WEB"]}
        result = call(youtrack(served, tmp_path), "youtrack_issues", **asked)
    start, end = since.timestamp() * 1000, (since + timedelta(days=7)).timestamp() * 1000
    assert set(column(result, "id")) == {i["idReadable"] for i in truth("WEB") if start <= i["created"] < end}
    assert "created: 2026-02-2" in str(served.requests[0].one("query")), "the period was sent"


@pytest.mark.requirement("R48")
def test_filters_are_pushed_and_joined_by_and(tmp_path: Path) -> None:
    with serving(youtrack_double()) as served:
        asked = {"status": "open", "states": ["In Progress", "Fixed"], "assignee": "anna", "reporter": "anna"}
        result = call(youtrack(served, tmp_path), "youtrack_issues", projects=["WEB"], **asked)
    wanted = [
        issue["idReadable"]
        for number, issue in enumerate(truth("WEB"))
        if number % 3 == 1 and number % 4 == 0 and number % 5 != 0
    ]
    assert wanted
    assert sorted(column(result, "id")) == sorted(wanted)
    assert served.requests[0].one("query") == (
        "project: {WEB} #Unresolved State: {In Progress}, {Fixed} Assignee: {anna} reporter: {anna} "
        "sort by: created desc"
    )


@pytest.mark.requirement("R48")
def test_resolved_issues_by_the_day_they_were_resolved(tmp_path: Path) -> None:
    with serving(youtrack_double()) as served:
        asked = {"status": "resolved", "by": "resolved", "since": "2026-06-01", "until": "2026-09-01"}
        result = call(youtrack(served, tmp_path), "youtrack_issues", projects=["API"], **asked)
    start, end = (datetime(2026, month, 1, tzinfo=UTC).timestamp() * 1000 for month in (6, 9))
    wanted = {i["idReadable"] for i in truth("API") if i["resolved"] and start <= i["resolved"] < end}
    assert wanted
    assert set(column(result, "id")) == wanted
    assert "resolved date: 2026-05-31 .. 2026-09-02" in str(served.requests[0].one("query"))


@pytest.mark.requirement("R44")
def test_custom_fields_links_and_moments_are_read(tmp_path: Path) -> None:
    with serving(youtrack_double()) as served:
        result = call(youtrack(served, tmp_path), "youtrack_issues", projects=["API"])
    handle: Any = result.handle
    row = next(row for row in handle.to_pylist() if row["id"] == "API-3")
    assert (row["state"], row["status"], row["assignee"], row["type"]) == ("Fixed", "resolved", "C. [bot]", "Bug")
    assert (row["priority"], row["created_at"]) == (None, datetime(2026, 3, 1))
    assert row["link"] == f"{served.url}/issue/API-3"
    assert row["link"] in {cited.link for cited in result.facts.sources}


@pytest.mark.requirement("R48")
def test_open_issues_by_assignee_with_the_table_tools(tmp_path: Path) -> None:
    with serving(youtrack_double()) as served:
        handle: Any = call(youtrack(served, tmp_path), "youtrack_issues", status="open").handle
    tables = Tables.open({"issues": handle})
    params = {"metrics": [{"function": "count", "as": "issues"}], "group_by": ["assignee"]}
    counted = tooling.rows(tables, tooling.made(tables, "aggregate", params, "issues"))
    wanted: Counter[str | None] = Counter()
    for issue in (*truth("WEB"), *truth("API")):
        if issue["resolved"] is None:
            person = issue["customFields"][1]["value"]
            wanted[person and person["fullName"]] += 1
    assert {row["assignee"]: row["issues"] for row in counted} == wanted


@pytest.mark.requirement("R42", "R49")
def test_more_than_the_limit_leaves_the_newest_and_says_so(tmp_path: Path) -> None:
    with serving(youtrack_double()) as served:
        result = call(youtrack(served, tmp_path), "youtrack_issues", projects=["WEB"], limit=10)
    newest = sorted(truth("WEB"), key=lambda issue: issue["created"], reverse=True)[:10]
    assert set(column(result, "id")) == {issue["idReadable"] for issue in newest}
    assert isinstance(result.facts.state, Truncated)


def test_an_issue_that_comes_while_pages_are_read_is_counted_at_most_once(tmp_path: Path) -> None:
    double = youtrack_double()

    def write(number: int) -> None:
        if number == 2:
            double.issues += [data.issue("WEB", 900 + more, datetime(2027, 1, 1, tzinfo=UTC), 1) for more in range(9)]

    with serving(double, before=write) as served:
        result = call(youtrack(served, tmp_path), "youtrack_issues", projects=["WEB"])
    ids = column(result, "id")
    assert len(ids) == len(set(ids)) == 243
    assert result.facts.state == Complete()


def test_an_issue_that_leaves_the_list_while_pages_are_read_marks_the_result(tmp_path: Path) -> None:
    double = youtrack_double()

    def delete(number: int) -> None:
        if number == 2:
            double.issues.remove(max(truth("WEB"), key=lambda issue: issue["created"]))

    with serving(double, before=delete) as served:
        result = call(youtrack(served, tmp_path), "youtrack_issues", projects=["WEB"])
    assert isinstance(result.facts.state, Truncated)
    assert "changed while it was read" in result.facts.state.reason


@pytest.mark.parametrize("field", ["assignee", "reporter", "states"])
@pytest.mark.parametrize("value", ["} or project: SECRET {", '" or project: SECRET "', "a\\} or project: SECRET"])
def test_a_value_that_would_break_out_is_refused_before_anything_is_sent(
    tmp_path: Path, field: str, value: str
) -> None:
    given: Any = [value] if field == "states" else value
    with serving(youtrack_double()) as served, pytest.raises(ToolError, match="which have a meaning in a query"):
        call(youtrack(served, tmp_path), "youtrack_issues", **{field: given})
    assert served.requests == []


def test_an_issue_of_another_project_goes_nowhere(tmp_path: Path) -> None:
    double = youtrack_double()
    double.issues[5]["project"]["shortName"] = "web"  # as people write it
    with serving(double) as served:
        assert call(youtrack(served, tmp_path), "youtrack_issues", projects=["WEB"]).facts.rows == 243

    def leak(request: Any) -> Any:
        request.query["query"] = ["project: {SECRET}"]
        return double(request)

    with serving(leak) as served, pytest.raises(SourceError, match="another project"):
        call(youtrack(served, tmp_path), "youtrack_issues", projects=["WEB"])


def test_a_project_that_is_not_set_up_is_never_asked_for(tmp_path: Path) -> None:
    with serving(youtrack_double()) as served, pytest.raises(ToolError, match="'SECRET' is not configured"):
        call(youtrack(served, tmp_path), "youtrack_issues", projects=["SECRET"])
    assert served.requests == []


def test_no_issue_at_all_is_a_whole_answer(tmp_path: Path) -> None:
    with serving(youtrack_double()) as served:
        source = YouTrack.open(configured(served.url, tmp_path, projects=["EMPTY"]))
        facts = call(source, "youtrack_issues").facts
    assert (facts.found, facts.rows, facts.state, len(served.requests)) == (False, 0, Complete(), 1)


def test_what_the_gate_is_told_of_the_columns_is_what_comes() -> None:
    tool = tools()["youtrack_issues"]
    assert tool.output.table == "issues"
    people = {("assignee",), ("reporter",)}  # asked for by login, and rows show a full name
    assert {keep.column for keep in tool.keeps if keep.params not in people} <= TABLES["issues"].keys()
