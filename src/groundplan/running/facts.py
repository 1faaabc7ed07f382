"""Collects the outcomes of all steps into one `Facts`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal, TypeVar

from pydantic import JsonValue

from groundplan.contracts.contract import thaw
from groundplan.contracts.facts import Complete, Facts, Failure, Item, SkipReason, State, StepEnd, StepFacts
from groundplan.contracts.plan import CheckedPlan, Step
from groundplan.contracts.references import taken
from groundplan.contracts.step_outcome import StepOutcome
from groundplan.contracts.tool import Tool
from groundplan.running.readiness import covered
from groundplan.running.references import referred
from groundplan.telemetry.audit import AgentContract, Capabilities, agent

T = TypeVar("T")
Places = Mapping[str, tuple[int, ...]]


@agent(
    AgentContract(
        id="context_synthesis",
        version="1.0.0",
        needs=("outcomes",),
        gives=("facts.groups", "facts.tables", "facts.coverage", "facts.sources"),
        after=("retrieval_planner",),
        capabilities=Capabilities(parallel=False, retry=True, needs_model=False, deterministic=True, expected_ms=1),
    )
)
def collect(run: str, plan: CheckedPlan, outcomes: Mapping[str, StepOutcome], each_step: bool) -> Facts:
    """Collect the facts in plan order; with `each_step`, or if written by hand, report how each step ended."""
    finished = [facts for step in plan.steps if (facts := outcomes[step.id].facts) is not None]
    seen = [facts for facts in finished if facts.step in plan.ends or facts.shown or facts.chart]
    told = [step for step in plan.steps if _returns_facts(step, plan)] if each_step or plan.is_by_hand else []
    grouped = _grouped(finished, seen, told)
    return Facts(
        run=run,
        found=any(facts.found for facts in seen),
        steps=tuple(_ends(told, plan, outcomes, _places(finished, "items"), _places(grouped, "groups"))),
        items=_all(facts.items for facts in finished),
        groups=_all(facts.groups for facts in grouped),
        tables={facts.step: facts.table for facts in seen if facts.table and not (facts.chart or facts.groups)},
        charts={facts.step: facts.chart for facts in seen if facts.chart},
        sent={facts.step: facts.sent for facts in finished if facts.sent},
        files=_all(facts.files for facts in finished),
        coverage=covered(plan, outcomes),
        sources=tuple({cited.id: cited for facts in seen for cited in facts.sources}.values()),
        state=_state(finished),
        repairs=plan.repairs,
        failures=tuple(_failures(plan, outcomes)),
    )


def _grouped(finished: Sequence[StepFacts], seen: Sequence[StepFacts], told: Sequence[Step]) -> list[StepFacts]:
    named = {step.id for step in told}
    return [facts for facts in finished if facts in seen or facts.step in named]


def _all(parts: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(chain.from_iterable(parts))


def _failures(plan: CheckedPlan, outcomes: Mapping[str, StepOutcome]) -> Iterator[Failure]:
    for step in plan.steps:
        outcome = outcomes[step.id]
        if outcome.status != "finished":
            yield Failure(step=step.id, status=outcome.status, issue=outcome.issue)


def _state(finished: list[StepFacts]) -> State:
    """Incomplete if any step's facts are."""
    return next((facts.state for facts in finished if facts.state.kind != "complete"), Complete())


def _returns_facts(step: Step, plan: CheckedPlan) -> bool:
    tool = plan.tools.get(step.tool or "")
    return tool is not None and tool.output.kind == "facts"


def _ends(
    told: Iterable[Step], plan: CheckedPlan, outcomes: Mapping[str, StepOutcome], items: Places, groups: Places
) -> Iterator[StepEnd]:
    for step in told:
        tool, outcome = plan.tools[step.tool or ""], outcomes[step.id]
        if step.for_each and outcome.status in ("finished", "failed"):
            yield from _ends_each(step, tool, outcome, items.get(step.id, ()), groups.get(step.id, ()))
            continue
        sent = outcome.facts.given if outcome.facts and tool.effect == "write" else _meant(step, tool, outcomes)
        yield StepEnd(
            step=step.id,
            tool=tool.name.removeprefix(f"{tool.source}."),
            effect=tool.effect,
            status=outcome.status,
            given=tuple(_param(name, value) for name, value in sent.items() if value is not None),
            because=_because(step, plan, outcomes) if outcome.status == "skipped" else None,
            items=items.get(step.id, ()),
            groups=groups.get(step.id, ()),
        )


def _ends_each(
    step: Step, tool: Tool, outcome: StepOutcome, items: Sequence[int], groups: Sequence[int]
) -> Iterator[StepEnd]:
    """How the step ended for each item; none if the list was empty or too long."""
    item, group = 0, 0
    for one in outcome.each:
        facts = one.facts
        after = (item + len(facts.items), group + len(facts.groups)) if facts else (item, group)
        yield StepEnd(
            step=step.id,
            tool=tool.name.removeprefix(f"{tool.source}."),
            effect=tool.effect,
            status=one.status,
            given=tuple(_param(name, value) for name, value in (facts or one).given.items()),
            items=tuple(items[item : after[0]]),
            groups=tuple(groups[group : after[1]]),
        )
        item, group = after


def _places(listed: Iterable[StepFacts], field: Literal["items", "groups"]) -> Places:
    """The indexes of each step's items or groups in the concatenated list."""
    places, at = {}, 0
    for facts in listed:
        count = len(getattr(facts, field))
        places[facts.step] = tuple(range(at, at + count))
        at += count
    return places


def _meant(step: Step, tool: Tool, outcomes: Mapping[str, StepOutcome]) -> Mapping[str, JsonValue]:
    """The params with references filled in; if that fails, only the params without references."""
    params = referred(step, tool, outcomes)
    if not isinstance(params, StepOutcome):
        return params
    return {name: value for name, value in step.params.items() if not any(taken(value))}


def _param(name: str, value: object) -> Item:
    scalar = value if isinstance(value, str | bool | int | float) else json.dumps(thaw(value), ensure_ascii=False)
    return Item(kind="param", title=name.replace("_", " "), value=scalar)


def _because(step: Step, plan: CheckedPlan, outcomes: Mapping[str, StepOutcome]) -> SkipReason | None:
    """The router decision that skipped the step, directly or through other steps; None if there was none."""
    steps = {other.id: other for other in plan.steps}
    for need in step.needs:
        outcome = outcomes[need]
        if outcome.status == "skipped":
            return _because(steps[need], plan, outcomes)
        if steps[need].kind == "router" and outcome.status == "finished" and outcome.to != step.id:
            return _decided(steps[need], step.id, outcome.to or None)
    return None


def _decided(router: Step, passed_by: str, to: str | None) -> SkipReason | None:
    """The conditions behind a router's choice; None if several routes lead to the same step."""
    ways = [place for place, route in enumerate(router.routes) if route.to == to]
    if len(ways) + (router.default == to) > 1:
        return None
    taken_at = ways[0] if ways else len(router.routes)
    own = [place for place, route in enumerate(router.routes) if route.to == passed_by]
    if own and max(own) < taken_at:
        return SkipReason(conditions=tuple(router.routes[place].when for place in own), held=False)
    return SkipReason(conditions=(router.routes[taken_at].when,), held=True)
