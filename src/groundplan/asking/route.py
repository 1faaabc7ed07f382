"""What a kind of question and a planner are. Both come by entry point: `groundplan.routes`, `groundplan.planners`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Protocol

from groundplan.context import Context
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Plan
from groundplan.contracts.question import Question
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.shortlist import Shortlist
from groundplan.contracts.verdict import Refused
from groundplan.errors import UsageError

REUSE = "reuse"
NOT_CHOSEN = frozenset({"lookup", "remember", REUSE})  # strategies that nobody needs to ask for


class Route(Protocol):
    """One kind of question: how well it fits, and how it is read."""

    name: str

    def accepts(self, question: Question, context: Context, values: Mapping[str, Any]) -> float:
        """From 0 to 1, how much of the question its data explains; 0 if it cannot be asked here at all."""
        ...

    async def read(self, question: Question, context: Context) -> Reading | Clarification | Refusal: ...

    def nothing_found(self, context: Context) -> Refusal | None:
        """The refusal for a run that found nothing, or None where finding nothing is an answer."""
        ...


@dataclass(frozen=True)
class PlanRequest:
    """What a planner is given. After a refusal or a failed run, `last` and `refused` say what was wrong."""

    question: Question
    reading: Reading
    context: Context
    last: Plan | None = None
    refused: Refused | None = None
    attempt: int = 1

    @property
    def schema(self) -> SourceSchema:
        return self.context.schema_of(self.reading)

    def shortlist(self) -> Shortlist:
        """The tools that may serve; those of the last plan always, those for what it missed first."""
        from groundplan.catalog.search.shortlist import narrow  # few questions need a search, and it is heavy

        tools = self.context.catalog.tools
        used = [step.tool for step in self.last.steps if step.tool in tools] if self.last else []
        missing = self.refused.missing if self.refused else ()
        names = tuple(dict.fromkeys(name for name in used if name))
        return narrow(self.reading, self.context.catalog, self.context.retriever, names, missing)


@dataclass(frozen=True)
class Declined:
    """No plan, and why. `ended` is what the user sees if no other planner has one either."""

    problem: str
    issue: Issue | None = None
    ended: Clarification | None = None
    again: bool = False  # another attempt may succeed


class Planner(Protocol):
    """One way to make a plan. The gate decides whether it may run; a refused plan comes back with the reasons."""

    name: str  # the strategy, as users choose it
    route: str  # the kind of question it plans for
    order: int  # planners are tried in ascending order; the one that the user chose comes first
    attempts: int
    needs_model: bool

    async def propose(self, request: PlanRequest) -> Plan | Declined: ...


@cache
def load_routes() -> Mapping[str, Route]:
    """By name."""
    return {point.name: point.load()() for point in entry_points(group="groundplan.routes")}


@cache
def load_planners(route: str) -> tuple[Planner, ...]:
    """Those of one kind of question, in the order they are tried; an entry point is called `route.name`."""
    loaded = [
        point.load()() for point in entry_points(group="groundplan.planners") if point.name.startswith(f"{route}.")
    ]
    return tuple(sorted(loaded, key=lambda planner: (planner.order, planner.name)))


def known_strategy(name: str) -> str:
    """The name itself if a planner has it; otherwise an error that lists those there are."""
    planners = [planner for route in load_routes() for planner in load_planners(route)]
    known = sorted({planner.name for planner in planners} - NOT_CHOSEN)
    if name not in known:
        raise UsageError(f"there is no strategy {name!r}; there are {', '.join(known)}")
    return name


def planners_for(route: str, question: Question, context: Context) -> tuple[Planner, ...]:
    """A plan that can be reused first, then the strategy that was asked for; with a model only where there is one."""
    usable = [planner for planner in load_planners(route) if context.calls or not planner.needs_model]
    return tuple(sorted(usable, key=lambda planner: planner.name not in (REUSE, question.strategy)))
