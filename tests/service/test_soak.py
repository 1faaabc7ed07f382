"""Hours of mixed load with kills: no run is lost or wrong, and the memory of processes that live on stays flat.

GROUNDPLAN_SOAK_SECONDS sets how long; without it, two hours.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import sys
import time
import uuid
from collections import Counter
from pathlib import Path

import psycopg
import pytest

from groundplan.project import Project
from groundplan.service.serving import migrate
from tests.adversarial.hostile_questions import SLOWEST
from tests.asking.tables.described import SALES
from tests.cluster import cluster
from tests.patience import HANGS
from tests.service.fleet import Client, Fleet, fleet
from tests.service.processes import make_key
from tests.service.test_faults import FAULTS, QUESTIONS, assert_whole

SECONDS = float(os.environ.get("GROUNDPLAN_SOAK_SECONDS", "7200"))
PAUSE = 15.0  # seconds from one fault to the next, on average
PEOPLE = 4
FLAT = 1.10  # the memory at the end, as a multiple of that in the middle
HALF = 0.5
Memory = dict[str, list[tuple[float, float]]]  # of each process: seconds since the beginning, and megabytes


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured as Linux does")
def test_mixed_load_with_kills_loses_no_run_and_takes_no_more_memory(tmp_path: Path) -> None:
    with Project(str(SALES)) as project:
        right = {question: project.ask(question).text for question in (*QUESTIONS, *SLOWEST)}
    tenants = [f"soak-{name}-{uuid.uuid4().hex[:6]}" for name in ("ordinary", "hostile")]
    over = False
    with cluster() as database:
        asyncio.run(migrate(database.url))
        keys = [make_key(database.url, tenant) for tenant in tenants]
        with fleet(tmp_path, database, str(SALES)) as running:
            running.spared = 1
            ports = sorted(running.servers)
            asks = [(keys[0], QUESTIONS)] * (PEOPLE - 1) + [(keys[1], [*SLOWEST])]
            clients = [Client(ports, key, [*questions], lambda: over) for key, questions in asks]
            for client in clients:
                client.start()
            memory, faults = loaded(running, random.Random(11))
            over = True
            for client in clients:
                client.join(5 * HANGS)
                assert not client.is_alive()
                assert client.failed is None, repr(client.failed)
        asked = [(question, one) for client in clients for question, runs in client.asked.items() for one in runs]
        with psycopg.connect(database.url) as connection:
            [(stored, lost)] = connection.execute(
                "select count(*), count(*) filter (where state not in ('succeeded', 'refused')) from runs"
            ).fetchall()
    seconds = sorted(one.seconds for _, one in asked)
    print(f"\n{SECONDS:.0f} s, {dict(faults)}: {len(asked)} runs, {lost} lost;")
    print(f"half of them within {statistics.median(seconds):.1f} s, the longest {seconds[-1]:.1f} s")
    grown = {name: growth(samples) for name, samples in memory.items()}
    for name, (middle, end) in grown.items():
        print(f"memory of the {name}: {middle:.0f} MB in the middle, {end:.0f} MB at the end")
    for question, one in asked:
        assert one.text == right[question], (one.run, one.state)
        assert_whole(one)
    assert (stored, lost) == (len(asked), 0)
    for name, (middle, end) in grown.items():
        assert end < FLAT * middle, (name, memory[name][:: max(1, len(memory[name]) // 20)])


def loaded(running: Fleet, chance: random.Random) -> tuple[Memory, Counter[str]]:
    """Faults by chance until the time is over, and the memory of the server and the worker that are spared."""
    kept = {"server": next(iter(running.servers.values())).pid, "worker": running.workers[0].pid}
    memory: Memory = {name: [] for name in kept}
    faults, begin, due = Counter[str](), time.monotonic(), PAUSE
    while (now := time.monotonic() - begin) < SECONDS:
        for name, pid in kept.items():
            memory[name].append((now, megabytes(pid)))
        if now > due:
            kind = chance.choice(FAULTS)
            running.fault(kind, chance)
            faults[kind] += 1
            due = time.monotonic() - begin + PAUSE * chance.uniform(0.5, 1.5)
        time.sleep(2)
    return memory, faults


def megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def growth(samples: list[tuple[float, float]]) -> tuple[float, float]:
    """The median in the third quarter of the time that is measured, and in the last one."""
    later = [size for at, size in samples if at > HALF * samples[-1][0]]
    middle = len(later) // 2
    return statistics.median(later[:middle]), statistics.median(later[middle:])
