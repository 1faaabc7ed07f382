"""The planner for a knowledge base."""

from __future__ import annotations

from groundplan.asking import route
from groundplan.asking.lookup import plan
from groundplan.asking.lookup.route import knowledge_of
from groundplan.asking.route import Declined, PlanRequest
from groundplan.contracts.plan import Plan


class Planner(route.Planner):
    """Looks up intents and entities in the graph, with a document search as fallback."""

    name, route, order, is_offered = "lookup", "lookup", 10, False

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        schema = knowledge_of(request.context)
        return plan.propose(request.reading, schema) if schema else Declined("there is no knowledge base here")
