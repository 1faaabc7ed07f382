"""Load for two servers and two workers: runs a second, their seconds, CPU for a run beside runs in one process, memory.

GROUNDPLAN_TEST_POSTGRES names a PostgreSQL server on this machine. The clients are locust's, which wants an
environment of its own: python -m venv /tmp/load && /tmp/load/bin/pip install locust==2.47.0

    LOCUST=/tmp/load/bin/locust python benchmarks/service_load.py [CLIENTS] [SECONDS] [WORKERS]

Locust reads this file, too: it finds `Client` below, and nothing of groundplan is needed there.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

SALES = Path(__file__).parents[1] / "examples" / "sales.csv"
QUESTIONS = ("total revenue by region", "monthly revenue trend", "top 3 regions by revenue", "how many rows are there?")
PORTS, WARM = (8791, 8792), 40  # WARM: runs before the measured ones
TICKS = os.sysconf("SC_CLK_TCK")
TARGETS = "asked on two idle cores: 12 runs/s, p95 of 4 clients 500 ms, 80 ms of CPU for a run (2.3 times in process)"

if "GROUNDPLAN_LOAD_KEY" in os.environ:
    from locust import HttpUser, task

    class Client(HttpUser):  # type: ignore[misc]
        """Asks one question after another and waits for each answer."""

        host = "http://127.0.0.1"

        def on_start(self) -> None:
            self.client.headers["Authorization"] = f"Bearer {os.environ['GROUNDPLAN_LOAD_KEY']}"
            self.client.headers["Prefer"] = "wait=30"

        @task  # type: ignore[untyped-decorator]
        def ask(self) -> None:
            address = f"http://127.0.0.1:{random.choice(PORTS)}/v1/runs"
            question = {"question": random.choice(QUESTIONS)}
            with self.client.post(address, json=question, name="run", catch_response=True) as reply:
                if reply.status_code != 200 or reply.json()["state"] != "succeeded":
                    reply.failure(f"{reply.status_code}: {reply.text[:200]}")


def main(clients: int, seconds: int, number: int) -> None:
    server, locust = os.environ.get("GROUNDPLAN_TEST_POSTGRES"), os.environ.get("LOCUST") or shutil.which("locust")
    if server is None or locust is None:
        print("skipped: set GROUNDPLAN_TEST_POSTGRES, and LOCUST if it is not in the PATH; the first lines say more")
        return
    with database(server) as url, TemporaryDirectory() as folder, ExitStack() as stack:
        key = asyncio.run(prepared(url))
        workers = [stack.enter_context(started(folder, "worker", url)).pid for _ in range(number)]
        servers = [stack.enter_context(started(folder, "serve", url, "--port", str(port))).pid for port in PORTS]
        for port in PORTS:
            wait_for(port)
        with ThreadPoolExecutor(8) as pool:  # so many at once that all workers open the data
            list(pool.map(lambda number: ask_once(key, number), range(WARM)))
        parts = {"2 servers": servers, f"{number} workers": workers, "Postgres": backends(url)}
        alone = [in_process()]
        before = {name: cpu(pids) for name, pids in parts.items()}
        runs, rate, half, most = load(locust, key, clients, seconds)
        spent = {name: (cpu(pids) - before[name]) / runs * 1000 for name, pids in parts.items()}
        most_memory = max(memory(pid) for pid in (*servers, *workers))
        alone.append(in_process())
    one = sum(alone) / len(alone) * 1000
    for name, milliseconds in spent.items():
        print(f"{name:12} {milliseconds:6.1f} ms of CPU for a run")
    print(f"{'in process':12} {one:6.1f} ms; the service takes {sum(spent.values()) / one:.2f} times as much")
    print(f"{runs} runs, {clients} clients: {rate:.1f} runs/s, p50 {half} ms, p95 {most} ms")
    print(f"greatest memory of a server or worker: {most_memory:.0f} MB")
    print(TARGETS)


def load(locust: str, key: str, clients: int, seconds: int) -> tuple[int, float, int, int]:
    """Runs, runs a second, and the milliseconds within which a half and 95 of 100 were answered."""
    options = (
        "--headless",
        "--json",
        "--users",
        str(clients),
        "--spawn-rate",
        str(clients),
        "--run-time",
        f"{seconds}s",
    )
    done = subprocess.run(
        [locust, "--locustfile", __file__, *options],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"GROUNDPLAN_LOAD_KEY": key},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"some runs failed, or locust did:\n{done.stderr[-2000:]}")
    [told] = json.loads(done.stdout)
    times = sorted((int(float(ms)), count) for ms, count in told["response_times"].items())
    each = [ms for ms, count in times for _ in range(count)]
    rate = len(each) / (told["last_request_timestamp"] - told["start_time"])
    return len(each), rate, each[len(each) // 2], each[int(0.95 * len(each))]


def ask_once(key: str, number: int) -> None:
    body = json.dumps({"question": QUESTIONS[number % len(QUESTIONS)]}).encode()
    headers = {"Authorization": f"Bearer {key}", "Prefer": "wait=30", "Content-Type": "application/json"}
    address = f"http://127.0.0.1:{PORTS[number % len(PORTS)]}/v1/runs"
    with urllib.request.urlopen(urllib.request.Request(address, body, headers)) as reply:
        reply.read()


def in_process(runs: int = 40) -> float:
    """Seconds of CPU for a question in this process."""
    from groundplan.project import Project

    with Project(str(SALES)) as project:
        for question in QUESTIONS:
            project.ask(question)
        began = time.process_time()
        for number in range(runs):
            project.ask(QUESTIONS[number % len(QUESTIONS)])
        return (time.process_time() - began) / runs


@contextmanager
def database(server: str) -> Iterator[str]:
    import psycopg

    name = f"groundplan_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create database {name}")
        try:
            yield f"{server.rpartition('/')[0]}/{name}"
        finally:
            connection.execute(f"drop database {name} with (force)")


async def prepared(url: str) -> str:
    from groundplan.service.serving import migrate
    from groundplan.state.keys import Keys
    from groundplan.state.postgres import open_postgres

    await migrate(url)
    async with open_postgres(url) as opened:
        return await Keys(opened).make("bench")


@contextmanager
def started(folder: str, command: str, url: str, *more: str) -> Iterator[subprocess.Popen[bytes]]:
    arguments = [sys.executable, "-m", "groundplan.interfaces.cli.main", command, str(SALES), "--database", url, *more]
    with subprocess.Popen(arguments, cwd=folder, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.terminate()


def wait_for(port: int) -> None:
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz"):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise SystemExit("a server does not start")


def backends(url: str) -> list[int]:
    import psycopg

    with psycopg.connect(url) as connection:
        sql = "select pid from pg_stat_activity where datname = current_database() and pid != pg_backend_pid()"
        return [pid for (pid,) in connection.execute(sql).fetchall()]


def cpu(pids: Iterable[int]) -> float:
    """Seconds of CPU of these processes so far; of one that has ended meanwhile, none."""
    found = 0.0
    for pid in pids:
        file = Path(f"/proc/{pid}/stat")
        stat = file.read_text().rpartition(")")[2].split() if file.exists() else ["0"] * 13
        found += (int(stat[11]) + int(stat[12])) / TICKS
    return found


def memory(pid: int) -> float:
    """The most that a process had at once, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


if __name__ == "__main__":
    main(*(int(one) for one in (sys.argv[1:] + ["4", "30", "2"][len(sys.argv) - 1 :])))
