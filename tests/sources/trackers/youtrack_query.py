"""The part of YouTrack's query language that we send, read as a server would: whatever breaks out takes effect."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

ATTRIBUTES = "project|state|assignee|reporter|created|updated|resolved date|sort by"
TOKEN = re.compile(
    rf'\s*(?:(?P<attribute>(?:{ATTRIBUTES})\s*:)|\{{(?P<braced>[^{{}}]*)\}}|"(?P<quoted>[^"]*)"|(?P<range>\.\.)|(?P<comma>,)'
    r"|(?P<tag>#\w+)|(?P<or>or\b)|(?P<word>[^\s,{}\"#]+)|(?P<stray>[{}\"#]))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Term:
    attribute: str
    values: tuple[str, ...]
    ranged: bool = False


@dataclass(frozen=True)
class Query:
    alternatives: tuple[tuple[Term, ...], ...]  # joined by `or`; the terms of one by and


def parse(text: str) -> Query:
    alternatives: list[list[Term]] = [[]]
    attribute, values, ranged = "text", list[str](), False

    def close() -> None:
        if values:
            alternatives[-1].append(Term(attribute, tuple(values), ranged))

    for found in TOKEN.finditer(text):
        kind, token = found.lastgroup, found[found.lastgroup or 0]
        if kind == "attribute":
            close()
            attribute, values, ranged = " ".join(token.rstrip(": ").lower().split()), [], False
        elif kind == "or":
            close()
            attribute, values, ranged = "text", [], False
            alternatives.append([])
        elif kind == "tag":
            close()
            alternatives[-1].append(Term("tag", (token,)))
            attribute, values, ranged = "text", [], False
        elif kind == "range":
            ranged = True
        elif kind in ("braced", "quoted", "word"):
            values.append(token)
    close()
    return Query(tuple(tuple(terms) for terms in alternatives))


def holds(query: Query, issue: dict[str, Any], zone: ZoneInfo) -> bool:
    return any(all(_term(term, issue, zone) for term in terms) for terms in query.alternatives)


def _term(term: Term, issue: dict[str, Any], zone: ZoneInfo) -> bool:
    custom = {field["name"].lower(): field["value"] for field in issue["customFields"]}
    wanted = {value.casefold() for value in term.values}
    match term.attribute:
        case "sort by":
            return True
        case "tag":
            return (issue["resolved"] is None) == (term.values == ("#Unresolved",))
        case "project":
            return issue["project"]["shortName"].casefold() in wanted
        case "reporter":
            return issue["reporter"]["login"].casefold() in wanted
        case "state":
            return custom["state"]["name"].casefold() in wanted
        case "assignee":
            return custom["assignee"] is not None and custom["assignee"]["login"].casefold() in wanted
        case "created" | "updated" | "resolved date":
            return _within(issue[term.attribute.partition(" ")[0]], term, zone)
        case _:
            return any(value in issue["summary"].casefold() for value in wanted)


def _within(stamp: int | None, term: Term, zone: ZoneInfo) -> bool:
    """Whole days of the server's own time zone, the last one too."""
    if stamp is None:
        return False
    day = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=stamp)).astimezone(zone).date()
    first, last = (None if value == "*" else date.fromisoformat(value) for value in (term.values[0], term.values[-1]))
    return (first is None or first <= day) and (last is None or day <= last)
