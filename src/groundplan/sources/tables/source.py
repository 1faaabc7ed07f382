"""Tables as a source: files, frames, DuckDB, Postgres or any other Ibis backend, read-only."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import pyarrow as pa
from ibis.common.exceptions import IbisError

from groundplan.blocking import Workers
from groundplan.contracts.answer import ShownTable
from groundplan.contracts.facts import Item, StepFacts, TableRef
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool
from groundplan.errors import SourceError, ToolError, UsageError
from groundplan.sources.interface import Call, Result, Source
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.credentials import without_password
from groundplan.sources.tables.engine.engines import AttachedFile, Engine, Scratch, open_scratch
from groundplan.sources.tables.engine.executing import Executor, Fetched, Work
from groundplan.sources.tables.engine.guest_tables import GuestTables
from groundplan.sources.tables.engine.handle import Handle, Params, arranged, handle_on
from groundplan.sources.tables.engine.interface import first_line
from groundplan.sources.tables.engine.values import cell
from groundplan.sources.tables.files.notes import load_notes
from groundplan.sources.tables.files.opening import open_engine, open_with_files
from groundplan.sources.tables.files_beside import FilesBeside
from groundplan.sources.tables.schema.describe import describe, outline, with_notes
from groundplan.sources.tables.schema.distinct import find_values, first_values
from groundplan.sources.tables.schema.model_file import Model, find_model_file, load_model
from groundplan.sources.tables.schema.search import TableIndex
from groundplan.sources.tables.tools.registry import LAZY, QUERYING, SINKS
from groundplan.sources.tables.tools.shape import add_overall, join_tables, mark_found

THREADS = 8
MANY = 40  # tables: with more, only those that a question may be about are described in full
SCHEMA_SECONDS = 30.0  # to describe one table or query
T = TypeVar("T")


class Tables:
    """Opened with `Tables.open`; every query passes the second gate and runs at most once per run.

    Calls run concurrently in a few threads. Cancelling one stops its query in the engine.
    """

    def __init__(self, engine: Engine, name: str = "tables") -> None:
        self.name = name
        self.names = tuple(sorted(engine.backend.list_tables()))
        self._executor = Executor(engine, self.names)
        self._workers = Workers(name, THREADS)
        self._handles: dict[str, Handle] = {}
        self._schema: SourceSchema | None = None
        self._index: TableIndex | None = None  # of a source with many tables, which is described in outline
        self._parts: dict[tuple[str, ...], SourceSchema] = {}
        self._notes = load_notes(engine.backend)
        self._model: Model | None = None
        self._describing = threading.Lock()
        self._slow: dict[str, float] = {}  # tables whose values took too long, and until when they are left alone
        self._guests = GuestTables(self._executor, engine) if isinstance(engine, Scratch) else None

    @classmethod
    def open(cls, where: object, name: str = "tables") -> Self:
        """Open a file, a folder of files, a DuckDB file, a Postgres URL, an Ibis backend, a frame, or frames."""
        return cls._opened(where, open_engine(where), name)

    @classmethod
    def with_files(cls, where: str | Path, files: Sequence[AttachedFile]) -> Source:
        """The given data with the tables of these files: in one engine if it can read files, else beside it."""
        engine = open_with_files(where, files)
        return cls._opened(where, engine, "tables") if engine else FilesBeside(cls.open(where), cls.scratch(files))

    @classmethod
    def _opened(cls, where: object, engine: Engine, name: str) -> Self:
        try:
            source = cls(engine, name)
        except Exception as error:
            engine.close()
            shown = without_password(where) if isinstance(where, str) else where
            raise SourceError(f"{shown}: its tables cannot be listed: {first_line(error)}") from error
        model = find_model_file(where)
        source._model = load_model(model) if model else None
        if not source.names:
            source._executor.engine.close()
            raise SourceError(f"{without_password(str(where))}: contains no tables")
        return source

    @classmethod
    def scratch(cls, files: Sequence[AttachedFile] = ()) -> Self:
        """A source for the rows of other sources, and with the tables of these files."""
        return cls(open_scratch(files))

    @staticmethod
    def tools() -> Sequence[Path]:
        return [Path(__file__).with_name("tools.yaml")]

    async def describe(self) -> SourceSchema:
        return await self._in_thread(CancelScope(), self._described)

    async def about(self, text: str) -> SourceSchema:
        """The tables that the text may be about, described in full; with few tables, all of them."""
        return await self._in_thread(CancelScope(), lambda scope: self._about(text, scope))

    async def call(self, call: Call) -> Result:
        return await self._in_thread(CancelScope(call.seconds), lambda scope: self._call(call, scope))

    def table(self, name: str) -> Handle:
        return self._table(name, CancelScope(SCHEMA_SECONDS))

    def restore(self, ref: TableRef, run: str = "") -> Handle:
        return self._restored(ref, CancelScope(SCHEMA_SECONDS))

    async def fetch(self, ref: TableRef, run: str, rows: int, seconds: float) -> ShownTable:
        return await self._in_thread(CancelScope(seconds), lambda scope: self._fetch(ref, run, rows, scope))

    async def values(self, question: str) -> dict[str, dict[str, tuple[str, ...] | None]]:
        return await self._in_thread(CancelScope(), lambda scope: self._values(question, scope))

    async def close(self) -> None:
        """Stops running queries, then disconnects."""
        await self._workers.close(self._executor.engine.close)

    async def _in_thread(self, scope: CancelScope, work: Callable[[CancelScope], T]) -> T:
        """Run the work in a thread of this source. Cancelling the caller cancels the scope."""
        return await self._workers.run(lambda: work(scope), scope.cancel)

    def _described(self, scope: CancelScope) -> SourceSchema:
        with scope.holding(self._describing):
            if self._schema is None and len(self.names) > MANY:
                self._schema = outline(self.name, self.names, self._executor, scope)
                if self._schema is not None and self._model is not None:
                    self._schema = self._model.applied(self._schema)
                if self._schema is not None:
                    values = first_values(self._schema, self._executor, scope)
                    self._index = TableIndex(self._schema.tables, self._schema.relationships, values)
            if self._schema is None:
                self._schema = self._full(self.names, scope)
            return self._schema

    def _full(self, names: Sequence[str], scope: CancelScope) -> SourceSchema:
        found = with_notes(describe(self.name, names, self._table, self._executor, scope), self._notes)
        only = frozenset(names) if len(names) < len(self.names) else None
        return self._model.applied(found, only) if self._model else found

    def _about(self, text: str, scope: CancelScope) -> SourceSchema:
        whole = self._described(scope)
        if self._index is None:
            return whole
        names = tuple(sorted(self._index.find(text)))
        with scope.holding(self._describing):
            if names not in self._parts:
                self._parts[names] = self._full(names, scope)
            return self._parts[names]

    def _values(self, question: str, scope: CancelScope) -> dict[str, dict[str, tuple[str, ...] | None]]:
        return find_values(question, self._about(question, scope), self._table, self._executor, scope, self._slow)

    def _table(self, name: str, scope: CancelScope) -> Handle:
        if name not in self.names:
            raise UsageError(f"{self.name}: there is no table {name!r}; the tables are {', '.join(self.names)}")
        known = self._handles.get(name)
        return known or self._handles.setdefault(name, handle_on(self._executor.engine.table(name, scope)))

    def _restored(self, ref: TableRef, scope: CancelScope) -> Handle:
        self._executor.approve(ref.query)
        engine = self._executor.engine
        table = engine.backend.sql(ref.query, schema=engine.schema(ref.query, scope))
        return handle_on(table, ref.columns)

    def _call(self, call: Call, scope: CancelScope) -> Result:
        tool = call.tool.name
        work = Work(self._executor, call.run, call.limits.rows, scope)
        inputs = [self._input(call, port.name, scope) for port in call.tool.inputs]
        params = with_defaults(call.tool, call.params)
        try:
            if tool in SINKS:
                return SINKS[tool](call, inputs[0], params, work, self.name)
            made, items = _made(tool, inputs, params, work)
            return Result(self._facts(call.step, made, items), made)
        except IbisError as error:
            engine = self._executor.engine.backend.name
            raise ToolError(f"{tool}: {engine} cannot do this: {str(error).partition(chr(10))[0]}") from error

    def _input(self, call: Call, port: str, scope: CancelScope) -> Handle:
        given, tool, own = call.inputs.get(port), call.tool.name, self._executor.engine.backend
        if isinstance(given, pa.Table):
            if self._guests is None:
                raise ToolError(f"{tool}: the rows of another source cannot be processed in {own.name}")
            return self._guests.take(call.run, given, scope)
        if not isinstance(given, Handle) or given.table.get_backend() is not own:
            raise ToolError(f"{tool}: the input {port!r} is not a table of the source {self.name!r}")
        return given

    def _facts(self, step: str, made: Handle, items: Sequence[Item]) -> StepFacts:
        ref = TableRef(
            source=self.name,
            engine=self._executor.engine.backend.name,
            query=self._executor.compile(arranged(made.table, made.order)),
            columns=made.columns,
        )
        return StepFacts(step=step, table=ref, items=tuple(items))

    def _fetch(self, ref: TableRef, run: str, rows: int, scope: CancelScope) -> ShownTable:
        fetched = self._executor.recall(run, ref.query)
        total = ref.row_count
        if fetched is None or (not fetched.complete and fetched.table.num_rows < rows):
            table = self._restored(ref, scope).table
            fetched = self._executor.run(table, rows, scope)
            if total is None:
                total = Work(self._executor, run, rows, scope).total(table, fetched)
        return _shown(fetched, rows, fetched.table.num_rows if total is None else total)


def with_defaults(tool: Tool, params: Mapping[str, Any]) -> Params:
    """The params, completed with the defaults of the tool's schema."""
    properties: Any = tool.params.get("properties", {})
    defaults = {name: spec["default"] for name, spec in properties.items() if "default" in spec}
    return {**defaults, **params}


def _made(tool: str, inputs: Sequence[Handle], params: Params, work: Work) -> tuple[Handle, tuple[Item, ...]]:
    if tool == "join_tables":
        return join_tables(inputs[0], inputs[1], params), ()
    if tool == "add_overall":
        return add_overall(inputs[0], inputs[1], params), ()
    if tool == "mark_found":
        return mark_found(inputs[0], inputs[1], params), ()
    if tool in LAZY:
        return LAZY[tool](inputs[0], params), ()
    if tool in QUERYING:
        return QUERYING[tool](inputs[0], params, work.ask)
    raise UsageError(f"{tool!r} is not a table tool; see `groundplan catalog list`")


def _shown(fetched: Fetched, rows: int, total: int) -> ShownTable:
    cut = fetched.table.slice(0, rows)
    return ShownTable(
        columns=tuple(cut.column_names),
        rows=tuple(zip(*(map(cell, column.to_pylist()) for column in cut.columns), strict=True)),
        row_count=total,
    )
