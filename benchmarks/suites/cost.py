"""The cost of planning a suite's questions: tokens, attempts, seconds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from statistics import fmean

from groundplan.contracts.answer import Usage
from groundplan.contracts.verdict import Passed
from groundplan.result import Planned


def usage_of(planned: Sequence[Planned]) -> Usage:
    return reduce(Usage.plus, (one.usage for one in planned), Usage())


def took(planned: Sequence[Planned], seconds: Sequence[float], with_a_model: bool) -> dict[str, float]:
    """The cost per question. Model measures are included only if there is a model, plan measures only if it planned."""
    measures = {"seconds_per_question": fmean(seconds), "repaired": _share([_is_repaired(one) for one in planned])}
    if with_a_model:
        spent = usage_of(planned)
        measures["asked"] = _share([one.usage.calls > 0 for one in planned])
        measures["tokens_per_question"] = (spent.prompt_tokens + spent.completion_tokens) / len(planned)
    attempts = [one.plan.provenance.attempts for one in planned if one.plan and one.plan.provenance.model]
    if attempts:
        measures |= {"first_try": _share([tries == 1 for tries in attempts]), "attempts": fmean(attempts)}
    return {name: round(value, 4) for name, value in measures.items()}


def _is_repaired(planned: Planned) -> bool:
    """Whether the gate made repairs other than defaults."""
    return isinstance(planned.verdict, Passed) and any(r.kind != "default" for r in planned.verdict.plan.repairs)


def _share(found: Sequence[bool]) -> float:
    return fmean(map(float, found))
