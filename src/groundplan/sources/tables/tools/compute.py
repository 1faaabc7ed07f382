"""Calls a function over rows, built-in or of a project, and holds it to what its tool declares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import ibis.expr.schema as sch
import pyarrow as pa
import pyarrow.compute as pc

from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.facts import TableColumn
from groundplan.contracts.tool import Tool
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.executing import Fetched
from groundplan.sources.tables.engine.handle import Params, kind_of
from groundplan.sources.tables.tools.registry import Function


def compute(function: Function, rows: Fetched, columns: Sequence[TableColumn], params: Params, tool: Tool) -> pa.Table:
    """The rows that it makes of whole periods; anything but the declared columns is refused."""
    if not rows.complete:
        raise ToolError(f"{tool.name}: there are more than {rows.table.num_rows:,} rows; ask for fewer groups")
    try:
        made = function(_whole_periods(rows.table, columns), params)
    except ToolError as error:
        raise ToolError(f"{tool.name}: {error}") from error
    except Exception as error:  # a project's function: its message may quote rows, and a planner must not see them
        raise ToolError(f"{tool.name}: its function failed with {type(error).__name__}") from error
    if not isinstance(made, pa.Table):
        raise ToolError(f"{tool.name}: its function returned {type(made).__name__} instead of a pyarrow Table")
    kinds = {name: kind_of(dtype) for name, dtype in sch.Schema.from_pyarrow(made.schema).items()}
    declared = dict(_declared(tool, params, rows.table))
    if kinds != declared:
        raise ToolError(f"{tool.name}: its function returned the columns {kinds}, and its tool declares {declared}")
    return made


def _whole_periods(rows: pa.Table, columns: Sequence[TableColumn]) -> pa.Table:
    """Without the periods that the data covers only in part: half a month is no month."""
    for column in columns:
        periods = [partial.period[:10] for partial in column.partial]
        if periods:
            days = pc.utf8_slice_codeunits(pc.cast(rows[column.name], pa.string()), 0, 10)
            rows = rows.filter(pc.invert(pc.is_in(days, pa.array(periods, pa.string()))))
    return rows


def _declared(tool: Tool, params: Params, given: pa.Table) -> Iterator[tuple[str, ColumnKind]]:
    before = {name: kind_of(dtype) for name, dtype in sch.Schema.from_pyarrow(given.schema).items()}
    if tool.output.columns == "input":
        yield from before.items()
    else:
        properties: Any = tool.params.get("properties", {})
        for name, spec in properties.items():
            many = spec.get("type") == "array"
            if (spec.get("items", {}) if many else spec).get("x-keep") and params.get(name):
                yield from ((column, before[column]) for column in (params[name] if many else [params[name]]))
    yield from tool.output.adds.items()
