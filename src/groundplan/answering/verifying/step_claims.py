"""The claims of sentences about workflow steps; see `claims.py`."""

from __future__ import annotations

from groundplan.answering.verifying.record import Untraceable
from groundplan.answering.verifying.stated import Stated
from groundplan.answering.writing.ends import fields
from groundplan.contracts.facts import Failure, StepEnd


def step_of(stated: Stated, label: str, *slots: str) -> bool:
    """Everything stated about a step belongs to it, and nothing is missing."""
    path, end = _end(stated, label)
    facts, most = stated.record.facts, stated.record.plan.limits.items
    named = [f"facts.items.{place}" for place in fields(end, facts)[:most]]
    conditions = end.because.conditions if end.because else ()
    own = {
        "step": [f"{path}.step"],
        "tool": [f"{path}.tool"] if label == "tool" or end.tool != end.step else [],
        "given": [f"{path}.given.{place}" for place in range(len(end.given))],
        "conditions": [f"{path}.because.conditions.{place}" for place in range(len(conditions))],
        "text": [f"facts.items.{place}.text" for place in end.items],
        "fields": named,
        "result": named,
    }
    return all([str(trace) for trace in stated.slots.get(slot, ())] == own[slot] for slot in (label, *slots))


def ended(stated: Stated, label: str, status: str, *effects: str) -> bool:
    _, end = _end(stated, label)
    return end.status == status and (not effects or end.effect in effects)


def decided(stated: Stated, label: str, how: str) -> bool:
    """A step was skipped for this reason; `nowhere` if no condition is known."""
    _, end = _end(stated, label)
    return how == ("nowhere" if end.because is None else "met" if end.because.held else "unmet")


def empty_handed(stated: Stated, label: str) -> bool:
    _, end = _end(stated, label)
    return not end.items and not end.groups


def stopped(stated: Stated, problem: str, how: str) -> bool:
    """A failed step may have had its effect; only a blocked step certainly did not."""
    failure = stated.record.place(str(stated.one(problem)).removesuffix(".issue.problem"))
    if not stated.record.facts.steps:
        return how == "blocked"
    return isinstance(failure, Failure) and failure.status == how


def _end(stated: Stated, label: str) -> tuple[str, StepEnd]:
    path = str(stated.one(label)).removesuffix(f".{label}")
    end = stated.record.place(path)
    if not isinstance(end, StepEnd):
        raise Untraceable(f"{path} is not a workflow step")
    return path, end
