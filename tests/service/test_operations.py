"""The files in ops/, and a backup that is restored: what waited goes on in the second database."""

from __future__ import annotations

import asyncio
import configparser
import re
import shlex
import shutil
import subprocess
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import pytest
import typer
import yaml

from groundplan.contracts.run import RunReply, RunRequest
from groundplan.errors import StateInvalid
from groundplan.interfaces.cli.main import app
from groundplan.service.data import Data
from groundplan.service.projects import Projects
from groundplan.service.worker import Worker
from groundplan.state.database import Database
from groundplan.state.keys import Keys
from groundplan.state.postgres import open_postgres
from groundplan.state.runs import Runs
from tests.asking.tables.described import SALES
from tests.service.test_kills import ended

OPS = Path(__file__).parents[2] / "ops"
UNCLEAR = "total revenue on 03/04/2025"


@asynccontextmanager
async def working(database: Database) -> AsyncIterator[None]:
    """A worker in this process."""
    projects = Projects(database, Data(str(SALES)).open)
    worker = Worker(projects)
    task = asyncio.create_task(worker.work())
    try:
        yield
    finally:
        worker.stop()
        await task
        await projects.close()


@pytest.fixture
def second(postgres: str) -> Iterator[str]:
    """An empty database on the same server."""
    name, server = f"groundplan_{uuid.uuid4().hex[:12]}", postgres.rpartition("/")[0]
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute(f"create database {name}")
        yield f"{server}/{name}"
        admin.execute(f"drop database {name} with (force)")


@pytest.mark.skipif(not shutil.which("pg_dump"), reason="needs pg_dump and pg_restore")
def test_a_restored_backup_goes_on_where_it_was(postgres: str, second: str, tmp_path: Path) -> None:
    tenant = f"backup-{uuid.uuid4().hex[:8]}"

    async def before() -> tuple[str, str, str]:
        async with open_postgres(postgres) as database:
            key, runs = await Keys(database).make(tenant), Runs(database.of(tenant))
            async with working(database.of(tenant)):
                done, _ = await runs.add(RunRequest(question="total revenue"))
                waits, _ = await runs.add(RunRequest(question=UNCLEAR))
                await ended(runs, done.id, "succeeded")
                await ended(runs, waits.id, "waiting_answer")
            return key, done.id, waits.id

    async def after(key: str, done: str, waits: str) -> None:
        async with open_postgres(second) as database:
            runs, found = Runs(database.of(tenant)), await Keys(database).find(key)
            assert found is not None
            assert found.tenant == tenant
            run, events = await runs.find(done), await runs.events(done)
            assert run is not None
            assert run.state == "succeeded"
            assert events[-1].kind == "run.ended"
            assert await Runs(database.of("another")).find(done) is None
            with pytest.raises(StateInvalid):  # row-level security is restored, too
                await steal(database.of("another"), tenant)
            await runs.reply(waits, "waiting_answer", RunReply(answer="1"))
            async with working(database.of(tenant)):
                await ended(runs, waits, "succeeded")

    made = asyncio.run(before())
    dump = tmp_path / "groundplan.dump"
    subprocess.run(["pg_dump", "--format=custom", f"--file={dump}", postgres], check=True)
    subprocess.run(["pg_restore", "--exit-on-error", f"--dbname={second}", str(dump)], check=True)
    asyncio.run(after(*made))


async def steal(database: Database, tenant: str) -> None:
    """Write a row of another tenant."""
    async with database.transaction() as run:
        await run("insert into effects (tenant, key) values (?, 'a/b/c')", tenant)


def commands() -> Iterator[tuple[str, list[str]]]:
    """Each command line of groundplan in ops/, by file."""
    services = yaml.safe_load((OPS / "compose.yaml").read_text())["services"]
    for name, service in services.items():
        if service["image"] == "groundplan":
            yield f"compose {name}", service["command"]
    for file in sorted((OPS / "systemd").glob("*.service")):
        unit = configparser.ConfigParser(strict=False, interpolation=None)
        unit.optionxform = str  # type: ignore[assignment,method-assign]
        unit.read(file)
        assert "EnvironmentFile" in unit["Service"]
        for line in ("ExecStartPre", "ExecStart"):
            program, *arguments = shlex.split(unit["Service"][line])
            assert program.endswith("/bin/groundplan")
            yield f"{file.name} {line}", arguments


@pytest.mark.parametrize(("place", "arguments"), [*commands()])
def test_the_commands_in_ops_are_commands_of_groundplan(place: str, arguments: list[str]) -> None:
    known = typer.main.get_command(app).commands[arguments[0]]  # type: ignore[attr-defined]
    options = [option for parameter in known.params for option in parameter.opts]
    used = [argument for argument in arguments if argument.startswith("--")]
    assert {*used} <= {*options}, place
    filled = ["9100" if argument == "%i" else re.sub(r"\$\{.*?\}", "x", argument) for argument in arguments[1:]]
    known.make_context(arguments[0], filled)  # a wrong value or a missing argument raises


def test_a_container_trusts_its_settings_and_then_runs_its_command(tmp_path: Path) -> None:
    service = yaml.safe_load((OPS / "compose.yaml").read_text())["services"]["serve"]
    (tmp_path / "groundplan").write_text('#!/bin/sh\necho "$#: $*"\n')
    (tmp_path / "groundplan").chmod(0o755)
    entry = [part.replace("$$", "$") for part in service["entrypoint"]]
    ran = subprocess.run([*entry, "serve", "a b"], env={"PATH": f"{tmp_path}:/bin"}, capture_output=True, text=True)
    assert ran.stdout.splitlines() == ["2: trust --yes", "2: serve a b"]


def test_prometheus_scrapes_what_compose_exposes() -> None:
    services = yaml.safe_load((OPS / "compose.yaml").read_text())["services"]
    [job] = yaml.safe_load((OPS / "prometheus" / "prometheus.yaml").read_text())["scrape_configs"]
    for found in job["dns_sd_configs"]:
        command = services[found["names"][0]]["command"]
        assert str(found["port"]) in command
    assert job["job_name"] == "groundplan"
