"""MCP servers of our own, opened as a project would open them and called as the runner would."""

from __future__ import annotations

import asyncio
import shlex
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.patience import HANGS

from groundplan.contracts.facts import StepFacts
from groundplan.contracts.plan import Limits
from groundplan.contracts.step_outcome import StepOutcome
from groundplan.running.step import execute
from groundplan.sources.interface import Call
from groundplan.sources.mcp.source import Mcp

HERE = Path(__file__).parent
SHOP = HERE.parents[2] / "examples" / "shop" / "shop_server.py"


def shop_command(database: Path) -> str:
    return shlex.join([sys.executable, str(SHOP), "--database", str(database)])


def hostile_command(behaviour: str, journal: Path) -> str:
    return shlex.join([sys.executable, str(HERE / "hostile_server.py"), behaviour, str(journal)])


@contextmanager
def opened(mcp: str, **settings: Any) -> Iterator[Mcp]:
    source = Mcp.open({"mcp": mcp, **settings}, "shop")
    try:
        yield source
    finally:
        asyncio.run(source.close())


@contextmanager
def served_shop(database: Path, slow: float = 0) -> Iterator[str]:
    """The shop over streamable HTTP on a free port of this machine; its address."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [*shlex.split(shop_command(database)), "--http", str(port), "--slow", str(slow)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def ready(source: Mcp, tool: str, params: dict[str, Any], seconds: float = 20, step: str = "a_step") -> Call:
    [found] = [offered for offered in source.catalog_tools() if offered.name == tool]
    return Call("a_run", step, found, params, {}, Limits(), seconds)


def facts(source: Mcp, tool: str, **params: Any) -> StepFacts:
    return asyncio.run(source.call(ready(source, tool, params))).facts


def outcome(source: Mcp, tool: str, seconds: float, **params: Any) -> StepOutcome:
    """Through the runner's own door."""
    return asyncio.run(execute(source, ready(source, tool, params, seconds), seconds, lambda _: None))[0]


def rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()


def _wait_for(port: int) -> None:
    until = time.monotonic() + HANGS
    while time.monotonic() < until:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens on port {port}")
