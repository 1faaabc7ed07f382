"""Reuses plans that a model made earlier for the same requirements."""

from __future__ import annotations

from groundplan.asking.route import Declined, PlanRequest
from groundplan.contracts.plan import Plan


class Remembered:
    """A planner that reuses stored plans. Each route registers a subclass with its name and order."""

    name, role, needs_model = "remember", None, True

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        context = request.context
        found = await context.plans.find(context.plan_key(request.reading)) if context.plans else None
        return found or Declined("no plan is stored for this question")
