"""YouTrack as a source: issues of the configured projects only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from groundplan.errors import SourceError, UsageError
from groundplan.sources.http.listing import Row, read_pages
from groundplan.sources.http.lists import ListSource
from groundplan.sources.http.params import read_params
from groundplan.sources.interface import Call, Result
from groundplan.sources.youtrack.models import CALLED, FIELDS, ISSUES, YouTrackIssue
from groundplan.sources.youtrack.query import IssueParams, compose

if TYPE_CHECKING:
    from groundplan.sources.http.client import Budget

NAME = "youtrack"
PATH = "/api/issues"
TOP = 100  # always sent: YouTrack's default is 42
TABLES = {"issues": ISSUES}


class YouTrack(ListSource):
    """The settings name projects by short name, as in an issue's number."""

    name = NAME
    header = ("Authorization", "Bearer ")
    tables = TABLES
    wording = CALLED
    read_by = "the tool youtrack_issues"

    @staticmethod
    def tools() -> Sequence[Path]:
        return [Path(__file__).with_name("tools.yaml")]

    async def call(self, call: Call) -> Result:
        if call.tool.name != "youtrack_issues":
            raise UsageError(f"YouTrack has no tool {call.tool.name!r}; see `groundplan catalog list`")
        params = read_params(IssueParams, call.tool.name, call.params)
        projects = self._tracker.chosen(params.projects)
        pages = self._pages(compose(params, [*projects.values()]), self._server.budget(call.seconds))
        names = {short.casefold(): name for name, short in projects.items()}

        def row(issue: YouTrackIssue) -> Row | None:
            project = self._named(issue, names)
            wanted = params.holds(issue.moment(params.by)) and params.status in ("all", issue.status)
            made = issue.row(project, self._tracker.url, params) if wanted else None
            return made if made and params.names(made.cells) else None

        return self._run_tables.result(call, await read_pages(pages, row, min(params.limit, call.limits.rows)), ISSUES)

    async def _pages(self, query: str, budget: Budget) -> AsyncIterator[Sequence[YouTrackIssue]]:
        """Each page starts with the last row of the one before: YouTrack sends no total, and this reveals gaps.

        A page may be shorter than requested, so only a page without new rows is the end.
        """
        seen: set[str] = set()
        before: list[str] = []
        skip = 0
        while True:
            params: dict[str, str | int] = {"query": query, "fields": FIELDS, "$skip": skip, "$top": TOP}
            found = (await self._server.get(PATH, params, budget)).listed(YouTrackIssue)
            ids = [issue.id for issue in found]
            if before and (not ids or ids[0] not in seen):
                raise SourceError(f"{PATH}: the list changed while it was read, some issues are missing; ask again")
            if len(ids) > 1 and ids == before:
                raise SourceError(f"{PATH}: the server repeats the same page, so later rows are missing")
            yield [issue for issue in found if issue.id not in seen]
            if len(ids) < 2:
                return
            seen.update(ids)
            before, skip = ids, skip + len(ids) - 1

    def _named(self, issue: YouTrackIssue, names: Mapping[str, str]) -> str:
        """The project name that people use. Issues of other projects are refused, whatever the server returns."""
        project = names.get(issue.project.shortName.casefold())
        if project is None:
            raise SourceError(f"{PATH}: the server sent an issue of another project; name projects by short name")
        return project
