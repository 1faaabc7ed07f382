"""The planners for tasks, in order: a stored workflow, a model, rules alone."""

from __future__ import annotations

from groundplan.asking.remembered import Remembered
from groundplan.asking.route import Declined, PlanRequest, attempts_of
from groundplan.asking.tasks.choose import Choose, by_words
from groundplan.asking.tasks.plan import ATTEMPTS, NoWorkflow, Workflow, compose, confidence_of
from groundplan.catalog.search.parts import search_parts
from groundplan.contracts.answer import Clarification
from groundplan.contracts.plan import Plan, Provenance
from groundplan.contracts.roles import RoleName
from groundplan.contracts.verdict import Refused


class _Composing:
    """Plans a workflow: one step for each goal, references between steps, routers for conditions."""

    name, route = "compose", "tasks"
    role: RoleName | None = None

    def _choose(self, request: PlanRequest, example: Plan | None) -> Choose:
        raise NotImplementedError

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        context = request.context
        search = search_parts(context.retriever, context.catalog)
        problems = _problems(request.refused, request.last) if request.refused and request.last else {}
        example = await context.plans.example(request.reading) if context.plans else None
        choose, most = self._choose(request, example), attempts_of(self.role, context) if self.role else ATTEMPTS
        composed = await compose(request.reading, context.catalog, search, choose, problems, most)
        if isinstance(composed, NoWorkflow):
            asked = f"{composed.problem}; {composed.hint}."
            ended = Clarification(text=asked, missing=composed.part, put="{missing} {choice}", open=True)
            return Declined(composed.problem, ended=ended)
        return _with_provenance(composed, request)


class ComposeWithModel(_Composing):
    """A model chooses tools and fills params that rules leave open."""

    order, role, needs_model = 20, "plan", True

    def _choose(self, request: PlanRequest, example: Plan | None) -> Choose:
        from groundplan.asking.tasks.choose_with_model import ByModel

        assert request.context.calls is not None
        return ByModel(request.context.calls.of("plan"), example)


class Compose(_Composing):
    """By rules alone, without a model."""

    order, role, needs_model = 30, None, False

    def _choose(self, request: PlanRequest, example: Plan | None) -> Choose:
        return by_words


class RememberedWorkflow(Remembered):
    route, order = "tasks", 10


def _with_provenance(composed: Workflow, request: PlanRequest) -> Plan:
    calls = request.context.calls.of("plan") if request.context.calls else None
    attempts = max(request.attempt, composed.attempts)
    provenance = Provenance(
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
