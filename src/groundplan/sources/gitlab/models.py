"""GitLab's requests and responses: the fields we use are validated strictly, others are ignored."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Literal, TypeVar

from pydantic import AwareDatetime, BaseModel

from groundplan.sources.http.listing import Columns, Row, Wording
from groundplan.sources.http.params import ListParams, Period, Value

COMMITS: Columns = {
    "project": "text",
    "id": "text",
    "title": "text",
    "author": "text",
    "committed_at": "time",
    "link": "text",
}
MERGE_REQUESTS: Columns = {
    "project": "text",
    "id": "text",
    "title": "text",
    "author": "text",
    "state": "text",
    "target": "text",
    "created_at": "time",
    "updated_at": "time",
    "merged_at": "time",
    "link": "text",
}
CALLED: Wording = {
    "state": {
        "opened": ("open", "opened", "unmerged", "открытый"),
        "merged": ("merged", "accepted", "слитый", "влитый", "принятый"),
        "closed": ("closed", "rejected", "закрытый", "отклонённый"),
    }
}


class CommitParams(ListParams):
    author: Value | None = None


class MergeRequestParams(ListParams):
    author: Value | None = None
    state: Literal["opened", "closed", "locked", "merged", "all"] = "all"
    by: Literal["created", "updated", "merged"] = "created"


class Commit(BaseModel):
    id: str
    short_id: str
    title: str
    author_name: str
    author_email: str
    committed_date: AwareDatetime
    web_url: str

    @property
    def key(self) -> str:
        return self.id

    def row(self, project: str, link: str | None, period: Period) -> Row:
        cells = {
            "project": project,
            "id": self.short_id,
            "title": self.title,
            "author": self.author_name,
            "committed_at": period.local(self.committed_date),
            "link": link,
        }
        name = f"{project}@{self.short_id}"
        return Row(name, "commit", self.title, self.author_name, self.committed_date, link, cells)


class Person(BaseModel):
    username: str
    name: str


class MergeRequest(BaseModel):
    id: int
    iid: int
    title: str
    state: Literal["opened", "closed", "locked", "merged"]
    author: Person
    target_branch: str
    created_at: AwareDatetime
    updated_at: AwareDatetime
    merged_at: AwareDatetime | None = None
    web_url: str

    @property
    def key(self) -> str:
        return str(self.id)

    def row(self, project: str, link: str | None, period: Period) -> Row:
        cells = {
            "project": project,
            "id": f"!{self.iid}",
            "title": self.title,
            "author": self.author.name,
            "state": self.state,
            "target": self.target_branch,
            "created_at": period.local(self.created_at),
            "updated_at": period.local(self.updated_at),
            "merged_at": period.local(self.merged_at),
            "link": link,
        }
        name = f"{project}!{self.iid}"
        return Row(name, "merge request", self.title, self.author.name, self.created_at, link, cells)


Thing = TypeVar("Thing", Commit, MergeRequest)


@dataclass(frozen=True)
class Listing(Generic[Thing]):
    """One kind of list of a project. `params` filter on the server, perhaps too loosely; `wanted` is exact."""

    path: str
    params: Mapping[str, str]
    model: type[Thing]
    columns: Columns
    wanted: Callable[[Thing], bool]


def commits(params: CommitParams) -> Listing[Commit]:
    author = params.author

    def wanted(commit: Commit) -> bool:
        by = author is None or author in f"{commit.author_name} <{commit.author_email}>"
        return by and params.holds(commit.committed_date)

    pushed = {"since": _moment(params.start), "until": _moment(params.end), "author": author and _literally(author)}
    return Listing("repository/commits", _given(pushed), Commit, COMMITS, wanted)


def merge_requests(params: MergeRequestParams) -> Listing[MergeRequest]:
    """`scope` is always sent: without it some lists contain only the user's own items."""

    def wanted(request: MergeRequest) -> bool:
        moments = {"created": request.created_at, "updated": request.updated_at, "merged": request.merged_at}
        return params.holds(moments[params.by]) and params.state in ("all", request.state)

    pushed = {
        "scope": "all",
        "state": params.state,
        "author_username": params.author,
        **_span(params),
        "order_by": "created_at",
        "sort": "desc",
    }
    return Listing("merge_requests", _given(pushed), MergeRequest, MERGE_REQUESTS, wanted)


def _span(params: MergeRequestParams) -> dict[str, str | None]:
    """Not every GitLab version filters by merge date; something merged on a date was updated then or later."""
    if params.by == "merged":
        return {"updated_after": _moment(params.start)}
    return {f"{params.by}_after": _moment(params.start), f"{params.by}_before": _moment(params.end)}


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _literally(author: str) -> str:
    """Escaped, because GitLab passes the author to git as a basic regular expression."""
    return re.sub(r"[\\.*\[\]^$]", r"\\\g<0>", author)


def _given(pushed: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in pushed.items() if value is not None}
