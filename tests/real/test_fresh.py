"""A model of 1.5 billion parameters on questions by fresh eyes: it makes no answer wrong and takes none away."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.roles import Role, Roles
from groundplan.evaluation.asking import Asking
from groundplan.evaluation.report import Report
from groundplan.evaluation.suites.questions import evaluate
from groundplan.settings import Endpoint
from tests.real.test_questions import weak

pytest_plugins = ["tests.models"]

FRESH = Path(__file__).parents[1] / "questions/fresh"
SAMPLE = 6  # of each set, evenly spread
ROLES = Roles(read=Role(attempts=1))


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize("name", ["library_and_calls", "vets_and_solar"])
def test_a_small_model_makes_no_answer_worse(
    name: str, qwen_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measured as a weak reader, it is asked only where the words do not read the question, and has to be confirmed."""
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))
    alone, helped = score(name), score(name, weak(qwen_url))
    print(f"\n{name}: {told(alone)} alone, {told(helped)} with the model; {helped.usage}")
    assert {miss.id for miss in helped.misses} <= {miss.id for miss in alone.misses}
    assert wrong(helped) <= wrong(alone)


def score(name: str, *models: Endpoint) -> Report:
    return asyncio.run(evaluate(FRESH / name, SAMPLE, lambda *_: None, Asking(models, roles=ROLES)))


def wrong(report: Report) -> set[str]:
    return {miss.id for miss in report.misses if miss.why == "wrong"}


def told(report: Report) -> str:
    return f"{report.scores['right']:.2f} right, {report.scores['wrong']:.2f} wrong"
