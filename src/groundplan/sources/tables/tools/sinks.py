"""Tools that fetch a table from the engine to show, draw or save it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from groundplan.contracts.facts import Chart, Complete, State, StepFacts, TableRef, Truncated
from groundplan.errors import ToolError
from groundplan.sources.interface import Call, Result
from groundplan.sources.tables.engine.arrow import sort
from groundplan.sources.tables.engine.executing import Fetched, Work
from groundplan.sources.tables.engine.handle import Handle, Order, Params, arranged, ascending, handle_on, orderable
from groundplan.sources.tables.engine.values import cells
from groundplan.sources.tables.tools import charts
from groundplan.text.printable import FORMULA

MOST_SAVED = 1_000_000  # rows of one file


def show_table(call: Call, handle: Handle, params: Params, work: Work, source: str) -> Result:
    order = _order(handle, params)
    limit = min(params["limit"], call.limits.rows)
    rows, total = _ordered(handle.table, order, limit, work)
    shown = arranged(handle.table, order).limit(limit)
    hidden = [handle.find(name).name for name in params["hide"]]
    rows = rows.drop_columns(hidden)
    columns = tuple(column for column in handle.columns if column.name not in hidden)
    ref = _ref(Handle(shown.drop(*hidden), columns), total, work, source)
    work.executor.remember(work.run, ref.query, Fetched(rows, complete=True))
    facts = StepFacts(
        step=call.step,
        found=total > 0,
        rows=rows.num_rows,
        first=cells(rows.slice(0, 1))[0] if total else {},
        table=ref,
        shown=True,
        state=_state(rows.num_rows, total, undefined(rows)),
    )
    table = shown if rows.num_rows < total else handle.table
    return Result(facts, Handle(table, handle.columns, order))


def draw(call: Call, handle: Handle, params: Params, work: Work, source: str) -> Result:
    prepared = charts.prepare(call.tool.name, handle.table, params)
    source_table = handle_on(prepared, handle.columns, handle.order)
    rows, total = _ordered(prepared, source_table.order, call.limits.rows, work)
    title, spec, reason = charts.chart(call.tool.name, params, cells(rows), source_table.columns, total, call.language)
    drawn = Handle(arranged(prepared, source_table.order).limit(call.limits.rows), source_table.columns)
    ref = _ref(drawn, total, work, source)
    work.executor.remember(work.run, ref.query, Fetched(rows, complete=True))
    lost = undefined(rows)
    state = Truncated(reason="; ".join(filter(None, (reason, lost)))) if reason else _state(rows.num_rows, total, lost)
    chart = Chart(title=title, spec=spec, table=ref)
    return Result(StepFacts(step=call.step, found=total > 0, rows=rows.num_rows, chart=chart, state=state))


def save_table(call: Call, handle: Handle, params: Params, work: Work, source: str) -> Result:
    if call.output is None:
        raise ToolError("there is no folder to save to; name one with --output DIR")
    table = arranged(handle.table, handle.order)
    fetched = work.executor.run(table, MOST_SAVED, work.scope)
    total = work.total(handle.table, fetched)
    path = call.output / f"{params['name']}.{params['format']}"
    _write(fetched.table, path)
    facts = StepFacts(
        step=call.step,
        found=total > 0,
        rows=fetched.table.num_rows,
        table=_ref(Handle(table, handle.columns), total, work, source),
        files=(str(path),),
        state=_state(fetched.table.num_rows, total),
    )
    return Result(facts, handle)


def _order(handle: Handle, params: Params) -> Order:
    """The given order, with ties broken by the other columns; without one, the order of the table's step."""
    if not params["order_by"]:
        return handle.order
    given = {handle.find(name).name: bool(params["descending"]) for name in params["order_by"]}
    for one in params["then"]:
        given.setdefault(handle.find(one["by"]).name, one["direction"] == "top")
    return (*given.items(), *ascending(name for name in orderable(handle) if name not in given))


def _ordered(table: ir.Table, order: Order, limit: int, work: Work) -> tuple[pa.Table, int]:
    """The rows and their number. Small tables are sorted here, so that a chart can share the same query."""
    whole = work.fetch(table)
    if whole.complete:
        return sort(whole.table, order).slice(0, limit), whole.table.num_rows
    total = work.count(table)
    if not order:
        return whole.table.slice(0, limit), total
    return work.fetch(arranged(table, order).limit(limit)).table, total


def _ref(handle: Handle, total: int, work: Work, source: str) -> TableRef:
    return TableRef(
        source=source,
        engine=work.executor.engine.backend.name,
        query=work.executor.compile(handle.table),
        columns=handle.columns,
        row_count=total,
    )


def _state(rows: int, total: int, lost: str = "") -> State:
    cut = f"{rows:,} of {total:,} rows" if rows < total else ""
    reason = "; ".join(filter(None, (cut, lost)))
    return Truncated(reason=reason) if reason else Complete()


def undefined(rows: pa.Table) -> str:
    """What is said about infinite and undefined numbers, which are shown as empty; empty if there are none."""
    count = 0
    for column in rows.columns:
        if pa.types.is_floating(column.type):
            count += pc.sum(pc.invert(pc.is_finite(column))).as_py() or 0
    return f"{count:,} infinite or undefined number{'s are' if count > 1 else ' is'} left empty" if count else ""


def _write(table: pa.Table, path: Path) -> None:
    """Written under a temporary name first, so that an existing file is always complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with TemporaryDirectory(dir=path.parent, prefix=".part-") as folder:  # ours alone: no link waits in it
            part = Path(folder) / path.name
            match path.suffix:
                case ".parquet":
                    pyarrow.parquet.write_table(table, part)
                case ".json":
                    part.write_text(json.dumps(cells(table), ensure_ascii=False), encoding="utf-8")
                case _:
                    pyarrow.csv.write_csv(_harmless(table), part)
            part.replace(path)
    except (pa.ArrowException, OSError) as error:
        raise ToolError(f"{path}: cannot be written: {error}") from error


def _harmless(table: pa.Table) -> pa.Table:
    """Spreadsheets run text that begins like a formula: a leading apostrophe prevents that."""
    columns: Mapping[str, pa.ChunkedArray] = {
        name: _defused(_plain(table[place])) for place, name in enumerate(table.column_names)
    }
    names = [_defused(pa.chunked_array([[name]]))[0].as_py() for name in columns]
    return pa.table(list(columns.values()), names=names)


def _defused(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return column
    return pc.replace_substring_regex(column, FORMULA, r"'\1")


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decimals as numbers and nested values as text, because the CSV writer supports neither."""
    if pa.types.is_decimal(column.type):
        return column.cast(pa.int64() if column.type.scale == 0 else pa.float64(), safe=False)
    if pa.types.is_nested(column.type) or pa.types.is_null(column.type):
        return pa.chunked_array([[None if value is None else str(value) for value in column.to_pylist()]], pa.string())
    return column
