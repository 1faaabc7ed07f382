"""Issues in YouTrack's query language, built from typed terms: no value can become syntax."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator

from groundplan.sources.http.asking import Asked, Value

ATTRIBUTE = {"created": "created", "updated": "updated", "resolved": "resolved date"}
STATUS = {"open": "#Unresolved", "resolved": "#Resolved"}


def _inert(value: str) -> str:
    """Between braces everything is a plain value but these."""
    if re.search(r'[{}"\\]', value):
        raise ValueError('a value holds none of { } " \\, which have a meaning in a query')
    return value


Inert = Annotated[Value, AfterValidator(_inert)]


class IssuesAsked(Asked):
    status: Literal["open", "resolved", "all"] = "all"
    states: tuple[Inert, ...] = ()
    assignee: Inert | None = None
    reporter: Inert | None = None
    by: Literal["created", "updated", "resolved"] = "created"


def compose(asked: IssuesAsked, projects: Sequence[str]) -> str:
    """Different attributes are joined by and, values of one attribute by or."""
    terms = [
        _among("project", projects),
        STATUS.get(asked.status),
        _among("State", asked.states),
        _among("Assignee", [asked.assignee] if asked.assignee else ()),
        _among("reporter", [asked.reporter] if asked.reporter else ()),
        _within(asked),
        "sort by: created desc",
    ]
    return " ".join(term for term in terms if term)


def _among(attribute: str, values: Sequence[str]) -> str | None:
    return f"{attribute}: " + ", ".join(f"{{{_inert(value)}}}" for value in values) if values else None


def _within(asked: IssuesAsked) -> str | None:
    """A day wider on both sides: the server takes days in a time zone of its own."""
    start, end = asked.start, asked.end
    if start is None and end is None:
        return None
    since = (start.astimezone(UTC) - timedelta(days=1)).date().isoformat() if start else "*"
    until = (end.astimezone(UTC) + timedelta(days=1)).date().isoformat() if end else "*"
    return f"{ATTRIBUTE[asked.by]}: {since} .. {until}"
