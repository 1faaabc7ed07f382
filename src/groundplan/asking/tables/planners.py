"""The planners for tables, in the order they are tried: a reused plan, rules, a model."""

from __future__ import annotations

from dataclasses import replace

from groundplan.asking.remembered import Remembered
from groundplan.asking.remote_tables import Fetching
from groundplan.asking.route import Declined, Planner, PlanRequest
from groundplan.asking.tables import plan as by_rules
from groundplan.asking.tables.one_query import Inexpressible, with_query
from groundplan.contracts.asks import joined
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Plan
from groundplan.errors import ToolError
from groundplan.state.plans import signature


class Reuse(Planner):
    """The plan of an earlier question in this conversation that asked for the same, in whatever words."""

    name, route, order, is_offered, is_first = "reuse", "tables", 10, False, True

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        asked = signature(request.reading)
        plans = (turn.plan for turn in reversed(request.context.turns) if signature(turn.reading) == asked)
        return next(plans, None) or Declined("no earlier question asked for the same")


class Rules(Planner):
    """The steps that the requirements ask for; some sources take a query in place of the first."""

    name, route, order, proves = "rules", "tables", 30, True

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        if request.reading.also:
            return await self._of_each_ask(request)
        plan = by_rules.propose(request.reading, request.schema, fetching(request), request.context.catalog.analyses)
        source, tools = request.schema.source, request.context.catalog.tools.values()
        tool = next((one.name for one in tools if one.source == source and one.is_query), None)
        if tool is None:
            return plan
        try:
            return await _as_query(plan, request, tool)
        except (Inexpressible, ToolError) as error:
            problem = f"{source} cannot answer this in one query: {error}"
            hint = "ask for totals, averages, counts, groups, a time axis, a ranking, shares and filters"
            return Declined(problem, Issue(code="planning/inexpressible", problem=problem, hint=hint))

    async def _of_each_ask(self, request: PlanRequest) -> Plan | Declined:
        """One plan of one for each thing that is asked for."""
        plans = list[Plan]()
        for ask in request.reading.asks:
            made = await self.propose(replace(request, reading=ask))
            if isinstance(made, Declined):
                return made
            plans.append(made)
        return joined(plans)


async def _as_query(plan: Plan, request: PlanRequest, tool: str) -> Plan:
    """The plan with one query in place of its first steps; its log shows the query in the source's own language."""
    reading, schema = request.reading, request.schema
    table = schema.find(reading.tables[0]) if reading.tables else schema.tables[0]
    assert table is not None
    steps = with_query(plan.steps, table, tool)
    write = request.context.compilers.get(schema.source)
    queries = [step for step in steps if step.tool == tool]
    log = tuple([f"{step.id}: {await write(step.params)}" for step in queries] if write else ())
    made = plan.provenance.model_copy(update={"log": log})
    return plan.model_copy(update={"steps": steps, "provenance": made})


class RememberedPlan(Remembered):
    route, order = "tables", 40


class Adapt(Planner):
    """A model edits a plan: it adds, removes and changes steps within a closed schema.

    The plan is the one that the gate refused, or the rules' own if the strategy is named.
    """

    name, route, order, role, needs_model = "adapt", "tables", 50, "plan", True

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        from groundplan.asking.tables.adapt.plan import Unadapted, propose

        context = request.context
        if request.schema.source in context.compilers:
            return Declined("a plan over one query is mended by reading the question again")
        last = request.last or (await Rules().propose(request) if request.question.strategy == self.name else None)
        if not isinstance(last, Plan):
            return Declined("there is no plan to adapt")
        assert context.calls is not None
        adapted = await propose(
            last,
            request.reading,
            request.shortlist(),
            context.catalog,
            request.schema,
            context.calls.of("plan"),
            attempt=request.attempt,
            refused=request.refused,
            example=await context.plans.example(request.reading) if context.plans else None,
        )
        if isinstance(adapted, Unadapted):
            context.notes.append(adapted.problem)
            return Declined(adapted.problem, again=True)
        return adapted


def fetching(request: PlanRequest) -> Fetching:
    """The tools that read tables on other servers."""
    tools = {tool.output.table: tool for tool in request.context.catalog.tools.values() if tool.output.table}
    return Fetching(tools, request.question.timezone)
