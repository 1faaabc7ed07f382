"""Steps that a query can say, drawn at random, and the same by the table tools on a copy of the double's table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import strategies as st
from tests.sources.tableau.double.superstore import connect
from tests.sources.tables.tooling import made, rows

from groundplan.sources.tables.source import Tables

Params = dict[str, Any]
GROUPS = ("Region", "Segment", "City", "Returned", "Order Date")
METRICS = (
    ("Sales", "sum"),
    ("Quantity", "mean"),
    ("Profit", "median"),
    ("Customer Name", "count_distinct"),
    ("Discount", "count"),
    ("Order Date", "max"),
    ("Sales", "std"),
)
CONDITIONS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("Region", "in", ("West", "South", None)),
    ("Category", "=", ("Technology",)),
    ("Segment", "!=", ("Consumer",)),
    ("Segment", "not in", ("Consumer", "Corporate")),
    ("State", "is null", ()),
    ("State", "not null", ()),
    ("City", "contains", ("AN",)),
    ("Quantity", ">=", (2,)),
    ("Quantity", "<=", (4,)),
    ("Order Date", ">=", ("2022-03-05",)),
    ("Ship Date", "<=", ("2023-09-30",)),
    ("Ship Date", "between", ("2022-01-01", "2024-01-01")),
    ("Returned", "=", (True,)),
)


@st.composite
def steps(draw: st.DrawFn) -> Params:
    groups = draw(st.lists(st.sampled_from(GROUPS), max_size=3, unique=True))
    metrics = draw(st.lists(st.sampled_from(METRICS), min_size=1, max_size=3, unique=True))
    kept = draw(st.lists(st.sampled_from(CONDITIONS), max_size=3, unique=True))
    params: Params = {
        "conditions": [{"column": name, "operator": told, "values": [*values]} for name, told, values in kept],
        "group_by": groups,
        "metrics": [{"column": name, "function": what, "as": f"{what} of {name}"} for name, what in metrics],
        "grain": draw(st.sampled_from(["day", "week", "month", "quarter", "year"])),
    }
    if groups and draw(st.booleans()):
        params["top"] = {"direction": draw(st.sampled_from(["top", "bottom"])), "limit": draw(st.integers(2, 5))}
    return params


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Tables, duckdb.DuckDBPyConnection]]:
    file: Path = tmp_path_factory.mktemp("parity") / "store.duckdb"
    double = connect()
    double.execute(f"ATTACH '{file}' AS copy")
    double.execute("CREATE TABLE copy.superstore AS SELECT * FROM superstore")
    double.execute("DETACH copy")
    yield Tables.open(file), double
    double.close()


def by_steps(tables: Tables, params: Params) -> list[tuple[Any, ...]]:
    """Filtered and grouped one after the other; all groups, in the order of the first measure if there is a cut."""
    handle: Any = "superstore"
    if params["conditions"]:
        handle = made(tables, "filter_rows", {"conditions": params["conditions"]}, handle)
    grouped = {name: params[name] for name in ("group_by", "metrics", "grain")}
    handle = made(tables, "aggregate", grouped, handle)
    order = (
        {"order_by": [params["metrics"][0]["as"]], "descending": params["top"]["direction"] == "top"}
        if "top" in params
        else {}
    )
    return [same([*row.values()]) for row in rows(tables, handle, **order)]


def same(values: list[Any]) -> tuple[Any, ...]:
    return tuple(
        round(value, 5) if isinstance(value, float) else str(value)[:10] if _is_day(value) else value
        for value in values
    )


def _is_day(value: Any) -> bool:
    return not isinstance(value, str | int | float | None) or (
        isinstance(value, str) and value[4:5] == value[7:8] == "-"
    )
