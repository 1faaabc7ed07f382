"""The Metadata API: published data sources by luid, with the fields that the query selects."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.sources.tableau.double.catalogue import FIELDS
from tests.sources.tableau.double.rest import Rest
from tests.sources.tableau.double.serving import Reply, Request

PATH = "/api/metadata/graphql"
TOKEN = re.compile(r"\.\.\.\s*on\s+\w+|\w+|\([^)]*\)|[{}]")
LUID = re.compile(r'publishedDatasources\s*\(\s*filter\s*:\s*\{\s*luid\s*:\s*"([^"\\]*)"\s*\}\s*\)')
Selection = dict[str, Any]


def answer(request: Request, rest: Rest) -> Reply:
    if not rest.signed_in(request.headers.get("x-tableau-auth")):
        error = {"code": "401002", "summary": "Unauthorized Access", "detail": "Invalid credentials."}
        return Reply(401, json.dumps({"error": error}).encode())
    try:
        query = json.loads(request.body)["query"]
        asked = _selected(TOKEN.findall(query))
        luid = LUID.search(query)
    except (ValueError, KeyError, TypeError, IndexError):
        return _failed("Invalid Syntax")
    if luid is None or list(asked) != ["publishedDatasources"]:
        return _failed("Only publishedDatasources(filter: {luid: ...}) is known.")
    found = [_data_source(source) for source in rest.datasources if source["id"] == luid[1]]
    chosen = [_projected(source, asked["publishedDatasources"]) for source in found]
    return Reply(200, json.dumps({"data": {"publishedDatasources": chosen}}).encode())


def _data_source(source: dict[str, Any]) -> dict[str, Any]:
    fields = [
        {
            "name": field.caption,
            "isHidden": field.hidden,
            "description": field.description,
            "dataType": field.type,
            "role": field.role,
            "formula": field.formula,
        }
        for field in FIELDS
    ]
    owner = {"name": "Ada Alvarez"}
    return {"luid": source["id"], "name": source["name"], "description": None, "owner": owner, "fields": fields}


def _selected(tokens: list[str]) -> Selection:
    """The selection sets of a query, nested; arguments are left out, and `... on Type` selects for its parent."""
    whole: Selection = {}
    stack, last = [whole], ""
    for token in tokens[tokens.index("{") + 1 :]:
        if token == "{":
            stack.append(stack[-1] if last.startswith("...") else stack[-1].setdefault(last, {}))
        elif token == "}":
            stack.pop()
        elif not token.startswith("("):
            last = token
            if not token.startswith("..."):
                stack[-1].setdefault(token, {})
    if stack:
        raise ValueError("a brace is left open")
    return whole


def _projected(whole: Any, wanted: Selection) -> Any:
    if isinstance(whole, list):
        return [_projected(item, wanted) for item in whole]
    if not isinstance(whole, dict):
        return whole
    return {name: _projected(whole.get(name), inner) for name, inner in wanted.items()}


def _failed(message: str) -> Reply:
    return Reply(200, json.dumps({"errors": [{"message": message}]}).encode())
