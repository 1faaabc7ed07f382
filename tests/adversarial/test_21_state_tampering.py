"""State that was edited, damaged or made to run code is refused, and nothing is imported or called for it."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from groundplan.errors import QueryRefused
from groundplan.sources.tables.source import Tables
from groundplan.state.database import FILE
from groundplan.state.plans import PlanStore
from tests.sources.tables.test_sinks import BY_REGION
from tests.sources.tables.tooling import call
from tests.state.blocking import Blocking
from tests.state.test_plans import READING, TOTALS, key


@pytest.mark.requirement("R38")
@pytest.mark.requirement("R35")
def test_a_tampered_reference_is_refused(source: Tables) -> None:
    facts = call(source, "aggregate", BY_REGION).facts
    assert facts.table is not None
    forged = facts.table.model_copy(update={"query": "SELECT * FROM secrets"})
    with pytest.raises(QueryRefused, match="'secrets', which is not a table of this source"):
        source.restore(forged)
    with pytest.raises(QueryRefused):
        asyncio.run(source.fetch(forged, "a reader", 10, 10))


@pytest.mark.parametrize("column", ["plan", "reading"])
@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"strategy": "adapt"}', '{"steps": []}', "\x00", '"' + "x" * 9999, b"\xff"]
)
def test_what_is_no_plan_in_the_file_is_a_miss(text: str | bytes, column: str, tmp_path: Path) -> None:
    store = Blocking(PlanStore(tmp_path))
    store.keep(key(), "total revenue", READING, TOTALS)
    store.mark(store.entries()[0].id)
    with sqlite3.connect(tmp_path / FILE) as plans:
        plans.execute(f"update plans set {column} = ?", (text,))
    assert store.example(READING) is None
    kept = 0 if column == "plan" else 1
    assert [store.find(key())] == ([None], [TOTALS])[kept]
    assert len(store.entries()) == kept
