"""The runner: order, joins, failures, deadlines, retries."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from groundplan.contracts.facts import Facts
from groundplan.contracts.plan import CheckedPlan
from groundplan.contracts.progress import Progress
from groundplan.errors import UsageError
from groundplan.running.run import run
from groundplan.sources.interface import Call, Result
from tests.patience import HANGS, SOON
from tests.running.scripted import Scripted, checked, step


def run_it(plan: CheckedPlan, source: Scripted, **more: Any) -> Facts:
    return asyncio.run(run(plan, {"scripted": source}, **more))


class WaitsForTheChain(Scripted):
    """Its step `slow` ends only after the step `e` has: a chain that waited for it would never end."""

    def __init__(self) -> None:
        super().__init__()
        self.over = asyncio.Event()

    async def call(self, call: Call) -> Result:
        if call.step == "slow":
            await self.over.wait()
        result = await super().call(call)
        if call.step == "e":
            self.over.set()
        return result


@pytest.mark.requirement("R37")
def test_a_chain_does_not_wait_for_a_slow_sibling() -> None:
    chain = [step("a", ms=20)] + [step(name, before, ms=20) for before, name in zip("abcd", "bcde", strict=True)]
    facts = run_it(checked(step("slow"), *chain), WaitsForTheChain())
    assert set(facts.tables) == {"slow", "e"}, "those that no other step needs"


def fork(rows: int) -> CheckedPlan:
    router = {
        "id": "choice",
        "kind": "router",
        "needs": ["start"],
        "routes": [{"when": "start.rows > 10", "to": "many"}],
        "default": "few",
        "satisfies": ["goal:g1"],
    }
    return checked(
        step("start", rows=rows),
        router,
        {**step("many", "choice"), "tool": "begin"},
        step("more", "many"),
        {**step("few", "choice", rows=2), "tool": "begin"},
        step("join", "more", "few"),
        step("after", "join"),
    )


@pytest.mark.requirement("R37")
@pytest.mark.parametrize(("rows", "taken", "skipped"), [(50, "more(many())", {"few"}), (3, "few()", {"many", "more"})])
def test_a_join_behind_a_router_fires_exactly_once(rows: int, taken: str, skipped: set[str]) -> None:
    source = Scripted()
    facts = run_it(fork(rows), source)
    assert source.calls["join"] == source.calls["after"] == 1
    assert facts.tables["after"].query == f"after(join({taken}))"
    assert {failure.step for failure in facts.failures} == skipped
    assert all(failure.status == "skipped" for failure in facts.failures)


@pytest.mark.requirement("R37")
def test_a_failing_branch_leaves_its_siblings_facts() -> None:
    source = Scripted()
    facts = run_it(checked(step("bad", broken=True), step("after_bad", "bad"), step("good", ms=50)), source)
    assert set(facts.tables) == {"good"}
    assert facts.found
    by_step = {failure.step: failure for failure in facts.failures}
    assert by_step["bad"].status == "failed"
    assert by_step["bad"].issue
    assert by_step["bad"].issue.code == "running/tool"
    assert by_step["after_bad"].status == "blocked"


@pytest.mark.requirement("R40")
def test_transient_errors_are_tried_three_times() -> None:
    source = Scripted()
    facts = run_it(checked(step("twice", flaky=2), step("always", flaky=99)), source)
    assert source.calls == {"twice": 3, "always": 3}
    assert set(facts.tables) == {"twice"}
    assert [f.issue.code for f in facts.failures if f.issue] == ["running/unavailable"]


@pytest.mark.requirement("R40")
def test_other_errors_are_not_tried_again() -> None:
    source = Scripted()
    run_it(checked(step("bad", broken=True)), source)
    assert source.calls == {"bad": 1}


@pytest.mark.requirement("R40")
def test_retry_after_is_honoured() -> None:
    source = Scripted()
    began = time.monotonic()
    run_it(checked(step("busy", flaky=1, retry_after=0.6)), source)
    assert time.monotonic() - began >= 0.6
    assert source.calls == {"busy": 2}


@pytest.mark.requirement("R37")
def test_a_step_past_its_seconds_fails_and_the_rest_goes_on() -> None:
    source = Scripted()
    plan = checked(step("slow", ms=1000 * HANGS), step("quick"), limits={"step_seconds": 3, "seconds": HANGS})
    began = time.monotonic()
    facts = run_it(plan, source)
    assert time.monotonic() - began < SOON
    assert set(facts.tables) == {"quick"}
    assert [f.issue.code for f in facts.failures if f.issue] == ["running/deadline"]


@pytest.mark.requirement("R40")
def test_the_whole_run_ends_typed_within_its_seconds() -> None:
    source = Scripted()
    plan = checked(
        step("a", ms=10),
        step("b", "a", ms=1000 * HANGS),
        step("c", "b"),
        limits={"step_seconds": 3, "seconds": 3},
    )
    began = time.monotonic()
    facts = run_it(plan, source)
    assert time.monotonic() - began < SOON
    assert {f.step: f.status for f in facts.failures} == {"b": "failed", "c": "blocked"}


@pytest.mark.requirement("R37")
def test_progress_is_streamed_in_order() -> None:
    events: list[Progress] = []
    run_it(checked(step("a"), step("b", "a", flaky=1)), Scripted(), on_progress=events.append)
    assert [(e.step, e.status) for e in events] == [
        ("a", "started"),
        ("a", "finished"),
        ("b", "started"),
        ("b", "retrying"),
        ("b", "finished"),
    ]
    assert all(e.ms is not None for e in events if e.status == "finished")


@pytest.mark.requirement("R37")
def test_cancelling_a_run_stops_it() -> None:
    async def cancelled() -> float:
        began = time.monotonic()
        going = asyncio.create_task(run(checked(step("slow", ms=1000 * HANGS)), {"scripted": Scripted()}))
        await asyncio.sleep(0.2)
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going
        return time.monotonic() - began

    assert asyncio.run(cancelled()) < SOON


@pytest.mark.requirement("R44")
@pytest.mark.parametrize(("rows", "called"), [(0, 1), (5, 0)])
def test_a_fallback_runs_only_when_the_others_found_nothing(rows: int, called: int) -> None:
    source = Scripted()
    plan = checked(step("first", rows=rows), step("second"), fallback={"when": ["NO_RESULTS"], "steps": ["second"]})
    facts = run_it(plan, source)
    assert source.calls["second"] == called
    assert facts.found


@pytest.mark.requirement("R44")
def test_coverage_says_what_the_run_really_brought() -> None:
    facts = run_it(checked(step("bad", broken=True)), Scripted())
    assert not facts.found
    assert [(c.requirement, c.ok) for c in facts.coverage] == [("goal:g1", False)]


@pytest.mark.requirement("R36")
def test_a_plan_with_an_effect_does_not_run_unapproved() -> None:
    from groundplan.checking.gate import check
    from groundplan.contracts.plan import Plan
    from groundplan.contracts.verdict import Passed
    from tests.checking.asked import asked, catalog

    mail = {"id": "mail", "tool": "send_mail", "params": {"to": "customer"}, "satisfies": ["goal:greet"]}
    verdict = check(Plan.model_validate({"strategy": "hand", "steps": [mail]}), asked("goal:greet"), catalog())
    assert isinstance(verdict, Passed), verdict
    with pytest.raises(UsageError, match="not approved"):
        asyncio.run(run(verdict.plan, {}))
