"""The same question is planned the same in every process, and the trail says by which agents."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest

from groundplan.contracts.facts import Facts
from groundplan.project import Project
from groundplan.running.facts import collect
from tests.trackers.shop import TODAY, Shop, answered, ask

QUESTIONS = ["status of web and api this month", "открытые задачи по исполнителям, столбчатая диаграмма"]
AGENTS = ["intent_detection", "reasoning_structure", "retrieval_planner"]
ENTRY = re.compile(r"1\.0\.0 finished: ([0-9a-f]{16}) to ([0-9a-f]{16})")


@pytest.mark.requirement("R23")
@pytest.mark.parametrize("question", QUESTIONS)
def test_two_processes_with_different_hash_seeds_print_the_same_plan(servers: Shop, question: str) -> None:
    run = [sys.executable, "-m", "groundplan.interfaces.cli.main", "plan", question, "--json", "--today", str(TODAY)]
    printed = [
        subprocess.run(run, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}, timeout=120, check=True)
        for seed in ("1", "4242")
    ]
    first, second = (json.loads(process.stdout) for process in printed)
    assert first.pop("duration_ms") > 0
    assert second.pop("duration_ms") > 0
    assert json.dumps(first) == json.dumps(second)
    assert first["plan"]["steps"]
    assert all(served.requests == [] for served in servers.servers), "planning asks no server"


@pytest.mark.requirement("R63")
def test_each_agent_is_in_the_trace_with_what_it_was_given_and_what_it_gave(project: Project) -> None:
    entries = {entry.stage: entry for entry in answered(ask(project, "status of web")).trace if entry.stage in AGENTS}
    assert list(entries) == AGENTS
    found = {stage: ENTRY.fullmatch(entry.action) for stage, entry in entries.items()}
    assert all(found.values()), entries
    given: dict[str, Any] = {stage: match[1] for stage, match in found.items() if match}
    gave = {stage: match[2] for stage, match in found.items() if match}
    assert given["reasoning_structure"] == gave["intent_detection"]
    assert given["retrieval_planner"] == gave["reasoning_structure"]


@pytest.mark.requirement("R63")
def test_what_puts_the_facts_together_declares_its_contract_too() -> None:
    contract = collect.contract
    assert (contract.id, contract.after) == ("context_synthesis", (AGENTS[-1],))
    assert set(contract.gives) <= {f"facts.{name}" for name in Facts.model_fields}
    assert (contract.capabilities.needs_model, contract.capabilities.deterministic) == (False, True)


@pytest.mark.requirement("R63")
def test_another_question_leaves_other_fingerprints(project: Project) -> None:
    trails = [
        [entry.action for entry in answered(ask(project, question)).trace if entry.stage in AGENTS]
        for question in ("status of web", "status of web", "status of api")
    ]
    assert trails[0] == trails[1]
    assert not set(trails[0]) & set(trails[2])
