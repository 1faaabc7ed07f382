"""The stages, in order: read, narrow, plan, check, run, answer. Read this first; each stage is a package of its own.

question ─ read ─ narrow ─ plan ─ check ─ run ─ answer
             │               ▲      └ refused: with a model, what is missing goes back, three times at most
             └ unclear or not in the data: a question back, or a refusal that says what is missing

Words and rules come first. A model is asked where they leave something open, and what it says goes the same way:
the same doubts, the same gate, the same verification. Without an answer from it the words and the rules stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from groundplan.answering.answer import answer, refuse
from groundplan.asking.lists import plan as retrieval
from groundplan.asking.lists.plan import load_rules, plan_retrieval, structure_reasoning
from groundplan.asking.lists.read import detect_intents, load_tracker_words
from groundplan.asking.lists.requirements import read_retrieval
from groundplan.asking.lookup import plan as lookup
from groundplan.asking.lookup.read import read_lookup
from groundplan.asking.tables import plan_rules as rules
from groundplan.asking.tables.direct import plan as direct
from groundplan.asking.tables.direct.words import loose_runs
from groundplan.asking.tables.follow_up.difference import difference
from groundplan.asking.tables.follow_up.edit import edit
from groundplan.asking.tables.read import read
from groundplan.asking.tables.values import Values
from groundplan.asking.tasks.read import read_task
from groundplan.catalog.search.shortlist import narrow
from groundplan.checking.gate import check
from groundplan.context import Asked, Planned, Trace, World, told, tools_of
from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal, ShownTable
from groundplan.contracts.facts import Facts
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import CheckedPlan, Plan
from groundplan.contracts.reading import Goal, IntentAsked, Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.verdict import Passed, Refused
from groundplan.sources.interface import Source
from groundplan.state.plans import key_of
from groundplan.task import plan_task
from groundplan.telemetry.audit import Execution
from groundplan.text.similar import similar

ATTEMPTS = 3  # of a model at one plan
QUERIED = frozenset({"tableau"})  # sources that are asked by one typed query, whatever the strategy
UNREADABLE = Issue(
    code="reading/no-data",
    problem="there is neither data to ask about here nor a tool that does something",
    hint="name a file, or a server under [sources.NAME] in groundplan.toml",
)
INEXPRESSIBLE = Issue(
    code="direct/inexpressible",
    problem="one query cannot say this",
    hint="ask for totals, averages, counts, groups, a time axis, a ranking, shares and filters",
)


async def plan_for(asked: Asked, world: World, trace: Trace) -> Planned:
    """A question to a checked plan; nothing runs but the look-up of values that the question names."""
    trace.calls = world.calls()
    reading = await _read(asked, world, trace)
    if not isinstance(reading, Reading):
        trace.stage("read", reading.kind)
        return _with_trace(Planned(ended=trace.ended(reading)), trace)
    trace.stage("read", ", ".join(r.id for r in reading.requirements))
    planned = await _plan(reading, asked, world, trace)
    if isinstance(planned.verdict, Refused):
        planned = replace(planned, ended=trace.ended(refuse(planned.plan, planned.verdict.issues, ())))
    return _with_trace(planned, trace)


def _with_trace(planned: Planned, trace: Trace) -> Planned:
    return replace(planned, usage=trace.usage, trace=tuple(trace.entries), notes=tuple(trace.notes))


async def _read(asked: Asked, world: World, trace: Trace) -> Reading | Clarification | Refusal:
    """By words; with a model where they leave something open."""
    clock: dict[str, Any] = {"today": asked.today, "timezone": asked.timezone}
    if world.is_task(asked.strategy):
        task = read_task(asked.question)
        wanted = any(isinstance(requirement.value, Goal) for requirement in task.requirements)
        return task if wanted else Clarification(text="Say what is to be done.", missing="a task")
    if world.schema.knowledge and world.registry:
        return await _read_lookup(asked, world, trace, clock)
    if not world.schema.tables:
        return refuse(None, [UNREADABLE], ())
    listed = _read_lists(asked, world, trace)
    if listed and listed[1]:
        return listed[0]
    before = asked.turns[-1].reading if asked.turns else None
    values = await _values(world, f"{before.question} {asked.question}" if before else asked.question)
    clock |= {"meaning": world.meaning}
    edited = edit(before, asked.question, world.schema, values, **clock) if before else None
    if edited:
        return edited
    spare = listed[0] if listed and isinstance(listed[0], Reading) else None
    if trace.calls is None or spare:
        found = read(asked.question, world.schema, values, **clock)
        return spare if spare and not isinstance(found, Reading) else found
    from groundplan.asking.tables.read_with_model import read_with

    always = asked.strategy == "adapt"
    found, notes = await read_with(trace.calls, asked.question, world.schema, values, always=always, **clock)
    trace.notes += notes
    return found


async def _read_lookup(
    asked: Asked, world: World, trace: Trace, clock: dict[str, Any]
) -> Reading | Clarification | Refusal:
    known: tuple[Any, ...] = (asked.question, world.schema.knowledge, world.registry)
    clock |= {"context": asked.context}
    if trace.calls is None:
        return read_lookup(*known, **clock)
    from groundplan.asking.lookup.read_with_model import read_lookup_with

    found, notes = await read_lookup_with(trace.calls, *known, always=asked.strategy == "adapt", **clock)
    trace.notes += notes
    return found


async def _values(world: World, text: str) -> dict[str, Values]:
    """Those that the text may name, of every source."""
    found: dict[str, Values] = {}
    for source in world.sources.values():
        found |= await source.values(text)
    return found


def _read_lists(asked: Asked, world: World, trace: Trace) -> tuple[Reading | Clarification, bool] | None:
    """What is asked of trackers, where there are any; and whether it is their lists, not a number made of them."""
    if world.registry is None:
        return None
    rules, trail = load_rules(), list[Execution]()
    clock: dict[str, Any] = {"today": asked.today, "timezone": asked.timezone}
    heard = detect_intents.execute(trail, asked.question, world.registry, load_tracker_words(), **clock)
    reasoning = structure_reasoning.execute(trail, heard, rules)
    plans = plan_retrieval.execute(trail, reasoning, rules)
    for one in trail:
        trace.agent(one)
    if not any(plan.table for plan in plans.plans):
        return None
    first = reasoning.intents[0].type
    return read_retrieval(asked.question, reasoning, plans, world.schema, **clock), rules.of(first).lists


async def _plan(reading: Reading, asked: Asked, world: World, trace: Trace) -> Planned:
    """The template filled by rules; adapted by a model where the gate refuses that. A task becomes a workflow."""
    if any(isinstance(requirement.value, Goal) for requirement in reading.requirements):
        return await plan_task(reading, world, trace)
    plan = _reused(reading, asked, world, trace) or _by_rules(reading, asked, world)
    if trace.calls and world.query_tool and (plan is None or asked.strategy == "direct"):
        plan = await _built(reading, asked, world, trace) or plan
    if plan is None:
        return Planned(reading, ended=trace.ended(refuse(None, [INEXPRESSIBLE], ())))
    always = tuple(dict.fromkeys(step.tool for step in plan.steps if step.tool))
    shortlist = narrow(reading, world.catalog, world.retriever, always)
    trace.stage("narrow", ", ".join(shortlist.names))
    trace.stage("plan", tools_of(plan))
    verdict = check(plan, reading, world.catalog, world.schemas)
    trace.stage("check", told(verdict))
    by_rules = Planned(reading, shortlist, plan, verdict)
    if trace.calls is None or world.schema.knowledge or isinstance(verdict, Passed):
        return by_rules
    return _remembered(by_rules, world, trace) or await _adapted(by_rules, world, trace)


async def _built(reading: Reading, asked: Asked, world: World, trace: Trace) -> Plan | None:
    """The query that a model builds; the gate's issues go back to it. None where none of its attempts passes."""
    from groundplan.asking.tables.direct.plan_with_model import Offered, Unbuilt, build

    calls, tool, near = trace.calls, world.query_tool, similar(asked.question, asked.turns, world.meaning)
    assert calls is not None
    assert tool is not None
    last, refused, tools = None, None, Offered()
    for attempt in range(1, ATTEMPTS + 1):
        built = await build(
            calls,
            reading,
            world.schema,
            tool,
            tools=tools,
            attempt=attempt,
            last=last,
            refused=refused,
            prior=near.plan if near else None,
        )
        if isinstance(built, Unbuilt):
            trace.notes.append(built.problem)
            trace.stage("build", built.problem)
            return None
        trace.stage("build", tools_of(built))
        verdict = check(built, reading, world.catalog, world.schemas)
        if isinstance(verdict, Passed):
            return built
        trace.stage("check", told(verdict))
        last, refused = built, verdict
        calls.escalate()
    return None


def _reused(reading: Reading, asked: Asked, world: World, trace: Trace) -> Plan | None:
    """The plan of an earlier turn that asked for exactly the same, if it still passes the gate."""
    turn = similar(asked.question, asked.turns, world.meaning)
    if turn is None or difference(turn.reading, reading):
        return None
    if not isinstance(check(turn.plan, reading, world.catalog, world.schemas), Passed):
        return None  # the data has changed since
    trace.stage("reuse", turn.question)
    return turn.plan


def _by_rules(reading: Reading, asked: Asked, world: World) -> Plan | None:
    """None where only a query will do, for the source or for a running total, and one query cannot say it."""
    if world.schema.knowledge:
        return lookup.propose(reading, world.schema.knowledge)
    fetching = world.fetching(asked.timezone)
    if any(isinstance(requirement.value, IntentAsked) for requirement in reading.requirements):
        return retrieval.propose(reading, fetching, load_rules())
    meant = {run.means for run in loose_runs(reading)}
    queried = world.schema.source in QUERIED or ("RUNNING_TOTAL",) in meant
    if ("MOVING_AVERAGE",) in meant:
        return None  # the rules of every strategy would leave it out
    if world.query_tool and (queried or asked.strategy == "direct"):
        plan = direct.propose(reading, world.schema, world.query_tool)
        if plan or queried:
            return plan
    return rules.propose(reading, world.schema, fetching)


def _remembered(by_rules: Planned, world: World, trace: Trace) -> Planned | None:
    """The plan that a model made for the same requirements; the gate looks at it again."""
    reading = by_rules.reading
    assert reading is not None
    plan = world.store.find(key_of(reading, world.schema, world.catalog.version)) if world.store else None
    if plan is None:
        return None
    verdict = check(plan, reading, world.catalog, world.schemas)
    trace.stage("remember", tools_of(plan))
    return replace(by_rules, plan=plan, verdict=verdict) if isinstance(verdict, Passed) else None


async def _adapted(by_rules: Planned, world: World, trace: Trace) -> Planned:
    """The gate's issues go back to the model, the net is cast wider, the next model takes over; rules are the floor."""
    from groundplan.asking.tables.adapt.plan import Unadapted, propose

    calls, reading = trace.calls, by_rules.reading
    assert calls is not None
    assert reading is not None
    example = world.store.example(reading) if world.store else None
    now = _wider(by_rules, world)
    for attempt in range(1, ATTEMPTS + 1):
        assert now.plan is not None
        assert now.shortlist is not None
        refused = now.verdict if isinstance(now.verdict, Refused) else None
        adapted = await propose(
            now.plan,
            reading,
            now.shortlist,
            world.catalog,
            world.schema,
            calls,
            attempt=attempt,
            refused=refused,
            example=example,
        )
        if isinstance(adapted, Unadapted):
            trace.notes.append(adapted.problem)
            trace.stage("adapt", adapted.problem)
            if not calls.escalate() and calls.failures:
                break
            continue
        trace.stage("adapt", tools_of(adapted))
        verdict = check(adapted, reading, world.catalog, world.schemas)
        trace.stage("check", told(verdict))
        if isinstance(verdict, Passed):
            world.keep(adapted, reading)
            return replace(now, plan=adapted, verdict=verdict)
        trace.notes.append(f"attempt {attempt}: {'; '.join(issue.problem for issue in verdict.issues[:3])}")
        now = _wider(replace(now, plan=adapted, verdict=verdict), world)
        calls.escalate()
    return by_rules


def _wider(planned: Planned, world: World) -> Planned:
    """With a shortlist in which the tools for what is missing come first."""
    if not isinstance(planned.verdict, Refused) or not planned.verdict.missing:
        return planned
    assert planned.reading is not None
    assert planned.plan is not None
    named = (step.tool for step in planned.plan.steps)
    used = tuple(dict.fromkeys(tool for tool in named if tool and tool in world.catalog.tools))
    shortlist = narrow(planned.reading, world.catalog, world.retriever, used, planned.verdict.missing)
    return replace(planned, shortlist=shortlist)


async def ask(asked: Asked, world: World, trace: Trace, **running: Any) -> Outcome:
    """A question to an answer that traces to facts, or to what is missing."""
    planned = await plan_for(asked, world, trace)
    if planned.ended:
        return planned.ended
    assert isinstance(planned.verdict, Passed)
    assert planned.reading is not None
    outcome = await _run(planned.verdict.plan, planned.reading, world, trace, **running)
    if isinstance(outcome, Answer) or trace.calls is None or world.schema.knowledge:
        return outcome
    again = await _adapted(replace(planned, verdict=Refused(issues=outcome.issues)), world, trace)
    if not isinstance(again.verdict, Passed):
        return trace.ended(outcome)
    return await _run(again.verdict.plan, planned.reading, world, trace, **running)


async def carry_out(plan: Plan, reading: Reading, world: World, trace: Trace, **running: Any) -> Answer | Refusal:
    """A plan from elsewhere to an answer: it goes through the same gate."""
    verdict = check(plan, reading, world.catalog, world.schemas)
    trace.stage("check", told(verdict))
    if isinstance(verdict, Refused):
        return refuse(plan, verdict.issues, trace.entries)
    return await _run(verdict.plan, reading, world, trace, **running)


async def _run(
    plan: CheckedPlan, reading: Reading, world: World, trace: Trace, *, approve: bool = False, **running: Any
) -> Answer | Refusal:
    """Nothing runs that the gate has not passed, and only facts are answered from."""
    from groundplan.running.run import run  # LangGraph is heavy: only when something runs

    trail: list[Execution] = []
    facts = await run(plan, world.sources, approved=plan.writes if approve else (), trail=trail, **running)
    trace.stage("run", ", ".join(step.id for step in plan.steps))
    if trace.audited:
        trace.agent(trail[-1])
    if plan.strategy == "lookup" and not facts.found and not facts.failures:
        return trace.ended(_unknown(world.schema))
    shown = await _fetch_shown(facts, world.sources, plan)
    trace.stage("fetch", ", ".join(shown))
    written = await _written(plan, facts, shown, reading, trace)
    trace.notes += [failure.problem for failure in trace.calls.failures] if trace.calls else []
    trace.stage("answer", "written from the facts, verified against them")
    return trace.ended(written.model_copy(update={"reading": reading}))


def _unknown(schema: SourceSchema) -> Refusal:
    """Neither a relation nor a document says it."""
    kinds = ", ".join(kind.name for kind in schema.knowledge.types) if schema.knowledge else ""
    problem, hint = "neither the graph nor the documents say anything about this", f"it knows of: {kinds}"
    issue = Issue(code="lookup/nothing", problem=problem, hint=hint)
    return Refusal(text=f"{problem[0].upper()}{problem[1:]}; {hint}.", issues=(issue,))


async def _written(
    plan: CheckedPlan, facts: Facts, shown: Mapping[str, ShownTable], reading: Reading, trace: Trace
) -> Answer | Refusal:
    if trace.calls is None:
        return answer(plan, facts, shown, (), language=reading.language)
    from groundplan.answering.choosing.choose import answer_with

    return await answer_with(plan, facts, shown, (), reading.question, trace.calls, language=reading.language)


async def _fetch_shown(facts: Facts, sources: Mapping[str, Source], plan: CheckedPlan) -> dict[str, ShownTable]:
    """The rows of every table and chart that a person gets to see, by step."""
    refs = facts.tables | {step: chart.table for step, chart in facts.charts.items()}
    limits = plan.limits
    return {step: await sources[ref.source].fetch(ref, limits.rows, limits.step_seconds) for step, ref in refs.items()}
