"""A project: its sources, their schemas and the catalog, wired together; the sync façade stands on it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Coroutine
from importlib.metadata import entry_points
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from groundplan.answering.answer import refuse
from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check, check_text
from groundplan.checking.parsing import parse
from groundplan.contracts.answer import Answer, Refusal
from groundplan.contracts.plan import Proposal
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.verdict import Refused, Verdict
from groundplan.settings import cache_folder, state_folder
from groundplan.sources.interface import Source

T = TypeVar("T")
Proposed = Proposal | str | bytes
"""A plan with the reading it answers, as a contract or as JSON."""


def load_catalog() -> Catalog:
    """The tools of every installed source: the built-in ones come by the same entry point as anyone's."""
    found = sorted(entry_points(group="groundplan.sources"), key=lambda point: point.name)
    return Catalog.load([file for point in found for file in point.load().tools()], cache=cache_folder())


class AsyncProject:
    """Everything that does I/O is awaited; `check` is pure and is not."""

    def __init__(self, sources: dict[str, Source], schemas: dict[str, SourceSchema], catalog: Catalog) -> None:
        self.sources, self.schemas, self.catalog = sources, schemas, catalog

    @classmethod
    async def open(cls, where: Any) -> Self:
        """A file, a folder, a DuckDB file, an Ibis URL or backend, or frames from Python."""
        from groundplan.sources.tables.source import Tables  # Ibis is heavy: only when data is opened

        tables = await asyncio.to_thread(Tables.open, where)
        return cls({tables.name: tables}, {tables.name: await tables.describe()}, load_catalog())

    def check(self, proposed: Proposed) -> Verdict:
        if isinstance(proposed, Proposal):
            return check(proposed.plan, proposed.reading, self.catalog, self.schemas)
        return check_text(proposed, self.catalog, self.schemas)

    async def run(
        self,
        proposed: Proposed,
        *,
        run_id: str | None = None,
        resume: bool = False,
        approved: Collection[str] = (),
        output: Path | None = None,
        **more: Any,
    ) -> Answer | Refusal:
        """Check and run a proposal. With a `run_id` it leaves checkpoints, and `resume` goes on from them."""
        read = proposed if isinstance(proposed, Proposal) else parse(proposed)
        if isinstance(read, Refused):
            return refuse(None, read.issues, ())
        from groundplan.pipeline import carry_out  # LangGraph is heavy: only when something runs
        from groundplan.running.run import sqlite_checkpoints

        given = (read.plan, read.reading, self.catalog, self.sources, self.schemas)
        running = {"approved": approved, "output": output, **more}
        if run_id is None:
            return await carry_out(*given, **running)
        async with sqlite_checkpoints(state_folder() / "runs.sqlite") as saved:
            running |= {"run_id": run_id, "resume": resume, "checkpointer": saved}
            done = await carry_out(*given, **running)
            await saved.adelete_thread(run_id)  # a run that has ended needs no checkpoints
            return done

    async def close(self) -> None:
        for source in self.sources.values():
            await source.close()


class Project:
    """The same for code that does not await; works inside a notebook's running loop too. `aio` is the async one."""

    def __init__(self, where: Any) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="groundplan", daemon=True).start()
        self.aio = self._wait(AsyncProject.open(where))

    @property
    def catalog(self) -> Catalog:
        return self.aio.catalog

    @property
    def schemas(self) -> dict[str, SourceSchema]:
        return self.aio.schemas

    def check(self, proposed: Proposed) -> Verdict:
        """Whether a plan may run, and if not, every reason why."""
        return self.aio.check(proposed)

    def run(self, proposed: Proposed, **options: Any) -> Answer | Refusal:
        """Check a plan and run it; the options are those of `AsyncProject.run`."""
        return self._wait(self.aio.run(proposed, **options))

    def close(self) -> None:
        self._wait(self.aio.close())
        self._loop.call_soon_threadsafe(self._loop.stop)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise
