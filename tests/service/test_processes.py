"""Two servers and two workers beside one Postgres, as real processes: shared runs, kills, cancellation, tenants."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.patience import HANGS
from tests.service.conftest import ACTIVE
from tests.service.processes import ask, events, make_key, process, served, settled, until


@dataclass
class Service:
    servers: list[httpx.Client]
    other: httpx.Client  # of another tenant
    data: str


@pytest.fixture(scope="module")
def service(postgres: str, data: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    mine, theirs = make_key(postgres, "mine"), make_key(postgres, "theirs")
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(process(folder, "worker", data, "--database", postgres))
        servers = [stack.enter_context(served(folder, data, "--database", postgres, key=mine)) for _ in range(2)]
        headers = {"Authorization": f"Bearer {theirs}"}
        with ThreadPoolExecutor(8) as pool:  # so many at once that both workers open the data
            list(pool.map(lambda _: ask(servers[0], "total revenue"), range(16)))
        other = httpx.Client(base_url=servers[0].base_url, headers=headers, timeout=HANGS)
        yield Service(servers, stack.enter_context(other), data)


@pytest.mark.requirement("R75", part="several processes")
def test_many_questions_at_once_are_each_answered_as_if_alone(service: Service) -> None:
    questions = [
        "total revenue",
        "average revenue",
        "total revenue by region",
        "top 3 regions by revenue",
        "how many rows are there?",
    ]
    alone = {question: ask(service.servers[0], question)["outcome"]["text"] for question in questions}

    def asked(number: int) -> tuple[str, str]:
        question = questions[number % len(questions)]
        return question, ask(service.servers[number % 2], question)["outcome"]["text"]

    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(asked, range(40))} == {*alone.items()}


def test_fifty_posts_with_one_key_to_two_servers_are_one_run(service: Service) -> None:
    key = uuid.uuid4().hex

    def post(number: int) -> httpx.Response:
        body = {"question": "total revenue"}
        return service.servers[number % 2].post("/v1/runs", json=body, headers={"Idempotency-Key": key})

    with ThreadPoolExecutor(10) as pool:
        replies = [*pool.map(post, range(50))]
    assert {reply.status_code for reply in replies} <= {200, 202}
    [run] = {reply.json()["id"] for reply in replies}
    assert settled(service.servers[0], run)["attempt"] == 1


@pytest.mark.requirement("R76", part="events")
def test_a_stream_goes_on_at_another_server(service: Service) -> None:
    run = service.servers[0].post("/v1/runs", json={"question": "total revenue by region"}).json()["id"]
    seen: list[tuple[int, str, Any]] = []
    while not seen or seen[-1][1] != "run.ended":
        seen += events(service.servers[len(seen) % 2], run, seen[-1][0] if seen else None, most=3)
    assert [number for number, _, _ in seen] == [*range(1, len(seen) + 1)]
    assert seen == events(service.servers[1], run)


@pytest.mark.timed
@pytest.mark.requirement("R75", part="cancelled")
def test_cancelling_stops_the_engine_within_a_second(service: Service) -> None:
    client = service.servers[0]
    with psycopg.connect(service.data, autocommit=True) as connection:

        def active() -> int:
            return int(str(connection.execute(ACTIVE).fetchall()[0][0]))

        connection.execute("insert into apart.flag values (true)")
        try:
            run = client.post("/v1/runs", json={"question": "average revenue by region"}).json()["id"]
            until(active)
            began = time.monotonic()
            assert client.post(f"/v1/runs/{run}/cancel").status_code == 200
            until(lambda: not active())
            idle = time.monotonic() - began
            assert settled(client, run)["state"] == "cancelled"
            seconds = time.monotonic() - began
        finally:
            connection.execute("delete from apart.flag")
    assert idle < 1.0, f"the engine was idle after {idle:.2f} s, the run ended after {seconds:.2f} s"
    assert ask(client, "total revenue by region")["state"] == "succeeded"


def test_another_tenant_sees_nothing(service: Service) -> None:
    client, other = service.servers[0], service.other
    run = ask(client, "total revenue", thread="secret plans")["id"]
    waiting = ask(client, "revenue of r1 or r2 or nobody knows what")["id"]
    for method, path in [
        ("GET", f"/v1/runs/{run}"),
        ("GET", f"/v1/runs/{run}/events"),
        ("POST", f"/v1/runs/{run}/cancel"),
        ("POST", f"/v1/runs/{waiting}/cancel"),
    ]:
        unknown = path.replace(run, "f" * 24).replace(waiting, "f" * 24)
        mine, nobodys = other.request(method, path), other.request(method, unknown)
        assert mine.status_code == nobodys.status_code == 404
        assert mine.json()["detail"].replace(run, "").replace(waiting, "") == nobodys.json()["detail"].replace(
            "f" * 24, ""
        )
    assert other.get("/v1/runs").json() == {"runs": [], "cursor": None}
    assert other.get("/v1/threads").json() == []
    assert other.get("/v1/threads/secret plans").json() == []
    same_key = {"Idempotency-Key": "shared"}
    first = client.post("/v1/runs", json={"question": "total revenue"}, headers=same_key).json()["id"]
    assert other.post("/v1/runs", json={"question": "total revenue"}, headers=same_key).json()["id"] != first


def test_nothing_is_answered_without_a_key(service: Service) -> None:
    paths = service.servers[0].get("/openapi.json").json()["paths"]
    stranger = httpx.Client(base_url=service.servers[0].base_url, timeout=HANGS)
    for headers in ({}, {"Authorization": "Bearer gp_wrong"}, {"Authorization": "Basic Z3A6Z3A="}):
        for path, methods in paths.items():
            for method in methods:
                reply = stranger.request(method, path.replace("{id}", "f" * 24).replace("{name}", "x"), headers=headers)
                if path == "/v1/session":  # how to sign in, and nobody's session
                    assert reply.status_code in (200, 204), method
                    continue
                assert reply.status_code == (200 if path in ("/livez", "/readyz") else 401), path


@pytest.mark.timed
def test_a_server_that_is_told_to_stop_ends_its_streams(service: Service, postgres: str, tmp_path: Path) -> None:
    client = service.servers[0]
    key = client.headers["Authorization"].removeprefix("Bearer ")
    with psycopg.connect(service.data, autocommit=True) as connection:
        connection.execute("insert into apart.flag values (true)")
        try:
            run = client.post("/v1/runs", json={"question": "average revenue by region"}).json()["id"]
            with ExitStack() as stack:
                third = stack.enter_context(served(tmp_path, service.data, "--database", postgres, key=key))
                stopping = _pid_of(third)
                threading.Timer(1.0, os.kill, (stopping, signal.SIGTERM)).start()
                began = time.monotonic()
                seen = events(third, run)
                assert seen[-1][1] != "run.ended", seen[-1]
                assert time.monotonic() - began < 4
            client.post(f"/v1/runs/{run}/cancel")
        finally:
            connection.execute("delete from apart.flag")
    rest = events(client, run, seen[-1][0])
    assert [number for number, _, _ in seen + rest] == [*range(1, len(seen + rest) + 1)]
    assert rest[-1][1] == "run.ended"


def _pid_of(client: httpx.Client) -> int:
    done = subprocess.run(
        ["pgrep", "-f", f"serve .*--port {client.base_url.port}"], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[0])
