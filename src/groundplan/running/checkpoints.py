"""Checkpoints of threads and runs, in the database that holds all persistent state."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from groundplan.errors import StateInvalid
from groundplan.running.damage import undamaged
from groundplan.state.database import FILE, SECONDS, Database, SQLite

if TYPE_CHECKING:
    from groundplan.running.postgres_checkpoints import PostgresCheckpoints

T = TypeVar("T")


class Checkpoints(AsyncSqliteSaver):
    """A saver whose writes finish even if the question is cancelled: an open transaction would lock the file."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        # plain types only, so that loading a checkpoint cannot instantiate a class
        super().__init__(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        self._writing: set[asyncio.Task[Any]] = set()

    async def setup(self) -> None:
        await self._finished(super().setup())

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await undamaged(self._finished(super().aget_tuple(config)), FILE)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await self._finished(super().aput(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self._finished(super().aput_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        await self._finished(super().adelete_thread(thread_id))

    async def keep_latest(self, thread: str) -> None:
        """Delete all checkpoints of a finished thread except the latest, from which its next question starts."""
        await self._finished(self._keep_latest(thread))

    async def _keep_latest(self, thread: str) -> None:
        latest = "select max(checkpoint_id) from checkpoints where thread_id = ?1 and checkpoint_ns = ''"
        async with self.lock:
            for table in ("writes", "checkpoints"):
                outdated = f"thread_id = ?1 and (checkpoint_ns != '' or checkpoint_id < ({latest}))"
                await self.conn.execute(f"delete from {table} where {outdated}", (thread,))  # noqa: S608 - our names
            await self.conn.commit()
            await self.conn.execute(
                "pragma wal_checkpoint(truncate)"
            )  # so that deleted rows do not stay in the WAL file

    async def close(self) -> None:
        await asyncio.gather(*self._writing, return_exceptions=True)
        await self.conn.close()

    async def _finished(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(work)
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)
        try:
            return await asyncio.shield(task)
        except aiosqlite.Error as error:
            raise StateInvalid(
                f"{FILE} cannot be read or written ({error}); move it away to start with an empty one"
            ) from error


async def open_checkpoints(database: Database) -> Checkpoints | PostgresCheckpoints:
    if not isinstance(database, SQLite):
        from groundplan.running.postgres_checkpoints import PostgresCheckpoints
        from groundplan.state.postgres import Postgres

        assert isinstance(database, Postgres)
        return PostgresCheckpoints(database)
    file = database.file
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        connection = await aiosqlite.connect(file, timeout=SECONDS)
        try:
            await connection.execute("pragma secure_delete = on")  # overwrite deleted data
            saver = Checkpoints(connection)
            await saver.setup()
        except BaseException:
            await connection.close()  # its thread would keep the process from ending
            raise
    except aiosqlite.DatabaseError as error:
        raise StateInvalid(
            f"{file} cannot be read or written ({error}); move it away to start with an empty one"
        ) from error
    return saver
