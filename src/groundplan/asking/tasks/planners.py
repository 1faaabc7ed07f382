"""The planners for tasks, in order: a stored workflow, a model that writes the graph, the words alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundplan.asking.remembered import Remembered
from groundplan.asking.route import Declined, Planner, PlanRequest
from groundplan.contracts.answer import Clarification
from groundplan.contracts.plan import Plan, Provenance

if TYPE_CHECKING:
    from groundplan.asking.tasks.plan import Search  # planners import what plans when they plan

WIDER = 8  # times as many tools are searched for if the caller forbids some


class ComposeWithModel(Planner):
    """A model writes the whole graph; what is wrong with it goes back to the model by name."""

    name, route, order, needs_model = "compose", "tasks", 20, True

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        from groundplan.asking.tasks.graph_parts import offer_for
        from groundplan.asking.tasks.write_graph import NoGraph, write_graph

        context = request.context
        assert context.calls is not None
        offer = offer_for(request.reading, context.catalog, _search(request), request.question.bounds)
        if not offer.tools:
            return Declined("no tool here does this")
        found = await write_graph(request, offer, context.calls.of("plan"))
        if isinstance(found, NoGraph):
            said = f"No tool here does this: {found.cannot}" if found.cannot else found.ask
            asked = Clarification(text=said, missing=request.question.text, put="{missing} {choice}", open=True)
            return Declined(said, ended=asked, final=True)
        return found or Declined("no model has a graph that passes the checks")


class Compose(Planner):
    """By the words alone: one step for each goal, references between steps, routers for conditions."""

    name, route, order, is_stored = "compose", "tasks", 30, True

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        from groundplan.asking.tasks.plan import NoWorkflow, compose, confidence_of

        context = request.context
        composed = compose(request.reading, context.catalog, _search(request), tuple(request.question.inputs))
        if isinstance(composed, NoWorkflow):
            asked = f"{composed.problem}; {composed.hint}."
            ended = Clarification(text=asked, missing=composed.part, put="{missing} {choice}", open=True)
            return Declined(composed.problem, ended=ended)
        made = Provenance(attempts=composed.attempts, reasoning=composed.plan.reasons, log=composed.log)
        confidence = confidence_of(composed.sure, composed.attempts)
        return composed.plan.model_copy(update={"provenance": made, "confidence": confidence})


def _search(request: PlanRequest) -> Search:
    """Searches the tools that the caller allows."""
    from groundplan.catalog.search.parts import search_parts  # it imports the search by words

    context, bounds = request.context, request.question.bounds
    search = search_parts(context.retriever, context.catalog)
    if not (bounds.allow or bounds.forbid):
        return search

    def allowed(text: str, most: int) -> list[str]:
        found = search(text, most * WIDER)
        return [name for name in found if bounds.allows(context.catalog.tools[name])][:most]

    return allowed


class RememberedWorkflow(Remembered):
    route, order = "tasks", 10
