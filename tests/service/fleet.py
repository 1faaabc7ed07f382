"""Two servers and two workers as processes, which can be killed and started again, and clients that keep asking."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from tests.cluster import Cluster
from tests.patience import HANGS
from tests.service.processes import MAIN, free_port, until

TERMINATE = """select count(pg_terminate_backend(pid)) from pg_stat_activity
where datname = current_database() and pid != pg_backend_pid()"""
AGAIN = 0.3  # seconds until a client tries again
Event = tuple[int, str, Any]


@dataclass
class Fleet:
    folder: Path
    database: Cluster
    data: str
    servers: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)  # by port
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)  # exit codes after SIGTERM
    start: float = 0.0  # seconds that processes need to start
    spared: int = 0  # of the servers and of the workers: these are never ended, so that their memory can be measured

    def serve(self, port: int) -> None:
        self.servers[port] = self._start("serve", "--port", str(port))

    def work(self) -> None:
        self.workers.append(self._start("worker"))

    def _start(self, command: str, *more: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{command}.log").open("ab") as log:
            arguments = [*MAIN, command, self.data, "--database", self.database.url, *more]
            return subprocess.Popen(arguments, cwd=self.folder, stdout=log, stderr=log)

    def fault(self, kind: str, chance: random.Random) -> None:
        """Do one fault, and start again what it ended."""
        if kind == "connections":
            with psycopg.connect(self.database.url, autocommit=True) as connection:
                connection.execute(TERMINATE)
            return
        if kind == "postgres":
            self.database.crash()
            time.sleep(chance.uniform(0, 2))
            self.database.start()
            return
        number = signal.SIGKILL if kind.endswith("kill") else signal.SIGTERM
        if kind.startswith("server"):
            port = chance.choice([*self.servers][self.spared :])
            self._end(self.servers.pop(port), number)
            self.serve(port)
        else:
            self._end(self.workers.pop(chance.randrange(self.spared, len(self.workers))), number)
            self.work()

    def _end(self, process: subprocess.Popen[bytes], number: int) -> None:
        process.send_signal(number)
        code = process.wait(HANGS)
        if number == signal.SIGTERM:
            self.ended.append(code)

    def is_up(self, port: int) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def stop(self) -> None:
        for process in (*self.servers.values(), *self.workers):
            process.kill()
            process.wait()


@contextmanager
def fleet(folder: Path, database: Cluster, data: str) -> Iterator[Fleet]:
    found = Fleet(folder, database, data)
    try:
        for _ in range(2):
            found.serve(free_port())
            found.work()
        for port in found.servers:
            found.start += until(lambda port=port: found.is_up(port), 4 * HANGS)  # type: ignore[misc]
        yield found
    finally:
        found.stop()


@dataclass
class Asked:
    run: str
    events: list[Event]
    state: str
    text: str
    seconds: float


class Client(threading.Thread):
    """Asks one question after another, whatever breaks meanwhile, and follows each to its end."""

    def __init__(self, ports: list[int], key: str, questions: list[str], enough: Callable[[], bool]) -> None:
        super().__init__(daemon=True)
        self._ports, self._questions, self._enough = ports, questions, enough
        self._http = httpx.Client(headers={"Authorization": f"Bearer {key}"}, timeout=10)
        self._chance = random.Random(key)
        self.asked: dict[str, list[Asked]] = {question: [] for question in questions}
        self.statuses: set[int] = set()
        self.failed: BaseException | None = None

    def run(self) -> None:
        try:
            while not self._enough():
                question = self._chance.choice(self._questions)
                self.asked[question].append(self._ask(question))
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            self.failed = error

    def _ask(self, question: str) -> Asked:
        began, key = time.monotonic(), {"Idempotency-Key": uuid.uuid4().hex}
        run = self._until_it_works("POST", "/v1/runs", json={"question": question}, headers=key)["id"]
        events: list[Event] = []
        while not events or events[-1][1] != "run.ended":
            assert time.monotonic() - began < 5 * HANGS, f"{run} does not end: {events[-3:]}"
            try:
                self._follow(run, events)
            except httpx.TransportError:
                time.sleep(AGAIN)
        found = self._until_it_works("GET", f"/v1/runs/{run}")
        text = (found["outcome"] or {}).get("text", "") or str(found["problem"])
        return Asked(run, events, found["state"], text, time.monotonic() - began)

    def _until_it_works(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        began = time.monotonic()
        while True:
            try:
                reply = self._http.request(method, self._at(path), **more)
                self.statuses.add(reply.status_code)
                if reply.status_code in (200, 202):
                    found: dict[str, Any] = reply.json()
                    return found
                assert reply.status_code == 503, reply.text
            except httpx.TransportError:
                pass
            assert time.monotonic() - began < 4 * HANGS, f"{method} {path} does not work"
            time.sleep(AGAIN)

    def _at(self, path: str) -> str:
        return f"http://127.0.0.1:{self._chance.choice(self._ports)}{path}"

    def _follow(self, run: str, events: list[Event]) -> None:
        """Add events until the stream ends or breaks."""
        headers = {"Last-Event-ID": str(events[-1][0] if events else 0)}
        with self._http.stream("GET", self._at(f"/v1/runs/{run}/events"), headers=headers) as stream:
            self.statuses.add(stream.status_code)
            assert stream.status_code in (200, 503), stream.status_code
            event: dict[str, str] = {}
            for line in stream.iter_lines():
                name, _, text = line.partition(": ")
                if line:
                    event[name] = text
                else:
                    if "data" in event:
                        events.append((int(event["id"]), event["event"], json.loads(event["data"])))
                    event = {}
        if stream.status_code == 503:
            time.sleep(AGAIN)
