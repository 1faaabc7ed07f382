"""Kills, crashes of the database and stops under load: every run ends once and right, and no event is lost."""

from __future__ import annotations

import asyncio
import random
import signal
import statistics
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from groundplan.contracts.run import RunRequest
from groundplan.project import Project
from groundplan.service.data import Data
from groundplan.service.projects import Projects
from groundplan.service.serving import migrate
from groundplan.service.worker import Worker
from groundplan.state.postgres import open_postgres
from groundplan.state.runs import Runs
from tests.asking.tables.described import SALES
from tests.cluster import Cluster, cluster
from tests.patience import HANGS
from tests.service.fleet import Asked, Client, Fleet, fleet
from tests.service.processes import free_port, make_key, until
from tests.service.test_kills import ended

FAULTS = ("server kill", "worker kill", "postgres", "worker stop", "server stop", "connections")
QUESTIONS = ["total revenue", "total revenue by region", "top 3 regions by revenue", "how many rows are there?"]
# the longest times between two events of a run: until a worker takes it from the queue, and all others
LONGEST = """select coalesce(max(pause) filter (where before = 'run.queued'), 0),
    coalesce(max(pause) filter (where before != 'run.queued'), 0)
from (select at - lag(at) over own as pause, lag(kind) over own as before from events where tenant = %s
    window own as (partition by run order by number)) as pauses"""

WAITING = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"


@pytest.fixture
def database() -> Iterator[Cluster]:
    with cluster() as own:
        asyncio.run(migrate(own.url))
        yield own


@pytest.mark.requirement("R76", part="resumed")
@pytest.mark.requirement("R76", part="events")
@pytest.mark.parametrize(
    ("count", "people", "pause"),
    [(6, 4, 1.5), pytest.param(100, 20, 2.5, marks=pytest.mark.slow)],
    ids=["few", "many"],
)
def test_faults_lose_nothing_and_repeat_nothing(
    count: int, people: int, pause: float, database: Cluster, tmp_path: Path
) -> None:
    with Project(str(SALES)) as project:
        right = {question: project.ask(question).text for question in QUESTIONS}
    tenant = f"faults-{uuid.uuid4().hex[:8]}"
    key, chance, over = make_key(database.url, tenant), random.Random(7), False
    with fleet(tmp_path, database, str(SALES)) as running:
        clients = [Client(sorted(running.servers), key, QUESTIONS, lambda: over) for _ in range(people)]
        for client in clients:
            client.start()
        kinds = [FAULTS[n % len(FAULTS)] for n in range(count)]
        chance.shuffle(kinds)
        for place, kind in enumerate(kinds):
            time.sleep(pause * chance.uniform(0.5, 1.5))
            if place % 4 == 0:  # most faults come before the last one is mended, but not all
                before = count_ended(clients)
                until(lambda: count_ended(clients) > before, 4 * HANGS)  # noqa: B023 - called now
            running.fault(kind, chance)
        over = True
        for client in clients:
            client.join(5 * HANGS)
            assert not client.is_alive()
            assert client.failed is None, repr(client.failed)
        stopped = running.ended
    asked = [(question, one) for client in clients for question, runs in client.asked.items() for one in runs]
    for question, one in asked:
        assert (one.state, one.text) == ("succeeded", right[question]), one.run
        assert_whole(one)
    with psycopg.connect(database.url) as connection:
        [(runs,)] = connection.execute("select count(*) from runs where tenant = %s", (tenant,)).fetchall()
        [(queued, stuck)] = connection.execute(LONGEST, (tenant,)).fetchall()
    assert runs == len(asked) >= 4
    assert {*stopped} <= {0, -signal.SIGTERM}  # the latter if it was told to stop before it had begun
    assert {status for client in clients for status in client.statuses} <= {200, 202, 503}
    assert stuck < 30, f"a run that a worker had taken stood still for {stuck:.1f} s"
    seconds = sorted(one.seconds for _, one in asked)
    half, most = statistics.median(seconds), seconds[-1]
    print(f"\n{dict(Counter(kinds))}: {len(asked)} runs right, each event once; {half:.1f} s, at most {most:.1f} s")
    print(
        f"of these in the queue at most {queued:.1f} s; taken by a worker and without an event at most {stuck:.1f} s;"
    )
    print(f"processes start in {running.start:.1f} s")


def count_ended(clients: list[Client]) -> int:
    return sum(len(runs) for client in clients for runs in client.asked.values())


def assert_whole(one: Asked) -> None:
    """The events have no gap and no end before the end."""
    numbers, kinds = [number for number, _, _ in one.events], [kind for _, kind, _ in one.events]
    assert numbers == [*range(1, len(numbers) + 1)]
    assert kinds.count("run.ended") == kinds.count("outcome") == 1
    assert (kinds[0], kinds[-1]) == ("run.queued", "run.ended")


def test_a_server_waits_for_a_database_that_starts_later(database: Cluster, tmp_path: Path) -> None:
    running, port = Fleet(tmp_path, database, str(SALES)), free_port()
    database.crash()
    try:
        running.serve(port)
        until(lambda: "cannot be opened" in (tmp_path / "serve.log").read_text("utf-8"), HANGS)
        database.start()
        until(lambda: running.is_up(port), HANGS)
    finally:
        running.stop()


def test_a_run_is_queued_again_if_the_database_was_lost(
    database: Cluster, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its claim does not expire meanwhile, so the worker itself must have given it back."""
    monkeypatch.setattr("groundplan.state.runs.LEASE", 10 * HANGS)
    monkeypatch.setattr("groundplan.state.postgres.SECONDS", 0.5)  # a write does not wait until the database is back

    async def work() -> None:
        async with open_postgres(database.url) as opened:
            projects, runs = Projects(opened, Data(data).open), Runs(opened.of("lost"))
            worker = Worker(projects, 1)
            working = asyncio.create_task(worker.work())
            first, _ = await runs.add(RunRequest(question="average revenue by region"))
            await ended(runs, first.id, "succeeded")
            with psycopg.connect(data) as engine:
                engine.execute("lock table apart.entries")
                run, _ = await runs.add(RunRequest(question="average revenue by region"))
                await asyncio.to_thread(until, lambda: engine.execute(WAITING).fetchone() == (1,), HANGS)
                await asyncio.to_thread(database.crash)
                engine.rollback()  # the query goes on
            await asyncio.sleep(1)
            await asyncio.to_thread(database.start)
            async with open_postgres(database.url, HANGS) as again:
                found = await ended(Runs(again.of("lost")), run.id, "succeeded")
            assert found.attempt == 2
            events = await runs.events(run.id, 0)
            assert [event.number for event in events] == [*range(1, len(events) + 1)]
            assert [event.kind for event in events].count("run.queued") == 2
            worker.stop()
            await working
            await projects.close()

    asyncio.run(work())
