"""The planners for tasks, in order: a stored workflow, a model, rules alone."""

from __future__ import annotations

from groundplan.asking.remembered import Remembered
from groundplan.asking.route import Declined, Planner, PlanRequest, attempts_of
from groundplan.asking.tasks.choose import Choose, by_words
from groundplan.asking.tasks.plan import ATTEMPTS, NoWorkflow, Search, Workflow, compose, confidence_of
from groundplan.catalog.search.parts import search_parts
from groundplan.contracts.answer import Clarification
from groundplan.contracts.plan import Plan, Provenance
from groundplan.contracts.verdict import Refused

WHOLE = "whole graph"
WIDER = 8  # times as many tools are searched for if the caller forbids some


class _Composing(Planner):
    """Plans a workflow: one step for each goal, references between steps, routers for conditions."""

    name, route, is_stored = "compose", "tasks", True

    def _choose(self, request: PlanRequest, example: Plan | None) -> Choose:
        raise NotImplementedError

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        context, search = request.context, _search(request)
        problems = (
            _problems(request.refused, request.last)
            if request.refused and request.last and _is_own(request.last)
            else {}
        )
        example = await context.plans.example(request.reading) if context.plans else None
        choose, most = self._choose(request, example), attempts_of(self.role, context) if self.role else ATTEMPTS
        composed = await compose(request.reading, context.catalog, search, choose, problems, most)
        if isinstance(composed, NoWorkflow):
            asked = f"{composed.problem}; {composed.hint}."
            ended = Clarification(text=asked, missing=composed.part, put="{missing} {choice}", open=True)
            return Declined(composed.problem, ended=ended)
        return _with_provenance(composed, request)


class ComposeWhole(Planner):
    """A large model writes the whole graph in one call, if the settings say so: `composer = "whole"`."""

    name, route, order, role, needs_model = "compose", "tasks", 15, "plan", True

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        context = request.context
        if context.calls is None or context.calls.roles.composer != "whole":
            return Declined("the parts of a task are planned one by one")
        from groundplan.asking.tasks.graph_drawing import draw
        from groundplan.asking.tasks.graph_parts import offer_for
        from groundplan.asking.tasks.whole_graph import write_graph

        offer = offer_for(request.reading, context.catalog, _search(request), request.question.bounds)
        if not offer.tools:
            return Declined("no tool here does this")
        last = request.last if request.last and not _is_own(request.last) else None
        graph = await write_graph(offer, context.calls.of("plan"), request.attempt, last, request.refused)
        if isinstance(graph, str):
            return Declined(graph, again=True)
        plan = draw(graph, request.reading, offer)
        if plan is None:
            return Declined("the graph has no step", again=True)
        return _with_provenance(Workflow(plan, request.attempt, 0.0, ()), request, WHOLE)


class ComposeWithModel(_Composing):
    """A model chooses tools and fills params that rules leave open."""

    order, role, needs_model = 20, "plan", True

    def _choose(self, request: PlanRequest, example: Plan | None) -> Choose:
        from groundplan.asking.tasks.choose_with_model import ByModel

        assert request.context.calls is not None
        return ByModel(request.context.calls.of("plan"), example)


class Compose(_Composing):
    """By rules alone, without a model."""

    order = 30

    def _choose(self, request: PlanRequest, example: Plan | None) -> Choose:
        return by_words


def _search(request: PlanRequest) -> Search:
    """Searches the tools that the caller allows."""
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


def _is_own(plan: Plan) -> bool:
    """Whether the plan was made part by part, so that what was wrong with it concerns one part."""
    return plan.provenance.template != WHOLE


def _with_provenance(composed: Workflow, request: PlanRequest, template: str | None = None) -> Plan:
    calls = request.context.calls.of("plan") if request.context.calls else None
    attempts = max(request.attempt, composed.attempts)
    provenance = Provenance(
        template=template,
        model=calls.usage.models[-1] if calls and calls.usage.models else None,
        attempts=attempts,
        tokens=calls.usage.tokens if calls else 0,
        reasoning=composed.plan.reasons,
        log=composed.log,
    )
    confidence = confidence_of(composed.sure, attempts)
    return composed.plan.model_copy(update={"provenance": provenance, "confidence": confidence})


def _problems(refused: Refused, plan: Plan) -> dict[str, str]:
    """The gate's issues, by requirement."""
    cited = {step.id: step.satisfies for step in plan.steps}
    found: dict[str, str] = {}
    for issue in refused.issues:
        for id_ in (issue.requirement,) if issue.requirement else cited.get(issue.step or "", ()):
            found.setdefault(id_, f"{issue.path or ''} {issue.problem}".strip())
    return found
