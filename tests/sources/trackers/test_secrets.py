"""A token reaches the configured address and nothing else: no other host, no message, no log."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from tests.sources.trackers import data
from tests.sources.trackers.calling import call, configured, gitlab, gitlab_double, youtrack
from tests.sources.trackers.serving import Reply, Request, serving

from groundplan.errors import SourceError, UsageError
from groundplan.sources.gitlab.source import GitLab
from groundplan.sources.youtrack.source import YouTrack

URL = "https://tracker.example.org"


@pytest.mark.requirement("R48")
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(tmp_path: Path, status: int) -> None:
    with serving(gitlab_double()) as other:

        def elsewhere(request: Request) -> Reply:
            return Reply(status, b"", {"Location": f"{other.url}{request.path}"})

        with serving(elsewhere) as served, pytest.raises(SourceError, match="where no token is sent"):
            call(gitlab(served, tmp_path), "gitlab_commits")
    assert other.requests == []


def test_a_next_page_on_another_host_is_not_asked_for(tmp_path: Path) -> None:
    double = gitlab_double()
    with serving(double) as other:

        def linked(request: Request) -> Reply:
            reply = double(request)
            links = {"Link": f'<{other.url}{request.path}?page=2>; rel="next"'}
            return Reply(reply.status, reply.body, reply.headers | links)

        with serving(linked) as served:
            assert call(gitlab(served, tmp_path), "gitlab_commits", projects=["shop/web"]).facts.rows == 250
    assert other.requests == []


@pytest.mark.parametrize("body", ["[{}]", "{}", '{"message": "no"}'])
@pytest.mark.parametrize("status", [200, 400, 401, 500])
@pytest.mark.parametrize("opened", [gitlab, youtrack])
def test_a_token_that_a_server_sends_back_is_in_no_message_and_no_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, opened: Any, status: int, body: str
) -> None:
    caplog.set_level(logging.DEBUG)

    def echo(request: Request) -> Reply:
        return Reply(status, body.replace("no", data.TOKEN).encode(), {"X-Echo": data.TOKEN})

    tool = "gitlab_commits" if opened is gitlab else "youtrack_issues"
    with serving(echo) as served, pytest.raises(SourceError) as caught:
        call(opened(served, tmp_path), tool)
    assert data.TOKEN not in str(caught.value)
    assert data.TOKEN not in caplog.text
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or data.TOKEN not in repr(vars(caught.value.__context__))


def test_a_token_comes_from_the_environment_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKER_TOKEN", data.TOKEN)
    with serving(gitlab_double()) as served:
        source = GitLab.open({"url": served.url, "token_env": "TRACKER_TOKEN", "projects": ["shop/api"]})
        assert call(source, "gitlab_commits").facts.rows == 30
    assert served.requests[0].headers["private-token"] == data.TOKEN


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"url": URL, "projects": ["a"], "token_env": "NOT_SET_ANYWHERE"}, "NOT_SET_ANYWHERE has no token"),
        ({"url": URL, "projects": ["a"], "token_file": "/nowhere/at/all"}, "has no token"),
        ({"url": URL, "projects": ["a"], "token_env": "A", "token_file": "b"}, "not both"),
        ({"url": "ftp://tracker.example.org", "projects": ["a"]}, "write an address"),
        ({"url": "https://me:word@tracker.example.org", "projects": ["a"]}, "no user and no password"),
        ({"url": URL, "projects": []}, "projects"),
        ({"url": URL, "projects": ["../admin"]}, "projects"),
        ({"url": URL, "projects": ["a} or project: {b"]}, "projects"),
        ({"url": URL, "projects": ["a"], "token": data.TOKEN}, "token: Extra inputs"),
    ],
)
@pytest.mark.parametrize("kind", [GitLab, YouTrack])
def test_settings_that_cannot_be_right_are_refused_without_being_shown(
    kind: Any, settings: dict[str, Any], fault: str
) -> None:
    with pytest.raises(UsageError, match=fault.replace("(", r"\(")) as caught:
        kind.open(settings)
    assert data.TOKEN not in str(caught.value)
    assert "word@" not in str(caught.value)


def test_an_address_may_end_in_a_slash_and_hold_a_path(tmp_path: Path) -> None:
    double = gitlab_double()

    def below(request: Request) -> Reply:
        return double(Request(request.path.removeprefix("/tools/gitlab"), request.query, request.headers))

    with serving(below) as served:
        source = GitLab.open(configured(f"{served.url}/tools/gitlab/", tmp_path, projects=["shop/api"]))
        assert call(source, "gitlab_commits").facts.rows == 30
    assert served.requests[0].path == "/tools/gitlab/api/v4/projects/shop%2Fapi/repository/commits"
