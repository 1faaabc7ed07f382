"""Pages become rows, and rows become a table and facts; what is missing is always said."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeVar

import pyarrow as pa

from groundplan.contracts.answer import ShownTable
from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.contract import Scalar, thaw
from groundplan.contracts.facts import Cited, Complete, Group, Item, StepFacts, TableColumn, TableRef, Truncated
from groundplan.contracts.schema import Column, SourceSchema, Table, ValueSynonyms
from groundplan.errors import DeadlineExceeded, SourceError, StateInvalid
from groundplan.sources.by_run import ByRun
from groundplan.sources.interface import Call, Result

ENGINE = "http"
ARROW = {"text": pa.string(), "number": pa.int64(), "time": pa.timestamp("us"), "boolean": pa.bool_()}
Columns = Mapping[str, ColumnKind]
VERBS = {
    "created_at": (
        "created",
        "reported",
        "filed",
        "raised",
        "added",
        "создан",
        "заведён",
        "создали",
        "завели",
        "появились",
    ),
    "updated_at": ("updated", "changed", "modified", "обновлён", "изменён", "обновили", "изменили"),
    "resolved_at": (
        "resolved",
        "closed",
        "fixed",
        "completed",
        "решён",
        "закрыт",
        "исправлен",
        "решили",
        "закрыли",
        "исправили",
    ),
    "merged_at": ("merged", "landed", "accepted", "влит", "слит", "принят", "влили", "слили", "приняли"),
}
"""What people say of a thing at that time."""

Wording = Mapping[str, Mapping[str, tuple[str, ...]]]
"""By column and value, what people call it."""
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
    """The tables of each run, by reference: their rows stay in this process and never enter a run's state."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._tables: ByRun[str, pa.Table] = ByRun()

    def result(self, call: Call, read: Read, columns: Columns) -> Result:
        """The facts of a step, and its rows as an Arrow table for the steps that need them."""
        table = pa.Table.from_pylist([dict(row.cells) for row in read.rows], _arrow_schema(columns))
        groups = _grouped(call, read.rows)
        listed = {item.source for group in groups for item in group.items}
        facts = StepFacts(
            step=call.step,
            found=bool(read.rows),
            rows=len(read.rows),
            groups=groups,
            table=self.keep(call, table, [TableColumn(name=name, kind=kind) for name, kind in columns.items()]),
            sources=tuple(Cited(id=r.id, label=r.title, link=r.link) for r in read.rows if r.id in listed),
            state=Truncated(reason=read.missing) if read.missing else Complete(),
        )
        return Result(facts, table)

    def handle(self, ref: TableRef, run: str) -> pa.Table:
        found = self._tables.find(run, ref.query)
        if found is None:
            raise StateInvalid(f"the rows of {ref.query} were read by another process or long ago; ask again")
        return found

    def show(self, ref: TableRef, run: str, rows: int) -> ShownTable:
        table = self.handle(ref, run)
        cut = table.slice(0, rows)
        cells = zip(*(map(_cell, column.to_pylist()) for column in cut.columns), strict=True)
        return ShownTable(columns=tuple(cut.column_names), rows=tuple(cells), row_count=table.num_rows)

    def clear(self) -> None:
        self._tables = ByRun()

    def keep(self, call: Call, table: pa.Table, columns: Sequence[TableColumn]) -> TableRef:
        """The reference ends in a hash of the rows: the same words asked later may bring others."""
        asked = json.dumps(thaw(call.params), sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(repr(table.to_pydict()).encode()).hexdigest()[:12]
        query = f"{call.tool.name} {asked} #{digest}"
        self._tables.keep(call.run, query, table, table.nbytes)
        return TableRef(
            source=self._source, engine=ENGINE, query=query, columns=tuple(columns), row_count=table.num_rows
        )


def described(source: str, tables: Mapping[str, Columns], wording: Wording) -> SourceSchema:
    """What there is to ask for, without asking the server."""
    return SourceSchema(
        source=source,
        engine=ENGINE,
        tables=tuple(
            Table(
                name=name,
                columns=tuple(_column(*column, wording.get(column[0], {})) for column in columns.items()),
                keys=(("project", "id"),),
            )
            for name, columns in tables.items()
        ),
    )


def _column(name: str, kind: ColumnKind, wording: Mapping[str, tuple[str, ...]]) -> Column:
    called = tuple(ValueSynonyms(value=value, words=words) for value, words in wording.items())
    role = "id" if name in ("id", "link") else "temporal" if kind == "time" else "dimension"
    return Column(name=name, type=str(ARROW[kind]), kind=kind, role=role, called=called, verbs=VERBS.get(name, ()))


def _arrow_schema(columns: Columns) -> pa.Schema:
    return pa.schema([(name, ARROW[kind]) for name, kind in columns.items()])


def _grouped(call: Call, rows: Sequence[Row]) -> tuple[Group, ...]:
    """Under the name of their table, and project by project where there are several."""
    title = (call.tool.output.table or "").replace("_", " ").capitalize()
    of: dict[str, list[Row]] = {}
    for row in rows:
        of.setdefault(row.cells["project"], []).append(row)
    if len(of) < 2:
        return (_group(title, rows, call),)
    return tuple(_group(f"{title}: {project}", of[project], call) for project in sorted(of))


def _group(title: str, rows: Sequence[Row], call: Call) -> Group:
    listed = [_item(row, call.params.get("by")) for row in rows[: call.limits.items]]
    return Group(title=title, items=tuple(listed), count=len(rows))


def _item(row: Row, by: object) -> Item:
    """The moment that was asked about is its value; its number and its author are its text."""
    moments = {name: cell for name, cell in row.cells.items() if isinstance(cell, datetime)}
    at = moments.get(f"{by}_at") or next(iter(moments.values()))
    said = ", ".join(filter(None, [row.cells["id"], row.author]))
    return Item(kind=row.kind, title=row.title, value=at.isoformat(timespec="minutes"), text=said, source=row.id)


def _cell(value: Any) -> Scalar:
    return value.isoformat() if isinstance(value, date) else value
