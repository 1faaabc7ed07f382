"""Calls one step's tool on its source, with deadline and retries; every failure becomes an outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import stamina

from groundplan.contracts.facts import StepFacts
from groundplan.contracts.plan import CheckedPlan, Step
from groundplan.contracts.step_outcome import StepOutcome, failed
from groundplan.errors import (
    DeadlineExceeded,
    GroundplanError,
    OutcomeUnknown,
    TransientError,
    Unavailable,
    UsageError,
    crash_place,
)
from groundplan.sources.interface import Call, Result, Source, TableSource
from groundplan.state.effects import Effects

TRIES = 3


class Handles:
    """Live table handles of finished steps. Tables from an earlier process are restored from their references."""

    def __init__(self, plan: CheckedPlan, sources: Mapping[str, Source], run: str) -> None:
        self._plan, self._sources, self._run = plan, sources, run
        self._live: dict[str, object] = {}

    def keep(self, step: str, handle: object) -> None:
        self._live[step] = handle

    def inputs(self, step: Step, outcomes: Mapping[str, StepOutcome]) -> dict[str, object]:
        source = self._sources[self._plan.tools[step.tool or ""].source]
        found: dict[str, object] = {}
        for port, binding in self._plan.inputs[step.id].items():
            if binding.table is not None:
                found[port] = with_tables(source).table(binding.table)
                continue
            need = next(need for need in binding.steps if outcomes[need].status == "finished")
            if need not in self._live:
                facts = outcomes[need].facts
                self._live[need] = self._restored(facts)
            found[port] = self._live[need]
        return found

    def _restored(self, facts: StepFacts | None) -> object:
        """Restore a table from an earlier process, using the source that holds it."""
        if facts is None or facts.table is None:
            return facts
        return with_tables(self._sources[facts.table.source]).restore(facts.table, self._run)


def with_tables(source: Source) -> TableSource:
    if not isinstance(source, TableSource):
        raise UsageError(f"{source.name} has no tables; call one of its tools and take its facts")
    return source


async def execute_once(
    source: Source, call: Call, seconds: float, on_retry: Callable[[str], None], effects: Effects | None
) -> tuple[StepOutcome, object]:
    """Like `execute`, but call a step with an effect only once per run, even if another process resumes the run."""
    if effects is None or call.tool.effect == "read":
        return await execute(source, call, seconds, on_retry)
    before = await effects.begin(call.idempotency_key)
    if isinstance(before, StepOutcome) and not _may_be_tried_again(before, call):
        return before, None
    if isinstance(before, StepOutcome):
        await effects.reopen(call.idempotency_key)
    if before == "other":
        problem = f"step {call.step!r} of run {call.run!r} was already called for another plan or with other params"
        return failed("another-effect", call.step, problem, "nothing was done now; use a new run id"), None
    if before == "begun" and not call.tool.repeatable:
        problem = f"step {call.step!r} was started before, and it is unknown whether {call.tool.name!r} took effect"
        return failed(
            "unknown-effect", call.step, problem, "check the system, then run the plan without the step"
        ), None
    outcome, handle = await execute(source, call, seconds, on_retry)
    await effects.end(call.idempotency_key, outcome)
    return outcome, handle


def _may_be_tried_again(before: StepOutcome, call: Call) -> bool:
    """The tool reported that it failed, so nothing was done; or a second call does nothing more."""
    if before.status != "failed" or before.issue is None:
        return False
    return before.issue.code == "running/tool" or call.tool.repeatable


async def execute(
    source: Source, call: Call, seconds: float, on_retry: Callable[[str], None]
) -> tuple[StepOutcome, object]:
    """Call the tool and return the outcome and a live handle. Only steps that read are retried."""
    tries = TRIES if call.tool.effect == "read" else 1
    try:
        async with asyncio.timeout(seconds):
            result = await _with_retries(source, call, tries, seconds, on_retry)
    except (TimeoutError, DeadlineExceeded):
        return failed("deadline", call.step, f"step {call.step!r} took longer than {seconds:.3g} s", _SLOW), None
    except TransientError as error:
        return failed("unavailable", call.step, f"{error} (tried {tries} times)", "try again later"), None
    except Unavailable as error:
        return failed("unavailable", call.step, str(error)), None
    except OutcomeUnknown as error:
        return failed("unknown-effect", call.step, str(error)), None
    except GroundplanError as error:
        return failed("tool", call.step, str(error)), None
    except Exception as error:  # noqa: BLE001 - the edge of a source: its fault fails the step, and quotes no data
        done = "" if call.tool.effect == "read" else "; it is unknown whether it took effect"
        problem = f"{call.tool.name!r} crashed: {crash_place(error)}{done}"
        return failed("crash", call.step, problem, "this is a fault in the tool; please report it"), None
    return StepOutcome(status="finished", facts=result.facts), result.handle


_SLOW = "filter or aggregate earlier, or raise limits.step_seconds"


async def _with_retries(
    source: Source, call: Call, tries: int, seconds: float, on_retry: Callable[[str], None]
) -> Result:
    async for attempt in stamina.retry_context(
        on=_worth_another_try,
        attempts=tries,
        timeout=seconds,
        wait_initial=0.1,
        wait_max=5.0,
        wait_jitter=0.1,
    ):
        with attempt:
            if attempt.num > 1:
                on_retry(f"try {attempt.num} of {tries}")
            return await source.call(call)
    raise AssertionError("stamina re-raises the last error")


def _worth_another_try(error: Exception) -> bool | float:
    if not isinstance(error, TransientError):
        return False
    return True if error.retry_after is None else error.retry_after
