"""CPU for a run: of the server, the workers and Postgres, beside the same question asked in one process.

GROUNDPLAN_TEST_POSTGRES names a PostgreSQL server on this machine: python benchmarks/service_cost.py [RUNS]
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psycopg

from groundplan.project import Project
from groundplan.service.serving import migrate
from groundplan.state.keys import Keys
from groundplan.state.postgres import open_postgres

SALES = Path(__file__).parents[1] / "examples" / "sales.csv"
QUESTIONS = ("total revenue by region", "monthly revenue trend", "top 3 regions by revenue", "how many rows are there?")
CLIENTS, WORKERS, WARM = 4, 2, 40
PORT = 8791
TICKS = os.sysconf("SC_CLK_TCK")


def main(runs: int) -> None:
    server = os.environ.get("GROUNDPLAN_TEST_POSTGRES")
    if server is None:
        print("skipped: set GROUNDPLAN_TEST_POSTGRES to a PostgreSQL server on this machine")
        return
    print(f"in one process            {in_process(runs) * 1000:6.1f} ms of CPU for a question")
    with database(server) as url, TemporaryDirectory() as folder, ExitStack() as stack:
        key = asyncio.run(prepared(url))
        workers = [stack.enter_context(started(folder, "worker", url)) for _ in range(WORKERS)]
        serving = stack.enter_context(started(folder, "serve", url, "--port", str(PORT)))
        headers = {"Authorization": f"Bearer {key}", "Prefer": "wait=30"}
        client = stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{PORT}", headers=headers, timeout=60))
        wait_for(client)
        ask(client, WARM)
        before = cpu([serving.pid]), cpu(worker.pid for worker in workers), cpu(backends(url))
        began = time.monotonic()
        seconds = sorted(ask(client, runs))
        whole = time.monotonic() - began
        after = cpu([serving.pid]), cpu(worker.pid for worker in workers), cpu(backends(url))
        for name, first, last in zip(("server", f"{WORKERS} workers", "Postgres"), before, after, strict=True):
            print(f"{name:24}  {(last - first) / runs * 1000:6.1f} ms of CPU for a run")
        print(f"{runs / whole:.1f} runs/s with {CLIENTS} clients, p95 {seconds[int(0.95 * runs)] * 1000:.0f} ms")


def in_process(runs: int) -> float:
    with Project(str(SALES)) as project:
        for question in QUESTIONS:
            project.ask(question)
        began = time.process_time()
        for number in range(runs):
            project.ask(QUESTIONS[number % len(QUESTIONS)])
        return (time.process_time() - began) / runs


@contextmanager
def database(server: str) -> Iterator[str]:
    name = f"groundplan_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create database {name}")
        yield f"{server.rpartition('/')[0]}/{name}"
        connection.execute(f"drop database {name} with (force)")


async def prepared(url: str) -> str:
    await migrate(url)
    async with open_postgres(url) as opened:
        return await Keys(opened).make("bench")


@contextmanager
def started(folder: str, command: str, url: str, *more: str) -> Iterator[subprocess.Popen[bytes]]:
    arguments = [sys.executable, "-m", "groundplan.interfaces.cli.main", command, str(SALES), "--database", url, *more]
    with subprocess.Popen(arguments, cwd=folder, stderr=subprocess.DEVNULL) as process:
        yield process
        process.terminate()


def wait_for(client: httpx.Client) -> None:
    for _ in range(600):
        try:
            if client.get("/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise SystemExit("the server does not start")


def ask(client: httpx.Client, runs: int) -> list[float]:
    def one(number: int) -> float:
        began = time.monotonic()
        reply = client.post("/v1/runs", json={"question": QUESTIONS[number % len(QUESTIONS)]})
        assert reply.json()["state"] == "succeeded", reply.text
        return time.monotonic() - began

    with ThreadPoolExecutor(CLIENTS) as pool:
        return [*pool.map(one, range(runs))]


def backends(url: str) -> list[int]:
    with psycopg.connect(url) as connection:
        sql = "select pid from pg_stat_activity where datname = current_database() and pid != pg_backend_pid()"
        return [pid for (pid,) in connection.execute(sql).fetchall()]


def cpu(pids: Iterator[int] | list[int]) -> float:
    """Seconds of CPU of these processes so far."""
    found = 0.0
    for pid in pids:
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        found += (int(stat[11]) + int(stat[12])) / TICKS
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
