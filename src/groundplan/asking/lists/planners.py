"""The planner for the lists of trackers."""

from __future__ import annotations

from functools import partial

from groundplan.asking import route
from groundplan.asking.lists import plan
from groundplan.asking.lists.plan import described, load_rules
from groundplan.asking.lists.route import plan_lists
from groundplan.asking.remote_tables import Fetching
from groundplan.asking.route import Declined, PlanRequest, load_planners
from groundplan.budget import aside
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import IntentAsked


class Planner(route.Planner):
    """Plans one step for each list, whose server applies the filters; numbers are planned as those of tables are."""

    name, route, order = "rules", "lists", 10

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        tools = {tool.output.table: tool for tool in request.context.catalog.tools.values() if tool.output.table}
        found = await aside(partial(plan_lists, request.question, request.context, []))
        log = described(found[1]) if found else ()
        if not any(isinstance(r.value, IntentAsked) for r in request.reading.requirements):
            return await _of_tables(request, log)
        return plan.propose(request.reading, Fetching(tools, request.question.timezone), load_rules(), log)


async def _of_tables(request: PlanRequest, log: tuple[str, ...]) -> Plan | Declined:
    planner = next(one for one in load_planners("tables") if one.proves)
    made = await planner.propose(request)
    if isinstance(made, Declined):
        return made
    told = made.provenance.model_copy(update={"template": "retrieval", "log": log})
    return made.model_copy(update={"provenance": told})
