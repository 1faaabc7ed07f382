"""A model of 135 million parameters at temperature 2, near to a random one: nothing it says runs unchecked."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal
from groundplan.contracts.roles import ROLES, Roles
from groundplan.project import AsyncProject
from groundplan.settings import Endpoint
from tests.asking.tables.described import SALES

pytest_plugins = ["tests.models"]

QUESTIONS = (
    "get revenue totals by region and product type over time",
    "total lucre by fiefdom",
    "top 3 regions by revenue as a scatter plot",
    "anomalies in revenue and units by region",
    "издержки по направлениям товаров",
)
SECONDS = 20.0  # that models have for one question


@pytest.mark.model
@pytest.mark.requirement("R7", "R32", "R40")
@pytest.mark.parametrize("questions", [QUESTIONS[:1], pytest.param(QUESTIONS[1:], marks=pytest.mark.slow)], ids=len)
def test_every_question_ends_typed_in_time_and_what_runs_is_what_was_asked(
    questions: tuple[str, ...], smollm2_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))
    hot: Any = {name: {"temperature": 2.0} for name in ROLES}
    roles = Roles(seconds=SECONDS, **hot)

    async def run() -> list[tuple[Outcome, float]]:
        endpoint = Endpoint(name="smollm2", url=smollm2_url, model="smollm2")
        project = await AsyncProject.open(SALES, models=[endpoint], roles=roles)
        ended = []
        for question in questions:
            begun = time.monotonic()
            ended.append((await project.ask(question, strategy="adapt"), time.monotonic() - begun))
        await project.close()
        return ended

    for outcome, seconds in asyncio.run(run()):
        assert isinstance(outcome, Answer | Refusal | Clarification)
        assert seconds < SECONDS + 10
        assert outcome.usage.calls > 0 or any("did not answer within" in note for note in outcome.notes), "it was asked"
        if isinstance(outcome, Answer):
            asked_for = {coverage.requirement for coverage in outcome.coverage}
            assert all(coverage.steps for coverage in outcome.coverage)
            assert all(step.satisfies and {*step.satisfies} <= asked_for for step in outcome.plan.steps)
