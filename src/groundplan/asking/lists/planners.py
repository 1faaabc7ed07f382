"""The planner for the lists of trackers."""

from __future__ import annotations

from groundplan.asking import route
from groundplan.asking.lists import plan
from groundplan.asking.lists.plan import described, load_rules
from groundplan.asking.lists.route import plan_lists
from groundplan.asking.remote_tables import Fetching
from groundplan.asking.route import Declined, PlanRequest
from groundplan.contracts.plan import Plan


class Planner(route.Planner):
    """Plans one step for each list; the list's own server applies the filters."""

    name, route, order = "rules", "lists", 10

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        tools = {tool.output.table: tool for tool in request.context.catalog.tools.values() if tool.output.table}
        found = plan_lists(request.question, request.context, [])
        log = described(found[1]) if found else ()
        return plan.propose(request.reading, Fetching(tools, request.question.timezone), load_rules(), log)
