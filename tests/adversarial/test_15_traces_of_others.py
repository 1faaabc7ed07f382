"""What LangGraph would report to LangSmith stays here, whatever the environment of the process says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

SALES = Path(__file__).parents[2] / "examples" / "sales.csv"
ASKING = """
import json, sys
import groundplan
from langchain_core.tracers.langchain import wait_for_all_tracers
from langsmith.run_helpers import traceable

def ask(question):
    with groundplan.open(sys.argv[1]) as project:
        return project.ask(question).text

asked = traceable(ask) if sys.argv[2] == "within a trace" else ask
print(json.dumps(asked("total revenue by region")))
wait_for_all_tracers()
"""


class Listening(BaseHTTPRequestHandler):
    reported: list[bytes] = []

    def do_POST(self) -> None:
        self.reported.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self._reply()

    def do_GET(self) -> None:
        self._reply()

    def _reply(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def server() -> Iterator[str]:
    Listening.reported.clear()
    listening = ThreadingHTTPServer(("127.0.0.1", 0), Listening)
    Thread(target=listening.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listening.server_port}"
    listening.shutdown()


@pytest.mark.parametrize("how", ["alone", "within a trace"])
def test_no_question_and_no_fact_is_reported(server: str, how: str, tmp_path: Path) -> None:
    traced = {"LANGSMITH_TRACING": "true", "LANGCHAIN_TRACING_V2": "true", "LANGSMITH_API_KEY": "none"}
    done = subprocess.run(
        [sys.executable, "-c", ASKING, str(SALES), how],
        env={**os.environ, **traced, "LANGSMITH_ENDPOINT": server},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "West" in json.loads(done.stdout)
    reported = b"".join(Listening.reported)
    if how == "alone":
        assert not reported
    else:  # what the caller's own function was given and gave back
        assert b"total revenue by region" in reported
        assert b"requirements" not in reported
