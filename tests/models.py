"""Real models for the tests: weights fetched by benchmarks/fetch_models.py, served by llama.cpp's own server.

A test module that asks for one of the fixtures says `pytest_plugins = ["tests.models"]`; each model is then served once
for all modules. The tests carry the mark `model`: CI runs them after the others, in one process.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import IO

import pytest

from groundplan.settings import cache_folder

FOLDER = cache_folder() / "models"  # read while tests are collected: once they run, the cache is a temporary folder
QWEN = "Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf"
SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"
START_SECONDS = 90.0
TAIL = 2000  # characters of what a server that did not start said

SERVER = """
import sys
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = 4096
params.n_parallel = 1
params.port = 0
params.cpuparams.n_threads = int(sys.argv[2])
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()  # ends when the tests do, however they end
"""


@pytest.fixture(scope="session")
def qwen_url() -> Iterator[str]:
    """The model that is asked for readings and plans."""
    with served(FOLDER / QWEN, threads=2) as url:
        yield url


@pytest.fixture(scope="session")
def qwen_tokens(qwen_url: str) -> Callable[[str], int]:
    """Counts a text by the model's own tokenizer, without what a chat adds around it."""
    headers = {"content-type": "application/json"}

    def count(text: str) -> int:
        body = json.dumps({"content": text, "add_special": False}).encode()
        request = urllib.request.Request(f"{qwen_url.removesuffix('/v1')}/tokenize", body, headers)
        with urllib.request.urlopen(request, timeout=10) as response:
            return len(json.load(response)["tokens"])

    return count


@pytest.fixture(scope="session")
def smollm2_url() -> Iterator[str]:
    """Understands little, and quickly: for what a server does, not what a model says."""
    with served(FOLDER / SMOLLM2) as url:
        yield url


@contextmanager
def served(weights: Path, threads: int = 1) -> Iterator[str]:
    """The url of a server of its own, up to and including /v1. On a busy machine threads wait for each other."""
    if reason := why_not(weights):
        pytest.skip(reason)
    with TemporaryFile() as log:
        command = [sys.executable, "-c", SERVER, weights, str(threads)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        overdue = Timer(START_SECONDS, process.kill)
        overdue.start()
        try:
            address = _address(process)
            overdue.cancel()
            if not address:
                pytest.fail(f"{weights.name} was not served within {START_SECONDS:g} s: {_last_words(log)}")
            yield f"{address}/v1"
        finally:
            overdue.cancel()
            process.kill()
            process.communicate()


def why_not(weights: Path) -> str | None:
    """The reason why this model cannot be served here."""
    if importlib.util.find_spec("xllamacpp") is None:
        return "needs the dependency group `models` (xllamacpp)"
    if not weights.exists():
        return f"needs {weights}: run benchmarks/fetch_models.py"
    return None


def _address(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout
    return next((line.decode().strip() for line in process.stdout if line.startswith(b"http")), "")


def _last_words(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode(errors="replace")[-TAIL:].strip() or "it said nothing"
