"""Plans that a model made earlier for the same requirements."""

from __future__ import annotations

from groundplan.asking.route import Declined, PlanRequest
from groundplan.contracts.plan import Plan


class Remembered:
    """Each kind of question that has such plans registers a subclass with its route and order."""

    name, attempts, needs_model = "remember", 1, True

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        context = request.context
        found = await context.plans.find(context.plan_key(request.reading)) if context.plans else None
        return found or Declined("no plan was kept for this")
