"""Tables shown, drawn and saved: one execution, honest limits, harmless files."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.sources.tables.data import ROWS
from tests.sources.tables.tooling import call, made, rows

from groundplan.contracts.facts import Complete, Truncated
from groundplan.contracts.plan import Limits
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.interface import Query
from groundplan.sources.tables.source import Tables

pytestmark = pytest.mark.requirement("R38")

BY_REGION = {"group_by": ["region"], "metrics": [{"function": "sum", "column": "revenue", "as": "total"}]}


@pytest.fixture
def executed(source: Tables, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The SQL that reached the engine."""
    seen: list[str] = []
    engine = source._executor.engine
    run = engine.run

    def watched(query: Query, scope: CancelScope) -> pa.Table:
        seen.append(query.sql)
        return run(query, scope)

    monkeypatch.setattr(engine, "run", watched)
    return seen  # type: ignore[return-value]


def test_lazy_steps_do_not_touch_the_engine(source: Tables, executed: list[str]) -> None:
    kept = made(source, "filter_rows", {"conditions": [{"column": "units", "operator": ">", "values": [3]}]})
    ranked = made(source, "rank_rows", {"by": "total", "limit": 2}, made(source, "aggregate", BY_REGION, kept))
    facts = call(source, "share_of_total", {"column": "total"}, ranked).facts
    assert executed == []
    assert facts.table is not None
    assert [column.name for column in facts.table.columns] == ["region", "total", "rank", "share"]
    assert facts.table.row_count is None


def test_a_chart_and_tables_of_one_aggregate_run_one_query(source: Tables, executed: list[str]) -> None:
    totals = made(source, "aggregate", BY_REGION, run="one")
    call(source, "plot_bar", {"x": "region", "y": "total"}, totals, run="one")
    call(source, "show_table", {}, totals, run="one")
    call(source, "show_table", {"order_by": ["total"], "descending": True}, totals, run="one")
    assert len(executed) == 1
    call(source, "show_table", {}, totals, run="two")
    assert len(executed) == 2, "another run reads the data again"


def test_steps_side_by_side_wait_for_one_query(source: Tables, executed: list[str]) -> None:
    totals = made(source, "aggregate", BY_REGION)

    async def both() -> None:
        work = [
            asyncio.to_thread(call, source, "show_table", {}, totals, run="parallel"),
            asyncio.to_thread(call, source, "plot_bar", {"x": "region", "y": "total"}, totals, run="parallel"),
        ]
        await asyncio.gather(*work)

    asyncio.run(both())
    assert len(executed) == 1


def test_what_was_shown_is_fetched_without_a_query(source: Tables, executed: list[str]) -> None:
    facts = call(source, "show_table", {"order_by": ["id"], "limit": 7}, run="shown").facts
    assert facts.table is not None
    before = len(executed)
    shown = asyncio.run(source.fetch(facts.table, "shown", 100, 10))
    assert len(executed) == before
    assert [row[0] for row in shown.rows] == [0, 1, 2, 3, 4, 5, 6]
    assert shown.row_count == 600


@pytest.mark.requirement("R44")
def test_a_cut_table_says_how_much_is_missing(source: Tables) -> None:
    facts = call(source, "show_table", {"order_by": ["price"], "limit": 10}).facts
    assert facts.state == Truncated(reason="10 of 600 rows")
    assert (facts.rows, facts.shown, facts.found) == (10, True, True)
    prices = sorted(float(row[8]) for row in ROWS["sales"])
    assert facts.first["price"] == prices[0]
    whole = call(source, "show_table", {}).facts
    assert (whole.state, whole.rows) == (Complete(), 600)


def test_more_rows_than_the_limit_are_sorted_by_the_engine(source: Tables) -> None:
    small = Limits(rows=50)
    facts = call(
        source, "show_table", {"order_by": ["units", "id"], "descending": True}, limits=small, run="small"
    ).facts
    assert facts.state == Truncated(reason="50 of 600 rows")
    assert facts.table is not None
    shown = asyncio.run(source.fetch(facts.table, "small", 50, 10))
    found = [dict(zip(shown.columns, row, strict=True)) for row in shown.rows]
    wanted = sorted(((row[6], row[0]) for row in ROWS["sales"]), reverse=True)[:50]
    assert [(row["units"], row["id"]) for row in found] == wanted


def test_the_order_is_the_same_sorted_here_or_by_the_engine(source: Tables) -> None:
    params = {"order_by": ["region", "product"], "limit": 40}
    here = call(source, "show_table", params, run="here").facts
    there = call(source, "show_table", params, run="there", limits=Limits(rows=40)).facts
    assert here.table is not None
    assert there.table is not None
    sorted_here = asyncio.run(source.fetch(here.table, "here", 40, 10))
    assert sorted_here == asyncio.run(source.fetch(there.table, "there", 40, 10))


def test_an_empty_result_is_found_to_be_empty(source: Tables) -> None:
    nothing = made(source, "filter_rows", {"conditions": [{"column": "id", "operator": "<", "values": [0]}]})
    facts = call(source, "show_table", {}, nothing).facts
    assert (facts.found, facts.rows, dict(facts.first), facts.state) == (False, 0, {}, Complete())


def test_a_step_is_restored_from_its_reference(source: Tables) -> None:
    monthly = {"group_by": ["day", "region"], "grain": "month", "metrics": BY_REGION["metrics"]}
    result = call(source, "aggregate", monthly)
    assert result.facts.table is not None
    restored = source.restore(result.facts.table)
    assert restored.columns == result.facts.table.columns
    assert restored.kind("day") == "time"
    assert rows(source, restored) == rows(source, result.handle)  # type: ignore[arg-type]
    ranked = made(source, "rank_rows", {"by": "total", "limit": 1}, restored)
    assert rows(source, ranked)[0]["rank"] == 1


@pytest.mark.parametrize(
    ("tool", "params"),
    [
        ("plot_line", {"x": "day", "y": "revenue", "color": "region"}),
        ("plot_bar", {"x": "region", "y": "revenue"}),
        ("plot_area", {"x": "day", "y": "revenue"}),
        ("plot_scatter", {"x": "units", "y": "revenue"}),
        ("plot_histogram", {"x": "price", "color": "region"}),
        ("plot_box", {"x": "region", "y": "revenue"}),
        ("plot_heatmap", {"x": "region", "y": "product", "color": "revenue"}),
    ],
)
def test_every_chart_passes_the_second_gate_and_names_its_data(
    source: Tables, tool: str, params: dict[str, Any]
) -> None:
    facts = call(source, tool, params).facts
    assert facts.chart is not None
    assert facts.chart.spec["data"] == {"name": "table"}
    drawn = asyncio.run(source.fetch(facts.chart.table, "run", 10_000, 10))
    assert len(drawn.rows) == facts.rows


@pytest.mark.parametrize("format_", ["csv", "parquet", "json"])
def test_a_saved_table_reads_back_the_same(source: Tables, tmp_path: Path, format_: str) -> None:
    totals = made(source, "aggregate", BY_REGION)
    facts = call(source, "save_table", {"name": "by_region", "format": format_}, totals, output=tmp_path).facts
    path = tmp_path / f"by_region.{format_}"
    assert facts.files == (str(path),)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    wanted = {row["region"]: row["total"] for row in rows(source, totals)}
    saved = {row["region"] or None: float(row["total"]) for row in _read(path)}
    assert saved == pytest.approx(wanted)


def _read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        found: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
        return found
    if path.suffix == ".json":
        return list(json.loads(path.read_text(encoding="utf-8")))
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_formula_in_a_cell_or_a_name_is_saved_as_text(tmp_path: Path) -> None:
    cells = ["=1+1", "+1", "-1", "@cmd", "\t=1", "plain", "a=b", None]
    source = Tables.open({"cells": pa.table({"=name": cells, "number": [-1.5] * 8})})
    call(source, "save_table", {"name": "cells"}, "cells", output=tmp_path)
    found = _read(tmp_path / "cells.csv")
    assert [row["'=name"] for row in found] == ["'=1+1", "'+1", "'-1", "'@cmd", "'\t=1", "plain", "a=b", ""]
    assert {row["number"] for row in found} == {"-1.5"}


def test_a_table_of_another_source_is_refused(duckdb_source: Tables) -> None:
    other = Tables.open({"sales": pa.table({"id": [1]})}, name="other")
    with pytest.raises(ToolError, match="the input 'table' is not a table of the source 'tables'"):
        call(duckdb_source, "show_table", {}, other.table("sales"))


def test_a_sum_larger_than_an_engine_integer_is_exact(source: Tables, request: pytest.FixtureRequest) -> None:
    large = {"operation": "multiply", "columns": ["id"], "number": 10**16, "as": "large"}
    metrics = [{"function": "sum", "column": "large", "as": "total"}]
    total = made(source, "aggregate", {"metrics": metrics}, made(source, "derive_column", large))
    if request.node.callspec.params["source"] == "sqlite":  # which has no larger number, and says so
        with pytest.raises(ToolError, match="too large for a whole number"):
            rows(source, total)
    else:
        assert rows(source, total) == [{"total": sum(range(600)) * 10**16}]


def test_saving_without_a_folder_says_so(duckdb_source: Tables) -> None:
    with pytest.raises(ToolError, match="no folder to save to"):
        call(duckdb_source, "save_table", {"name": "x"})
