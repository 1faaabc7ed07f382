"""The protocols of routes and planners. Entry points: `groundplan.routes` and `groundplan.planners`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from groundplan.context import Context
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import BY_HAND, Plan
from groundplan.contracts.question import Question
from groundplan.contracts.reading import Reading
from groundplan.contracts.roles import RoleName
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.shortlist import Shortlist
from groundplan.contracts.verdict import Refused
from groundplan.entry_points import entry_points
from groundplan.errors import UsageError


class Route(Protocol):
    """One kind of question: scores how well a question fits, and reads it. Subclasses declare what differs."""

    name: str
    is_remembered: bool = True  # later questions of a conversation refer to its turns
    is_audited: bool = False  # the trace records the agents that collect its facts
    reports_steps: bool = False  # the answer reports each step that returned facts, as a workflow's does

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
    final: bool = False  # no other planner is tried: a model says that no tool does it, or what has to be said first


class Planner(Protocol):
    """A planning strategy. The gate checks each plan; after a refusal, the planner may try again with the reasons.

    Subclasses declare what differs from the defaults.
    """

    name: str  # the strategy, as users choose it
    route: str  # the kind of question it plans for
    order: int  # planners are tried in ascending order, after the one that the user chose
    role: RoleName | None = None  # whose models it calls and whose `attempts` it has; None: one attempt
    needs_model: bool = False
    is_offered: bool = True  # users may choose it by name
    is_first: bool = False  # tried even before the planner that the user chose
    proves: bool = False  # its plans show that a reading can be planned without a model
    is_stored: bool = False  # its plans are stored for later questions, as those of models are

    async def propose(self, request: PlanRequest) -> Plan | Declined: ...


def attempts_of(role: RoleName | None, context: Context) -> int:
    """How many plans a planner with this role may propose for one question."""
    return context.calls.of(role).limits.attempts if role and context.calls else 1


@cache
def load_routes() -> Mapping[str, Route]:
    """All routes by name."""
    return {point.name: point.load()() for point in entry_points("groundplan.routes")}


@cache
def load_planners(route: str) -> tuple[Planner, ...]:
    """The planners of a route, in order. Their entry points are named `route.name`."""
    points = entry_points("groundplan.planners")
    loaded = [point.load()() for point in points if point.name.startswith(f"{route}.")]
    return tuple(sorted(loaded, key=lambda planner: (planner.order, planner.name)))


def all_planners() -> tuple[Planner, ...]:
    """The planners of every route."""
    return tuple(planner for route in load_routes() for planner in load_planners(route))


def strategies() -> frozenset[str]:
    """The strategies that a plan can have here: the planners, and plans by hand."""
    return frozenset({BY_HAND, *(planner.name for planner in all_planners())})


def known_strategy(name: str) -> str:
    """Return the name if it is a strategy; otherwise raise an error that lists the strategies."""
    known = sorted({planner.name for planner in all_planners() if planner.is_offered})
    if name not in known:
        raise UsageError(f"there is no strategy {name!r}; the strategies are {', '.join(known)}")
    return name


def needs_model(strategy: str | None) -> bool:
    """True if no planner of this name works without a model."""
    named = [planner for planner in all_planners() if planner.name == strategy] if strategy else []
    return bool(named) and all(planner.needs_model for planner in named)


def find_route(strategy: str) -> Route | None:
    """The route that plans with this strategy; None if no route or several do."""
    routes = {planner.route for planner in all_planners() if planner.name == strategy}
    return load_routes()[routes.pop()] if len(routes) == 1 else None


def planners_for(route: str, question: Question, context: Context) -> tuple[Planner, ...]:
    """The planners for a question: reusable plans first, then the chosen strategy. Model planners need a model."""
    usable = [planner for planner in load_planners(route) if context.calls or not planner.needs_model]
    return tuple(sorted(usable, key=lambda planner: not planner.is_first and planner.name != question.strategy))
