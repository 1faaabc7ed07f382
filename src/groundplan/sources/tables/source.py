"""Tables as a source: files, frames, DuckDB, Postgres or any other Ibis backend, read-only."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
from ibis.common.exceptions import IbisError

from groundplan.contracts.answer import ShownTable
from groundplan.contracts.facts import Item, StepFacts, TableRef
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool
from groundplan.errors import SourceError, ToolError, UsageError
from groundplan.sources.interface import Call, Result
from groundplan.sources.tables.engine.engines import Engine, Scratch, open_scratch
from groundplan.sources.tables.engine.executing import Executor, Fetched, Work
from groundplan.sources.tables.engine.handle import Handle, Params, arranged, handle_on
from groundplan.sources.tables.engine.values import cell
from groundplan.sources.tables.files.opening import open_engine
from groundplan.sources.tables.schema.describe import describe
from groundplan.sources.tables.schema.distinct import find_values
from groundplan.sources.tables.tools.registry import ASKING, LAZY, SINKS
from groundplan.sources.tables.tools.shape import join_tables

GUESTS = 64  # tables of other sources, held for later steps


class Tables:
    """Opened with `Tables.open`; every query passes the second gate and runs at most once per run."""

    def __init__(self, engine: Engine, name: str = "tables") -> None:
        self.name = name
        self.names = tuple(sorted(engine.backend.list_tables()))
        self._executor = Executor(engine, self.names)
        self._handles: dict[str, Handle] = {}
        self._schema: SourceSchema | None = None
        self._guests: OrderedDict[int, tuple[pa.Table, str]] = OrderedDict()  # rows of other sources
        self._numbers = itertools.count(1)
        self._guard = threading.Lock()

    @classmethod
    def open(cls, where: object, name: str = "tables") -> Self:
        """A file, a folder of files, a DuckDB file, an Ibis URL or backend, a frame, or frames by name."""
        source = cls(open_engine(where), name)
        if not source.names:
            source._executor.engine.close()
            raise SourceError(f"{where}: holds no tables")
        return source

    @classmethod
    def scratch(cls) -> Self:
        """Without tables of its own: for the rows of other sources."""
        return cls(open_scratch())

    @staticmethod
    def tools() -> Sequence[Path]:
        return [Path(__file__).with_name("tools.yaml")]

    async def describe(self) -> SourceSchema:
        return await asyncio.to_thread(self._described)

    async def call(self, call: Call) -> Result:
        return await asyncio.to_thread(self._call, call)

    def table(self, name: str) -> Handle:
        if name not in self.names:
            raise UsageError(f"{self.name}: there is no table {name!r}; there are {', '.join(self.names)}")
        with self._guard:
            if name not in self._handles:
                self._handles[name] = handle_on(self._executor.engine.table(name))
            return self._handles[name]

    def restore(self, ref: TableRef) -> Handle:
        self._executor.approve(ref.query)
        engine = self._executor.engine
        table = engine.backend.sql(ref.query, schema=engine.schema(ref.query))
        return handle_on(table, ref.columns)

    async def fetch(self, ref: TableRef, rows: int, seconds: float) -> ShownTable:
        return await asyncio.to_thread(self._fetch, ref, rows, seconds)

    async def values(self, question: str) -> dict[str, dict[str, tuple[str, ...]]]:
        schema = await self.describe()
        handles = {name: self.table(name) for name in self.names}
        return await asyncio.to_thread(find_values, question, schema, handles, self._executor)

    async def close(self) -> None:
        await asyncio.to_thread(self._executor.engine.close)

    def _described(self) -> SourceSchema:
        if self._schema is None:
            self._schema = describe(self.name, self.names, self.table, self._executor)
        return self._schema

    def _call(self, call: Call) -> Result:
        tool = call.tool.name
        work = Work(self._executor, call.run, call.limits.rows, time.monotonic() + call.seconds)
        inputs = [self._handle(tool, port.name, call.inputs) for port in call.tool.inputs]
        params = with_defaults(call.tool, call.params)
        try:
            if tool in SINKS:
                return SINKS[tool](call, inputs[0], params, work, self.name)
            made, items = _made(tool, inputs, params, work)
            return Result(self._facts(call.step, made, items), made)
        except IbisError as error:
            engine = self._executor.engine.backend.name
            raise ToolError(f"{tool}: {engine} cannot do this: {str(error).partition(chr(10))[0]}") from error

    def _handle(self, tool: str, port: str, inputs: Mapping[str, object]) -> Handle:
        given = inputs.get(port)
        if isinstance(given, pa.Table):
            return self._taken(tool, given)
        own = self._executor.engine.backend
        if not isinstance(given, Handle) or given.table.get_backend() is not own:
            raise ToolError(f"{tool}: the input {port!r} is not a table of the source {self.name!r}")
        return given

    def _taken(self, tool: str, rows: pa.Table) -> Handle:
        """Rows that another source read, as a table of this one."""
        engine = self._executor.engine
        if not isinstance(engine, Scratch):
            raise ToolError(f"{tool}: the rows of another source cannot be worked on in {engine.backend.name}")
        with self._guard:
            if id(rows) not in self._guests:
                name = f"rows_{next(self._numbers)}"
                engine.take(name, rows)
                self._executor.tables.add(name)
                self._guests[id(rows)] = rows, name
                self._send_away(engine)
            return handle_on(engine.table(self._guests[id(rows)][1]))

    def _send_away(self, engine: Scratch) -> None:
        """The oldest, where there are too many."""
        while len(self._guests) > GUESTS:
            _, (_, name) = self._guests.popitem(last=False)
            self._executor.tables.discard(name)
            engine.drop(name)

    def _facts(self, step: str, made: Handle, items: Sequence[Item]) -> StepFacts:
        ref = TableRef(
            source=self.name,
            engine=self._executor.engine.backend.name,
            query=self._executor.compile(arranged(made.table, made.order)),
            columns=made.columns,
        )
        return StepFacts(step=step, table=ref, items=tuple(items))

    def _fetch(self, ref: TableRef, rows: int, seconds: float) -> ShownTable:
        until = time.monotonic() + seconds
        fetched = self._executor.recall(ref.query)
        total = ref.row_count
        if fetched is None or (not fetched.complete and fetched.table.num_rows < rows):
            table = self.restore(ref).table
            fetched = self._executor.run(table, rows, until)
            if total is None:
                total = Work(self._executor, "", rows, until).total(table, fetched)
        return _shown(fetched, rows, fetched.table.num_rows if total is None else total)


def with_defaults(tool: Tool, params: Mapping[str, Any]) -> Params:
    """The params with what the tool's schema says where a plan says nothing."""
    properties: Any = tool.params.get("properties", {})
    defaults = {name: spec["default"] for name, spec in properties.items() if "default" in spec}
    return {**defaults, **params}


def _made(tool: str, inputs: Sequence[Handle], params: Params, work: Work) -> tuple[Handle, tuple[Item, ...]]:
    if tool == "join_tables":
        return join_tables(inputs[0], inputs[1], params), ()
    if tool in LAZY:
        return LAZY[tool](inputs[0], params), ()
    if tool in ASKING:
        return ASKING[tool](inputs[0], params, work.ask)
    raise UsageError(f"{tool!r} is no table tool; see `groundplan catalog list`")


def _shown(fetched: Fetched, rows: int, total: int) -> ShownTable:
    cut = fetched.table.slice(0, rows)
    return ShownTable(
        columns=tuple(cut.column_names),
        rows=tuple(zip(*(map(cell, column.to_pylist()) for column in cut.columns), strict=True)),
        row_count=total,
    )
