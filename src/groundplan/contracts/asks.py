"""A question that asks for several things: each is a reading of its own, and the plan is made of one plan for each.

The steps of the second ask are called `ask2_…`, and what they serve is cited with ` (2)` at its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from groundplan.contracts.plan import MOST_CHARACTERS, Plan, Step
from groundplan.contracts.reading import Reading, Requirement

_ID = re.compile(r"^ask([2-9])_")


def place_of(step: str) -> int:
    """Which ask a step serves; 0 is the first."""
    found = _ID.match(step)
    return int(found[1]) - 1 if found else 0


def cited_as(requirement: str, place: int) -> str:
    return f"{requirement} ({place + 1})" if place else requirement


def all_requirements(reading: Reading) -> tuple[Requirement, ...]:
    """Of every ask, each under its own id."""
    return tuple(
        requirement.model_copy(update={"id": cited_as(requirement.id, place)})
        for place, ask in enumerate(reading.asks)
        for requirement in ask.requirements
    )


def joined(plans: Sequence[Plan]) -> Plan:
    """One plan of one for each ask. Their steps share nothing."""
    first, *_ = plans
    steps = tuple(_placed(step, place) for place, plan in enumerate(plans) for step in plan.steps)
    why = " ".join(dict.fromkeys(plan.provenance.reasoning for plan in plans))[:MOST_CHARACTERS]
    log = tuple(line for plan in plans for line in plan.provenance.log)
    told = first.provenance.model_copy(update={"reasoning": why, "log": log})
    return first.model_copy(update={"steps": steps, "provenance": told})


def part_of(plan: Plan, place: int) -> Plan | None:
    """The plan of one ask alone, citing the requirements of that ask; None if no step is for it."""
    steps = tuple(_own(step, place) for step in plan.steps if place_of(step.id) == place)
    return plan.model_copy(update={"steps": steps}) if steps else None


def _placed(step: Step, place: int) -> Step:
    if not place:
        return step
    return step.model_copy(
        update={
            "id": _named(step.id, place),
            "needs": tuple(_named(need, place) for need in step.needs),
            "satisfies": tuple(cited_as(id_, place) for id_ in step.satisfies),
        }
    )


def _named(step: str, place: int) -> str:
    return f"ask{place + 1}_{step}"


def _own(step: Step, place: int) -> Step:
    """Citations of other asks stay as they are: nothing in this one is called so."""
    return step.model_copy(update={"satisfies": tuple(_without_place(step.satisfies, place))}) if place else step


def _without_place(cited: Iterable[str], place: int) -> Iterable[str]:
    return (id_.removesuffix(cited_as("", place)) for id_ in cited)
