"""Turns pages into rows, and rows into a table and facts; missing rows are always reported."""

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
"""The verbs that people use for each date."""

LATER = frozenset({"resolved_at", "merged_at"})  # dates that some rows do not have yet
ALSO_CALLED = {
    "commits": ("commit", "коммит"),
    "merge_requests": ("mr", "слияние", "мердж", "мерж", "реквест", "запрос"),
    "issues": ("issue", "ticket", "bug", "task", "задача", "тикет", "баг", "обращение", "заявка"),
    "project": ("проект", "репозиторий"),
    "author": ("автор",),
    "assignee": ("исполнитель", "ответственный"),
    "reporter": ("заявитель",),
    "status": ("статус",),
    "state": ("состояние",),
    "priority": ("приоритет",),
    "type": ("тип",),
    "target": ("target branch", "ветка"),
}
"""Other names of tables and columns."""

Wording = Mapping[str, Mapping[str, tuple[str, ...]]]
"""The words that people use for a value, by column and value."""
Wire = TypeVar("Wire")


@dataclass(frozen=True)
class Row:
    """One commit, merge request or issue: the fields shown to a person, and the cells of its table row."""

    id: str
    kind: str
    title: str
    author: str
    moment: datetime
    link: str | None
    cells: Mapping[str, Any]


@dataclass(frozen=True)
class Read:
    """The rows read, newest first; `missing` says why there may be more."""

    rows: Sequence[Row]
    missing: str = ""


async def read_pages(pages: AsyncIterator[Sequence[Wire]], make: Callable[[Wire], Row | None], limit: int) -> Read:
    """Read all pages, up to the limit. If a later page fails, the rows before it are kept and the failure is noted."""
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


async def read_concurrently(reads: Mapping[str, Coroutine[Any, Any, Read]], limit: int) -> Read:
    """Read independent lists concurrently. Failed lists are noted; if all fail, the first error is raised."""
    outcomes = await asyncio.gather(*reads.values(), return_exceptions=True)
    done: list[Read] = []
    failures: list[BaseException] = []
    for project, outcome in zip(reads, outcomes, strict=True):
        if isinstance(outcome, Read):
            done.append(outcome)
            continue
        if not isinstance(outcome, SourceError | DeadlineExceeded):
            raise outcome
        failures.append(outcome)
        done.append(Read((), f"nothing of {project}: {outcome}"))
    if len(failures) == len(reads):
        raise failures[0]
    return merged(done, limit)


def merged(reads: Sequence[Read], limit: int) -> Read:
    rows = sorted((row for read in reads for row in read.rows), key=lambda row: (row.moment, row.id), reverse=True)
    missing = [read.missing for read in reads if read.missing]
    if len(rows) > limit:
        missing.append(f"the limit is {limit}, and there are more")
    return Read(rows[:limit], "; ".join(dict.fromkeys(missing)))


class RunTables:
    """The tables of each run, by reference: their rows stay in this process and are not part of a run's state."""

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
            raise StateInvalid(f"the rows of {ref.query} are no longer in memory; ask again")
        return found

    def show(self, ref: TableRef, run: str, rows: int) -> ShownTable:
        table = self.handle(ref, run)
        cut = table.slice(0, rows)
        cells = zip(*(map(_cell, column.to_pylist()) for column in cut.columns), strict=True)
        return ShownTable(columns=tuple(cut.column_names), rows=tuple(cells), row_count=table.num_rows)

    def clear(self) -> None:
        self._tables = ByRun()

    def keep(self, call: Call, table: pa.Table, columns: Sequence[TableColumn]) -> TableRef:
        """Store the table. Its reference ends in a hash of the rows, because the same params may give others later."""
        params = json.dumps(thaw(call.params), sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(repr(table.to_pydict()).encode()).hexdigest()[:12]
        query = f"{call.tool.name} {params} #{digest}"
        self._tables.keep(call.run, query, table, table.nbytes)
        return TableRef(
            source=self._source, engine=ENGINE, query=query, columns=tuple(columns), row_count=table.num_rows
        )


def described(source: str, tables: Mapping[str, Columns], wording: Wording) -> SourceSchema:
    """The schema of the lists; needs no request to the server."""
    return SourceSchema(
        source=source,
        engine=ENGINE,
        tables=tuple(
            Table(
                name=name,
                columns=tuple(_column(*column, wording.get(column[0], {})) for column in columns.items()),
                keys=(("project", "id"),),
                synonyms=ALSO_CALLED.get(name, ()),
                main_date=next((column for column, kind in columns.items() if kind == "time"), None),
            )
            for name, columns in tables.items()
        ),
    )


def _column(name: str, kind: ColumnKind, wording: Mapping[str, tuple[str, ...]]) -> Column:
    called = tuple(ValueSynonyms(value=value, words=words) for value, words in wording.items())
    role = "id" if name in ("id", "link") else "temporal" if kind == "time" else "dimension"
    return Column(
        name=name,
        type=str(ARROW[kind]),
        kind=kind,
        role=role,
        called=called,
        verbs=VERBS.get(name, ()),
        synonyms=ALSO_CALLED.get(name, ()),
        nulls=1 if name in LATER else None,
    )


def _arrow_schema(columns: Columns) -> pa.Schema:
    return pa.schema([(name, ARROW[kind]) for name, kind in columns.items()])


def _grouped(call: Call, rows: Sequence[Row]) -> tuple[Group, ...]:
    """One group named for the table, or one for each project if there are several."""
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
    """The value is the date that the question asks about; the text is the number and the author."""
    moments = {name: cell for name, cell in row.cells.items() if isinstance(cell, datetime)}
    at = moments.get(f"{by}_at") or next(iter(moments.values()))
    text = ", ".join(filter(None, [row.cells["id"], row.author]))
    return Item(kind=row.kind, title=row.title, value=at.isoformat(timespec="minutes"), text=text, source=row.id)


def _cell(value: Any) -> Scalar:
    return value.isoformat() if isinstance(value, date) else value
