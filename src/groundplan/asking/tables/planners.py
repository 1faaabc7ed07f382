"""The planners for tables, in the order they are tried: a reused plan, rules, one typed query, a model."""

from __future__ import annotations

from groundplan.asking.remembered import Remembered
from groundplan.asking.remote_tables import Fetching
from groundplan.asking.route import Declined, PlanRequest
from groundplan.asking.tables import plan_rules
from groundplan.asking.tables.direct import plan as direct
from groundplan.asking.tables.direct.words import loose_runs
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading, Requirement
from groundplan.text.lexicon import load_lexicon
from groundplan.text.similar import similar
from groundplan.text.words import words_of

INEXPRESSIBLE = Issue(
    code="direct/inexpressible",
    problem="one query cannot say this",
    hint="ask for totals, averages, counts, groups, a time axis, a ranking, shares and filters",
)
DECLINED = Declined(INEXPRESSIBLE.problem, INEXPRESSIBLE)


class Reuse:
    """The plan of an earlier question in this conversation that asked for exactly the same."""

    name, route, order, role, needs_model = "reuse", "tables", 10, None, False

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        context = request.context
        turn = similar(request.question.text, context.turns, context.nearness)
        if turn is None or not asks_the_same(turn.reading, request.reading):
            return Declined("no earlier question asked for the same")
        return turn.plan


class Direct:
    """One typed query, for sources that take nothing else and for what only a query can say."""

    name, route, order, role, needs_model = "direct", "tables", 20, None, False

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        tool = query_tool(request)
        wanted = request.question.strategy == self.name or only_queries(request) or _running_total(request)
        if tool is None or not wanted or _moving_average(request):
            return DECLINED
        return direct.propose(request.reading, request.schema, tool) or DECLINED


class Rules:
    """The template of the question's intent, filled from its requirements."""

    name, route, order, role, needs_model = "rules", "tables", 30, None, False

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        if _moving_average(request) or (query_tool(request) and (only_queries(request) or _running_total(request))):
            return DECLINED
        return plan_rules.propose(request.reading, request.schema, fetching(request))


class DirectWithModel:
    """A typed query built by a model; what the gate or the engine says of it goes back to the model."""

    name, route, order, role, needs_model = "direct", "tables", 15, "build", True

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        from groundplan.asking.tables.direct.plan_with_model import Offered, Unbuilt, build

        context, tool = request.context, query_tool(request)
        if tool is None or not (request.question.strategy == self.name or self._is_needed(request, tool)):
            return DECLINED
        assert context.calls is not None
        near = similar(request.question.text, context.turns, context.nearness)
        built = await build(
            context.calls.of("build"),
            request.reading,
            request.schema,
            tool,
            tools=Offered(),
            attempt=request.attempt,
            last=request.last if request.attempt > 1 else None,
            refused=request.refused if request.attempt > 1 else None,
            prior=near.plan if near else None,
        )
        if isinstance(built, Unbuilt):
            context.notes.append(built.problem)
            return Declined(built.problem)
        return built

    def _is_needed(self, request: PlanRequest, tool: str) -> bool:
        """Rules cannot say it, in steps or in one query."""
        if _moving_average(request):
            return True
        queried = only_queries(request) or _running_total(request)
        return queried and direct.propose(request.reading, request.schema, tool) is None


class RememberedPlan(Remembered):
    route, order = "tables", 40


class Adapt:
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


def asks_the_same(left: Reading, right: Reading) -> bool:
    """Of the same tables, whatever the words and their order."""
    asked = [
        (reading.tables, reading.intents, frozenset((r.value, *_direction(r)) for r in reading.requirements))
        for reading in (left, right)
    ]
    return asked[0] == asked[1]


def _direction(requirement: Requirement) -> tuple[str, ...]:
    """`the lowest` and `the highest` may ask for one analysis; then only their words tell them apart."""
    if requirement.id != "analysis:ranking":
        return ()
    return tuple(cue.label for cue in load_lexicon().rankings.find(words_of(requirement.evidence.text)))


def fetching(request: PlanRequest) -> Fetching:
    """The tools that read tables on other servers."""
    tools = {tool.output.table: tool for tool in request.context.catalog.tools.values() if tool.output.table}
    return Fetching(tools, request.question.timezone)


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
