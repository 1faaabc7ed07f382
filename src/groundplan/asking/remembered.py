"""Reuses plans that a model made earlier for the same requirements."""

from __future__ import annotations

from groundplan.asking.route import Declined, Planner, PlanRequest
from groundplan.contracts.plan import Plan


class Remembered(Planner):
    """A planner that reuses stored plans. Each route registers a subclass with its name and order."""

    name, needs_model, is_offered = "remember", True, False

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        context = request.context
        found = await context.plans.find(context.plan_key(request.reading)) if context.plans else None
        return found or Declined("no plan is stored for this question")
