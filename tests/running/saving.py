"""Checkpoints in a folder, for tests that look at them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from groundplan.running.checkpoints import Checkpoints, open_checkpoints
from groundplan.state.database import SQLite


@asynccontextmanager
async def saved_in(folder: Path) -> AsyncIterator[Checkpoints]:
    saver = await open_checkpoints(SQLite(folder))
    assert isinstance(saver, Checkpoints)
    try:
        yield saver
    finally:
        await saver.close()
