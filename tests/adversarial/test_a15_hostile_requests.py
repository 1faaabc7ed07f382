"""No body of a request is a fault of the service: deep, broken or unprintable, it is refused as what it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from groundplan.service.data import Data
from groundplan.service.http import create_app
from groundplan.service.projects import Projects
from groundplan.state.database import SQLite

SALES = Path(__file__).parents[2] / "examples" / "sales.csv"


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = {"a": [value]}
    return value


HALF = '"\\ud800"'
BODIES = {
    "a deep plan to check": ("/v1/checks", json.dumps({"plan": deep(200), "reading": deep(200)})),
    "a deep plan to run": ("/v1/runs", json.dumps({"plan": {"plan": deep(200)}})),
    "brackets to run": ("/v1/runs", '{"plan":{"a":' + "[" * 5_000 + "]" * 5_000 + "}}"),
    "brackets to check": ("/v1/checks", '{"a":' + "[" * 50_000 + "]" * 50_000 + "}"),
    "half a letter to check": ("/v1/checks", '{"plan":{"steps":[{"id":' + HALF + "}]}}"),
    "half a letter in a plan": ("/v1/runs", '{"plan":{"plan":{"x":' + HALF + "}}}"),
    "half a letter as a key": ("/v1/runs", '{"plan":{' + HALF + ":1}}"),
    "a null character in a plan": ("/v1/runs", '{"plan":{"a":["\\u0000"]}}'),
    "half a letter in a question": ("/v1/runs", '{"question":' + HALF + "}"),
    "half a letter to plan": ("/v1/plans", '{"question":' + HALF + "}"),
    "half a letter to explain": ("/v1/explanations", '{"question":' + HALF + "}"),
    "a deep reading": ("/v1/plans", json.dumps({"reading": deep(200)})),
    "a deep reading to change": ("/v1/suggestions", json.dumps({"reading": deep(200)})),
    "no number": ("/v1/runs", '{"question":"x","bounds":{"seconds":NaN}}'),
    "a long number": ("/v1/runs", '{"question":"x","bounds":{"seconds":' + "9" * 5_000 + "}}"),
    "no text": ("/v1/runs", "\x80"),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    data = Data(str(SALES))
    database = SQLite(tmp_path_factory.mktemp("state"), data.tenant)
    app = create_app(Projects(database, data.open), data.tenant)
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as opened:
        yield opened


@pytest.mark.parametrize("kind", BODIES)
def test_a_hostile_body_is_refused(kind: str, client: TestClient) -> None:
    path, body = BODIES[kind]
    reply = client.post(path, content=body.encode("latin-1"), headers={"Content-Type": "application/json"})
    assert reply.status_code in (200, 400, 422), reply.text
    if reply.status_code == 200:
        assert path == "/v1/checks"
        assert reply.json()["passed"] is False
    else:
        assert reply.json()["code"] in ("service/invalid", "service/http", "service/usage")


@pytest.mark.needs("mcp")
@pytest.mark.parametrize(
    ("host", "address", "link"),
    [
        ("evil.example.com", "https://plan.example.org", "https://plan.example.org/runs/r1"),
        ("evil.example.com", None, "/runs/r1"),
        ("127.0.0.1:8000", None, "http://127.0.0.1:8000/runs/r1"),
    ],
)
def test_a_link_leads_to_no_host_that_a_header_names(host: str, address: str | None, link: str) -> None:
    from groundplan.service.mcp_endpoint import _link

    app = SimpleNamespace(state=SimpleNamespace(address=address))
    scope = {"type": "http", "scheme": "http", "path": "/mcp", "query_string": b"", "root_path": "", "app": app}
    request = Request({**scope, "headers": [(b"host", host.encode())]})
    assert _link(request, cast(Any, SimpleNamespace(id="r1"))) == link
