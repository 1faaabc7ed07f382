"""Builds YouTrack queries from typed terms; a value cannot become query syntax."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator

from groundplan.sources.http.params import ListParams, Value

ATTRIBUTE = {"created": "created", "updated": "updated", "resolved": "resolved date"}
STATUS = {"open": "#Unresolved", "resolved": "#Resolved"}


def _inert(value: str) -> str:
    """Refuse the only characters with a meaning between braces."""
    if re.search(r'[{}"\\]', value):
        raise ValueError('a value cannot contain { } " \\, which have a meaning in a query')
    return value


Inert = Annotated[Value, AfterValidator(_inert)]


class IssueParams(ListParams):
    status: Literal["open", "resolved", "all"] = "all"
    states: tuple[Inert, ...] = ()
    assignee: Inert | None = None
    reporter: Inert | None = None
    by: Literal["created", "updated", "resolved"] = "created"


def compose(params: IssueParams, projects: Sequence[str]) -> str:
    """YouTrack combines different attributes with and, the values of one attribute with or."""
    terms = [
        _among("project", projects),
        STATUS.get(params.status),
        _among("State", params.states),
        _among("Assignee", [params.assignee] if params.assignee else ()),
        _among("reporter", [params.reporter] if params.reporter else ()),
        _within(params),
        "sort by: created desc",
    ]
    return " ".join(term for term in terms if term)


def _among(attribute: str, values: Sequence[str]) -> str | None:
    return f"{attribute}: " + ", ".join(f"{{{_inert(value)}}}" for value in values) if values else None


def _within(params: IssueParams) -> str | None:
    """One day wider on both sides, because the server uses days of its own time zone."""
    start, end = params.start, params.end
    if start is None and end is None:
        return None
    since = (start.astimezone(UTC) - timedelta(days=1)).date().isoformat() if start else "*"
    until = (end.astimezone(UTC) + timedelta(days=1)).date().isoformat() if end else "*"
    return f"{ATTRIBUTE[params.by]}: {since} .. {until}"
