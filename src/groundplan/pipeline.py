"""The stages of a question as one LangGraph graph. Read this module first; each stage has its own package.

    route ─ read ─ plan ─ check ─ look ─ approve ─ run ─ answer
      ▲      │      ▲       │ refused                     │ failed
      └─ clarify ───┴───────┴─────────────────────────────┘   a chosen reading, the next attempt or the next planner;
                                                              a query that failed goes back to the model that read it

Clarifications and approvals are interrupts: the thread waits, and any process can continue it with the reply. The state
holds contracts as JSON and never rows. A plan loaded from the state passes the gate again before it runs. Live objects
(sources, models, callbacks) are in `Stage`, which each process creates for itself.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial, reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from groundplan.answering.answer import RENDERED, answer, refuse
from groundplan.answering.refusals import in_russian
from groundplan.asking.replies import chosen, complete, declines, to_remember
from groundplan.asking.route import (
    Declined,
    Planner,
    PlanRequest,
    Route,
    attempts_of,
    find_route,
    load_routes,
    planners_for,
)
from groundplan.asking.tables.sql.write import Unwritable, sql_of
from groundplan.budget import Budget, aside, spending
from groundplan.checking.gate import check
from groundplan.context import Context
from groundplan.contracts.answer import (
    Answer,
    Attempt,
    Clarification,
    Outcome,
    Refusal,
    ShownTable,
    TraceEntry,
    Usage,
    refused,
)
from groundplan.contracts.approval import EffectCall
from groundplan.contracts.bounds import NO_BOUNDS, Bounds
from groundplan.contracts.contract import Language, Scalar
from groundplan.contracts.conversation import Turn
from groundplan.contracts.facts import Facts
from groundplan.contracts.inputs import missing_inputs, with_inputs, wrong_inputs
from groundplan.contracts.issue import Issue
from groundplan.contracts.knowledge import words_asked_with
from groundplan.contracts.plan import CheckedPlan, Plan
from groundplan.contracts.proposing import ModelAttempt
from groundplan.contracts.question import Question
from groundplan.contracts.reading import Reading, Time, asks_yes_or_no
from groundplan.contracts.references import taken
from groundplan.contracts.roles import RoleName
from groundplan.contracts.step_outcome import StepOutcome
from groundplan.contracts.verdict import Passed, Refused, ToApprove, Verdict
from groundplan.errors import GroundplanError, TooMuch
from groundplan.proving import fetch_shown, with_proofs
from groundplan.running.approving import effects_of, looked_up_first, takes_values, told
from groundplan.running.cost import cheaper, rows_read, tables_of
from groundplan.running.each import items_of
from groundplan.running.options import RunOptions
from groundplan.running.run import run, run_some
from groundplan.sources.interface import MeteredSource, Source
from groundplan.state.effects import Effects
from groundplan.state.measures import is_fast
from groundplan.telemetry.audit import Execution
from groundplan.telemetry.observing import observed
from groundplan.telemetry.untraced import untraced
from groundplan.text.names import name_words
from groundplan.text.read_back import read_as
from groundplan.text.words import language_of

if TYPE_CHECKING:
    from groundplan.llm.calls import CallsByRole

TURNS = 10  # remembered per thread; follow-ups rarely refer further back
KEPT_VERDICTS = 8  # of the gate, for one question
RUNS = 3  # attempts to run one question, each with a different plan
MOST_STAGES = 100  # stage executions per question, retries included
LIKELY = 0.4  # routes that score lower are not tried after a better one has failed
LONGEST_QUESTION = 2_000  # characters, of any kind of question
STEPS = 30_000  # to read a question; one of thirty words about one table takes 34,000, half a second
STEPS_PER_TABLE = 15_000
MOST_TABLES = 30  # tables that give further steps
SHOWN = 500  # characters of a model's proposal in the trace
TABLES = "tables"
READER: RoleName = "read"
LONGEST_FAULT = 500  # characters of an error that a model is sent
NOTHING_HERE = Issue(
    code="reading/no-data",
    problem="there is no data to ask about and no tool to call",
    hint="name a file, or add a server as [sources.NAME] in groundplan.toml",
)

Json = dict[str, Any]


class State(TypedDict, total=False):
    """The state of a thread, checkpointed after each stage."""

    question: Json
    bounds: Json  # what the caller allows
    inputs: Json  # values for a plan that takes some
    turns: list[Json]  # earlier turns of the conversation, oldest first
    run: str  # the run id under which effects are recorded
    routes: list[str]  # candidate routes, best first
    route: str | None  # the route that read the question; None for a plan supplied by the caller
    clarification: Json | None
    reading: Json | None
    plan: Json | None
    refused: Json | None  # why the gate refused `plan`
    place: int  # index of the current planner
    attempt: int  # attempt number of the current planner
    looked: Json | None  # the outcomes of steps that ran before approval
    approved: list[Json]  # the calls that a person approved, with their values
    costly: str | None  # the fingerprint of the plan whose cost a person approved
    runs: int
    tried: list[Json]
    failed: list[str]  # fingerprints of the plans that failed in the run
    failure: Json | None  # the refusal to return if no other plan succeeds
    facts: Json | None
    trace: list[Json]
    usage: Json  # model usage by earlier processes that worked on this question
    notes: list[str]
    proposals: list[Json]  # what models proposed, and what was wrong with it
    partial: bool  # it ended, and some of what was asked for failed
    confirmed: bool  # a person chose the reading: it is kept as an example


def begin(
    run: str,
    question: Question | None = None,
    reading: Reading | None = None,
    plan: Plan | None = None,
    bounds: Bounds = NO_BOUNDS,
    inputs: Mapping[str, Scalar] = MappingProxyType({}),
) -> State:
    """The initial state for a new question, for a reading about tables to plan, or for a plan to check and run.

    `bounds` is what the caller of a plan allows, and `inputs` what it gives; a question has its own.
    """
    return {
        "question": _json(question) if question else {},
        "bounds": _json(question.bounds if question else bounds),
        "inputs": dict(question.inputs if question else inputs),
        "run": run,
        "routes": [],
        "route": TABLES if reading and not plan else None,
        "clarification": None,
        "reading": _json(reading) if reading else None,
        "plan": _json(plan) if plan else None,
        "refused": None,
        "place": 0,
        "attempt": 1,
        "looked": None,
        "approved": [],
        "costly": None,
        "runs": 0,
        "tried": [],
        "failed": [],
        "failure": None,
        "facts": None,
        "trace": [],
        "usage": {},
        "notes": [],
        "proposals": [],
        "partial": False,
        "confirmed": False,
    }


@dataclass
class Stage:
    """The live objects that one process uses to take a question through the stages."""

    context: Context
    sources: Mapping[str, Source]
    options: RunOptions = field(default_factory=RunOptions)
    effects: Effects | None = None
    plan_only: bool = False
    verdict: Verdict | None = None  # the gate's last word
    outcome: Outcome | None = None  # how the question ended; not in the state, because it holds rows
    _verdicts: list[tuple[Plan, Reading, Bounds, Verdict]] = field(default_factory=list)  # the last ones
    _tokens: int = 0
    _since: float = field(default_factory=time.perf_counter)

    def usage(self, state: State) -> Usage:
        """Model usage for this question: by earlier processes, by the stages, and by the plan's steps."""
        spent = Usage.model_validate(state.get("usage") or {})
        spent = spent.plus(self.context.calls.usage) if self.context.calls else spent
        metered = (source.usage for source in self.sources.values() if isinstance(source, MeteredSource))
        return reduce(Usage.plus, metered, spent)

    def traced(self, state: State, stage: str, thought: str, action: str, agents: Iterable[Execution] = ()) -> State:
        """A state update that adds one trace entry for the stage and one for each agent."""
        now, spent = time.perf_counter(), self.usage(state)
        tokens = spent.tokens
        entry = TraceEntry(
            stage=stage,
            at=datetime.now(UTC),
            ms=round((now - self._since) * 1000, 1),
            tokens=tokens - self._tokens,
            thought=thought,
            action=action,
        )
        self._since, self._tokens = now, tokens
        added = [_json(one) for one in (*map(_audited, agents), entry)]
        return {"trace": [*(state.get("trace") or []), *added]}

    def ended(self, state: State, outcome: Outcome) -> None:
        """Record the outcome, with trace, usage and notes, when the question ends or waits for a reply."""
        failures = [failure.problem for failure in self.context.calls.failures] if self.context.calls else []
        led: Json = {
            "trace": trace_of(state),
            "usage": self.usage(state),
            "notes": tuple(dict.fromkeys([*(state.get("notes") or []), *self.context.notes, *failures])),
            "proposals": tuple(ModelAttempt.model_validate(attempt) for attempt in state.get("proposals") or []),
        }
        if isinstance(outcome, Refusal):
            led["tried"] = tuple(Attempt.model_validate(attempt) for attempt in state.get("tried") or [])
            if language_of((state.get("question") or {}).get("text", "")) == "ru":
                outcome = in_russian(outcome)
        self.outcome = outcome.model_copy(update=led)

    def is_query(self, state: State) -> bool:
        """True if the plan asks a source that takes only queries."""
        tools = self.checked(state).tools.values()
        return any(tool.source in self.context.compilers for tool in tools)

    async def describe_again(self) -> None:
        """Read the fields of sources that take only queries: they may have changed since the question was read."""
        known = dict(self.context.schemas)
        for name in self.context.compilers:
            try:
                known[name] = await self.sources[name].describe()
            except GroundplanError:
                continue  # the reader goes on with what is known
        self.context = replace(self.context, schemas=known)

    def checked(self, state: State) -> CheckedPlan:
        """The state's plan, checked by the gate once per process."""
        verdict = self.check(state)
        assert isinstance(verdict, Passed), "a plan that passed the gate passes it again"
        return verdict.plan

    def check(self, state: State) -> Verdict:
        self.verdict = self.verdict_on(_plan_of(state), _reading_of(state), bounds_of(state))
        return self.verdict

    def verdict_on(self, plan: Plan, reading: Reading, bounds: Bounds) -> Verdict:
        """What the gate says of a plan; a reader that proved its reading has asked it of the same plan before."""
        reading = reading.model_copy(update={"read_by": (), "assumes": ()})
        for *given, verdict in self._verdicts:
            if given == [plan, reading, bounds]:
                return verdict
        verdict = check(plan, reading, self.context.catalog, self.context.schemas, bounds)
        self._verdicts = [(plan, reading, bounds, verdict), *self._verdicts[: KEPT_VERDICTS - 1]]
        return verdict


async def _route(state: State, runtime: Runtime[Stage]) -> Command[str]:
    """Rank the routes by what the question mentions; the order of settings does not matter."""
    stage, question = runtime.context, _question_of(state)
    context = stage.context
    if len(question.text) > LONGEST_QUESTION:
        problem = f"the question has {len(question.text):,} characters"
        stage.ended(state, refused("reading/too-long", problem, f"ask in at most {LONGEST_QUESTION:,}"))
        return Command(goto=END)
    values = await context.find_values(question.text) if context.tables.tables else {}
    try:
        with spending(_budget(context)):
            scores = await aside(partial(_scores, question, context, values))
    except TooMuch as error:
        stage.ended(state, refused(error.code, error.problem, error.hint))
        return Command(goto=END)
    ranked = sorted((name for name in scores if scores[name] > 0), key=lambda name: (-scores[name], name))
    routes = [name for place, name in enumerate(ranked) if place == 0 or scores[name] >= LIKELY]
    thought = ", ".join(f"{name} {scores[name]:.2f}" for name in ranked)
    traced = stage.traced(state, "route", thought, routes[0] if routes else "none")
    if not routes:
        stage.ended({**state, **traced}, refuse(None, [NOTHING_HERE], ()))
        return Command(update=traced, goto=END)
    return Command(update={"routes": routes, **traced}, goto="read")


def _scores(question: Question, context: Context, values: Mapping[str, Any]) -> dict[str, float]:
    return {name: route.accepts(question, context, values) for name, route in load_routes().items()}


def _budget(context: Context) -> Budget:
    """To find a route, and to read by it: a question is written by anybody."""
    steps = STEPS + STEPS_PER_TABLE * min(len(context.tables.tables), MOST_TABLES)
    return Budget("reading the question", "ask for less at once", steps=steps)


async def _read(state: State, runtime: Runtime[Stage]) -> Command[str]:
    """Let the best-ranked route that understands the question read it."""
    stage, question = runtime.context, _question_of(state)
    if state.get("failure"):
        await stage.describe_again()
    context = with_proofs(stage.context, stage.sources, question, stage.verdict_on, state.get("failed") or ())
    context = replace(context, sent_back=_sent_back(state))
    failed: Clarification | Refusal | None = None
    route, notes = None, [*context.notes]
    for name in state["routes"]:
        context.trail.clear()
        before = len(context.notes)
        found = await _read_by(load_routes()[name], question, context)
        state = {**state, **_with_attempts(state, context)}
        if isinstance(found, Reading):
            context.notes[:] = [*notes, *context.notes[before:]]  # without those of routes that could not read it
            action = ", ".join(requirement.id for requirement in found.requirements)
            traced = stage.traced(state, "read", f"as a question about {name}", action, context.trail)
            proposals = state.get("proposals") or []
            update = {"route": name, "reading": _json(found), "proposals": proposals, **traced}
            return Command(update=update, goto="plan")
        if failed is None:
            failed, route = found, name
    assert failed is not None
    if state.get("failure") and isinstance(failed, Refusal):
        failed = Refusal.model_validate(state["failure"])
    traced = stage.traced(state, "read", failed.text, failed.kind)
    return _stopped(stage, {**state, **traced, "route": route}, failed)


async def _read_by(route: Route, question: Question, context: Context) -> Reading | Clarification | Refusal:
    """How the route reads it; a refusal if that costs too much."""
    try:
        with spending(_budget(context)):
            return await route.read(question, context)
    except TooMuch as error:
        return refused(error.code, error.problem, error.hint)


def _sent_back(state: State) -> tuple[ModelAttempt, ...]:
    """The reader's faulty proposals, after a query has failed."""
    attempts = (ModelAttempt.model_validate(one) for one in state.get("proposals") or [])
    return tuple(one for one in attempts if one.role == READER and one.faults) if state.get("failure") else ()


def _with_attempts(state: State, context: Context) -> State:
    """The state with what models proposed since, as data and in the trace."""
    made, context.attempts[:] = [*context.attempts], []
    entries = [_json(_attempted(attempt)) for attempt in made]
    proposals = [*(state.get("proposals") or []), *map(_json, made)]
    return {"proposals": proposals, "trace": [*(state.get("trace") or []), *entries]}


def _stopped(stage: Stage, state: State, outcome: Clarification | Refusal) -> Command[str]:
    """Wait for a reply after a clarification; end after a refusal."""
    if isinstance(outcome, Clarification):
        outcome = outcome.model_copy(update={"question": _question_of(state).text, "route": state["route"]})
    stage.ended(state, outcome)
    proposals = state.get("proposals") or []
    kept: State = {"trace": state["trace"], "notes": [*stage.context.notes], "proposals": proposals}
    if isinstance(outcome, Refusal):
        return Command(update=kept, goto=END)
    waiting: State = {"usage": _json(stage.usage(state)), "clarification": _json(outcome)}
    return Command(update={**kept, **waiting}, goto="clarify")


async def _clarify(state: State, runtime: Runtime[Stage]) -> Command[str]:
    """Wait for a reply. A chosen reading is planned as it is; other words make a question that is read."""
    stage = runtime.context
    asked = Clarification.model_validate(state["clarification"])
    reply = str(interrupt({"kind": "clarification"}))
    after = after_reply(_question_of(state), asked, reply, state["run"])
    if isinstance(after, Refusal):
        traced = stage.traced(state, "clarify", asked.text, "declined")
        stage.ended({**state, **traced}, after)
        return Command(update={"clarification": None, **traced}, goto=END)
    after = await remembered(after, asked, reply, stage.context)
    traced = stage.traced(state, "clarify", asked.text, f"replied {reply!r}: {_first(after)}")
    kept: State = {"turns": state.get("turns") or [], "usage": state["usage"], **traced}
    if after["reading"]:  # how it was read is still so
        notes = [*(state.get("notes") or []), *(after.get("notes") or [])]
        kept |= {"notes": [*dict.fromkeys(notes)], "proposals": state.get("proposals") or []}
    return Command(update={**after, **kept}, goto=_first(after))


async def remembered(after: State, asked: Clarification, reply: str, context: Context) -> State:
    """The state after a reply, with a remark if the reply gives a column another name."""
    wish = to_remember(asked, reply)
    note = await context.remember(*wish) if wish else ""
    return {**after, "notes": [*(after.get("notes") or []), note]} if note else after


def after_reply(before: Question, asked: Clarification, reply: str, run: str) -> State | Refusal:
    """The state in which a question goes on: with the chosen reading, or to be read with the words of the reply.

    Text that chooses nothing is a new question; a `no` ends the question with a refusal.
    """
    if declines(asked, reply):
        return refused("reading/declined", "nothing was run", "ask again in other words")
    spent: State = {"trace": [*map(_json, asked.trace)], "usage": _json(asked.usage)}
    place = chosen(asked, reply)
    if place is not None and asked.readings:
        spent |= {"route": asked.route, "notes": [*asked.notes], "proposals": [*map(_json, asked.proposals)]}
        return begin(run, before, asked.readings[place]) | spent | {"confirmed": True}
    completed = complete(before.text, asked, reply)
    return begin(run, before.model_copy(update={"text": completed or reply})) | spent


async def _plan(state: State, runtime: Runtime[Stage]) -> Command[str]:
    """Get a plan from the current planner, or from the next one that has a plan."""
    stage, question, reading = runtime.context, _question_of(state), _reading_of(state)
    planners = planners_for(state["route"] or "", question, stage.context)
    place, attempt = state["place"], state["attempt"]
    context = with_proofs(stage.context, stage.sources, question, stage.verdict_on)
    last = plan_of(state)
    refused = Refused.model_validate(state["refused"]) if state.get("refused") else None
    declined: list[Declined] = []
    while place < len(planners):
        planner = planners[place]
        if attempt > 1 and planner.needs_model and not _may_go_on(planner, stage.context):
            place, attempt = place + 1, 1
            continue
        proposed = await planner.propose(PlanRequest(question, reading, context, last, refused, attempt))
        state = {**state, **_with_attempts(state, context)}
        if isinstance(proposed, Plan) and proposed.fingerprint in (state.get("failed") or []):
            proposed = Declined(f"{planner.name} proposes a plan that has failed")
        if isinstance(proposed, Plan):
            proposed = bounds_of(state).limited(proposed)
            thought = f"{planner.name}, attempt {attempt}" if planner.needs_model else planner.name
            traced = stage.traced(state, "plan", thought, tools_of(proposed))
            kept = {"proposals": state["proposals"], **traced}
            update = {"plan": _json(proposed), "refused": None, "place": place, "attempt": attempt, **kept}
            return Command(update=update, goto="check")
        declined.append(proposed)
        if proposed.final:
            break
        if planner.needs_model and proposed.again:
            state = {**state, **stage.traced(state, "plan", f"{planner.name}, attempt {attempt}", proposed.problem)}
        again = proposed.again and attempt < attempts_of(planner.role, stage.context)
        place, attempt = (place, attempt + 1) if again else (place + 1, 1)
    return _stopped(stage, state, _unplanned(state, declined))


def _may_go_on(planner: Planner, context: Context) -> bool:
    """Switch to the next model of the cascade. After the last one, retry only if that model still responds."""
    if context.calls is None or planner.role is None:
        return False
    calls = context.calls.of(planner.role)
    return calls.escalate() or not calls.failures


def _unplanned(state: State, declined: list[Declined]) -> Refusal | Clarification:
    """The refusal of the planner that needs no model, or a planner's clarification."""
    if state.get("failure"):
        return Refusal.model_validate(state["failure"])
    missing = next((one.ended for one in reversed(declined) if one.ended), None)
    issues = [one.issue for one in declined if one.issue]
    return missing or refuse(None, issues[:1], ())


async def _check(state: State, runtime: Runtime[Stage]) -> Command[str]:
    """Check the plan: it must do what was asked and nothing more."""
    stage = runtime.context
    if not stage.plan_only and (_plan_of(state).takes or state.get("inputs")):
        given = _with_inputs(state)
        if isinstance(given, Clarification | Refusal):
            return _stopped(stage, {**state, **stage.traced(state, "check", given.text, given.kind)}, given)
        state = {**state, **given}
    plan, reading, kept = _plan_of(state), _reading_of(state), {"plan": state["plan"], "reading": state["reading"]}
    verdict = await aside(partial(stage.check, state))
    if isinstance(verdict, Passed):
        traced = stage.traced(state, "check", "every requirement is covered, and every step is asked for", "passed")
        planner = _planner(state, stage)
        if planner and (planner.needs_model or planner.is_stored):
            await stage.context.keep(plan, reading)
        elif state.get("confirmed") and reading.read_by:
            await stage.context.keep(plan, reading, approved=True)
        after = "look" if takes_values(verdict.plan) else "approve"
        return Command(update={**kept, **traced}, goto=END if stage.plan_only else after)
    issues = verdict.issues
    traced = stage.traced(state, "check", "; ".join(issue.problem for issue in issues), "refused")
    return _again(stage, {**state, **traced}, verdict, refuse(plan, issues, ()), "check")


def _with_inputs(state: State) -> State | Clarification | Refusal:
    """The plan with the values of its inputs; a question, or a refusal, if one is missing or wrong."""
    plan, values = _plan_of(state), state.get("inputs") or {}
    wrong = wrong_inputs(plan, values) if plan.takes or not state["question"] else ()
    missing = missing_inputs(plan, values)
    if wrong or (missing and not state["question"]):
        lacking = Issue(
            code="inputs/missing",
            problem=f"the workflow takes {', '.join(repr(one.name) for one in missing)}",
            hint=f"give it with --input {missing[0].name}=…" if missing else "",
        )
        return refuse(plan, wrong or (lacking,), ())
    if missing:
        first = missing[0]
        text = f"What is the {' '.join(name_words(first.name))}{f' ({first.means})' if first.means else ''}?"
        asked = _question_of(state).text
        return Clarification(text=text, missing=asked, put=f"{{missing}}\n{first.name}: {{choice}}", open=True)
    bound, reading = with_inputs(plan, _reading_of(state), values)
    return {"plan": _json(bound), "reading": _json(reading)}


def _again(stage: Stage, state: State, refused: Refused, refusal: Refusal, failed_in: str) -> Command[str]:
    """Plan again with the reasons for the failure, or end if no planner has another plan."""
    planner = _planner(state, stage)
    attempt = {
        "strategy": _plan_of(state).strategy,
        "number": state["attempt"],
        "tools": [step.tool or step.kind for step in _plan_of(state).steps],
        "failed_in": failed_in,
        "problem": "; ".join(issue.problem for issue in refused.issues)[:500],
    }
    update: State = {"trace": state["trace"], "tried": [*state["tried"], attempt], "refused": _json(refused)}
    if failed_in == "run":
        update["failed"] = [*(state.get("failed") or []), _plan_of(state).fingerprint]
    acted = failed_in == "run" and bool(stage.checked(state).writes)  # effects may have happened: do not run again
    gone = any(issue.code == "running/unavailable" for issue in refused.issues)  # no other plan would help
    if planner is None or acted or gone or state["runs"] >= RUNS:
        return _stopped(stage, {**state, **update}, refusal)
    if failed_in == "run" and stage.is_query(state):
        return _read_again(stage, {**state, **update}, refused, refusal)
    if not planner.needs_model or not state.get("failure"):
        update["failure"] = _json(refusal)
    again = state["attempt"] < attempts_of(planner.role, stage.context)
    update["place"], update["attempt"] = (state["place"], state["attempt"] + 1) if again else (state["place"] + 1, 1)
    return Command(update=update, goto="plan")


def _read_again(stage: Stage, state: State, refused: Refused, refusal: Refusal) -> Command[str]:
    """Send a query that failed back to the model that read the question; end if none did or no attempt is left."""
    proposals = [ModelAttempt.model_validate(one) for one in state.get("proposals") or []]
    accepted = [one for one in proposals if one.role == READER and not one.faults]
    last = max((one.number for one in proposals if one.role == READER), default=0)
    if not accepted or last >= attempts_of(READER, stage.context):
        return _stopped(stage, state, refusal)
    faults = tuple(issue.problem[:LONGEST_FAULT] for issue in refused.issues if issue.code != "running/blocked")
    marked = [one.model_copy(update={"faults": faults}) if one in accepted else one for one in proposals]
    kept: State = {"trace": state["trace"], "tried": state["tried"], "failed": state["failed"]}
    again: State = {"routes": [state["route"] or ""], "reading": None, "plan": None, "refused": None}
    again |= {"place": 0, "attempt": 1, "failure": _json(refusal), "proposals": [*map(_json, marked)]}
    return Command(update={**kept, **again}, goto="read")


async def _preview_effects(state: State, runtime: Runtime[Stage]) -> Command[str]:
    """Find the values with which steps would change something, so that a person approves them and not only a plan."""
    stage, plan = runtime.context, runtime.context.checked(state)
    known, approved = _previewed(state), _approved(state)
    first = looked_up_first(plan, known, {call.step for call in approved})
    known |= await run_some(
        plan,
        stage.sources,
        first,
        run_id=state["run"],
        values=approved,
        known=known,
        output=stage.options.output,
        on_progress=stage.options.on_progress,
        effects=stage.effects,
        language=_language_of(state),
    )
    traced = stage.traced(state, "look", "what steps would change", ", ".join(first))
    listed = (step for step in plan.steps if step.id in plan.changes_each and step.for_each in known)
    found = (items_of(step, known, plan.limits) for step in listed)
    failed = [one.issue for one in found if isinstance(one, StepOutcome) and one.issue]
    if failed:
        refusal = refuse(plan.unchecked, failed, ()).model_copy(update={"reading": _reading_of(state)})
        return _stopped(stage, {**state, **traced}, refusal)
    return Command(update={"looked": {step: _json(one) for step, one in known.items()}, **traced}, goto="approve")


async def _approve(state: State, runtime: Runtime[Stage]) -> Command[str]:
    """Wait until a person approves the calls that have an effect, with the values that they will be given.

    Values that depend on an effect are known, and shown, once that effect has happened.
    """
    stage, plan = runtime.context, runtime.context.checked(state)
    known, before = _previewed(state), _approved(state)
    effects = effects_of(plan, known)
    asked = tuple(call for calls in effects.values() for call in calls if call not in before)
    costs = () if state.get("costly") == plan.fingerprint else await _costs(stage, plan, state)
    if (asked or costs) and not _is_approved(stage, state, plan, asked, costs):
        return Command(goto=END)
    approved = (*before, *asked)
    unknown = [step for step in plan.writes if step not in effects]
    more = unknown and looked_up_first(plan, known, {call.step for call in approved})
    traced = stage.traced(state, "approve", ", ".join(effects), "approved") if asked else {}
    kept: State = {"approved": [*map(_json, approved)], "costly": plan.fingerprint if costs else state.get("costly")}
    return Command(update={**kept, **traced}, goto="look" if more else "run")


async def _costs(stage: Stage, plan: CheckedPlan, state: State) -> tuple[Issue, ...]:
    """What the plan would read, if that is more than may be read without approval. Small tables need no estimate."""
    most, tables = stage.context.rows_without_approval, tables_of(plan, stage.context.schemas)
    known = [table.row_count for table in tables]
    if None not in known and sum(rows or 0 for rows in known) * len(plan.steps) <= most:
        return ()
    rows = await rows_read(plan, stage.sources, state["run"])
    problem = f"the plan would read about {rows:,} rows; {most:,} may be read without approval"
    hint = f"{cheaper(tables)}, or approve it with --approve"
    return (Issue(code="access/unapproved", problem=problem, hint=hint),) if rows > most else ()


def _is_approved(
    stage: Stage, state: State, plan: CheckedPlan, asked: tuple[EffectCall, ...], costs: tuple[Issue, ...]
) -> bool:
    approve, issues = stage.options.approve, (*costs, *_changes(plan, asked))
    warning = {"severity": "warning", "hint": "approve it only if these are the right ones"}
    warned = tuple(issue.model_copy(update=warning) for issue in issues)
    assert isinstance(stage.verdict, Passed)
    passed = ToApprove(plan=plan, issues=(*stage.verdict.issues, *warned), effects=asked)
    if approve(passed) if callable(approve) else approve:
        return True
    refusal = _unapproved(plan, issues, _reading_of(state), begun=bool(_approved(state)))
    stage.ended(state, refusal.model_copy(update={"effects": asked}))
    return bool(interrupt({"kind": "approval", "plan": passed.fingerprint}))


async def _run(state: State, runtime: Runtime[Stage]) -> Command[str]:
    """Run the checked plan. Its steps are tasks of a subgraph inside this node."""
    stage, plan = runtime.context, runtime.context.checked(state)
    route, trail = _route_of(state, plan), list[Execution]()
    facts = await run(
        plan,
        stage.sources,
        run_id=state["run"] if not state["runs"] else f"{state['run']}-{state['runs'] + 1}",
        approved=plan.writes,
        values=_approved(state),
        output=stage.options.output,
        on_progress=stage.options.on_progress,
        effects=stage.effects,
        trail=trail,
        language=_language_of(state),
        known=_previewed(state),
        each_step=route is not None and route.reports_steps,
    )
    audited = route is not None and route.is_audited
    traced = stage.traced(state, "run", plan.reasons, ", ".join(s.id for s in plan.steps), trail if audited else ())
    return Command(update={"facts": _json(facts), "runs": state["runs"] + 1, **traced}, goto="answer")


async def _answer(state: State, runtime: Runtime[Stage]) -> Command[str]:
    """Write the answer from the facts only, and verify it against them."""
    stage, plan, reading = runtime.context, runtime.context.checked(state), _reading_of(state)
    facts = Facts.model_validate(state["facts"])
    route = _route_of(state, plan)
    silent = route and not facts.found and not facts.failures and not asks_yes_or_no(reading)
    if route and silent and (nothing := route.nothing_found(stage.context)):
        return _stopped(stage, state, nothing)
    shown = await fetch_shown(facts, stage.sources, plan)
    found, how = await _written(plan, facts, shown, reading, stage.context)
    state = {**state, **_with_attempts(state, stage.context)}
    written = found.model_copy(update={"reading": reading})
    if isinstance(written, Refusal):
        traced = stage.traced(state, "answer", "; ".join(issue.problem for issue in written.issues), "failed")
        return _again(stage, {**state, **traced}, Refused(issues=written.issues), written, "run")
    traced = stage.traced(state, "answer", how, "answered")
    said = {"read_as": read_as(reading), "sql": _as_sql(reading, facts, stage.context)}
    stage.ended({**state, **traced}, written.model_copy(update=said))
    turns = state.get("turns") or []
    if route is None or route.is_remembered:
        turns = [*turns, _json(Turn.of(reading, plan.unchecked, facts))][-TURNS:]
    kept: State = {"turns": turns, "proposals": state.get("proposals") or [], "partial": written.partial}
    return Command(update={"facts": None, **kept, **traced}, goto=END)


def _as_sql(reading: Reading, facts: Facts, context: Context) -> str:
    """The reading as SQL, dates cut as the run chose; empty if it is not about tables or no single SELECT says it."""
    if reading.also:
        statements = [_as_sql(ask, facts, context) for ask in reading.asks]
        return ";\n".join(statements) if all(statements) else ""
    if not reading.tables or not read_as(reading):
        return ""
    grain = next((item.value for item in facts.items if item.kind == "grain"), None)
    requirements = tuple(
        r.model_copy(update={"value": r.value.model_copy(update={"grain": grain})})
        if isinstance(r.value, Time) and r.value.grain is None
        else r
        for r in reading.requirements
    )
    try:
        return sql_of(reading.model_copy(update={"requirements": requirements}), context.schema_of(reading))
    except Unwritable:
        return ""


async def _written(
    plan: CheckedPlan, facts: Facts, shown: Mapping[str, ShownTable], reading: Reading, context: Context
) -> tuple[Answer | Refusal, str]:
    """The answer, and how its text came to be."""
    if context.calls is None or not _drafts(context.calls) or reading.also:
        return await aside(partial(answer, plan, facts, shown, (), language=reading.language)), RENDERED
    from groundplan.answering.drafting.draft import answer_with

    knowledge = context.schema_of(reading).knowledge
    words = words_asked_with(reading, knowledge) if knowledge else ()
    calls, said = context.calls.of("write"), read_as(reading)
    return await answer_with(plan, facts, shown, (), reading, said, calls, words, context.attempts)


def _drafts(calls: CallsByRole) -> bool:
    """True if a model drafts the text of answers: by the settings, or because it was measured to be fast enough."""
    endpoint = calls.of("write").cascade.model.endpoint
    return calls.roles.writer == "model" or (calls.roles.writer == "measured" and is_fast(endpoint.url, endpoint.model))


def _changes(plan: CheckedPlan, asked: Sequence[EffectCall]) -> Iterator[Issue]:
    """What each step would change, with the values that it takes from earlier steps."""
    for step in plan.steps:
        if calls := [call for call in asked if call.step == step.id]:
            yield Issue(
                code="access/unapproved",
                step=step.id,
                problem=f"step {step.id!r} calls {step.tool!r}{told(step, calls)}, which changes something",
                hint="review the plan, then approve it with --approve",
            )


def _unapproved(plan: CheckedPlan, issues: tuple[Issue, ...], reading: Reading, begun: bool) -> Refusal:
    """The refusal for a valid plan with effects that nobody has approved."""
    done = "Only what was approved was done" if begun else "Nothing was done"
    costs = [issue for issue in issues if issue.step is None]
    changing = len(issues) - len(costs)
    text = f"{done}: {changing} of {len(plan.steps)} steps change something, and nobody has approved them."
    if costs:
        text = " ".join((f"{done}: {costs[0].problem}. You can {costs[0].hint}.", *([text] if changing else ())))
    taking = {step.id for step in plan.steps if step.for_each or any(taken(step.params))}
    each = [f"{issue.problem}." for issue in issues if issue.step in taking]
    text = " ".join((text, *(f"{said[0].upper()}{said[1:]}" for said in each)))
    return Refusal(text=text, issues=issues, reading=reading, plan=plan.unchecked)


def bounds_of(state: State) -> Bounds:
    """What the caller allows; a state from an earlier version has none."""
    return Bounds.model_validate(state.get("bounds") or {})


def _previewed(state: State) -> dict[str, StepOutcome]:
    return {step: StepOutcome.model_validate(outcome) for step, outcome in (state.get("looked") or {}).items()}


def _approved(state: State) -> tuple[EffectCall, ...]:
    return tuple(EffectCall.model_validate(call) for call in state.get("approved") or [])


def _language_of(state: State) -> Language:
    return "ru" if _reading_of(state).language == "ru" else "en"


def _planner(state: State, stage: Stage) -> Planner | None:
    """The planner that made the plan; None for a plan supplied by the caller."""
    if not state.get("route"):
        return None
    return planners_for(state["route"] or "", _question_of(state), stage.context)[state["place"]]


def _route_of(state: State, plan: Plan) -> Route | None:
    return load_routes().get(state.get("route") or "") or find_route(plan.strategy)


def _question_of(state: State) -> Question:
    return Question.model_validate(state["question"])


def _reading_of(state: State) -> Reading:
    return Reading.model_validate(state["reading"])


def _plan_of(state: State) -> Plan:
    return Plan.model_validate(state["plan"])


def _json(contract: Any) -> Json:
    dumped: Json = contract.model_dump(mode="json")
    return dumped


def _audited(execution: Execution) -> TraceEntry:
    """A trace entry with the fingerprints of an agent's input and output."""
    action = f"{execution.version} {execution.status}: {execution.input} to {execution.output}"
    return TraceEntry(stage=execution.agent, at=datetime.now(UTC), ms=round(execution.ms, 1), action=action)


def _attempted(attempt: ModelAttempt) -> TraceEntry:
    """A trace entry for one reply of a model; its time and tokens are part of the stage's own."""
    thought = f"{attempt.model}, attempt {attempt.number}, {attempt.tokens} tokens, {attempt.seconds:.3g} s"
    action = f"sent back: {'; '.join(attempt.faults)}" if attempt.faults else f"taken: {attempt.proposal[:SHOWN]}"
    return TraceEntry(stage="propose", at=datetime.now(UTC), ms=0.0, thought=thought, action=action)


def plan_of(state: State) -> Plan | None:
    return _plan_of(state) if state.get("plan") else None


def trace_of(state: State) -> tuple[TraceEntry, ...]:
    return tuple(TraceEntry.model_validate(entry) for entry in state.get("trace") or [])


def tools_of(plan: Plan) -> str:
    return ", ".join(step.tool or step.kind for step in plan.steps)


def _first(state: State) -> str:
    """Where a question begins; a reading or a plan that is supplied skips the stages before it."""
    return "check" if state.get("plan") else "plan" if state.get("reading") else "route"


Node = TypeVar("Node", bound=Callable[..., Awaitable[Command[str]]])


def _observed(node: Node) -> Node:
    """The node with a span around it. A node that waits for a reply runs again when the reply comes."""
    name = node.__name__.removeprefix("_")

    async def within(state: State, runtime: Runtime[Stage]) -> Command[str]:
        with observed("stage", name=name) as told:
            command = await node(state, runtime)
            if name == "check":
                told["verdict"] = "passed" if isinstance(runtime.context.verdict, Passed) else "refused"
            if name == "check" and isinstance(runtime.context.verdict, Refused):
                told["codes"] = " ".join(sorted({issue.code for issue in runtime.context.verdict.issues}))
            return command

    return cast(Node, within)


@cache
def stages() -> CompiledStateGraph[State, Stage, State, State]:
    """The graph of stages, compiled once; each question copies it with its own checkpointer, if any."""
    graph = StateGraph(State, context_schema=Stage)
    graph.add_node("route", _observed(_route), destinations=("read", END))
    graph.add_node("read", _observed(_read), destinations=("plan", "clarify", END))
    graph.add_node("clarify", _observed(_clarify), destinations=("route", "plan", END))
    graph.add_node("plan", _observed(_plan), destinations=("check", "clarify", END))
    graph.add_node("check", _observed(_check), destinations=("plan", "look", "approve", END))
    graph.add_node("look", _observed(_preview_effects), destinations=("approve", END))
    graph.add_node("approve", _observed(_approve), destinations=("look", "run", END))
    graph.add_node("run", _observed(_run), destinations=("answer",))
    graph.add_node("answer", _observed(_answer), destinations=("plan", "read", END))
    graph.add_conditional_edges(START, _first, ["check", "plan", "route"])
    return graph.compile()


def _stages_with(saver: BaseCheckpointSaver[Any] | None) -> CompiledStateGraph[State, Stage, State, State]:
    return stages().copy({"checkpointer": saver})


@dataclass(frozen=True)
class Reply:
    """A reply to a waiting thread: text for a clarification, yes or no for an approval."""

    value: str | bool


@dataclass(frozen=True)
class Waiting:
    """A thread as its checkpoints describe it: the next stage and the state."""

    stage: str | None
    state: State
    exists: bool
    ended: bool = False

    @property
    def plan(self) -> Plan | None:
        return plan_of(self.state)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the conversation. Turns that this version cannot read are skipped."""
        return tuple(turn for raw in self.state.get("turns") or [] if (turn := Turn.read(raw)))


async def inspect_thread(thread: str, saver: BaseCheckpointSaver[Any]) -> Waiting:
    snapshot = await _stages_with(saver).aget_state(_config(thread))
    exists, stage = bool(snapshot.created_at), next(iter(snapshot.next), None)
    return Waiting(stage, cast(State, snapshot.values), exists, exists and stage is None)


async def last_stage(thread: str, saver: BaseCheckpointSaver[Any]) -> str | None:
    """The checkpoint from which the last stage can be repeated: an outcome holds rows, so no checkpoint keeps it."""
    async for snapshot in _stages_with(saver).aget_state_history(_config(thread)):
        if snapshot.next:
            return str(snapshot.config["configurable"]["checkpoint_id"])
    return None


async def drive(
    given: State | Reply | None,
    stage: Stage,
    thread: str | None = None,
    saver: BaseCheckpointSaver[Any] | None = None,
    checkpoint: str | None = None,
) -> State:
    """Run the stages until the question ends or waits for a reply. With a saver, checkpoint after every stage.

    A run that neither changes anything nor asks a model is checkpointed only when it waits or ends: if its process is
    killed, starting again costs no more than continuing, because rows are in no checkpoint.
    Without a state or a reply, continue the thread where the last process stopped, or from an earlier `checkpoint`.
    """
    state: State = {}
    events = _stages_with(saver).astream(
        Command(resume=given.value) if isinstance(given, Reply) else given,
        _config(thread, checkpoint),
        context=stage,
        stream_mode=["updates", "values"],
        durability=_durability(stage.context) if saver else None,
    )
    with untraced():
        async for mode, event in events:
            if mode == "values":
                state = cast(State, event)
            else:
                updates = cast(Mapping[str, Json | None], event)
                for name in (name for name in updates if not name.startswith("__")):
                    stage.options.on_stage(name)
                    stage.options.on_update(name, updates[name] or {})
    return state


def _durability(context: Context) -> Literal["sync", "exit"]:
    return "sync" if context.has_actions or context.calls else "exit"


def again(state: State) -> State:
    """The initial state of a question that has ended, for a process that needs its outcome."""
    if state["question"]:
        reading = _reading_of(state) if state.get("reading") else None
        fresh = begin(state["run"], _question_of(state), reading) | {"route": state["route"] if reading else None}
    else:
        plan = _plan_of(state)  # its inputs are in place
        fresh = begin(state["run"], reading=_reading_of(state), plan=plan, bounds=bounds_of(state))
    return fresh | {"turns": _turns_before(state)}


def _turns_before(state: State) -> list[Json]:
    """The turns without the one of this question."""
    turns = state.get("turns") or []
    own = bool(turns) and turns[-1]["reading"] == state.get("reading")
    return turns[:-1] if own else turns


def rest(state: State) -> State:
    """The initial state for what a partial run left: the same calls, of which those that were made are not repeated."""
    kept: State = {
        "question": state["question"],
        "route": state["route"],
        "place": state["place"],
        "attempt": state["attempt"],
        "runs": state["runs"] - 1,
        "looked": state["looked"],
        "approved": state["approved"],
        "costly": state.get("costly"),
        "turns": _turns_before(state),
    }
    return begin(state["run"], reading=_reading_of(state), plan=_plan_of(state), bounds=bounds_of(state)) | kept


def waits(state: State) -> bool:
    """Whether the thread stopped to wait for a reply."""
    return "__interrupt__" in state


def _config(thread: str | None, checkpoint: str | None = None) -> RunnableConfig:
    configured = {"thread_id": thread} if thread else {}
    if checkpoint:
        configured["checkpoint_id"] = checkpoint
    return {"configurable": configured, "recursion_limit": MOST_STAGES}
