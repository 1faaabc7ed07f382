"""The VizQL Data Service: metadata and queries of one published data source."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import duckdb
from tests.sources.tableau.double import catalogue
from tests.sources.tableau.double.errors import Refused, refused
from tests.sources.tableau.double.expressions import AGGREGATES
from tests.sources.tableau.double.querying import Answer, answer
from tests.sources.tableau.double.serving import Reply, Request
from tests.sources.tableau.double.validation import check

ROOT = "/api/v1/vizql-data-service/"
REQUESTS = {
    "read-metadata": "ReadMetadataRequest",
    "query-datasource": "QueryRequest",
    "get-datasource-model": "GetDatasourceModelRequest",
    "list-supported-functions": "ListSupportedFunctionRequest",
}


@dataclass
class DataService:
    database: duckdb.DuckDBPyConnection
    luid: str
    signed_in: Callable[[str | None], bool]
    gone: bool = False  # the data source was deleted
    duplicated: str | None = None  # a caption that two fields bear

    def __call__(self, request: Request) -> Reply:
        try:
            return self._answer(request)
        except Refused as said:
            allow = {"Allow": "GET" if request.endpoint == "simple-request" else "POST"} if said.status == 405 else {}
            return Reply(said.status, json.dumps(said.body()).encode(), headers=allow)

    def _answer(self, request: Request) -> Reply:
        endpoint = request.path.removeprefix(ROOT)
        if endpoint == "simple-request":
            _only("GET", request)
            return _json(200, "ok")
        if endpoint not in REQUESTS:
            raise refused("404950")
        _only("POST", request)
        if not self.signed_in(request.headers.get("x-tableau-auth")):
            raise refused("401002")
        body = _parsed(request.body)
        check(REQUESTS[endpoint], body)
        if self.gone or body["datasource"]["datasourceLuid"] != self.luid:
            raise refused("404004")
        return self._told(endpoint, body)

    def _told(self, endpoint: str, body: dict[str, Any]) -> Reply:
        options = body.get("options", {})
        match endpoint:
            case "read-metadata":
                return _json(200, catalogue.metadata(options.get("includeHiddenFields", False), self.duplicated))
            case "query-datasource":
                found = answer(self.database.cursor(), body["query"], options, self.duplicated)
                return _streamed(found, options) if options.get("returnServerSentEvents") else _whole(found, options)
            case "get-datasource-model":
                table = {"logicalTableId": catalogue.LOGICAL_TABLE, "caption": "Orders"}
                return _json(200, {"logicalTables": [table], "logicalTableRelationships": []})
            case _:
                overloads = [{"arg_types": ["REAL"], "return_type": "REAL"}]
                return _json(200, [{"name": name, "overloads": overloads} for name in AGGREGATES])


def _whole(found: Answer, options: dict[str, Any]) -> Reply:
    return _json(200, {"data": _shaped(found, options)})


def _streamed(found: Answer, options: dict[str, Any]) -> Reply:
    """Server-sent events, two hundred rows in each."""
    rows = _shaped(found, options)
    events: list[dict[str, Any]] = [{"event": "METADATA", "data": {"rowCount": len(rows)}}]
    events += [{"event": "DATA", "data": rows[start : start + 200]} for start in range(0, len(rows), 200)]
    told = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    return Reply(200, told.encode(), "text/event-stream")


def _shaped(found: Answer, options: dict[str, Any]) -> list[Any]:
    if options.get("returnFormat") == "ARRAYS":
        return found.rows
    return [dict(zip(found.names, row, strict=True)) for row in found.rows]


def _only(method: str, request: Request) -> None:
    if request.method != method:
        raise refused("405000")


def _parsed(body: bytes) -> Any:
    try:
        text = body.decode()
        return json.loads(text, parse_constant=_not_json)
    except (ValueError, RecursionError):
        raise refused("400000") from None


def _not_json(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _json(status: int, body: object) -> Reply:
    return Reply(status, json.dumps(body).encode())
