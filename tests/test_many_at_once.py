"""One project asked by many at once answers each as if it were asked alone, and a question that is cancelled stops."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from benchmarks.many_at_once import QUESTIONS, TODAY, ask_alone, make_tables, measure, mixed

from groundplan.contracts.answer import Answer, Outcome
from groundplan.contracts.facts import TableRef
from groundplan.contracts.plan import Limits
from groundplan.project import AsyncProject
from groundplan.sources.tables.engine.handle import Handle
from groundplan.sources.tables.source import Tables
from tests.sources.tables.conftest import superuser  # noqa: F401 - a fixture

SOON = 60.0  # seconds after which waiting for something fails, also on a busy machine


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tables(tmp_path_factory.mktemp("many"))


@pytest.fixture
def in_postgres(folder: Path, superuser: str) -> Iterator[str]:  # noqa: F811
    """The same tables in a database of their own."""
    psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    database = f"gp_many_{uuid.uuid4().hex[:12]}"
    columns = {
        "sales": "date date, region text, product_category text, channel text, units int, revenue float8, cost float8",
        "tickets": "ticket_id bigint, opened date, queue text, priority text, agent text, points bigint",
    }
    with psycopg.connect(superuser, autocommit=True) as admin:
        admin.execute(
            f"CREATE DATABASE {database} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'"
        )
        try:
            with psycopg.connect(superuser, dbname=database, autocommit=True) as owner:
                for table, described in columns.items():
                    owner.execute(f"CREATE TABLE {table} ({described})")
                    with owner.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv, HEADER)") as copy:
                        copy.write((folder / f"{table}.csv").read_bytes())
                # another plan adds floats up in another order: statistics must not arrive between two questions
                owner.execute("VACUUM ANALYZE")
            yield superuser.rpartition("/")[0] + f"/{database}"
        finally:
            admin.execute(f"DROP DATABASE {database} WITH (FORCE)")


async def compare(where: object, questions: int, at_once: int) -> tuple[str, ...]:
    """What differs from being asked alone."""
    project = await AsyncProject.open(where)
    try:
        asked = mixed(questions)
        alone = await ask_alone(project, sorted(set(asked)))
        assert {outcome.kind for outcome in alone.values()} == {"answer", "refusal", "clarification"}
        return (await measure(project, asked, at_once, alone)).differing
    finally:
        await project.close()


@pytest.mark.requirement("R75", part="one process")
@pytest.mark.parametrize("questions", [96, pytest.param(200, marks=pytest.mark.slow)])
def test_questions_sixty_four_at_a_time(folder: Path, questions: int) -> None:
    assert asyncio.run(compare(folder, questions, 64)) == ()


@pytest.mark.requirement("R75", part="one process")
def test_postgres_answers_many_at_once_too(in_postgres: str) -> None:
    assert asyncio.run(compare(in_postgres, 2 * len(QUESTIONS), 32)) == ()


async def until(true: Callable[[], bool]) -> None:
    begin = time.monotonic()
    while not true():
        assert time.monotonic() - begin < SOON
        await asyncio.sleep(0.01)


@pytest.mark.requirement("R75", part="cancelled")
def test_a_cancelled_question_stops_its_query_and_the_project_goes_on(folder: Path) -> None:
    """The table is replaced by a cross join that would take days, once the question is planned."""

    async def cancel() -> Outcome:
        project = await AsyncProject.open(folder)
        source = project.sources["tables"]
        assert isinstance(source, Tables)
        handle, pool = source.table("sales"), source._executor.engine._pool  # type: ignore[attr-defined]

        def swap(stage: str) -> None:
            if stage == "plan":
                source._handles["sales"] = source.restore(_endless(handle))

        asking = asyncio.create_task(project.ask("revenue by region", today=TODAY, on_stage=swap))
        await until(lambda: source._handles["sales"] is not handle and bool(source._workers._running))
        await asyncio.sleep(0.1)
        begin = time.monotonic()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await until(lambda: not source._workers._running and bool(pool.idle))
        assert time.monotonic() - begin < Limits().step_seconds / 2, "it was not the step's own deadline"
        source._handles["sales"] = handle
        answer = await project.ask("revenue by region", today=TODAY)
        await project.close()
        return answer

    assert isinstance(asyncio.run(cancel()), Answer)


def _endless(handle: Handle) -> TableRef:
    named = ", ".join(f'"t0"."{name}"' for name in handle.table.columns)
    tables = ", ".join(f'"sales" AS "t{number}"' for number in range(4))
    query = f'SELECT {named} FROM {tables} WHERE "t1"."units" <> "t2"."units" AND "t2"."cost" <> "t3"."cost"'
    return TableRef(source="tables", engine="duckdb", query=query, columns=handle.columns)
