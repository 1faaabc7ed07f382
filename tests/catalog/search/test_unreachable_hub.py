"""The extra `semantic` is installed, the model is not on this machine, and its hub cannot be reached."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from groundplan.catalog.search.vectors import installed

ROOT = Path(__file__).parents[3]
QUESTION = "total revenue by region"
MODEL = "BAAI/bge-small-en-v1.5"


@pytest.fixture
def closed() -> str:
    """An address of this machine where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.mark.skipif(not installed(), reason="needs the extra `semantic`")
@pytest.mark.requirement("R8")
def test_words_alone_are_searched_and_a_note_says_so(closed: str, tmp_path: Path) -> None:
    """In a process of its own: the hub's client reads its settings when it is imported."""
    hub = {"HF_ENDPOINT": closed, "HF_HOME": str(tmp_path / "empty")}
    environment = {**os.environ, **hub, "GROUNDPLAN_EMBEDDINGS": MODEL, "GROUNDPLAN_STATE": str(tmp_path)}
    command = [sys.executable, "-m", "groundplan.interfaces.cli.main", "ask", "examples/sales.csv", QUESTION, "--json"]
    asked = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=True)
    answer = json.loads(asked.stdout)
    assert answer["kind"] == "answer"
    assert "West" in answer["text"]
    [note] = answer["notes"]
    assert MODEL in note
    assert note.endswith("tools are searched by words only")
    assert "Retrying" not in asked.stderr, "the hub is asked once, not five times for each file"
