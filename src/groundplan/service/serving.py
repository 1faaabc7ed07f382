"""Puts the service together: `serve`, `worker` and `migrate`."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import uvicorn
from fastapi import FastAPI
from pydantic.warnings import UnsupportedFieldAttributeWarning

from groundplan.errors import Crashed, StoreUnavailable, UsageError
from groundplan.service.connections import TimedConnection, most_connections
from groundplan.service.data import Data
from groundplan.service.monitoring import expose
from groundplan.service.projects import Projects
from groundplan.service.runs import STOPPING
from groundplan.service.shadow import Shadow
from groundplan.service.worker import AT_ONCE, Worker
from groundplan.settings import LOOPBACK, load_settings, state_folder
from groundplan.state.database import Database, SQLite
from groundplan.state.keys import Keys
from groundplan.state.postgres import cannot_open, open_postgres
from groundplan.state.postgres import migrate as migrate_stores
from groundplan.telemetry.logs import log_as_json
from groundplan.telemetry.telemetry import Telemetry
from groundplan.telemetry.traces import open_traces

STARTING = 30.0  # seconds that the database may take to answer when this process starts
CLOSING = 10  # seconds that open requests have to end
SWITCH = 0.001  # seconds after which a thread that reads a question lets the event loop go on
MIGRATING = 7_271_001  # the advisory lock of `migrate`


async def serve_alone(data: Data, host: str, port: int, listening: Callable[[], object] | None = None) -> None:
    """Serve one person on this machine: no Postgres, no key, one process with its own worker."""
    from groundplan.service.http import create_app  # here, because a worker starts sooner without it

    if host not in LOOPBACK:
        raise UsageError(
            f"without keys the service listens on this machine only, not on {host}; add --database URL and make a key"
        )
    database, telemetry = SQLite(state_folder(), data.tenant), _telemetry("serve")
    projects = Projects(database, data.open, telemetry.metrics.opened)
    async with projects.of(data.tenant):
        pass  # wrong data is named before anything listens
    settings = load_settings(Path.cwd()).service
    sys.setswitchinterval(SWITCH)
    shadow = Shadow(data, database, telemetry.metrics)
    worker = Worker(projects, telemetry=telemetry, shadow=shadow)
    app = create_app(projects, data.tenant, None, telemetry, settings, _with(worker))
    await _listen(app, database, host, port, listening)
    await projects.close()
    telemetry.close()


async def serve(data: Data, url: str, host: str, port: int, listening: Callable[[], object] | None = None) -> None:
    """Serve many people: any number of these processes, and workers beside them."""
    from groundplan.service.http import create_app

    log_as_json()
    telemetry, settings = _telemetry("serve"), load_settings(Path.cwd())
    async with open_postgres(url, STARTING) as database:
        projects = Projects(database, data.open, telemetry.metrics.opened)
        app = create_app(projects, "", Keys(database), telemetry, settings.service)
        await _listen(app, database, host, port, listening)
        await projects.close()
    telemetry.close()


async def work(
    data: Data, url: str, at_once: int = AT_ONCE, metrics_host: str = LOOPBACK[0], metrics_port: int | None = None
) -> None:
    """Work until SIGTERM or Ctrl-C."""
    log_as_json()
    telemetry, settings = _telemetry("worker"), load_settings(Path.cwd())
    if metrics_port is not None:
        expose(telemetry, metrics_host, metrics_port)
    async with open_postgres(url, STARTING) as database:
        projects = Projects(database, data.open, telemetry.metrics.opened)
        sys.setswitchinterval(SWITCH)
        shadow = Shadow(data, database, telemetry.metrics)
        worker = Worker(projects, at_once, telemetry, settings.service, shadow)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, worker.stop)
        await worker.work()
        await projects.close()
    telemetry.close()


def _telemetry(process: str) -> Telemetry:
    return Telemetry(traces=open_traces(process), questions=load_settings(Path.cwd()).trace_questions)


async def migrate(url: str) -> list[int]:
    """Create or update all tables, one process at a time; returns the numbers of the SQL files that were run."""
    from groundplan.running.postgres_checkpoints import make_tables

    try:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            await _lock(connection)
            await make_tables(connection)
            return await migrate_stores(connection)
    except psycopg.OperationalError as error:
        raise StoreUnavailable(cannot_open(url, error)) from error
    except psycopg.ProgrammingError as error:
        raise UsageError(f"the database cannot be migrated: {error.diag.message_primary or 'check the URL'}") from error


async def _lock(connection: psycopg.AsyncConnection[Any]) -> None:
    """Wait for the lock between statements: one statement that waits would hold up the indexes that another makes."""
    while True:
        cursor = await connection.execute("select pg_try_advisory_lock(%s)", (MIGRATING,))
        if (await cursor.fetchone() or (False,))[0]:
            return
        await asyncio.sleep(0.1)


def _with(worker: Worker) -> Any:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        working = asyncio.create_task(worker.work())
        working.add_done_callback(_stop_if_it_crashed)
        try:
            yield
        finally:
            worker.stop()
            with suppress(asyncio.CancelledError):
                await working

    return lifespan


def _stop_if_it_crashed(working: asyncio.Task[None]) -> None:
    """A server without its worker would accept runs that nobody runs."""
    if not working.cancelled() and (error := working.exception()):
        logging.getLogger("groundplan.service").error("the worker crashed: %s", Crashed.by(error))
        signal.raise_signal(signal.SIGTERM)


class _Server(uvicorn.Server):
    """Ends open streams at once when it is told to stop; their clients reconnect to another process."""

    def __init__(
        self, config: uvicorn.Config, app: FastAPI, database: Database, listening: Callable[[], object] | None
    ) -> None:
        super().__init__(config)
        self._asgi, self._bell, self._loop = app, database.bell, asyncio.get_running_loop()
        self._listening = listening

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._listening:
            self._listening()

    def handle_exit(self, sig: int, frame: Any) -> None:
        self._asgi.state.stopping = True
        self._loop.call_soon_threadsafe(self._bell.ring, STOPPING)
        super().handle_exit(sig, frame)


async def _listen(
    app: FastAPI, database: Database, host: str, port: int, listening: Callable[[], object] | None = None
) -> None:
    config = uvicorn.Config(
        app,
        host,
        port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=CLOSING,
        http=TimedConnection,
        limit_concurrency=most_connections(),
        lifespan="on",
    )
    # FastAPI hands pydantic the names of body parameters, which pydantic ignores and warns about
    warnings.filterwarnings("ignore", category=UnsupportedFieldAttributeWarning)
    server = _Server(config, app, database, listening)
    await server.serve()
    if not server.started:
        raise UsageError(f"cannot listen on {host}:{port}; choose another --port")
