"""The protocols of routes and planners. Entry points: `groundplan.routes` and `groundplan.planners`."""

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
from groundplan.contracts.roles import RoleName
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.shortlist import Shortlist
from groundplan.contracts.verdict import Refused
from groundplan.errors import UsageError

REUSE = "reuse"
NOT_CHOSEN = frozenset({"lookup", "remember", REUSE})  # strategies that users cannot choose


class Route(Protocol):
    """One kind of question: scores how well a question fits, and reads it."""

    name: str

    def accepts(self, question: Question, context: Context, values: Mapping[str, Any]) -> float:
        """A score from 0 to 1: how much of the question the route's data explains."""
        ...

    async def read(self, question: Question, context: Context) -> Reading | Clarification | Refusal: ...

    def nothing_found(self, context: Context) -> Refusal | None:
        """The refusal for a run that found nothing, or None if finding nothing is an answer."""
        ...


@dataclass(frozen=True)
class PlanRequest:
    """The input of a planner. After a refusal or a failed run, `last` and `refused` say what was wrong."""

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
        """The tools to choose from: first those for missing requirements, and always those of the last plan."""
        from groundplan.catalog.search.shortlist import narrow  # slow to import, and few questions need it

        tools = self.context.catalog.tools
        used = [step.tool for step in self.last.steps if step.tool in tools] if self.last else []
        missing = self.refused.missing if self.refused else ()
        names = tuple(dict.fromkeys(name for name in used if name))
        return narrow(self.reading, self.context.catalog, self.context.retriever, names, missing)


@dataclass(frozen=True)
class Declined:
    """Why a planner has no plan. The user sees `ended` if no other planner has one either."""

    problem: str
    issue: Issue | None = None
    ended: Clarification | None = None
    again: bool = False  # another attempt may succeed


class Planner(Protocol):
    """A planning strategy. The gate checks each plan; after a refusal, the planner may try again with the reasons."""

    name: str  # the strategy, as users choose it
    route: str  # the kind of question it plans for
    order: int  # planners are tried in ascending order, after the one that the user chose
    role: RoleName | None  # whose models it calls and whose `attempts` it has; None: one attempt
    needs_model: bool

    async def propose(self, request: PlanRequest) -> Plan | Declined: ...


def attempts_of(role: RoleName | None, context: Context) -> int:
    """How many plans a planner with this role may propose for one question."""
    return context.calls.of(role).limits.attempts if role and context.calls else 1


@cache
def load_routes() -> Mapping[str, Route]:
    """All routes by name."""
    return {point.name: point.load()() for point in entry_points(group="groundplan.routes")}


@cache
def load_planners(route: str) -> tuple[Planner, ...]:
    """The planners of a route, in order. Their entry points are named `route.name`."""
    loaded = [
        point.load()() for point in entry_points(group="groundplan.planners") if point.name.startswith(f"{route}.")
    ]
    return tuple(sorted(loaded, key=lambda planner: (planner.order, planner.name)))


def known_strategy(name: str) -> str:
    """Return the name if it is a strategy; otherwise raise an error that lists the strategies."""
    planners = [planner for route in load_routes() for planner in load_planners(route)]
    known = sorted({planner.name for planner in planners} - NOT_CHOSEN)
    if name not in known:
        raise UsageError(f"there is no strategy {name!r}; the strategies are {', '.join(known)}")
    return name


def planners_for(route: str, question: Question, context: Context) -> tuple[Planner, ...]:
    """The planners for a question: reusable plans first, then the chosen strategy. Model planners need a model."""
    usable = [planner for planner in load_planners(route) if context.calls or not planner.needs_model]
    return tuple(sorted(usable, key=lambda planner: planner.name not in (REUSE, question.strategy)))
