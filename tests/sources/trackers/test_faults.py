"""Whatever a tracker does, a step ends typed and in time, and its count is the truth or marked as cut."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.patience import SOON
from tests.sources.trackers.calling import Tracking, gitlab, gitlab_double, ready, youtrack, youtrack_double
from tests.sources.trackers.serving import Fault, RateLimit, Served, every, only, serving

from groundplan.contracts.facts import Complete, StepFacts
from groundplan.contracts.step_outcome import StepOutcome
from groundplan.running.step import execute

SECONDS = 10.0  # a tenth of it is left to hand over what came, which a busy machine needs
KINDS: dict[str, tuple[Any, Any, dict[str, Any], int]] = {
    "gitlab_commits": (gitlab_double, gitlab, {"projects": ["shop/web"]}, 250),
    "gitlab_merge_requests": (gitlab_double, gitlab, {"projects": ["shop/web"]}, 230),
    "youtrack_issues": (youtrack_double, youtrack, {"projects": ["WEB"]}, 243),
}


def run(
    tool: str, folder: Path, settings: dict[str, Any] | None = None, **behaviour: Any
) -> tuple[StepOutcome, Served, float]:
    """One step through the runner's own door, what the server saw, and the seconds it took."""
    double, opened, params, _ = KINDS[tool]
    hangs = behaviour.get("fault") == "timeout"  # only then is it about time; a busy machine is slow by itself
    with serving(double(), **behaviour) as served:
        source: Tracking = opened(served, folder, **(settings or {"request_seconds": 1.0 if hangs else SOON}))
        begun = time.monotonic()
        outcome = asyncio.run(through(source, tool, params, SECONDS if hangs else SOON))
        return outcome, served, time.monotonic() - begun


async def through(source: Tracking, tool: str, params: dict[str, Any], seconds: float) -> StepOutcome:
    try:
        outcome, _ = await execute(source, ready(tool, params, seconds), seconds, lambda _: None)
        return outcome
    finally:
        await source.close()


def whole_or_marked(facts: StepFacts, wanted: int) -> bool:
    return facts.rows == wanted if facts.state == Complete() else (facts.rows or 0) < wanted


@pytest.mark.requirement("R42", "R48", "R49")
@pytest.mark.parametrize("fails", [every(1), every(2), every(3)], ids=["1st", "2nd", "3rd"])
@pytest.mark.parametrize("fault", get_args(Fault))
@pytest.mark.parametrize("tool", KINDS)
def test_a_fault_on_every_nth_call_ends_typed_in_time(
    tool: str, fault: Fault, fails: Callable[[int], bool], tmp_path: Path
) -> None:
    outcome, served, seconds = run(tool, tmp_path, fault=fault, fails=fails)
    assert seconds < SOON
    assert len(served.requests) <= 4 * 3, "each page is asked for three times at most"
    if outcome.status == "finished":
        assert outcome.facts is not None
        assert whole_or_marked(outcome.facts, KINDS[tool][3])
    else:
        assert outcome.issue is not None
        assert outcome.issue.code in ("running/tool", "running/unavailable", "running/deadline")
    assert "CANARY" not in outcome.model_dump_json()


PASSING: tuple[Fault, ...] = ("timeout", "reset", "half a body", "408", "429", "429 after 0", "503")


@pytest.mark.parametrize("fault", PASSING)
@pytest.mark.parametrize("tool", KINDS)
def test_what_passes_is_tried_again_and_nothing_is_missing(tool: str, fault: Fault, tmp_path: Path) -> None:
    outcome, _, _ = run(tool, tmp_path, fault=fault, fails=only(2))
    assert outcome.facts is not None
    assert (outcome.facts.rows, outcome.facts.state) == (KINDS[tool][3], Complete())


@pytest.mark.parametrize("fault", [fault for fault in get_args(Fault) if fault not in PASSING])
@pytest.mark.parametrize("tool", KINDS)
def test_what_does_not_pass_on_page_two_leaves_page_one_marked(tool: str, fault: Fault, tmp_path: Path) -> None:
    outcome, served, _ = run(tool, tmp_path, fault=fault, fails=only(2))
    assert outcome.facts is not None
    assert (outcome.facts.rows, outcome.facts.state.kind, len(served.requests)) == (100, "truncated", 2)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("401", "refused the token"),
        ("403", "read access"),
        ("404", "has no access"),
        ("429", "is busy (HTTP 429)"),
        ("500", "failed (HTTP 500)"),
        ("bad JSON", "json_invalid"),
        ("empty body", "json_invalid"),
    ],
)
@pytest.mark.parametrize("tool", KINDS)
def test_a_failure_says_what_and_where(tool: str, fault: Fault, said: str, tmp_path: Path) -> None:
    outcome, served, _ = run(tool, tmp_path, fault=fault)
    assert outcome.issue is not None
    assert said in outcome.issue.problem
    assert f"{served.url}/api/" in outcome.issue.problem


@pytest.mark.requirement("R48")
@pytest.mark.parametrize("tells", [True, False], ids=["with Retry-After", "without Retry-After"])
@pytest.mark.parametrize("tool", KINDS)
def test_a_rate_limit_is_waited_out(tool: str, tells: bool, tmp_path: Path) -> None:
    limit = RateLimit(requests=2, seconds=1.0 if tells else 0.15, tells=tells)
    outcome, served, _ = run(tool, tmp_path, limit=limit)
    assert outcome.facts is not None
    assert (outcome.facts.rows, outcome.facts.state) == (KINDS[tool][3], Complete())
    assert served.limit is not None
    assert len(served.requests) > 3, "it was refused at least once"


@pytest.mark.requirement("R42", "R49")
@pytest.mark.parametrize("tool", ["gitlab_commits", "youtrack_issues"])
def test_when_time_runs_out_what_came_is_given_and_marked(tool: str, tmp_path: Path) -> None:
    patient = {"request_seconds": 60}
    outcome, _, seconds = run(tool, tmp_path, patient, fault="timeout", fails=only(2))
    assert outcome.facts is not None, outcome.issue
    assert (outcome.facts.rows, outcome.facts.state.kind) == (100, "truncated")
    assert "time" in outcome.facts.state.model_dump()["reason"]
    assert seconds < SOON


@pytest.mark.requirement("R42")
@pytest.mark.parametrize("tool", ["gitlab_commits", "youtrack_issues"])
def test_when_time_runs_out_before_anything_came_the_step_says_so(tool: str, tmp_path: Path) -> None:
    outcome, _, _ = run(tool, tmp_path, {"request_seconds": 60}, fault="timeout")
    assert outcome.issue is not None
    assert outcome.issue.code == "running/deadline"
