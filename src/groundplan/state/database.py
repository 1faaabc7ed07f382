"""The database that holds everything kept between processes: SQLite on one machine, Postgres for several processes.

Stores use it through two small protocols. Each use is one transaction of one tenant. `state/postgres.py` has the other
implementation.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from groundplan.errors import StateInvalid

FILE = "state.sqlite"
SECONDS = 10.0  # to wait while another process writes
CONNECTIONS = 10  # of one process to Postgres, at most
EVERY_TENANT = "*"  # for workers, which serve all tenants; no tenant can have this name

T = TypeVar("T")
Row = tuple[Any, ...]


class Bell:
    """Wakes tasks that wait for something. A lost ring only delays them, because they also look from time to time."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = {}

    def ring(self, topic: str) -> None:
        for event in self._waiting.get(topic, ()):
            event.set()

    def ring_all(self) -> None:
        for topic in self._waiting:
            self.ring(topic)

    @contextmanager
    def heard(self, *topics: str) -> Iterator[asyncio.Event]:
        """An event that each ring of these topics sets. Clear it before looking, so that no ring is lost."""
        event = asyncio.Event()
        for topic in topics:
            self._waiting.setdefault(topic, set()).add(event)
        try:
            yield event
        finally:
            for topic in topics:
                self._waiting[topic].discard(event)
                if not self._waiting[topic]:
                    del self._waiting[topic]


async def wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait until the event is set, or for this many seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


class Transaction(Protocol):
    async def __call__(self, sql: str, *values: object) -> list[Row]:
        """Run one statement and return its rows. Each `?` stands for a value."""
        ...

    async def lock(self, name: str) -> None:
        """Wait until no other transaction holds this name, and hold it until this one ends."""
        ...

    async def ring(self, topic: str) -> None:
        """Ring the bell of every process when this transaction is committed."""
        ...


class Database(Protocol):
    tenant: str
    bell: Bell
    now: str  # SQL: the present time in seconds
    oldest: str  # SQL: the column by which rows are ordered as they were inserted
    skip_locked: str  # SQL: at the end of a select of rows `r`, so that two processes take different ones

    @property
    def url(self) -> str | None:
        """By which another process opens it; None for the file of this machine."""
        ...

    def of(self, tenant: str) -> Self:
        """The same database for another tenant."""
        ...

    def apart(self) -> AbstractAsyncContextManager[Self]:
        """The same database for another event loop, with a connection of its own."""
        ...

    def transaction(self, writes: bool = True) -> AbstractAsyncContextManager[Transaction]: ...


def local_tenant(data: Any) -> str:
    """The tenant of a service for one person: each data has its own runs and conversations in the common file."""
    said = str(Path(data).resolve()) if isinstance(data, str) and "://" not in data else data
    return f"local-{hashlib.sha256(repr(said).encode()).hexdigest()[:16]}"


def migrations(engine: str) -> list[tuple[int, str]]:
    """The numbered SQL files of this engine, in order: NUMBER_NAME.sql for both, NUMBER_NAME.ENGINE.sql for one."""
    found = sorted(files(__package__).joinpath("migrations").iterdir(), key=lambda file: file.name)
    fitting = [file for file in found if file.name.split(".")[1:] in (["sql"], [engine, "sql"])]
    return [(int(file.name.partition("_")[0]), file.read_text(encoding="utf-8")) for file in fitting]


class SQLite:
    """One file, shared between processes. Statements run in worker threads."""

    url = None
    now = "((julianday('now') - 2440587.5) * 86400)"
    oldest = "rowid"
    skip_locked = ""

    def __init__(self, folder: Path, tenant: str = "", bell: Bell | None = None) -> None:
        self.file, self.tenant, self.bell = folder / FILE, tenant, bell or Bell()

    def of(self, tenant: str) -> Self:
        return type(self)(self.file.parent, tenant, self.bell)

    @asynccontextmanager
    async def apart(self) -> AsyncIterator[Self]:
        yield type(self)(self.file.parent, self.tenant)

    @asynccontextmanager
    async def transaction(self, writes: bool = True) -> AsyncIterator[Transaction]:
        """One that writes excludes other writers from its beginning."""
        thread = ThreadPoolExecutor(1, "groundplan-state")  # its own: whoever waits for the file holds up nobody else
        try:
            connection = await _in(thread, lambda: self._begin("immediate" if writes else "deferred"))
            try:
                done = _SQLiteTransaction(connection, thread)
                yield done
                await _in(thread, connection.commit)
            finally:
                await _in(thread, connection.close)  # undoes what was not committed
        except (sqlite3.DatabaseError, OSError) as error:
            raise StateInvalid(
                f"{self.file} cannot be read or written ({error}); check what unfinished runs have already done, then "
                "move the file away to start with an empty one"
            ) from error
        finally:
            thread.shutdown(wait=False)
        for topic in done.topics:
            self.bell.ring(topic)

    def _begin(self, how: str) -> sqlite3.Connection:
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = sqlite3.connect(self.file, timeout=SECONDS, isolation_level=None)
        try:
            if connection.execute("pragma user_version").fetchone()[0] < _newest():
                _migrate(connection)
            connection.execute(f"begin {how}")
        except BaseException:
            connection.close()
            raise
        return connection


class _SQLiteTransaction:
    def __init__(self, connection: sqlite3.Connection, thread: ThreadPoolExecutor) -> None:
        self._connection, self._thread = connection, thread
        self.topics: list[str] = []

    async def __call__(self, sql: str, *values: object) -> list[Row]:
        return await _in(self._thread, lambda: self._connection.execute(sql, values).fetchall())

    async def lock(self, name: str) -> None:
        """Nothing to do: there is one writer at a time."""

    async def ring(self, topic: str) -> None:
        self.topics.append(topic)


def _newest() -> int:
    return 14  # the number of the last file in `migrations` that SQLite runs; a test compares them


def _migrate(connection: sqlite3.Connection) -> None:
    connection.execute("pragma journal_mode = wal")  # readers do not wait for a writer
    for number, text in migrations("sqlite"):
        connection.execute("begin immediate")
        if connection.execute("pragma user_version").fetchone()[0] < number:
            for statement in text.split(";\n"):
                connection.execute(statement)
            connection.execute(f"pragma user_version = {number}")
        connection.commit()


async def _in(thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    """Run blocking work in the thread. A caller that is cancelled still waits for it: it uses the connection."""
    task = asyncio.get_running_loop().run_in_executor(thread, work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
