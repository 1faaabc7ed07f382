"""Runs a checked plan's steps on an engine, without the pipeline around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ibis
import pyarrow as pa

from groundplan.catalog.catalog import Catalog
from groundplan.contracts.plan import Plan
from groundplan.contracts.schema import Column, SourceSchema, Table
from groundplan.sources.tables.engine.handle import Handle, handle_on
from groundplan.sources.tables.source import with_defaults
from groundplan.sources.tables.tools.registry import LAZY, QUERYING

ARROW = pa.schema(
    [
        ("id", pa.int64()),
        ("g", pa.string()),
        ("h", pa.string()),
        ("n", pa.int64()),
        ("x", pa.float64()),
        ("f", pa.bool_()),
        ("d", pa.date32()),
        ("d2", pa.date32()),
        ("t", pa.timestamp("us")),
    ]
)
KINDS = {"g": "text", "h": "text", "f": "boolean", "d": "time", "d2": "time", "t": "time"}
SCHEMA = SourceSchema(
    source="tables",
    engine="duckdb",
    tables=(
        Table(
            name="data",
            columns=tuple(
                Column(name=name, type="generated", kind=KINDS.get(name, "number"), role="dimension")
                for name in ARROW.names
            ),
        ),
    ),
)


def run(plan: Plan, catalog: Catalog, rows: Sequence[dict[str, Any]], engine: Any) -> list[dict[str, Any]]:
    """The rows that the plan's last step shows."""
    data = pa.Table.from_pylist([dict(row) for row in rows], schema=ARROW)
    found: dict[str, Handle] = {}
    start = handle_on(ibis.memtable(data))
    last = start
    for step in plan.steps:
        handle = found[step.needs[0]] if step.needs else start
        params = with_defaults(catalog.tools[step.tool or ""], step.params)
        if step.tool in LAZY:
            handle = LAZY[step.tool](handle, params)
        elif step.tool in QUERYING:
            handle, _ = QUERYING[step.tool](handle, params, lambda table: engine.to_pyarrow(table).to_pylist())
        found[step.id] = last = handle
    return engine.to_pyarrow(last.table).to_pylist()
