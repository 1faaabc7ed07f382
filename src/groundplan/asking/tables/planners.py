"""The planners for tables, in the order they are tried: a reused plan, rules, one typed query, a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groundplan.asking.remembered import Remembered
from groundplan.asking.remote_tables import Fetching
from groundplan.asking.route import Declined, Planner, PlanRequest
from groundplan.asking.tables import plan_rules
from groundplan.asking.tables.direct import plan as direct
from groundplan.asking.tables.direct.about import about
from groundplan.asking.tables.direct.needs import Offered
from groundplan.contracts.asks import joined
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Plan
from groundplan.state.plans import signature
from groundplan.text.loose_words import loose_runs
from groundplan.text.similar import similar

DECLINED = Declined("one query is not asked for")


def inexpressible(what: str) -> Declined:
    """Names what one query cannot say."""
    problem = f"one query cannot say this: {what}"
    hint = "ask for totals, averages, counts, groups, a time axis, a ranking, shares and filters"
    return Declined(problem, Issue(code="direct/inexpressible", problem=problem, hint=hint))


class Reuse(Planner):
    """The plan of an earlier question in this conversation that asked for the same, in whatever words."""

    name, route, order, is_offered, is_first = "reuse", "tables", 10, False, True

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        asked = signature(request.reading)
        plans = (turn.plan for turn in reversed(request.context.turns) if signature(turn.reading) == asked)
        return next(plans, None) or Declined("no earlier question asked for the same")


class Direct(Planner):
    """One typed query, for sources that take nothing else and for what only a query can say."""

    name, route, order, proves = "direct", "tables", 20, True

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        if request.reading.also:
            return await _each_ask(request, (self, Rules()))
        tool = query_tool(request)
        wanted = request.question.strategy == self.name or only_queries(request) or _running_total(request)
        if tool is None or not wanted:
            return DECLINED
        if _moving_average(request):
            return inexpressible("a moving average")
        made = direct.propose(request.reading, request.schema, tool)
        return made or inexpressible(direct.why_not(request.reading, request.schema, tool) or "")


class Rules(Planner):
    """The template of the question's intent, filled from its requirements."""

    name, route, order, proves = "rules", "tables", 30, True

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        if request.reading.also:
            return await _each_ask(request, (Direct(), self))
        if _moving_average(request) or (query_tool(request) and (only_queries(request) or _running_total(request))):
            return DECLINED
        return plan_rules.propose(request.reading, request.schema, fetching(request))


class DirectWithModel(Planner):
    """A typed query built by a model; what the gate or the engine says of it goes back to the model."""

    name, route, order, role, needs_model = "direct", "tables", 15, "build", True

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        from groundplan.asking.tables.direct.plan_with_model import Unbuilt, build

        context, tool = request.context, query_tool(request)
        if tool is None or not (request.question.strategy == self.name or self._is_needed(request, tool)):
            return DECLINED
        if request.refused is None and (known := await self._known(request, tool)):
            return known
        assert context.calls is not None
        built = await build(
            context.calls.of("build"),
            request.reading,
            request.schema,
            tool,
            tools=_offered(request),
            attempt=request.attempt,
            last=request.last if request.refused else None,
            refused=request.refused,
        )
        if isinstance(built, Unbuilt):
            context.notes.append(built.problem)
            return Declined(built.problem)
        return built

    async def _known(self, request: PlanRequest, tool: str) -> Plan | None:
        """A query that needs no model: stored for the same question, or asked before with other conditions."""
        from groundplan.asking.tables.direct.earlier import with_new_conditions

        stored = await RememberedPlan().propose(request)
        if isinstance(stored, Plan) and stored.strategy == self.name:
            return stored
        return with_new_conditions(request.context.turns, request.reading, request.schema, tool)

    def _is_needed(self, request: PlanRequest, tool: str) -> bool:
        """Rules cannot say it, in steps or in one query."""
        if _moving_average(request):
            return True
        queried = only_queries(request) or _running_total(request)
        return queried and direct.propose(request.reading, request.schema, tool) is None


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


def _offered(request: PlanRequest) -> Offered:
    """The tools of a query's builder: those that can have an answer."""
    context, reading, schema = request.context, request.reading, request.schema
    table = schema.find(reading.tables[0]) if reading.tables else None
    published = context.metadata.get(schema.source)

    async def metadata() -> str:
        return about(table, reading, await published() if published else None) if table else ""

    near = similar(request.question.text, context.turns, context.nearness)

    async def prior_query() -> Plan | None:
        return near.plan if near else None

    known = table is not None and (published is not None or about(table, reading) != "")
    return Offered(metadata if known else None, prior_query if near else None, context.fetched)


def fetching(request: PlanRequest) -> Fetching:
    """The tools that read tables on other servers."""
    tools = {tool.output.table: tool for tool in request.context.catalog.tools.values() if tool.output.table}
    return Fetching(tools, request.question.timezone)


async def _each_ask(request: PlanRequest, planners: Sequence[Planner]) -> Plan | Declined:
    """One plan of the first that a planner has for each thing that is asked for."""
    plans = []
    for ask in request.reading.asks:
        proposed = [await planner.propose(replace(request, reading=ask)) for planner in planners]
        made = next((plan for plan in proposed if isinstance(plan, Plan)), None)
        if made is None:
            return next(declined for declined in proposed if isinstance(declined, Declined))
        plans.append(made)
    return joined(plans)


def query_tool(request: PlanRequest) -> str | None:
    """The tool that answers one typed query, of the source that is asked."""
    tools, source = request.context.catalog.tools.values(), request.schema.source
    return next((t.name for t in tools if t.output.columns == "query" and t.source == source), None)


def only_queries(request: PlanRequest) -> bool:
    """Whether the source takes typed queries and nothing else, as Tableau does."""
    tools = [tool for tool in request.context.catalog.tools.values() if tool.source == request.schema.source]
    return bool(tools) and all(tool.output.columns == "query" for tool in tools)


def _running_total(request: PlanRequest) -> bool:
    return ("RUNNING_TOTAL",) in {run.means for run in loose_runs(request.reading)}


def _moving_average(request: PlanRequest) -> bool:
    return ("MOVING_AVERAGE",) in {run.means for run in loose_runs(request.reading)}
