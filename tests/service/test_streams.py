"""Many open streams at two servers: all are told at once, and a stream costs little."""

from __future__ import annotations

import asyncio
import time
import uuid
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from groundplan.contracts.run import RunRequest
from groundplan.state.postgres import open_postgres
from groundplan.state.runs import Runs
from tests.asking.tables.described import SALES
from tests.patience import HANGS, SOON
from tests.service.processes import make_key, served
from tests.service.test_processes import _pid_of


@pytest.mark.requirement("R56", part="streaming")
@pytest.mark.parametrize("count", [50, pytest.param(500, marks=pytest.mark.slow)], ids=["few", "many"])
def test_all_streams_are_told(count: int, postgres: str, tmp_path: Path) -> None:
    tenant = f"streams-{uuid.uuid4().hex[:8]}"
    key = make_key(postgres, tenant)
    with ExitStack() as stack:
        arguments = (str(SALES), "--database", postgres)
        servers = [stack.enter_context(served(tmp_path, *arguments, key=key)) for _ in range(2)]
        before = sum(map(megabytes, servers))
        seconds, held = asyncio.run(told(postgres, tenant, key, servers, count))
        print(f"\n{count} streams: {held - before:.0f} MB more, all told within {seconds:.2f} s")
    assert seconds < SOON
    assert held - before < 100 + count / 5


async def told(url: str, tenant: str, key: str, servers: list[httpx.Client], count: int) -> tuple[float, float]:
    """The seconds from an event until all streams have it, and the servers' megabytes while all are open."""
    async with open_postgres(url) as database:
        runs = Runs(database.of(tenant))
        run, _ = await runs.add(RunRequest(question="total revenue"))
        claim = await runs.claim()
        assert claim is not None
        opened, reached = asyncio.Semaphore(0), asyncio.Semaphore(0)
        limits = httpx.Limits(max_connections=count)
        async with httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"}, timeout=HANGS, limits=limits, trust_env=False
        ) as client:

            async def follow(number: int) -> list[str]:
                address = f"{str(servers[number % 2].base_url).rstrip('/')}/v1/runs/{run.id}/events"
                kinds = []
                async with client.stream("GET", address) as stream:
                    assert stream.status_code == 200
                    async for line in stream.aiter_lines():
                        if line.startswith("event: "):
                            kinds.append(line.removeprefix("event: "))
                            (opened if kinds[-1] == "run.queued" else reached).release()
                return kinds

            following = [asyncio.create_task(follow(number)) for number in range(count)]
            await _all(opened, count)
            held, began = sum(map(megabytes, servers)), time.monotonic()
            await runs.write(claim, [("stage", {"stage": "read"})])
            await _all(reached, count)
            seconds = time.monotonic() - began
            await runs.write(claim, [("run.ended", {"state": "cancelled"})], state="cancelled")
            for kinds in await asyncio.gather(*following):
                assert kinds == ["run.queued", "stage", "run.ended"]
    return seconds, held


async def _all(semaphore: asyncio.Semaphore, count: int) -> None:
    async with asyncio.timeout(2 * HANGS):
        for _ in range(count):
            await semaphore.acquire()


def megabytes(client: httpx.Client) -> float:
    status = Path(f"/proc/{_pid_of(client)}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024
