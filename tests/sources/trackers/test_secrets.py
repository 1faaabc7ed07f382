"""A token reaches the configured address and nothing else: no other host, no message, no log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.sources.trackers import data
from tests.sources.trackers.calling import call, configured, gitlab_double
from tests.sources.trackers.serving import Reply, Request, serving

from groundplan.errors import UsageError
from groundplan.sources.gitlab.source import GitLab
from groundplan.sources.youtrack.source import YouTrack

URL = "https://tracker.example.org"


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
