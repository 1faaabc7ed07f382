"""GitLab as a source: commits and merge requests of the configured projects only."""

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
    CommitParams,
    Listing,
    MergeRequestParams,
    Thing,
    commits,
    merge_requests,
)
from groundplan.sources.http.listing import Read, Row, read_concurrently, read_pages
from groundplan.sources.http.lists import ListSource
from groundplan.sources.http.params import ListParams, read_params
from groundplan.sources.interface import Call, Result

if TYPE_CHECKING:
    from groundplan.sources.http.client import Budget

NAME = "gitlab"
PER_PAGE = 100  # GitLab's maximum
TABLES = {"commits": COMMITS, "merge_requests": MERGE_REQUESTS}


class GitLab(ListSource):
    """The settings name projects by path or by number."""

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
                of_commits = read_params(CommitParams, call.tool.name, call.params)
                return await self._list(call, of_commits, commits(of_commits))
            case "gitlab_merge_requests":
                of_requests = read_params(MergeRequestParams, call.tool.name, call.params)
                return await self._list(call, of_requests, merge_requests(of_requests))
            case name:
                raise UsageError(f"GitLab has no tool {name!r}; see `groundplan catalog list`")

    async def _list(self, call: Call, params: ListParams, listing: Listing[Thing]) -> Result:
        """Projects are read concurrently and share one budget."""
        budget = self._server.budget(call.seconds)
        limit = min(params.limit, call.limits.rows)
        reads = {
            project: self._read(project, path, params, listing, limit, budget)
            for project, path in self._tracker.chosen(params.projects).items()
        }
        return self._run_tables.result(call, await read_concurrently(reads, limit), listing.columns)

    async def _read(
        self, project: str, path: str, params: ListParams, listing: Listing[Thing], limit: int, budget: Budget
    ) -> Read:
        def row(thing: Thing) -> Row | None:
            made = thing.row(project, self._own(thing.web_url), params) if listing.wanted(thing) else None
            return made if made and params.names(made.cells) else None

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
                raise SourceError(f"{path}: page {page} repeats earlier pages, so later rows are missing")
            seen.update(thing.key for thing in fresh)
            total = total or _number(reply.headers.get("x-total")) or 0
            yield fresh
            page = _following(reply.headers, page, bool(found), path)
        if len(seen) < total:
            raise SourceError(f"{path}: the list changed while it was read, got {len(seen)} of {total} rows; ask again")

    def _own(self, link: str) -> str | None:
        """The link if it leads to the configured server, else None."""
        return link if link.startswith(f"{self._tracker.url}/") else None


def _following(headers: Mapping[str, str], page: int, found: bool, path: str) -> int | None:
    """The next page that the server names; if it names none, the following number until a page is empty."""
    given = headers.get("x-next-page")
    if given == "" or (given is None and not found):
        return None
    if given is not None and (_number(given) != page + 1 or not found):
        raise SourceError(f"{path}: the server names {given!r} as the page after {page}, so later rows are missing")
    return page + 1


def _number(header: str | None) -> int | None:
    return int(header) if header and header.isascii() and header.isdigit() else None
