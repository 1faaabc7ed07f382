"""Reads the questions again whose right readings people have found. Nothing runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from groundplan.contracts.answer import Clarification
from groundplan.contracts.feedback import Regression
from groundplan.project import AsyncProject
from groundplan.result import Planned
from groundplan.rollout.agreement import same_meaning


@dataclass(frozen=True)
class Reread:
    item: Regression
    planned: Planned
    verdict: Literal["right", "wrong", "refused", "asked"]


async def reread(
    project: AsyncProject,
    items: Sequence[Regression],
    on_progress: Callable[[int, int], None] = lambda *_: None,
    strategy: str | None = None,
) -> list[Reread]:
    """A question is right if it is read with the same meaning and its plan passes the gate."""
    found = list[Reread]()
    for item in items:
        planned = await project.plan_beside(item.question, today=item.today, strategy=strategy or project.strategy)
        found.append(Reread(item, planned, _verdict(item, planned)))
        on_progress(len(found), len(items))
    return found


def _verdict(item: Regression, planned: Planned) -> Literal["right", "wrong", "refused", "asked"]:
    if isinstance(planned.ended, Clarification):
        offered = planned.ended.readings
        return "right" if len(offered) == 1 and same_meaning(offered[0], item.reading) else "asked"
    if planned.ended or planned.reading is None or planned.plan is None:
        return "refused"
    return "right" if same_meaning(planned.reading, item.reading) else "wrong"
