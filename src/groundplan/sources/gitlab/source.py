"""GitLab as a source: commits and merge requests of the projects that are set up, and of no others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from groundplan.errors import SourceError, UsageError
from groundplan.sources.gitlab.models import (
    CALLED,
    COMMITS,
    MERGE_REQUESTS,
    CommitsAsked,
    Listing,
    MergeRequestsAsked,
    Thing,
    commits,
    merge_requests,
)
from groundplan.sources.http.asking import Asked, read_params
from groundplan.sources.http.listing import Read, Row, read_pages, side_by_side
from groundplan.sources.http.lists import Lists
from groundplan.sources.interface import Call, Result

if TYPE_CHECKING:
    from groundplan.sources.http.client import Budget

NAME = "gitlab"
PER_PAGE = 100  # the most that GitLab sends at once
TABLES = {"commits": COMMITS, "merge_requests": MERGE_REQUESTS}


class GitLab(Lists):
    """Settings name projects by their paths or numbers."""

    name = NAME
    header = ("PRIVATE-TOKEN", "")
    tables = TABLES
    wording = CALLED
    read_by = "a tool of GitLab"

    @staticmethod
    def tools() -> Sequence[Path]:
        return [Path(__file__).with_name("tools.yaml")]

    async def call(self, call: Call) -> Result:
        match call.tool.name:
            case "gitlab_commits":
                about = read_params(CommitsAsked, call.tool.name, call.params)
                return await self._list(call, about, commits(about))
            case "gitlab_merge_requests":
                asked = read_params(MergeRequestsAsked, call.tool.name, call.params)
                return await self._list(call, asked, merge_requests(asked))
            case name:
                raise UsageError(f"{name!r} is no tool of GitLab; see `groundplan catalog list`")

    async def _list(self, call: Call, asked: Asked, listing: Listing[Thing]) -> Result:
        """Projects side by side, with one budget for all of them."""
        budget = self._server.budget(call.seconds)
        limit = min(asked.limit, call.limits.rows)
        reads = {
            project: self._read(project, path, asked, listing, limit, budget)
            for project, path in self._tracker.chosen(asked.projects).items()
        }
        return self._shelf.result(call, await side_by_side(reads, limit), listing.columns)

    async def _read(
        self, project: str, path: str, asked: Asked, listing: Listing[Thing], limit: int, budget: Budget
    ) -> Read:
        def row(thing: Thing) -> Row | None:
            return thing.row(project, self._own(thing.web_url), asked) if listing.wanted(thing) else None

        url = f"/api/v4/projects/{quote(path, safe='')}/{listing.path}"
        return await read_pages(self._pages(url, listing, budget), row, limit)

    async def _pages(self, path: str, listing: Listing[Thing], budget: Budget) -> AsyncIterator[Sequence[Thing]]:
        seen: set[str] = set()
        page: int | None = 1
        total = 0
        while page:
            reply = await self._server.get(path, {**listing.params, "page": page, "per_page": PER_PAGE}, budget)
            found = reply.listed(listing.model)
            fresh = [thing for thing in found if thing.key not in seen]
            if found and not fresh:
                raise SourceError(f"{path}: page {page} repeats the pages before it; what is behind it is missing")
            seen.update(thing.key for thing in fresh)
            total = total or _number(reply.headers.get("x-total")) or 0
            yield fresh
            page = _following(reply.headers, page, bool(found), path)
        if len(seen) < total:
            raise SourceError(f"{path}: rows moved while they were read, {len(seen)} of {total} came; ask again")

    def _own(self, link: str) -> str | None:
        """A link only where it leads to the server that was set up."""
        return link if link.startswith(f"{self._tracker.url}/") else None


def _following(headers: Mapping[str, str], page: int, found: bool, path: str) -> int | None:
    """The next page: as the server says, or where it says nothing the next until an empty one."""
    said = headers.get("x-next-page")
    if said == "" or (said is None and not found):
        return None
    if said is not None and (_number(said) != page + 1 or not found):
        raise SourceError(f"{path}: the server names {said!r} as the page behind {page}; what is behind it is missing")
    return page + 1


def _number(header: str | None) -> int | None:
    return int(header) if header and header.isascii() and header.isdigit() else None
