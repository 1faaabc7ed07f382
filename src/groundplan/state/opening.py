"""The database that commands work on: of the service by its URL, or what this machine keeps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from groundplan.settings import state_folder
from groundplan.state.database import CONNECTIONS, Database, SQLite


@asynccontextmanager
async def open_database(url: str | None, connections: int = CONNECTIONS) -> AsyncIterator[Database]:
    if url is None:
        yield SQLite(state_folder())
        return
    from groundplan.state.postgres import open_postgres

    async with open_postgres(url, connections=connections) as database:
        yield database
