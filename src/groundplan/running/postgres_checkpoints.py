"""Checkpoints of threads and runs in PostgreSQL. Needs the extra `service`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import dict_row

from groundplan.running.damage import undamaged
from groundplan.state.postgres import Postgres, typed

OUTDATED = """delete from {table} where thread_id = %s and (checkpoint_ns != '' or checkpoint_id <
    (select max(checkpoint_id) from checkpoints where thread_id = %s and checkpoint_ns = ''))"""
UNUSED = """delete from checkpoint_blobs as blob where thread_id = %s and not exists (
    select 1 from checkpoints as kept where kept.thread_id = blob.thread_id
    and kept.checkpoint_ns = blob.checkpoint_ns
    and kept.checkpoint -> 'channel_versions' ->> blob.channel = blob.version)"""


class PostgresCheckpoints(AsyncPostgresSaver):
    """Each use is a transaction of the tenant, on a connection of the pool."""

    def __init__(self, database: Postgres) -> None:
        # plain types only, so that loading a checkpoint cannot instantiate a class
        super().__init__(database.pool, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        self._database = database

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[Any]]:
        async with self._database.connection() as connection:
            if pipeline:
                async with connection.pipeline(), connection.cursor(binary=True, row_factory=dict_row) as cursor:
                    yield cursor
            else:
                async with connection.cursor(binary=True, row_factory=dict_row) as cursor:
                    yield cursor

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await undamaged(super().aget_tuple(config), "the database")

    async def keep_latest(self, thread: str) -> None:
        """Delete all checkpoints of a finished thread except the latest, from which its next question starts."""
        async with self._cursor(pipeline=True) as cursor:
            for table in ("checkpoint_writes", "checkpoints"):
                await cursor.execute(OUTDATED.format(table=table), (thread, thread))
            await cursor.execute(UNUSED, (thread,))

    async def close(self) -> None:
        """Nothing to close: the connections belong to the database."""


async def make_tables(connection: AsyncConnection[Any]) -> None:
    """Create LangGraph's tables. One process at a time: the caller holds a lock."""
    with typed():
        await AsyncPostgresSaver(connection).setup()
