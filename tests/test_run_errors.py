"""A query that passes the gate and fails on the engine goes back to the model that built it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Answer, Outcome, Refusal
from groundplan.contracts.roles import Roles
from groundplan.project import AsyncProject
from tests.llm.scripted import PROBED, Behaviour, Scripted, says, scripted

QUESTION = "summarize amount"


def functions(*names: str) -> Behaviour:
    return says(json.dumps({"fields": [{"field": "amount", "function": name} for name in names]}))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Values whose squares are too large for any number: totals can be computed, deviations cannot."""
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    with duckdb.connect(tmp_path / "payments.duckdb") as connection:
        connection.execute("CREATE TABLE payments AS SELECT i AS id, i * 1e200 AS amount FROM range(1, 40) t(i)")
    return tmp_path / "payments.duckdb"


def asked(file: Path, *script: Behaviour, **options: Any) -> tuple[Outcome, Scripted]:
    async def through() -> tuple[Outcome, Scripted]:
        async with scripted(says(PROBED), *script) as server:
            project = await AsyncProject.open(file, models=[server.endpoint()], roles=Roles(reader="words"))
            try:
                return await project.ask(QUESTION, strategy="direct", **options), server
            finally:
                await project.close()

    return asyncio.run(through())


@pytest.mark.requirement("R21", "R24")
def test_an_error_of_the_engine_goes_back_and_the_next_query_is_run(file: Path) -> None:
    outcome, server = asked(file, functions("SUM", "MIN", "STDEV"), functions("SUM", "MIN", "MAX"))
    assert isinstance(outcome, Answer), outcome
    with duckdb.connect(file, read_only=True) as connection:
        expected = connection.execute("SELECT sum(amount), min(amount), max(amount) FROM payments").fetchone()
    assert outcome.tables[0].rows == (pytest.approx(expected),)
    back = str(server.requests[-1]["messages"][0]["content"])
    assert "Attempt 2. The check says: DuckDB: a value does not fit the operation" in back
    assert "e+200" not in back, "messages of the engine may quote values"
    assert [entry.thought for entry in outcome.trace if entry.stage == "plan"] == [
        "direct, attempt 1",
        "direct, attempt 2",
    ]
    assert len([entry for entry in outcome.trace if entry.stage == "run"]) == 2


@pytest.mark.requirement("R21")
def test_a_model_that_insists_ends_in_the_first_refusal(file: Path) -> None:
    outcome, server = asked(file, functions("SUM", "MIN", "STDEV"))
    assert isinstance(outcome, Refusal)
    assert "a value does not fit the operation" in outcome.text
    assert [attempt.strategy for attempt in outcome.tried].count("direct") == 1, "the same query is not run again"
    asked_for = [r["response_format"]["json_schema"]["name"] for r in server.requests if "response_format" in r]
    assert asked_for.count("Built") == 2
