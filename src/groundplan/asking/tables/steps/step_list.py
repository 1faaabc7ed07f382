"""A plan's steps as the planner of rules adds them, each on the data of the one before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from groundplan.asking.remote_tables import Fetching
from groundplan.contracts.contract import Language
from groundplan.contracts.plan import Step
from groundplan.contracts.reading import Reading, Requirement
from groundplan.contracts.schema import Table

T = TypeVar("T")
JOINING_TOOLS = ("join_tables", "add_overall", "mark_found")


@dataclass
class StepList:
    """The plan as it grows: `data` is the step whose table the next one works on."""

    reading: Reading
    table: Table
    steps: list[Step] = field(default_factory=list)
    data: str | None = None
    applied: frozenset[str] = frozenset()  # filters that the step which fetched the rows has applied

    def add(
        self,
        id_: str,
        tool: str,
        params: Mapping[str, Any],
        serves: Iterable[Requirement | str],
        keep: bool = True,
        beside: str | None = None,
    ) -> None:
        """A step on the present data; its table becomes the present data if `keep`.

        `beside` is a step whose table is taken as well.
        """
        known = {requirement.id for requirement in self.reading.requirements}
        cited = dict.fromkeys(one if isinstance(one, str) else one.id for one in serves)
        source = {} if self.data else {"left" if tool in JOINING_TOOLS else "table": self.table.name}
        step = Step(
            id=id_,
            tool=tool,
            params={**source, **params},
            needs=tuple(step for step in (self.data, beside) if step),
            satisfies=tuple(one for one in cited if one in known),
        )
        added = add_step(self.steps, step)
        if keep:
            self.data = added

    @property
    def language(self) -> Language:
        return "ru" if self.reading.language == "ru" else "en"

    def asked(self, kind: type[T]) -> list[tuple[Requirement, T]]:
        return [(r, r.value) for r in self.reading.requirements if isinstance(r.value, kind)]

    def fetch(self, fetching: Fetching, filters: list[Requirement]) -> None:
        """The rows of a table elsewhere; what its server filters is filtered once."""
        step = fetching.step("fetched", self.table.name, filters, [])
        self.applied = frozenset(step.satisfies)
        every = tuple(requirement.id for requirement in self.reading.requirements)
        self.steps.append(step.model_copy(update={"satisfies": step.satisfies or every}))
        self.data = step.id


def add_step(steps: list[Step], step: Step) -> str:
    """The id of the step among the others: a taken one gets a number. One that does the same serves this too."""
    for place, one in enumerate(steps):
        if (one.tool, one.params, one.needs) == (step.tool, step.params, step.needs):
            serves = tuple(dict.fromkeys((*one.satisfies, *step.satisfies)))
            steps[place] = one.model_copy(update={"satisfies": serves})
            return one.id
    unique = first_free(step.id, {one.id for one in steps}, "_")
    steps.append(step.model_copy(update={"id": unique}))
    return unique


def first_free(name: str, taken: Iterable[str], separator: str) -> str:
    """The name, or the first of `name 2`, `name 3`, … that is not taken."""
    used, number, free = {*taken}, 1, name
    while free in used:
        number += 1
        free = f"{name}{separator}{number}"
    return free
