"""What the doubles hold, counted in plain Python: the other route to every number of these tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.sources.trackers.calling import gitlab_double, youtrack_double

Thing = dict[str, Any]
SHOWN = 10  # of each list
NAMES = {"WEB": "web", "API": "api"}


def commits(*projects: str) -> list[Thing]:
    return [commit for project in projects for commit in gitlab_double().commits[f"shop/{project}"]]


def merge_requests(*projects: str) -> list[Thing]:
    return [request for project in projects for request in gitlab_double().merge_requests[f"shop/{project}"]]


def issues(*projects: str) -> list[Thing]:
    """Of the projects that are set up: whatever else the server holds is not for us."""
    return [issue for issue in youtrack_double().issues if NAMES.get(issue["project"]["shortName"]) in projects]


def at(thing: Thing, name: str) -> datetime:
    value = thing[name]
    if isinstance(value, int):
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=value)
    return datetime.fromisoformat(value)


def within(things: Iterable[Thing], name: str, first: str, last: str) -> list[Thing]:
    """Those of the days from the first to the last, both in, as UTC counts them."""
    return [thing for thing in things if first <= at(thing, name).date().isoformat() <= last]


def is_open(issue: Thing) -> bool:
    return issue["resolved"] is None


def assignee(issue: Thing) -> str | None:
    found = next(field["value"] for field in issue["customFields"] if field["name"] == "Assignee")
    return found["fullName"] if found else None


def counts(things: Iterable[Thing], of: Callable[[Thing], Any]) -> dict[Any, int]:
    return dict(Counter(map(of, things)))


def monday(day: date) -> str:
    return (day - timedelta(days=day.weekday())).isoformat()


def listed(things: list[Thing], name: str, title: str = "title") -> tuple[int, list[str]]:
    """How many, and the titles of the newest."""
    newest = sorted(things, key=lambda thing: at(thing, name), reverse=True)
    return len(things), [thing[title] for thing in newest[:SHOWN]]
