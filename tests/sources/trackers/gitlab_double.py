"""GitLab's REST v4 as far as we ask it: filters, paging headers, no totals for commits, 401, 404."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from tests.sources.trackers.serving import Reply, Request

PATH = re.compile(r"^/api/v4/projects/([^/]+)/(repository/commits|merge_requests)$")
Things = dict[str, list[dict[str, Any]]]


@dataclass
class GitLabDouble:
    commits: Things
    merge_requests: Things
    token: str
    says_next: bool = True  # older servers leave the header of the next page out

    def __call__(self, request: Request) -> Reply:
        if request.headers.get("private-token") != self.token:
            return _said(401, "401 Unauthorized")
        found = PATH.match(request.path)
        project = unquote(found[1]) if found else ""
        if not found or project not in self.commits:
            return _said(404, "404 Project Not Found")
        if found[2] == "merge_requests":
            return self._page(request, _merge_requests(self.merge_requests[project], request), totals=True)
        return self._page(request, _commits(self.commits[project], request), totals=False)

    def _page(self, request: Request, rows: list[dict[str, Any]], totals: bool) -> Reply:
        page, size = int(request.one("page") or 1), min(int(request.one("per_page") or 20), 100)
        if (page - 1) * size >= 50_000:
            return Reply(400, b'{"error":"Offset pagination has a maximum allowed offset of 50000"}')
        shown = rows[(page - 1) * size : page * size]
        more = page * size < len(rows)
        headers = {"X-Page": str(page), "X-Per-Page": str(size)}
        if self.says_next:
            headers["X-Next-Page"] = str(page + 1) if more else ""
        if more:
            headers["Link"] = (
                f'<http://{request.headers["host"]}{request.path}?page={page + 1}&per_page={size}>; rel="next"'
            )
        if totals and len(rows) <= 10_000:
            headers |= {"X-Total": str(len(rows)), "X-Total-Pages": str(-(-len(rows) // size))}
        return Reply(200, json.dumps(shown).encode(), headers)


def _commits(commits: list[dict[str, Any]], request: Request) -> list[dict[str, Any]]:
    """`since` and `until` are both in; `author` is a regular expression over name and address."""
    kept = [commit for commit in commits if _between(commit["committed_date"], request, "since", "until")]
    if author := request.one("author"):
        kept = [c for c in kept if re.search(author, f"{c['author_name']} <{c['author_email']}>")]
    return sorted(kept, key=lambda commit: _moment(commit["committed_date"]), reverse=True)


def _merge_requests(requests: list[dict[str, Any]], request: Request) -> list[dict[str, Any]]:
    kept = [
        item
        for item in requests
        if request.one("state") in (None, "all", item["state"])
        and request.one("author_username") in (None, item["author"]["username"])
        and _between(item["created_at"], request, "created_after", "created_before")
        and _between(item["updated_at"], request, "updated_after", "updated_before")
    ]
    return sorted(kept, key=lambda item: _moment(item["created_at"]), reverse=request.one("sort") != "asc")


def _between(moment: str, request: Request, since: str, until: str) -> bool:
    start, end = request.one(since), request.one(until)
    at = _moment(moment)
    return (start is None or _moment(start) <= at) and (end is None or at <= _moment(end))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _said(status: int, message: str) -> Reply:
    return Reply(status, json.dumps({"message": message}).encode())
