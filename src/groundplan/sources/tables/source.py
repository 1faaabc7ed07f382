"""Tables as a source: files, frames, DuckDB, Postgres or any other Ibis backend, read-only."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import ibis.expr.operations as ops
import ibis.expr.types as ir
import pyarrow as pa
from ibis.common.exceptions import IbisError

from groundplan.blocking import Workers
from groundplan.contracts.answer import ShownTable
from groundplan.contracts.facts import Item, StepFacts, TableColumn, TableRef
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool
from groundplan.errors import DeadlineExceeded, QueryRefused, SourceError, ToolError, UsageError
from groundplan.sources.interface import Call, Result, Source
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.credentials import without_password
from groundplan.sources.tables.engine.engines import AttachedFile, Engine, Scratch, open_scratch
from groundplan.sources.tables.engine.executing import Executor, Fetched, Work
from groundplan.sources.tables.engine.guest_tables import GuestTables
from groundplan.sources.tables.engine.handle import Ask, Handle, Params, arranged, handle_on, of_kinds
from groundplan.sources.tables.engine.interface import first_line
from groundplan.sources.tables.engine.values import cell
from groundplan.sources.tables.files.notes import load_notes
from groundplan.sources.tables.files.opening import open_engine, open_with_files
from groundplan.sources.tables.files.text_numbers import unit_in
from groundplan.sources.tables.files_beside import FilesBeside
from groundplan.sources.tables.schema.describe import describe, outline, with_key, with_notes
from groundplan.sources.tables.schema.distinct import SLOW_FOR, find_values, first_values
from groundplan.sources.tables.schema.keys import confirmed, is_key
from groundplan.sources.tables.schema.model_file import Model, find_model_file, load_model
from groundplan.sources.tables.schema.samples import Samples
from groundplan.sources.tables.schema.search import TableIndex
from groundplan.sources.tables.tools.compute import compute
from groundplan.sources.tables.tools.registry import FUNCTIONS, LAZY, QUERYING, SINKS, Function
from groundplan.sources.tables.tools.shape import add_overall, join_tables, mark_found

THREADS = 8
MANY = 40  # tables: with more, only those that a question may be about are described in full
PROVING_SECONDS = 10.0  # to find out that each row of a large table has a value of its own in a column
ESTIMATE_SECONDS = 10.0  # for the estimates of one step
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
        self._is_outlined = False  # many tables: only those that a question may be about are described in full
        self._index: TableIndex | None = None  # of a source that is outlined
        self._parts: dict[tuple[str, ...], SourceSchema] = {}
        self._notes = load_notes(engine.backend)
        self._model: Model | None = None
        self._describing = threading.Lock()
        self._samples = Samples()
        self._proven: dict[Relationship, bool] = {}
        self._proving = threading.Lock()
        self._unproven: tuple[Relationship, ...] = ()  # to what only seems to be the key of a large table
        self._slow: dict[str, float] = {}  # tables whose values took too long, and until when they are left alone
        self._guests = GuestTables(self._executor, engine) if isinstance(engine, Scratch) else None
        self._functions: Mapping[str, Function] = FUNCTIONS
        self._made: Tables | None = self if self._guests else None  # holds the rows that functions made
        self._owns_made = False

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
        source = self._holding(call)
        return await source._in_thread(CancelScope(call.seconds), lambda scope: source._call(call, scope))

    def add_functions(self, functions: Mapping[str, Function]) -> None:
        """The functions of a project's own tools, by the names of the tools."""
        self._functions = {**self._functions, **functions}

    def keep_made_rows_in(self, files: Tables) -> None:
        """Rows that functions make are kept beside the tables of these files; whoever opened them closes them."""
        self._made = files

    def _holding(self, call: Call) -> Tables:
        """The source of the tables that a step works on: itself, or the scratch database with rows that it made."""
        made = self._made
        backends = [given.table.get_backend() for given in call.inputs.values() if isinstance(given, Handle)]
        return made if made and any(one is made._executor.engine.backend for one in backends) else self

    def table(self, name: str) -> Handle:
        return self._table(name, CancelScope(SCHEMA_SECONDS))

    def restore(self, ref: TableRef, run: str = "") -> Handle:
        return self._holding_query(ref.query)._restored(ref, CancelScope(SCHEMA_SECONDS))

    async def fetch(self, ref: TableRef, run: str, rows: int, seconds: float) -> ShownTable:
        source = self._holding_query(ref.query)
        return await source._in_thread(CancelScope(seconds), lambda scope: source._fetch(ref, run, rows, scope))

    async def values(self, question: str) -> dict[str, dict[str, tuple[str, ...] | None]]:
        return await self._in_thread(CancelScope(), lambda scope: self._values(question, scope))

    async def close(self) -> None:
        """Stops running queries, then disconnects."""
        if self._made is not None and self._owns_made:
            await self._made.close()
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
                self._is_outlined = self._schema is not None
            if self._schema is None:
                self._schema = self._full(self.names, scope)
            return self._schema

    def _full(self, names: Sequence[str], scope: CancelScope) -> SourceSchema:
        described, unproven = describe(self.name, names, self._table, self._executor, scope, self._samples)
        self._unproven = tuple(dict.fromkeys((*self._unproven, *unproven)))
        found = with_notes(described, self._notes)
        only = frozenset(names) if len(names) < len(self.names) else None
        return self._model.applied(found, only) if self._model else found

    def _about(self, text: str, scope: CancelScope) -> SourceSchema:
        found = self._described(scope)
        if self._is_outlined:
            with scope.holding(self._describing):
                names = tuple(sorted(self._searchable(found, scope).find(text)))
                if names not in self._parts:
                    self._parts[names] = self._full(names, scope)
                found = self._parts[names]
        return self._with_proven(found, text, scope) if self._unproven else found

    def _searchable(self, schema: SourceSchema, scope: CancelScope) -> TableIndex:
        """Made for the first question: opening reads no rows, however many tables there are."""
        if self._index is None:
            values = first_values(schema, self._executor, scope)
            self._index = TableIndex(schema.tables, schema.relationships, values)
        return self._index

    def _with_proven(self, schema: SourceSchema, text: str, scope: CancelScope) -> SourceSchema:
        """The schema with the relationships between large tables that the text is about, once their keys are proven."""
        asked = TableIndex(schema.tables, ()).find(text)
        for link in self._unproven:
            if {link.table, link.to_table} <= {*asked} and self._is_proven(link, scope):
                schema = with_key(schema, link)
        return schema

    def _is_proven(self, link: Relationship, scope: CancelScope) -> bool:
        """All rows are read once, in bounded time; what took longer is not tried again for a while."""
        place = f"{link.to_table}.{link.to_columns[0]}"
        with scope.holding(self._proving):
            if link not in self._proven and self._slow.get(place, 0.0) <= time.monotonic():
                within = scope.within(PROVING_SECONDS)
                work = Work(self._executor, "keys", 1_000, within)
                handles = {name: self._table(name, within) for name in (link.table, link.to_table)}
                try:
                    is_whole = is_key(handles[link.to_table], link.to_columns[0], work.ask)
                    self._proven[link] = is_whole and bool(confirmed(link, handles, self._samples.taken, work.ask))
                except DeadlineExceeded:
                    scope.check()
                    self._slow[place] = time.monotonic() + SLOW_FOR
        return self._proven.get(link, False)

    def _values(self, question: str, scope: CancelScope) -> dict[str, dict[str, tuple[str, ...] | None]]:
        return find_values(
            question, self._about(question, scope), self._table, self._executor, scope, self._slow, self._samples.taken
        )

    def _table(self, name: str, scope: CancelScope) -> Handle:
        if name not in self.names:
            raise UsageError(f"{self.name}: there is no table {name!r}; the tables are {', '.join(self.names)}")
        known = self._handles.get(name)
        if known is None:
            units = ((column, unit_in(note)) for column, note in self._notes.get(name, {}).items())
            measured = [TableColumn(name=column, kind="number", unit=unit) for column, unit in units if unit]
            known = self._handles.setdefault(name, handle_on(self._executor.engine.table(name, scope), measured))
        return known

    def _restored(self, ref: TableRef, scope: CancelScope) -> Handle:
        self._executor.approve(ref.query)
        engine = self._executor.engine
        schema = of_kinds(engine.schema(ref.query, scope), ref.columns)
        return handle_on(engine.backend.sql(ref.query, schema=schema), ref.columns)

    def _call(self, call: Call, scope: CancelScope) -> Result:
        tool = call.tool.name
        work = Work(self._executor, call.run, call.limits.rows, scope)
        inputs = [self._input(call, port.name, scope) for port in call.tool.inputs]
        params = with_defaults(call.tool, call.params)
        try:
            if tool in SINKS:
                return SINKS[tool](call, inputs[0], params, work, self.name)
            if tool in self._functions:
                return self._computed(call, inputs[0], params, work)
            made, items = _made(tool, inputs, params, work.ask)
            return Result(self._facts(call.step, made, items), made)
        except IbisError as error:
            engine = self._executor.engine.backend.name
            raise ToolError(f"{tool}: {engine} cannot do this: {str(error).partition(chr(10))[0]}") from error

    async def estimate(self, call: Call, *, is_last: bool) -> tuple[Mapping[str, int], object]:
        source, limit = self._holding(call), CancelScope(ESTIMATE_SECONDS)
        return await source._in_thread(limit, lambda scope: source._estimate(call, is_last, scope))

    def _estimate(self, call: Call, is_last: bool, scope: CancelScope) -> tuple[Mapping[str, int], object]:
        tool, params = call.tool.name, with_defaults(call.tool, call.params)
        inputs = [self._input(call, port.name, scope) for port in call.tool.inputs]
        if tool in SINKS or tool in self._functions:
            return self._rows_read(inputs[0], scope), None

        def ask(table: ir.Table) -> list[dict[str, Any]]:
            raise _MustRun(self._rows_read(Handle(table, ()), scope) | self._rows_read(inputs[0], scope))

        try:
            made, _ = _made(tool, inputs, params, ask)
        except _MustRun as first:
            return first.rows, None
        except IbisError as error:
            raise ToolError(f"{tool}: {first_line(error)}") from error
        return self._rows_read(made, scope) if is_last else {}, made

    def _rows_read(self, handle: Handle, scope: CancelScope) -> dict[str, int]:
        """By the engine's estimate; where it has none, all rows of the tables in the query, as far as known."""
        sql = self._executor.compile(arranged(handle.table, handle.order))
        self._executor.approve(sql)
        estimated = self._executor.engine.estimate(sql, scope)
        if estimated is not None or self._schema is None:
            return {sql: estimated or 0}
        found = (self._schema.find(node.name) for node in handle.table.op().find(ops.DatabaseTable))
        return {sql: sum(known.row_count or 0 for known in found if known is not None)}

    def _computed(self, call: Call, given: Handle, params: Params, work: Work) -> Result:
        """The rows that a function makes of the given ones, in a scratch database."""
        rows = work.fetch(arranged(given.table, given.order))
        made = compute(self._functions[call.tool.name], rows, given.columns, params, call.tool)
        with self._describing:
            if self._made is None:
                self._made, self._owns_made = self._opened_for_made_rows(), True
        assert self._made._guests is not None
        taken = self._made._guests.take(call.run, made, work.scope)
        handle = handle_on(taken.table, given.columns)
        return Result(self._made._facts(call.step, handle, ()), handle)

    def _opened_for_made_rows(self) -> Tables:
        """A scratch database with names that no table of this source has, so that a query is of one or the other."""
        made = type(self).scratch()
        assert made._guests is not None
        made._guests.prefix = "made_"
        while any(name.lower().startswith(made._guests.prefix) for name in self.names):
            made._guests.prefix = f"{made._guests.prefix}_"
        return made

    def _holding_query(self, query: str) -> Tables:
        """The source that a query is of: itself, or the scratch database with rows that it made."""
        if self._made is None or not self._owns_made:
            return self
        try:
            self._made._executor.approve(query)
        except QueryRefused:
            return self
        return self._made

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


class _MustRun(Exception):
    """A query has to run before the next one can be written; both read these rows."""

    def __init__(self, rows: Mapping[str, int]) -> None:
        self.rows = rows


def _made(tool: str, inputs: Sequence[Handle], params: Params, ask: Ask) -> tuple[Handle, tuple[Item, ...]]:
    if tool == "join_tables":
        return join_tables(inputs[0], inputs[1], params), ()
    if tool == "add_overall":
        return add_overall(inputs[0], inputs[1], params), ()
    if tool == "mark_found":
        return mark_found(inputs[0], inputs[1], params), ()
    if tool in LAZY:
        return LAZY[tool](inputs[0], params), ()
    if tool in QUERYING:
        return QUERYING[tool](inputs[0], params, ask)
    raise UsageError(f"{tool!r} is not a table tool; see `groundplan catalog list`")


def _shown(fetched: Fetched, rows: int, total: int) -> ShownTable:
    cut = fetched.table.slice(0, rows)
    return ShownTable(
        columns=tuple(cut.column_names),
        rows=tuple(zip(*(map(cell, column.to_pylist()) for column in cut.columns), strict=True)),
        row_count=total,
    )
