"""schemathesis over the whole OpenAPI description, without keys and with one: whatever is sent, no answer is a 500."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.asking.tables.described import SALES
from tests.patience import HANGS
from tests.service.processes import make_key, served

pytest.importorskip("schemathesis", reason="needs schemathesis")

OPTIONS = ("--max-examples", "20", "--seed", "7", "--workers", "1", "--phases", "examples,coverage,fuzzing")
READINGS = ("--exclude-path", "/v1/plans", "--exclude-path", "/v1/suggestions")  # minutes to make some at random
REVIEWS = ("--exclude-path", "/v1/reviews/{id}")  # gigabytes: a reading that may be missing


@pytest.mark.parametrize(
    ("with_key", "without"),
    [
        pytest.param(False, READINGS, id="alone"),
        pytest.param(True, READINGS, id="with a key", marks=pytest.mark.slow),
        pytest.param(False, (), id="everything", marks=pytest.mark.slow),
    ],
)
def test_no_answer_is_a_server_error(
    with_key: bool,
    without: tuple[str, ...],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    arguments, key = [str(SALES)], None
    if with_key:
        url = request.getfixturevalue("postgres")
        arguments, key = [*arguments, "--database", url], make_key(url, "fuzzed", "admin")
    with served(tmp_path, *arguments, key=key) as client:
        assert client.get("/openapi.json", timeout=HANGS).status_code == 200  # it is made once, slowly
        sent = ["--header", f"Authorization: Bearer {key}"] if key else []
        run = [sys.executable, "-m", "schemathesis.cli", "run", f"{client.base_url}/openapi.json"]
        command = [*run, "--checks", "not_a_server_error", *OPTIONS, *REVIEWS, *without, *sent]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=1200, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
        assert client.get("/v1/runs").status_code == 200
