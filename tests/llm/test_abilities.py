"""`groundplan doctor` says of each model server what it can and cannot do, and what to do next."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.llm.abilities import Abilities, find_abilities
from groundplan.settings import Endpoint
from tests.interfaces.test_cli import groundplan as command
from tests.llm.scripted import PROBED

pytest_plugins = ["tests.models"]

NOBODY = "http://127.0.0.1:9/v1"
ALL = {"schema", "models", "context", "usage", "speed"}


@dataclass(frozen=True)
class Double:
    """A server that can do everything, unless it is said otherwise."""

    enforces: bool = True
    refuses_schema: bool = False
    models: tuple[str, ...] | None = ("m",)
    context: int | None = 8192
    props: int | None = None
    counts: bool = True

    def completion(self, body: dict[str, Any]) -> tuple[int, Any]:
        asked = "response_format" in body
        if asked and self.refuses_schema:
            return 400, {"error": "response_format is not supported"}
        text = PROBED if asked and self.enforces else "one two three four five"
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 12, "completion_tokens": 400} if self.counts else None
        return 200, {"object": "chat.completion", "choices": [choice], "usage": usage}

    def told(self, path: str) -> tuple[int, Any]:
        if path == "/v1/models" and self.models is not None:
            length = {"max_model_len": self.context} if self.context else {}
            return 200, {"object": "list", "data": [{"id": name, **length} for name in self.models]}
        if path == "/props" and self.props:
            return 200, {"default_generation_settings": {"n_ctx": self.props}}
        return 404, {}


@contextmanager
def served(double: Double) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(*double.told(self.path))

        def do_POST(self) -> None:
            self._send(*double.completion(json.loads(self.rfile.read(int(self.headers["content-length"])))))

        def _send(self, status: int, document: Any) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def found(double: Double) -> Abilities:
    with served(double) as url:
        return asyncio.run(find_abilities(Endpoint(name="double", url=url, model="m"), 10))


def test_a_server_that_can_do_everything_has_nothing_to_do() -> None:
    abilities = found(Double())
    assert abilities.reachable
    assert {finding.ability for finding in abilities.findings if finding.there} == ALL
    assert (abilities.context, abilities.models) == (8192, ("m",))


@pytest.mark.parametrize(
    ("double", "missing", "said"),
    [
        pytest.param(Double(enforces=False), "schema", "prefer a server with json_schema", id="ignores the schema"),
        pytest.param(Double(refuses_schema=True), "schema", "prefer a server with json_schema", id="refuses it"),
        pytest.param(Double(models=None, props=8192), "models", "set `model` in its table", id="lists no models"),
        pytest.param(Double(models=("a", "b"), props=8192), "models", "'m' but a, b", id="lists others"),
        pytest.param(Double(context=None), "context", "does not say how long", id="no context said"),
        pytest.param(Double(context=2048), "context", "2,048 tokens; long prompts need 4,096", id="short context"),
        pytest.param(Double(counts=False), "usage", "limit `seconds` in [roles]", id="counts no tokens"),
    ],
)
def test_what_is_missing_is_said_with_what_to_do(double: Double, missing: str, said: str) -> None:
    abilities = found(double)
    lacking = {finding.ability: finding.said for finding in abilities.findings if not finding.there}
    assert {*lacking} == {missing} | ({"speed"} if missing == "usage" else set())
    assert said in lacking[missing]


def test_the_context_of_llama_cpp_is_found_beside_its_interface() -> None:
    assert found(Double(context=None, props=4096)).context == 4096


def test_a_slow_server_is_told_apart() -> None:
    slow = Abilities(name="m", url="u", reachable=True, tokens_per_second=2.5)
    (speed,) = (finding for finding in slow.findings if finding.ability == "speed")
    assert not speed.there
    assert "2.5 tokens per second, which is slow; use a smaller model" in speed.said


def test_the_command_checks_one_server_by_its_address_as_lines_and_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with served(Double(enforces=False)) as url:
        lines = command("doctor", "--model", url)
        document = json.loads(command("doctor", "--model", url, "--json").stdout)
    assert lines.returncode == 0, lines.stdout
    assert f"✓ model: m at {url} answers in " in lines.stdout
    assert "- m: does not enforce a JSON schema" in lines.stdout
    assert [(check["check"], check["works"]) for check in document][:2] == [("model", True), ("m", None)]
    gone = command("doctor", "--model", NOBODY, "--json")
    assert gone.returncode == 4
    assert [check["works"] for check in json.loads(gone.stdout)] == [False]


@pytest.mark.model
def test_a_real_server_can_do_what_is_needed(smollm2_url: str) -> None:
    abilities = asyncio.run(find_abilities(Endpoint(name="smollm2", url=smollm2_url, model=""), 300))
    missing = {finding.ability for finding in abilities.findings if not finding.there}
    assert missing <= {"speed"}, abilities  # how fast it is depends on the machine
    assert abilities.context == 4096
    assert abilities.tokens_per_second is not None
