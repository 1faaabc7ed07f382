"""What the doubles hold: the same every time, with moments on both sides of midnight and of a year."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

TOKEN = "glpat-0123456789abcdef"
AUTHORS = (("Anna Berg", "anna"), ("Борис Ким", "boris"), ("C. [bot]", "ci.bot"), ("CX bot", "cxxbot"))
STATES = ("Open", "In Progress", "Fixed")
EDGES = [datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=hours) for hours in (-3, -1, 0, 1, 24, 21 + 24 * 6, 24 * 7)]


def moments(count: int, seed: int) -> list[datetime]:
    """Of the year 2026, edges first."""
    chance = random.Random(seed)
    year = datetime(2026, 1, 1, tzinfo=UTC)
    return [*EDGES, *(year + timedelta(seconds=chance.randrange(31_000_000)) for _ in range(count))][:count]


def commits(project: str, count: int, seed: int) -> list[dict[str, Any]]:
    return [commit(project, number, moment, seed) for number, moment in enumerate(moments(count, seed))]


def commit(project: str, number: int, moment: datetime, seed: int = 0) -> dict[str, Any]:
    name, user = AUTHORS[number % len(AUTHORS)]
    id_ = f"{seed:04x}{number:036x}"
    return {
        "id": id_,
        "short_id": id_[:4] + id_[-6:],
        "title": f"Change {number}",
        "message": f"Change {number}\n",
        "author_name": name,
        "author_email": f"{user}@example.org",
        "authored_date": moment.isoformat(),
        "committer_name": name,
        "committer_email": f"{user}@example.org",
        "committed_date": moment.isoformat(),
        "created_at": moment.isoformat(),
        "parent_ids": [],
        "web_url": f"http://elsewhere.example/{project}/-/commit/{id_}",
        "trailers": {},
    }


def merge_requests(project: str, count: int, seed: int) -> list[dict[str, Any]]:
    return [merge_request(project, number, moment, seed) for number, moment in enumerate(moments(count, seed))]


def merge_request(project: str, number: int, moment: datetime, seed: int = 0) -> dict[str, Any]:
    name, user = AUTHORS[number % len(AUTHORS)]
    state = ("opened", "merged", "closed")[number % 3]
    return {
        "id": seed * 100_000 + number,
        "iid": number + 1,
        "title": f"Merge {number}",
        "state": state,
        "author": {"id": number % 4, "username": user, "name": name},
        "target_branch": "main",
        "created_at": moment.isoformat(),
        "updated_at": (moment + timedelta(days=2)).isoformat(),
        "merged_at": (moment + timedelta(days=2)).isoformat() if state == "merged" else None,
        "web_url": f"http://elsewhere.example/{project}/-/merge_requests/{number + 1}",
        "labels": [],
    }


def issues(project: str, count: int, seed: int) -> list[dict[str, Any]]:
    return [issue(project, number, moment, seed) for number, moment in enumerate(moments(count, seed))]


def issue(project: str, number: int, moment: datetime, seed: int = 0) -> dict[str, Any]:
    name, user = AUTHORS[number % len(AUTHORS)]
    state = STATES[number % len(STATES)]
    created = int(moment.timestamp() * 1000)
    assignee = None if number % 5 == 0 else {"$type": "User", "login": user, "fullName": name, "name": name}
    return {
        "$type": "Issue",
        "id": f"{seed}-{number}",
        "idReadable": f"{project}-{number + 1}",
        "summary": f"Problem {number} of {project}",
        "description": None,
        "created": created,
        "updated": created + 86_400_000,
        "resolved": created + 86_400_000 if state == "Fixed" else None,
        "project": {"$type": "Project", "id": "0-1", "name": project.title(), "shortName": project},
        "reporter": {"$type": "User", "login": user, "fullName": name},
        "customFields": [
            {
                "$type": "StateIssueCustomField",
                "name": "State",
                "value": {"$type": "StateBundleElement", "name": state},
            },
            {"$type": "SingleUserIssueCustomField", "name": "Assignee", "value": assignee},
            {"$type": "SimpleIssueCustomField", "name": "Type", "value": "Bug"},
            {"$type": "MultiEnumIssueCustomField", "name": "Fix versions", "value": [{"name": "1"}, {"name": "2"}]},
        ],
    }
