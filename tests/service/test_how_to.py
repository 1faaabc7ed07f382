"""The commands of docs/how-to/serve.md, replayed as they are written, on a free port."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.asking.tables.described import SALES
from tests.service.processes import served

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "serve.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
def test_the_commands_of_the_page_do_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    shutil.copy(SALES, tmp_path / "sales.csv")
    (install, serve), *asked = [
        [line.removeprefix("$ ") for line in block.splitlines()] for block in BLOCK.findall(PAGE.read_text())
    ]
    assert install == "pip install 'groundplan[service]'"
    with served(tmp_path, *serve.removeprefix("groundplan serve ").split()) as client:

        def replayed(commands: list[str]) -> str:
            script = "\n".join(commands).replace("localhost:8000", f"localhost:{client.base_url.port}")
            environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
            done = subprocess.run(
                ["bash", "-ec", script], cwd=tmp_path, env=environment, capture_output=True, timeout=60, check=True
            )
            return done.stdout.decode()

        first, streamed, replied, uploaded = asked
        assert json.loads(replayed(first))["outcome"]["kind"] == "answer"
        events = re.findall(r"^event: (.+)$", replayed(streamed), re.MULTILINE)
        assert (events[0], events[-1]) == ("run.queued", "run.ended")
        assert json.loads(replayed(replied))["state"] == "queued"
        assert "42" in json.loads(replayed(uploaded))["outcome"]["text"]
