"""Pages become rows, and rows become a table and facts; what is missing is always said."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from groundplan.contracts.answer import ShownTable
from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.contract import Scalar, thaw
from groundplan.contracts.facts import Cited, Complete, Group, Item, StepFacts, TableColumn, TableRef, Truncated
from groundplan.contracts.schema import Column, SourceSchema, Table
from groundplan.errors import DeadlineExceeded, SourceError, StateInvalid
from groundplan.sources.interface import Call, Result

ENGINE = "http"
REMEMBERED = 64  # tables of earlier steps
REMEMBERED_ROWS = 500_000  # of all of them together
ARROW = {"text": pa.string(), "number": pa.int64(), "time": pa.timestamp("us"), "boolean": pa.bool_()}
Columns = Mapping[str, ColumnKind]
Wire = TypeVar("Wire")


@dataclass(frozen=True)
class Row:
    """One commit, merge request or issue: what a person is shown of it, and the cells of a table."""

    id: str
    kind: str
    title: str
    author: str
    moment: datetime
    link: str | None
    cells: Mapping[str, Any]


@dataclass(frozen=True)
class Read:
    """The rows that came, newest first, and why there may be more."""

    rows: Sequence[Row]
    missing: str = ""


async def read_pages(pages: AsyncIterator[Sequence[Wire]], make: Callable[[Wire], Row | None], limit: int) -> Read:
    """All pages, up to the limit. A failure behind the first page leaves what came before it, and is told."""
    rows: list[Row] = []
    begun, missing = False, ""
    try:
        async for page in pages:
            rows += [row for wire in page if (row := make(wire)) is not None]
            begun = True
            if len(rows) > limit:
                break
    except (SourceError, DeadlineExceeded) as error:
        if not begun:
            raise
        missing = str(error)
    return merged([Read(rows, missing)], limit)


async def side_by_side(reads: Mapping[str, Coroutine[Any, Any, Read]], limit: int) -> Read:
    """Independent lists at once; those that fail are named, unless all do."""
    outcomes = await asyncio.gather(*reads.values(), return_exceptions=True)
    came: list[Read] = []
    failures: list[BaseException] = []
    for project, outcome in zip(reads, outcomes, strict=True):
        if isinstance(outcome, Read):
            came.append(outcome)
            continue
        if not isinstance(outcome, SourceError | DeadlineExceeded):
            raise outcome
        failures.append(outcome)
        came.append(Read((), f"nothing of {project}: {outcome}"))
    if len(failures) == len(reads):
        raise failures[0]
    return merged(came, limit)


def merged(reads: Sequence[Read], limit: int) -> Read:
    rows = sorted((row for read in reads for row in read.rows), key=lambda row: (row.moment, row.id), reverse=True)
    missing = [read.missing for read in reads if read.missing]
    if len(rows) > limit:
        missing.append(f"only {limit} were asked for, and there are more")
    return Read(rows[:limit], "; ".join(dict.fromkeys(missing)))


class Shelf:
    """Tables of the latest steps, by reference: their rows stay in this process and never enter a run's state."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._tables: OrderedDict[str, pa.Table] = OrderedDict()

    def result(self, call: Call, read: Read, columns: Columns) -> Result:
        """The facts of a step, and its rows as an Ibis table for the steps that need them."""
        table = pa.Table.from_pylist([dict(row.cells) for row in read.rows], _arrow_schema(columns))
        shown = read.rows[: call.limits.items]
        facts = StepFacts(
            step=call.step,
            found=bool(read.rows),
            rows=len(read.rows),
            **_listed(shown),
            table=self._keep(call, table, columns),
            sources=tuple(Cited(id=row.id, label=row.title, link=row.link) for row in shown),
            state=Truncated(reason=read.missing) if read.missing else Complete(),
        )
        return Result(facts, ibis.memtable(table))

    def handle(self, ref: TableRef) -> ir.Table:
        return ibis.memtable(self._get(ref))

    def _get(self, ref: TableRef) -> pa.Table:
        if ref.query not in self._tables:
            raise StateInvalid(f"the rows of {ref.query} were read by another process or long ago; ask again")
        return self._tables[ref.query]

    def show(self, ref: TableRef, rows: int) -> ShownTable:
        table = self._get(ref)
        cut = table.slice(0, rows)
        cells = zip(*(map(_cell, column.to_pylist()) for column in cut.columns), strict=True)
        return ShownTable(columns=tuple(cut.column_names), rows=tuple(cells), row_count=table.num_rows)

    def clear(self) -> None:
        self._tables.clear()

    def _keep(self, call: Call, table: pa.Table, columns: Columns) -> TableRef:
        """The reference ends in a hash of the rows: the same words asked later may bring others."""
        asked = json.dumps(thaw(call.params), sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(repr(table.to_pydict()).encode()).hexdigest()[:12]
        query = f"{call.tool.name} {asked} #{digest}"
        self._tables[query] = table
        self._tables.move_to_end(query)
        while len(self._tables) > 1 and self._full():
            self._tables.popitem(last=False)
        known = tuple(TableColumn(name=name, kind=kind) for name, kind in columns.items())
        return TableRef(source=self._source, engine=ENGINE, query=query, columns=known, row_count=table.num_rows)

    def _full(self) -> bool:
        rows = sum(table.num_rows for table in self._tables.values())
        return len(self._tables) > REMEMBERED or rows > REMEMBERED_ROWS


def described(source: str, tables: Mapping[str, Columns]) -> SourceSchema:
    """What there is to ask for, without asking the server."""
    return SourceSchema(
        source=source,
        engine=ENGINE,
        tables=tuple(
            Table(name=name, columns=tuple(_column(*column) for column in columns.items()), keys=(("project", "id"),))
            for name, columns in tables.items()
        ),
    )


def _column(name: str, kind: ColumnKind) -> Column:
    role = "id" if name in ("id", "link") else "temporal" if kind == "time" else "dimension"
    return Column(name=name, type=str(ARROW[kind]), kind=kind, role=role)


def _arrow_schema(columns: Columns) -> pa.Schema:
    return pa.schema([(name, ARROW[kind]) for name, kind in columns.items()])


def _listed(rows: Sequence[Row]) -> dict[str, Any]:
    """Under their projects, where there are several."""
    projects = sorted({row.cells["project"] for row in rows})
    if len(projects) < 2:
        return {"items": tuple(map(_item, rows))}
    of = {project: [_item(row) for row in rows if row.cells["project"] == project] for project in projects}
    return {"groups": tuple(Group(title=project, items=tuple(items)) for project, items in of.items())}


def _item(row: Row) -> Item:
    """The moment is its value and the author its text."""
    return Item(kind=row.kind, title=row.title, value=row.moment.isoformat(), text=row.author, source=row.id)


def _cell(value: Any) -> Scalar:
    return value.isoformat() if isinstance(value, datetime) else value
