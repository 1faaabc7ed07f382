"""A plan that passes the gate and fails on the engine goes back to planning with the reason, and is not run again."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import duckdb
import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Outcome, Refusal
from groundplan.contracts.roles import Roles
from groundplan.project import AsyncProject
from tests.llm.scripted import PROBED, Scripted, says, scripted

QUESTION = "standard deviation of amount"
NOTHING = says(json.dumps({"changes": []}))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Values whose squares are too large for any number: totals can be computed, deviations cannot."""
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    with duckdb.connect(tmp_path / "payments.duckdb") as connection:
        connection.execute("CREATE TABLE payments AS SELECT i AS id, i * 1e200 AS amount FROM range(1, 40) t(i)")
    return tmp_path / "payments.duckdb"


def asked(file: Path) -> tuple[Outcome, Scripted]:
    async def through() -> tuple[Outcome, Scripted]:
        async with scripted(says(PROBED), NOTHING, NOTHING, NOTHING) as server:
            project = await AsyncProject.open(file, models=[server.endpoint()], roles=Roles(reader="words"))
            try:
                return await project.ask(QUESTION), server
            finally:
                await project.close()

    return asyncio.run(through())


@pytest.mark.requirement("R21", "R41")
def test_an_error_of_the_engine_goes_back_and_a_model_that_insists_ends_in_the_first_refusal(file: Path) -> None:
    outcome, server = asked(file)
    assert isinstance(outcome, Refusal)
    assert "a value does not fit the operation" in outcome.text
    back = str(server.requests[-1]["messages"][0]["content"])
    assert "DuckDB: a value does not fit the operation" in back
    assert "e+200" not in back, "messages of the engine may quote values"
    assert len([entry for entry in outcome.trace if entry.stage == "run"]) == 1, "the same plan is not run again"
