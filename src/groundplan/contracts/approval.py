"""What a person approves: calls that change something, each with the values that it will be given."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from groundplan.contracts.contract import Contract, JsonObject, Name, StepId
from groundplan.contracts.plan import Plan


class EffectCall(Contract):
    """One call of a step that changes something."""

    step: StepId
    tool: Name
    params: JsonObject
    item: int | None = None  # the position of the item, in a step that runs for each item of a list


def fingerprint_of(plan: Plan, effects: Sequence[EffectCall]) -> str:
    """Equal exactly if the same plan would make the same calls with the same values."""
    if not effects:
        return plan.fingerprint
    calls = [effect.model_dump(mode="json") for effect in effects]
    work = json.dumps([plan.fingerprint, calls], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(work.encode()).hexdigest()[:16]
