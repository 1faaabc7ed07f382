"""The plans that a model may be shown: listed, marked and forgotten from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from groundplan.contracts.plan import Proposal
from groundplan.state.database import SQLite
from groundplan.state.plans import PlanStore
from tests.interfaces.test_cli import PLAN
from tests.interfaces.test_cli import groundplan as command
from tests.state.blocking import Blocking


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Blocking:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))
    return Blocking(PlanStore(SQLite(tmp_path)))


@pytest.fixture
def kept(store: Blocking) -> str:
    proposal = Proposal.model_validate_json(PLAN.read_text())
    store.keep("a-key", "revenue [over] time", proposal.reading, proposal.plan)
    return store.entries()[0].id


@pytest.mark.requirement("R30")
def test_a_kept_plan_is_listed_and_marked(store: Blocking, kept: str) -> None:
    listed = command("examples", "list")
    assert listed.returncode == 0, listed.stderr
    heading, row = listed.stdout.splitlines()
    assert heading.split() == ["id", "question", "tools", "marked"]
    assert row.split()[:4] == [kept, "revenue", "[over]", "time"]
    assert "aggregate, plot_line" in row
    assert not row.rstrip().endswith("yes")
    assert command("examples", "mark", kept).returncode == 0
    assert command("examples", "list").stdout.rstrip().endswith("yes")
    assert store.example(Proposal.model_validate_json(PLAN.read_text()).reading) is not None


@pytest.mark.requirement("R30")
def test_a_forgotten_plan_is_gone(store: Blocking, kept: str) -> None:
    (entry,) = json.loads(command("examples", "list", "--json").stdout)
    assert (entry["id"], entry["question"], entry["marked"]) == (kept, "revenue [over] time", False)
    assert command("examples", "forget", kept).returncode == 0
    assert store.find("a-key") is None
    assert json.loads(command("examples", "list", "--json").stdout) == []
    assert "no plans are stored yet" in command("examples", "list").stdout


@pytest.mark.parametrize("verb", ["mark", "forget"])
def test_an_unknown_id_says_which_there_are(verb: str, kept: str) -> None:
    done = command("examples", verb, "nobody")
    assert done.returncode == 2
    assert "'nobody'" in done.stderr
    assert kept in done.stderr
