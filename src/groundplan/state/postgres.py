"""The database as PostgreSQL, for several processes. Needs the extra `service` and tables made by `migrate`."""

from __future__ import annotations

import asyncio
import logging
import select
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from getpass import getuser
from typing import Any, Self, cast

import psycopg
from psycopg import sql as names
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from groundplan.errors import StateInvalid, StoreUnavailable, UsageError
from groundplan.state.database import CONNECTIONS, EVERY_TENANT, Bell, Row, Transaction, migrations

log = logging.getLogger("groundplan.database")
CHANNEL = "groundplan"  # of NOTIFY
ROLE = "groundplan"  # owns nothing, and sees one tenant at a time
PORT = 5432  # if the address names none
SECONDS = 10.0  # to wait for a connection
IDLE = 20_000  # milliseconds after which a process that stands still loses its locks
AGAIN = 1.0  # seconds until a lost connection is tried again
BEGIN = names.SQL("begin; select set_config('groundplan.tenant', {}, true)")  # both in one message
OUT_OF_REACH = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout)


class Postgres:
    """A pool of connections, and one more that hears what other processes ring."""

    now = "extract(epoch from clock_timestamp())::double precision"
    oldest = "number"
    skip_locked = "for update of r skip locked"

    def __init__(self, pool: AsyncConnectionPool[Any], tenant: str, bell: Bell) -> None:
        self.pool, self.tenant, self.bell = pool, tenant, bell
        self._begin = BEGIN.format(names.Literal(tenant)).as_bytes()

    def of(self, tenant: str) -> Self:
        return type(self)(self.pool, tenant, self.bell)

    @property
    def url(self) -> str:
        url = self.pool.conninfo
        assert isinstance(url, str), "it was opened by its address"
        return url

    @asynccontextmanager
    async def apart(self) -> AsyncIterator[Self]:
        async with _pool(self.url, 1) as pool:
            yield type(self)(pool, self.tenant, Bell())

    @asynccontextmanager
    async def transaction(self, writes: bool = True) -> AsyncIterator[Transaction]:
        async with self.connection() as connection:
            yield _PostgresTransaction(connection)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        """A connection in a transaction that sees this tenant's rows only."""
        with typed():
            async with self.pool.connection() as connection:  # rolls back after an error
                await connection.execute(self._begin)
                yield connection
                await connection.commit()  # an error if the connection is lost


class _PostgresTransaction:
    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection = connection

    async def __call__(self, sql: str, *values: object) -> list[Row]:
        cursor = await self._connection.execute(cast("Any", sql.replace("?", "%s")), values)
        return await cursor.fetchall() if cursor.description else []

    async def lock(self, name: str) -> None:
        await self("select pg_advisory_xact_lock(hashtextextended(?, 0))", name)

    async def ring(self, topic: str) -> None:
        await self("select pg_notify(?, ?)", CHANNEL, topic)


class typed:  # noqa: N801 - used as a statement
    """Raise errors of groundplan instead of the driver's, which may quote values."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OUT_OF_REACH):
            raise StoreUnavailable("the database of this service cannot be reached; try again soon") from error
        if isinstance(error, psycopg.errors.UndefinedTable):
            raise UsageError("the database has no tables of groundplan; run `groundplan migrate URL` first") from error
        if isinstance(error, psycopg.Error):
            raise StateInvalid(f"the database of this service refused a statement ({type(error).__name__})") from error


@asynccontextmanager
async def open_postgres(url: str, wait: float = 0.0, connections: int = CONNECTIONS) -> AsyncIterator[Postgres]:
    """Open the pool and listen. Row-level security is on: each transaction sees its tenant only.

    A database that cannot be reached is tried again for `wait` seconds: it may be starting, too.
    """
    bell = Bell()
    await _refuse_unmigrated(url, wait)
    listening = asyncio.create_task(_listen(url, bell))
    try:
        async with _pool(url, connections) as pool:
            yield Postgres(pool, EVERY_TENANT, bell)
    finally:
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening


def _pool(url: str, most: int) -> AsyncConnectionPool[Any]:
    return AsyncConnectionPool(
        url,
        min_size=1,
        max_size=most,
        open=False,
        timeout=SECONDS,
        configure=_take_role,
        check=_refuse_closed,
        kwargs={"autocommit": True, "prepare_threshold": None},  # so that pgbouncer can be in between
    )


async def migrate(connection: psycopg.AsyncConnection[Any]) -> list[int]:
    """Run the SQL files that this database has not run yet, and return their numbers."""
    await connection.execute("create table if not exists migrations (number integer primary key)")
    cursor = await connection.execute("select number from migrations")
    done, ran = {row[0] for row in await cursor.fetchall()}, []
    for number, text in migrations("postgres"):
        if number not in done:
            async with connection.transaction():
                await connection.execute(cast("Any", text))
                await connection.execute("insert into migrations values (%s)", (number,))
            ran.append(number)
    return ran


async def _refuse_unmigrated(url: str, wait: float) -> None:
    newest = max(number for number, _ in migrations("postgres"))
    found = await _migrated(url, time.monotonic() + wait)
    if found is None:
        raise UsageError("the database has no tables of groundplan; run `groundplan migrate URL` first")
    if found != newest:
        raise UsageError("the tables of the database are of another version; run `groundplan migrate URL` first")


async def _migrated(url: str, until: float) -> int | None:
    """The number of the last SQL file that was run."""
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(url, connect_timeout=int(SECONDS)) as connection:
                cursor = await connection.execute("select max(number) from migrations")
                [found] = await cursor.fetchone() or (None,)
                return cast("int | None", found)
        except psycopg.errors.UndefinedTable:
            return None
        except psycopg.Error as error:
            problem = cannot_open(url, error)
            starting = isinstance(error, psycopg.OperationalError) and not _was_asked_for_password(error)
            if time.monotonic() >= until or not starting:
                raise StoreUnavailable(problem) from error
        log.warning("%s; it is tried again for %.0f s", problem, until - time.monotonic())
        await asyncio.sleep(AGAIN)


def cannot_open(url: str, error: psycopg.Error) -> str:
    """The database, its user and the reason of the server; never the password."""
    try:
        told = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return "the address of the database is not valid; check the URL"
    user, password = str(told.get("user") or getuser()), str(told.get("password") or "")
    name = str(told.get("dbname") or user)
    place = f"{told.get('host') or 'this machine'}:{told.get('port') or PORT}"
    message = (str(error).strip() or type(error).__name__).splitlines()[0]
    reason = message.rpartition("failed: ")[2].removeprefix("FATAL:").strip()
    if password and password in reason.replace(f'"{user}"', "").replace(f'"{name}"', ""):
        reason = type(error).__name__
    return f"the database {name!r} on {place} cannot be opened as {user!r}: {reason}; check the URL"


def _was_asked_for_password(error: psycopg.Error) -> bool:
    """A server that is starting asks for none: then it answers, and will not say otherwise later."""
    return error.pgconn is not None and error.pgconn.used_password


async def _refuse_closed(connection: psycopg.AsyncConnection[Any]) -> None:
    """Ask a connection whether it works only if it has something to say: that the server has closed it, for example."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        await AsyncConnectionPool.check_connection(connection)


async def _take_role(connection: psycopg.AsyncConnection[Any]) -> None:
    await connection.execute(names.SQL("set role {}").format(names.Identifier(ROLE)))
    await connection.execute(f"set idle_in_transaction_session_timeout = {IDLE}")


async def _listen(url: str, bell: Bell) -> None:
    """Ring the bell for what other processes notify. After a lost connection, everybody looks once."""
    while True:
        with suppress(psycopg.Error, OSError):
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
                await connection.execute(names.SQL("listen {}").format(names.Identifier(CHANNEL)))
                bell.ring_all()
                async for notice in connection.notifies():
                    bell.ring(notice.payload)
        await asyncio.sleep(AGAIN)
