"""Requests and tokens go to the configured address and to no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundplan.errors import OutcomeUnknown, SourceError, ToolError
from tests.sources.mcp.calling import facts, opened
from tests.sources.mcp.test_web import JSON, TOKEN, Answer, result
from tests.sources.mcp.test_web import serving as serving_mcp
from tests.sources.trackers.calling import call, gitlab, gitlab_double
from tests.sources.trackers.serving import Reply, Request, serving


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


def test_a_redirect_elsewhere_is_not_followed_and_a_token_stays(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    (tmp_path / "elsewhere").mkdir()
    with serving_mcp(lambda m: (200, JSON, result(m, "stolen")), tmp_path / "elsewhere") as other:
        away: Answer = (307, {"Location": other.url}, b"")
        with serving_mcp(lambda _: away, tmp_path) as served:
            with opened(served.url, token_file=str(tmp_path / "token")) as source:
                with pytest.raises(OutcomeUnknown):
                    facts(source, "shop.change")
                with pytest.raises(ToolError):
                    facts(source, "shop.look")
            assert {headers["authorization"] for _, _, headers in served.requests} == {f"Bearer {TOKEN}"}
    assert other.requests == []
