"""YouTrack as a source: issues of the projects that are set up, and of no others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from groundplan.errors import SourceError, UsageError
from groundplan.sources.http.asking import read_params
from groundplan.sources.http.listing import Row, read_pages
from groundplan.sources.http.lists import Lists
from groundplan.sources.interface import Call, Result
from groundplan.sources.youtrack.models import CALLED, FIELDS, ISSUES, YouTrackIssue
from groundplan.sources.youtrack.query import IssuesAsked, compose

if TYPE_CHECKING:
    from groundplan.sources.http.client import Budget

NAME = "youtrack"
PATH = "/api/issues"
TOP = 100  # always sent: without it YouTrack gives 42
TABLES = {"issues": ISSUES}


class YouTrack(Lists):
    """Settings name projects by their short names, as in an issue's number."""

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
            raise UsageError(f"{call.tool.name!r} is no tool of YouTrack; see `groundplan catalog list`")
        asked = read_params(IssuesAsked, call.tool.name, call.params)
        projects = self._tracker.chosen(asked.projects)
        pages = self._pages(compose(asked, [*projects.values()]), self._server.budget(call.seconds))
        names = {short.casefold(): name for name, short in projects.items()}

        def row(issue: YouTrackIssue) -> Row | None:
            project = self._named(issue, names)
            wanted = asked.holds(issue.moment(asked.by)) and asked.status in ("all", issue.status)
            return issue.row(project, self._tracker.url, asked) if wanted else None

        return self._shelf.result(call, await read_pages(pages, row, min(asked.limit, call.limits.rows)), ISSUES)

    async def _pages(self, query: str, budget: Budget) -> AsyncIterator[Sequence[YouTrackIssue]]:
        """Each page begins with the last row of the one before: no total is sent, and so a gap is seen.

        A page may be shorter than asked for, so that only one that brings nothing more is the end.
        """
        seen: set[str] = set()
        before: list[str] = []
        skip = 0
        while True:
            params: dict[str, str | int] = {"query": query, "fields": FIELDS, "$skip": skip, "$top": TOP}
            found = (await self._server.get(PATH, params, budget)).listed(YouTrackIssue)
            ids = [issue.id for issue in found]
            if before and (not ids or ids[0] not in seen):
                raise SourceError(f"{PATH}: issues moved while they were read, some are missing; ask again")
            if len(ids) > 1 and ids == before:
                raise SourceError(f"{PATH}: the server sends the same page again; what is behind it is missing")
            yield [issue for issue in found if issue.id not in seen]
            if len(ids) < 2:
                return
            seen.update(ids)
            before, skip = ids, skip + len(ids) - 1

    def _named(self, issue: YouTrackIssue, names: Mapping[str, str]) -> str:
        """Its project as people call it. Whatever a server makes of a query, one of another project goes nowhere."""
        project = names.get(issue.project.shortName.casefold())
        if project is None:
            raise SourceError(f"{PATH}: an issue of another project came; name projects by their short names")
        return project
