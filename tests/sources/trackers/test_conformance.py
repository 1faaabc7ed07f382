"""The double of GitLab under a client that others wrote: what it reads there, it would read from a real server."""

from __future__ import annotations

import pytest

pytest.importorskip("gitlab", reason="needs python-gitlab")

import gitlab
from tests.sources.trackers import data
from tests.sources.trackers.calling import gitlab_double
from tests.sources.trackers.serving import serving


def test_python_gitlab_reads_every_commit_and_merge_request() -> None:
    with serving(gitlab_double()) as served:
        project = gitlab.Gitlab(served.url, private_token=data.TOKEN).projects.get("shop/web", lazy=True)
        commits = project.commits.list(iterator=True, since="2026-03-01T00:00:00Z")
        assert commits.total is None
        wanted = {c["id"] for c in gitlab_double().commits["shop/web"] if c["committed_date"] >= "2026-03-01"}
        assert {commit.id for commit in commits} == wanted
        requests = project.mergerequests.list(iterator=True, state="merged", scope="all")
        assert requests.total == len(list(requests)) == 77


def test_python_gitlab_meets_the_errors_of_the_double() -> None:
    with serving(gitlab_double()) as served:
        with pytest.raises(gitlab.exceptions.GitlabAuthenticationError):
            gitlab.Gitlab(served.url, private_token="wrong").projects.get("shop/web", lazy=True).commits.list(page=1)
        known = gitlab.Gitlab(served.url, private_token=data.TOKEN)
        with pytest.raises(gitlab.exceptions.GitlabListError, match="404"):
            known.projects.get("shop/none", lazy=True).commits.list(page=1)
