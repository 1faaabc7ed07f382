"""GitLab's commits and merge requests against a double: whole, exact in time, or marked as cut."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.sources.tables import tooling
from tests.sources.trackers.calling import call, closing, column, configured, gitlab, gitlab_double, ready, tools
from tests.sources.trackers.serving import Reply, Request, serving

from groundplan.contracts.facts import Complete, Truncated
from groundplan.contracts.plan import Limits
from groundplan.errors import SourceError, StateInvalid, ToolError
from groundplan.sources.gitlab.source import TABLES, GitLab
from groundplan.sources.tables.source import Tables


def truth(since: datetime, until: datetime, project: str = "shop/web") -> set[str]:
    return {c["short_id"] for c in gitlab_double().commits[project] if since <= _at(c) < until}


def _at(commit: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(commit["committed_date"])


@pytest.mark.requirement("R48")
@pytest.mark.parametrize("says_next", [True, False], ids=["next page named", "next page not named"])
def test_every_page_is_read_though_no_total_is_sent(tmp_path: Path, says_next: bool) -> None:
    with serving(gitlab_double(says_next=says_next)) as served:
        result = call(gitlab(served, tmp_path), "gitlab_commits", projects=["shop/web"])
    assert result.facts.rows == 250 == len(set(column(result, "id")))
    assert result.facts.state == Complete()
    assert served.last is not None
    assert "X-Total" not in served.last.headers


@pytest.mark.requirement("R9", "R48")
@pytest.mark.parametrize(("zone", "hours"), [("UTC", 0), ("Europe/Moscow", 3), ("America/New_York", -5)])
def test_a_period_is_half_open_in_its_time_zone_and_sent_to_the_server(tmp_path: Path, zone: str, hours: int) -> None:
    since = datetime(2026, 3, 1, tzinfo=UTC) - timedelta(hours=hours)
    with serving(gitlab_double()) as served:
        asked = {"projects": ["shop/web"], "since": "2026-03-01", "until": "2026-03-08", "timezone": zone}
        result = call(gitlab(served, tmp_path), "gitlab_commits", **asked)
    assert set(column(result, "id")) == truth(since, since + timedelta(days=7))
    assert served.requests[0].one("since") == since.isoformat()
    assert len(served.requests) == 1, "the server left out what lies outside"


def test_moments_are_those_of_a_clock_in_the_asked_time_zone(tmp_path: Path) -> None:
    with serving(gitlab_double()) as served:
        asked = {"since": "2026-03-01", "until": "2026-03-02", "timezone": "Europe/Moscow", "projects": ["shop/web"]}
        result = call(gitlab(served, tmp_path), "gitlab_commits", **asked)
    assert datetime(2026, 3, 1, 2) in column(result, "committed_at"), "23:00 UTC of the day before"
    assert {moment.date().isoformat() for moment in column(result, "committed_at")} == {"2026-03-01"}


@pytest.mark.requirement("R48")
@pytest.mark.parametrize("author", ["C. [bot]", "ci.bot@", "Борис"])
def test_an_author_is_found_as_written_and_not_as_a_pattern(tmp_path: Path, author: str) -> None:
    with serving(gitlab_double()) as served:
        result = call(gitlab(served, tmp_path), "gitlab_commits", projects=["shop/web"], author=author)
    wanted = [c for c in gitlab_double().commits["shop/web"] if author in f"{c['author_name']} <{c['author_email']}>"]
    assert set(column(result, "id")) == {commit["short_id"] for commit in wanted}
    assert len(served.requests) == 1, "the server left out the others"


@pytest.mark.requirement("R48")
def test_merge_requests_are_filtered_by_the_server(tmp_path: Path) -> None:
    with serving(gitlab_double()) as served:
        asked = {"state": "opened", "author": "anna", "by": "updated", "since": "2026-03-01", "until": "2026-07-01"}
        result = call(gitlab(served, tmp_path), "gitlab_merge_requests", projects=["shop/web"], **asked)
    start, end = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)
    wanted = {
        f"!{item['iid']}"
        for item in gitlab_double().merge_requests["shop/web"]
        if item["state"] == "opened"
        and item["author"]["username"] == "anna"
        and start <= datetime.fromisoformat(item["updated_at"]) < end
    }
    assert wanted
    assert set(column(result, "id")) == wanted
    sent = served.requests[0]
    assert (sent.one("scope"), sent.one("state"), sent.one("author_username")) == ("all", "opened", "anna")


@pytest.mark.requirement("R42")
def test_projects_are_read_side_by_side_and_grouped(tmp_path: Path) -> None:
    with serving(gitlab_double(), slow=0.1) as served:
        result = call(gitlab(served, tmp_path), "gitlab_commits", since="2026-03-01", until="2026-04-01")
    assert served.most_at_once == 2
    assert [group.title for group in result.facts.groups] == ["Commits: shop/api", "Commits: shop/web"]
    assert sum(group.count or 0 for group in result.facts.groups) == result.facts.rows
    assert Counter(column(result, "project")) == {
        project: len(truth(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC), project))
        for project in ("shop/api", "shop/web")
    }


@pytest.mark.requirement("R44")
def test_facts_hold_title_author_moment_and_link(tmp_path: Path) -> None:
    double = gitlab_double()
    with serving(double) as served:
        for commit in double.commits["shop/web"]:
            commit["web_url"] = commit["web_url"].replace("http://elsewhere.example", served.url)
        result = call(gitlab(served, tmp_path), "gitlab_commits", projects=["shop/web"], limits=Limits(items=3))
    newest = max(double.commits["shop/web"], key=_at)
    [listed] = result.facts.groups
    first, cited = listed.items[0], result.facts.sources[0]
    assert (first.title, first.text) == (newest["title"], f"{newest['short_id']}, {newest['author_name']}")
    assert first.value == _at(newest).replace(tzinfo=None).isoformat(timespec="minutes")
    assert (first.source, cited.link) == (cited.id, newest["web_url"])
    assert (len(listed.items), listed.count, result.facts.rows) == (3, 250, 250)


def test_a_link_to_another_server_is_dropped(tmp_path: Path) -> None:
    with serving(gitlab_double()) as served:
        result = call(gitlab(served, tmp_path), "gitlab_commits", projects=["shop/api"])
    assert {cited.link for cited in result.facts.sources} == {None}


def test_exactly_the_limit_is_whole(tmp_path: Path) -> None:
    with serving(gitlab_double()) as served:
        result = call(gitlab(served, tmp_path), "gitlab_commits", projects=["shop/web"], limit=250)
    assert (result.facts.rows, result.facts.state) == (250, Complete())


@pytest.mark.requirement("R48")
@pytest.mark.parametrize(
    ("page", "following", "said"),
    [
        pytest.param("1", "3", "repeats earlier pages", id="the same rows under the next number"),
        pytest.param("2", "2", "names '2' as the page after 2", id="a page that follows itself"),
        pytest.param("2", "5", "names '5' as the page after 2", id="pages left out"),
        pytest.param("9", "3", "names '3' as the page after 2", id="empty pages without an end"),
    ],
)
def test_pages_that_lead_nowhere_are_left_and_told(tmp_path: Path, page: str, following: str, said: str) -> None:
    double = gitlab_double()

    def astray(request: Request) -> Reply:
        if request.one("page") == "1":
            return double(request)
        request.query["page"] = [page]
        reply = double(request)
        return Reply(reply.status, reply.body, reply.headers | {"X-Next-Page": following})

    with serving(astray) as served:
        result = call(gitlab(served, tmp_path), "gitlab_commits", projects=["shop/web"])
    assert isinstance(result.facts.state, Truncated)
    assert said in result.facts.state.reason
    assert len(served.requests) == 2


@pytest.mark.requirement("R42")
def test_a_spent_number_of_requests_is_told(tmp_path: Path) -> None:
    with serving(gitlab_double()) as served:
        result = call(gitlab(served, tmp_path, requests=2), "gitlab_commits", projects=["shop/web"])
    assert (result.facts.rows, len(served.requests)) == (200, 2)
    assert isinstance(result.facts.state, Truncated)
    assert "requests" in result.facts.state.reason


@pytest.mark.requirement("R42")
def test_a_project_that_fails_is_named_beside_the_others(tmp_path: Path) -> None:
    with serving(gitlab_double()) as served:
        source = GitLab.open(configured(served.url, tmp_path, projects=["shop/web", "shop/gone"]))
        result = call(source, "gitlab_commits")
    assert result.facts.rows == 250
    assert isinstance(result.facts.state, Truncated)
    assert "shop/gone" in result.facts.state.reason
    assert "404" in result.facts.state.reason


def test_a_project_that_is_not_set_up_is_never_asked_for(tmp_path: Path) -> None:
    with serving(gitlab_double()) as served, pytest.raises(ToolError, match=r"'shop/secret' is not configured"):
        call(gitlab(served, tmp_path), "gitlab_commits", projects=["shop/secret"])
    assert served.requests == []


@pytest.mark.requirement("R48")
def test_table_tools_work_on_the_rows(tmp_path: Path) -> None:
    """Commits a week by author, as one would ask of any table."""
    with serving(gitlab_double()) as served:
        handle: Any = call(gitlab(served, tmp_path), "gitlab_commits", projects=["shop/web"]).handle
    tables = Tables.open({"commits": handle})
    params = {"metrics": [{"function": "count", "as": "commits"}], "group_by": ["author"]}
    made = tooling.made(tables, "aggregate", params, "commits")
    counted = {row["author"]: row["commits"] for row in tooling.rows(tables, made)}
    assert counted == Counter(commit["author_name"] for commit in gitlab_double().commits["shop/web"])


def test_shown_rows_are_those_of_the_facts_and_others_are_asked_for_again(tmp_path: Path) -> None:
    async def show(source: GitLab) -> Any:
        result = await source.call(ready("gitlab_commits", {"projects": ["shop/api"]}))
        assert result.facts.table is not None
        shown = await source.fetch(result.facts.table, "a_run", 5, 5)
        strange = result.facts.table.model_copy(update={"query": "gitlab_commits {} #000000000000"})
        with pytest.raises(StateInvalid, match="ask again"):
            source.restore(strange, "a_run")
        assert source.restore(result.facts.table, "a_run").num_rows == 30  # type: ignore[attr-defined]
        return shown

    with serving(gitlab_double()) as served:
        source = gitlab(served, tmp_path)
        shown = closing(source, show(source))
    assert (len(shown.rows), shown.row_count) == (5, 30)
    assert shown.columns == tuple(TABLES["commits"])


def test_what_the_gate_is_told_of_the_columns_is_what_comes() -> None:
    for table, columns in TABLES.items():
        tool = tools()[f"gitlab_{table}"]
        assert tool.output.table == table
        shown = {keep.column for keep in tool.keeps if keep.params != ("author",)}  # rows show a full name
        assert shown <= columns.keys()


@pytest.mark.parametrize(
    ("params", "fault"),
    [
        ({"since": "2026-03-02", "until": "2026-03-02"}, "empty"),
        ({"since": "yesterday"}, "since"),
        ({"timezone": "Mars/Olympus"}, "time zone"),
        ({"author": "a\nb"}, "one line"),
    ],
)
def test_params_that_make_no_sense_are_refused_before_anything_is_sent(
    tmp_path: Path, params: dict[str, str], fault: str
) -> None:
    with serving(gitlab_double()) as served, pytest.raises(ToolError, match=fault):
        call(gitlab(served, tmp_path), "gitlab_commits", **params)
    assert served.requests == []


def test_a_field_of_another_type_is_refused_without_its_value(tmp_path: Path) -> None:
    double = gitlab_double()
    double.commits["shop/api"][0]["title"] = ["CANARY"]
    with serving(double) as served, pytest.raises(SourceError, match="title string_type") as caught:
        call(gitlab(served, tmp_path), "gitlab_commits", projects=["shop/api"])
    assert "CANARY" not in str(caught.value)
