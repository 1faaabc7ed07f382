"""YouTrack's list of issues: only the named fields, 42 rows unless asked for more, no total anywhere."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from tests.sources.trackers.serving import Reply, Request
from tests.sources.trackers.youtrack_query import holds, parse

Fields = dict[str, "Fields"]


@dataclass
class YouTrackDouble:
    issues: list[dict[str, Any]]
    token: str
    zone: str = "Asia/Tokyo"  # where the server counts its days
    most: int = 1_000  # rows of one answer, whatever was asked for

    def __call__(self, request: Request) -> Reply:
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return _refused(401, "Unauthorized", "You are not logged in.")
        if request.path != "/api/issues":
            return _refused(404, "Not Found", "No such resource.")
        try:
            query = parse(request.one("query") or "")
            zone = ZoneInfo(self.zone)
            kept = [issue for issue in self.issues if holds(query, issue, zone)]
        except ValueError:
            return _refused(400, "bad_request", "Cannot parse the query.")
        kept.sort(key=lambda issue: (issue["created"], issue["id"]), reverse=True)
        skip, top = int(request.one("$skip") or 0), min(int(request.one("$top") or 42), self.most)
        fields = read_fields(request.one("fields") or "")
        return Reply(200, json.dumps([project(issue, fields) for issue in kept[skip : skip + top]]).encode())


def read_fields(text: str) -> Fields:
    """`a,b(c,d)` as nested names."""
    root: Fields = {}
    path, last = [root], root
    for token in re.findall(r"[$\w]+|[(),]", text):
        if token == "(":
            path.append(last)
        elif token == ")":
            path.pop()
        elif token != ",":
            last = path[-1].setdefault(token, {})
    return root


def project(value: Any, fields: Fields) -> Any:
    """What is not named is not sent; the type always is."""
    if isinstance(value, list):
        return [project(item, fields) for item in value]
    if not isinstance(value, dict):
        return value
    named = {name: project(value[name], inner) for name, inner in fields.items() if name in value}
    return {"$type": value.get("$type", "Entity"), **named}


def _refused(status: int, error: str, said: str) -> Reply:
    return Reply(status, json.dumps({"error": error, "error_description": said}).encode())
