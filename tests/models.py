"""Real models for the tests: weights fetched by benchmarks/fetch_models.py, served by llama.cpp's own server."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from groundplan.settings import cache_folder

FOLDER = cache_folder() / "models"  # read while tests are collected: once they run, the cache is a temporary folder

SERVER = """
import sys, threading
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = 4096
params.n_parallel = 1
params.port = 0
params.cpuparams.n_threads = 1  # threads that wait for each other crawl on a busy machine
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
threading.Event().wait()
"""


def why_not(weights: str) -> str | None:
    """The reason why this model cannot be served here."""
    if importlib.util.find_spec("xllamacpp") is None:
        return "needs the dependency group `models` (xllamacpp)"
    if not (FOLDER / weights).exists():
        return f"needs {weights}: run benchmarks/fetch_models.py"
    return None


@contextmanager
def served(weights: str) -> Iterator[str]:
    """The url of a server of its own for this model."""
    if reason := why_not(weights):
        pytest.skip(reason)
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, FOLDER / weights], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout
        yield f"{_address(process.stdout)}/v1"
    finally:
        process.kill()
        process.wait()


def _address(lines: Iterator[str]) -> str:
    return next((line.strip() for line in lines if line.startswith("http")), "")
