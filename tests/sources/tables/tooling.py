"""Calling one table tool as the runner would."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path
from typing import Any

import sqlglot
import yaml

from groundplan.contracts.facts import TableRef
from groundplan.contracts.plan import Limits
from groundplan.contracts.tool import Tool
from groundplan.sources.interface import Call, Result
from groundplan.sources.tables.engine.handle import Handle
from groundplan.sources.tables.source import Tables


@cache
def tools() -> dict[str, Tool]:
    entries = yaml.safe_load(Tables.tools()[0].read_text(encoding="utf-8"))["tools"]
    return {entry["name"]: Tool(source="tables", **entry) for entry in entries}


def call(
    source: Tables,
    tool: str,
    params: dict[str, Any] | None = None,
    *inputs: Handle | str,
    run: str = "run",
    seconds: float = 30,
    limits: Limits | None = None,
    output: Path | None = None,
) -> Result:
    """Inputs fill the tool's ports in order; a string names one of the source's tables."""
    described = tools()[tool]
    handles = [source.table(given) if isinstance(given, str) else given for given in inputs or ("sales",)]
    ports = dict(zip([port.name for port in described.inputs], handles, strict=True))
    ready = Call(run, "a_step", described, params or {}, ports, limits or Limits(), seconds, output)
    return asyncio.run(source.call(ready))


def made(source: Tables, tool: str, params: dict[str, Any] | None = None, *inputs: Handle | str, **more: Any) -> Handle:
    handle = call(source, tool, params, *inputs, **more).handle
    assert isinstance(handle, Handle)
    return handle


def rows(source: Tables, handle: Handle, **params: Any) -> list[dict[str, Any]]:
    """What a person would see of it."""
    shown = call(source, "show_table", {"limit": 10_000, **params}, handle, run="a reader").facts
    assert shown.table is not None
    table = asyncio.run(source.fetch(shown.table, "a reader", 10_000, 30))
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def runaway(source: Tables) -> TableRef:
    """A cross join of 600 rows with themselves, four times over, which the second gate has no reason to refuse."""
    tables = ", ".join(f'"sales" AS "t{number}"' for number in range(5))
    facts = call(source, "aggregate", {"metrics": [{"function": "count", "as": "n"}]}).facts
    assert facts.table is not None
    query = f'SELECT SUM("t0"."units" * "t1"."units" * "t4"."id") AS "n" FROM {tables} WHERE "t2"."id" <> "t3"."id"'
    (written,) = sqlglot.transpile(query, read="duckdb", write=source._executor.engine.backend.dialect)
    return facts.table.model_copy(update={"query": written})
