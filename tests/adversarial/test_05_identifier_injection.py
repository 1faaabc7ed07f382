"""A name or a value that holds SQL is an unknown name or a plain value, and the table stays as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import groundplan
from groundplan.contracts.answer import Refusal
from groundplan.sources.tables.engine import executing
from groundplan.sources.tables.source import Tables
from tests.sources.tables.test_tools import where
from tests.sources.tables.tooling import made, rows


@pytest.mark.requirement("R38")
@pytest.mark.requirement("R45", part="tools")
@pytest.mark.parametrize("value", ["x' OR '1'='1", "\\'; DROP TABLE sales; --", '"; SELECT 1; --', "\u2028\x01", "%s"])
def test_a_hostile_value_is_only_a_value(source: Tables, value: str) -> None:
    assert rows(source, made(source, "filter_rows", where("product", "=", value))) == []
    assert rows(source, made(source, "filter_rows", where("product", "contains", value))) == []


HOSTILE = [
    'Region"; drop table t; --',
    "x') OR '1'='1",
    'revenue" FROM secrets --',
    "region\x00",
    "secrets.word",
    "*",
    "`region`",
]
PLACES: dict[str, tuple[str, Any]] = {
    "grouped by": ("aggregate", lambda name: {"group_by": [name], "metrics": [{"function": "count", "as": "n"}]}),
    "measured": ("aggregate", lambda name: {"metrics": [{"function": "sum", "column": name, "as": "n"}]}),
    "filtered": ("filter_rows", lambda name: {"conditions": [{"column": name, "operator": "=", "values": ["x"]}]}),
    "selected": ("select_columns", lambda name: {"columns": [name]}),
    "ranked": ("rank_rows", lambda name: {"by": name, "limit": 3}),
    "shown": ("show_table", lambda name: {"order_by": [name]}),
}


def plan(tool: str, params: dict[str, Any]) -> str:
    """Its requirement is met by the step, so that only the name is wrong."""
    need = {"id": "intent:rows", "value": {"kind": "intent", "intent": "rows"}, "evidence": {"text": "rows"}}
    step = {"id": "a", "tool": tool, "params": {"table": "sales", **params}, "satisfies": ["intent:rows"]}
    return json.dumps(
        {"reading": {"question": "rows", "requirements": [need]}, "plan": {"strategy": "hand", "steps": [step]}}
    )


@pytest.mark.requirement("R35")
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("place", PLACES)
def test_a_hostile_name_is_an_unknown_name_and_never_reaches_sql(
    place: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE sales AS SELECT 'West' AS region, 3 AS revenue")
    before = file.read_bytes()
    ran: list[str] = []
    with groundplan.open(file) as project:
        monkeypatch.setattr(executing, "approve", lambda sql, *_: ran.append(sql))
        tool, params = PLACES[place]
        outcome = project.run(plan(tool, params(name))).outcome
    assert isinstance(outcome, Refusal)
    assert {issue.code for issue in outcome.issues} & {"names/unknown-column", "types/unfit-param", "shape/wrong-type"}
    assert ran == []
    assert file.read_bytes() == before


def test_an_alias_that_holds_sql_stays_a_name(source: Tables) -> None:
    alias = 'n"; DROP TABLE sales; --'
    table = made(source, "aggregate", {"metrics": [{"function": "count", "as": alias}]})
    assert rows(source, table) == [{alias: 600}]
