"""Tasks with a real model: it writes what nobody said, and the path is still the one that the facts decide."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")
pytest.importorskip("mcp", reason="needs the extra `mcp`")

from groundplan.contracts.answer import Answer
from groundplan.contracts.roles import Roles, WriteRole
from groundplan.project import Project
from groundplan.settings import Endpoint
from tests.mcp.tasks import MAILS
from tests.sources.mcp.calling import rows, shop_command

pytest_plugins = ["tests.models"]

TASK = "Check if user {} is premium, then send personalized email"


@pytest.mark.model
@pytest.mark.requirement("R20", "R36")
def test_a_personal_mail_is_written_from_the_facts_and_sent_to_premium_users_only(
    qwen_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    shop = tmp_path / "shop.sqlite"
    model = Endpoint(name="qwen", url=qwen_url, model="qwen")
    patient = Roles(seconds=600, write=WriteRole(seconds=300))
    with Project({"shop": {"mcp": shop_command(shop)}}, models=[model], roles=patient) as project:
        for email in ("ada@example.org", "boris@example.org"):
            outcome = project.ask(TASK.format(email), approve=True).outcome
            assert isinstance(outcome, Answer), outcome.text
            assert {step.kind for step in outcome.plan.steps} == {"tool", "router", "llm"}
    [(recipient, subject, body)] = rows(shop, MAILS)
    assert recipient == "ada@example.org"
    assert subject.strip()
    assert "Ada" in body
