"""Real processes of the service: `groundplan serve` and `groundplan worker`, and what tests ask them."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx

from groundplan.state.keys import Keys, Role
from groundplan.state.postgres import open_postgres
from tests.patience import HANGS

MAIN = [sys.executable, "-m", "groundplan.interfaces.cli.main"]
WAIT = {"Prefer": "wait=30"}


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def process(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command of groundplan in this folder, killed at the end if it still runs."""
    with (folder / f"{arguments[0]}-{free_port()}.log").open("wb") as log:
        running = subprocess.Popen([*MAIN, *arguments], cwd=folder, env=os.environ, stdout=log, stderr=log)
        try:
            yield running
        finally:
            if running.poll() is None:
                running.kill()
            running.wait()


@contextmanager
def served(folder: Path, *arguments: str, key: str | None = None, port: int | None = None) -> Iterator[httpx.Client]:
    """A client of `groundplan serve` with these arguments."""
    port = port or free_port()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with (
        process(folder, "serve", *arguments, "--port", str(port)) as running,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=HANGS) as client,
    ):
        until(lambda: _is_up(client, running), 3 * HANGS)
        yield client


def make_key(url: str, tenant: str, role: Role = "ask") -> str:
    async def make() -> str:
        async with open_postgres(url) as database:
            return await Keys(database).make(tenant, role=role)

    return asyncio.run(make())


def _is_up(client: httpx.Client, running: subprocess.Popen[bytes]) -> bool:
    assert running.poll() is None, "the server ended"
    try:
        return client.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def until(holds: Callable[[], Any], seconds: float = HANGS) -> float:
    """Wait until it holds; the seconds that it took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < seconds, "it took too long"
        time.sleep(0.05)
    return time.monotonic() - began


def ask(client: httpx.Client, question: str, **more: Any) -> dict[str, Any]:
    """The run when it has ended or waits."""
    reply = client.post("/v1/runs", json={"question": question, **more}, headers=WAIT)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def get(client: httpx.Client, run: str) -> dict[str, Any]:
    reply = client.get(f"/v1/runs/{run}")
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def settled(client: httpx.Client, run: str, seconds: float = HANGS) -> dict[str, Any]:
    until(lambda: get(client, run)["state"] not in ("queued", "running"), seconds)
    return get(client, run)


def events(
    client: httpx.Client, run: str, after: int | None = None, most: int | None = None
) -> list[tuple[int, str, Any]]:
    """The events of a run until its end, or so many; number, kind and data."""
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    found: list[tuple[int, str, Any]] = []
    with client.stream("GET", f"/v1/runs/{run}/events", headers=headers) as stream:
        assert stream.status_code in (200, 204), stream.status_code
        event: dict[str, str] = {}
        for line in stream.iter_lines():
            name, _, value = line.partition(": ")
            if line and name in ("id", "event", "data"):
                event[name] = value
            elif not line and "id" in event:
                found.append((int(event["id"]), event["event"], json.loads(event["data"])))
                event = {}
                if most is not None and len(found) >= most:
                    break
    return found
