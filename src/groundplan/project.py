"""A project: open sources, their schemas and the catalog. `Project` is the sync wrapper of `AsyncProject`."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import date, datetime
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack
from weakref import WeakValueDictionary
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import ValidationError

from groundplan.answering.answer import refuse
from groundplan.asking.replies import yes_or_no
from groundplan.asking.route import known_strategy, needs_model
from groundplan.asking.tables.by_hand.change import changed, is_about_tables
from groundplan.asking.tables.by_hand.suggest import suggest
from groundplan.asking.tables.grammar.meanings import with_meanings
from groundplan.blocking import Portal
from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.lazy import LazySearch
from groundplan.checking.gate import check, check_text
from groundplan.checking.parsing import parse
from groundplan.column_settings import ColumnSettings, Place, corrected, described, with_saved
from groundplan.context import Context, Values
from groundplan.contracts.answer import Answer, Clarification, MeantColumn, Outcome, Refusal, refused
from groundplan.contracts.bounds import NO_BOUNDS, Bounds
from groundplan.contracts.contract import Scalar
from groundplan.contracts.conversation import Turn
from groundplan.contracts.defaults import DEFAULTS, Default
from groundplan.contracts.editing import Change, Suggestion
from groundplan.contracts.explanation import Reason
from groundplan.contracts.feedback import Review
from groundplan.contracts.plan import ROWS_WITHOUT_APPROVAL, Plan, Proposal
from groundplan.contracts.proposing import Attempts, ModelAttempt
from groundplan.contracts.question import NO_MODEL, Question
from groundplan.contracts.reading import Kind, Reading
from groundplan.contracts.roles import Roles
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool
from groundplan.contracts.verdict import Refused, Verdict
from groundplan.contracts.verification import Verification
from groundplan.errors import Crashed, GroundplanError, StateInvalid, UsageError, WorldError
from groundplan.own_tools import load_own_tools
from groundplan.pipeline import (
    Reply,
    Stage,
    State,
    Waiting,
    after_reply,
    again,
    begin,
    bounds_of,
    drive,
    inspect_thread,
    last_stage,
    remembered,
    rest,
    waits,
)
from groundplan.result import Planned, Result, plan_for
from groundplan.running.options import AskOptions, Options, PlanOptions, ResumeOptions, RunOptions, RunPlanOptions
from groundplan.settings import Endpoint, cache_folder, state_folder
from groundplan.sources.interface import (
    ComputingSource,
    EntitySource,
    QueriedSource,
    SearchedSource,
    Source,
    TableSource,
    ToolLister,
)
from groundplan.sources.opening import MODEL, load_type, openers, tool_files
from groundplan.state.audit import ONE_PERSON
from groundplan.state.column_settings import SavedSettings
from groundplan.state.database import FILE as DATABASE_FILE
from groundplan.state.database import Database, SQLite
from groundplan.state.effects import Effects
from groundplan.state.feedback import Ratings
from groundplan.state.plans import PlanStore
from groundplan.text.entities import Registry, build_registry

if TYPE_CHECKING:
    import httpx2

    from groundplan.llm.calls import CallsByRole
    from groundplan.llm.cascade import Cascade
    from groundplan.running.checkpoints import Checkpoints
    from groundplan.running.postgres_checkpoints import PostgresCheckpoints

__all__ = ["AsyncProject", "Planned", "Project", "load_catalog"]

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
THREAD_CHARACTERS = 200
MOST_LISTED = 50  # values of a column
QUERY_CHARACTERS = 20_000  # of a query that are looked at for names of tables and values
Proposed = Proposal | str | bytes
"""A plan with the reading it answers, as a contract or as JSON."""


def load_catalog(sources: Collection[str] | None = None) -> Catalog:
    """The tools of these installed sources, or of all installed sources."""
    return Catalog.load(tool_files(sources), cache=cache_folder())


def _catalog_of(sources: Mapping[str, Source], with_model: bool, own: Sequence[Tool] = ()) -> Catalog:
    """The catalog of the open sources: tools from files, those that a source lists once it is open, model tools and
    a project's own."""
    catalog = load_catalog(sources)
    listed = [*own]
    listed += [tool for source in sources.values() if isinstance(source, ToolLister) for tool in source.catalog_tools()]
    listed += load_type(MODEL).catalog_tools() if with_model else []
    return Catalog.of([*catalog.tools.values(), *listed]) if listed else catalog


def _today(timezone: str) -> date:
    try:
        return datetime.now(ZoneInfo(timezone)).date()
    except (ZoneInfoNotFoundError, ValueError, TypeError) as error:
        raise UsageError(f"there is no time zone {timezone!r}; use a name such as Europe/Berlin or UTC") from error


def _question(
    text: str,
    today: date | None,
    timezone: str,
    strategy: str | None,
    bounds: Bounds = NO_BOUNDS,
    inputs: Mapping[str, Scalar] | None = None,
) -> Question:
    try:
        day = today or _today(timezone)
        given = dict(inputs or {})
        return Question(text=text, today=day, timezone=timezone, strategy=strategy, bounds=bounds, inputs=given)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
    raise UsageError(f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg'][0].lower()}{wrong['msg'][1:]}")


def _run_options(given: Options) -> RunOptions:
    unknown = [name for name in given if name not in Options.__annotations__]
    if unknown:
        raise UsageError(f"there is no option {unknown[0]!r}; there are {', '.join(Options.__annotations__)}")
    return RunOptions(**given)


def _text(given: object) -> str | bytes:
    if not isinstance(given, str | bytes):
        raise UsageError(f"a plan is a Proposal or its JSON, not {type(given).__name__}")
    return given


@asynccontextmanager
async def _typed() -> AsyncIterator[None]:
    """Callers see errors of groundplan only; the original is the cause."""
    try:
        yield
    except GroundplanError:
        raise
    except OSError as error:
        raise WorldError(f"{error.filename or 'the system'}: {error.strerror or type(error).__name__}") from error
    except Exception as error:
        raise Crashed.by(error) from error


def _run_id(given: str) -> str:
    if not isinstance(given, str) or not RUN_ID.fullmatch(given):
        raise UsageError(
            f"{str(given)[:80]!r} is not a run id; use at most 64 letters, digits, dots, hyphens and underscores"
        )
    return given


def _thread(given: str) -> str:
    if not isinstance(given, str) or not 0 < len(given) <= THREAD_CHARACTERS or not given.isprintable():
        raise UsageError(f"name a conversation in at most {THREAD_CHARACTERS} characters that can be printed")
    return given


def conversation_place(tenant: str, thread: str) -> str:
    """Its name among the checkpoints: never that of a run, which a conversation of the same name would take over."""
    return f"{tenant}/conversation/{thread}" if tenant else f"conversation/{thread}"


def run_place(tenant: str, run: str) -> str:
    """The name of a run among the checkpoints of all tenants; no id of a run has a slash."""
    return f"{tenant}/{run}" if tenant else run


def _refuse_shared_names(schemas: Mapping[str, SourceSchema]) -> None:
    """Table names must be unique across sources, because questions name tables and not sources."""
    holding: dict[str, str] = {}
    for name, schema in schemas.items():
        for table in schema.tables:
            other = holding.setdefault(table.name, name)
            if other != name:
                raise UsageError(f"{other} and {name} both have a table {table.name!r}; rename one of them")


def _tables_in(plan: Plan) -> tuple[str, ...]:
    """The names in the params of a plan's steps, its tables among them."""
    return tuple(value for step in plan.steps for value in step.params.values() if isinstance(value, str))


def _tables_of(asked: Clarification) -> tuple[str, ...]:
    """The tables of the readings to choose from."""
    return tuple(dict.fromkeys(table for reading in asked.readings for table in reading.tables))


def _named_in(waiting: Waiting) -> tuple[str, ...]:
    """Texts that name the tables a thread is about: of its question, its plan, and what it asks back."""
    asked = waiting.state.get("clarification")
    offered = _tables_of(Clarification.model_validate(asked)) if asked else ()
    planned = _tables_in(waiting.plan) if waiting.plan else ()
    return (str(waiting.state.get("question", "")), *planned, *offered)


class AsyncProject:
    """The async API. Everything that does I/O is awaited; `check` is pure and synchronous."""

    def __init__(
        self,
        sources: dict[str, Source],
        schemas: dict[str, SourceSchema],
        catalog: Catalog,
        embeddings: str | None = None,
        models: Sequence[Endpoint] = (),
        columns: Mapping[str, ColumnSettings] | None = None,
        database: Database | None = None,
        roles: Roles | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        rows_without_approval: int = ROWS_WITHOUT_APPROVAL,
    ) -> None:
        self.rows_without_approval = rows_without_approval
        self.columns, self.roles = columns or {}, roles or Roles()
        self._transport = transport
        self._database = database
        self.sources, self.schemas, self.catalog, self.embeddings = sources, schemas, catalog, embeddings
        self._found, self._saved = schemas, dict[Place, ColumnSettings]()
        self._data = ""  # what the data is called in the database of this machine
        self.models = tuple(models)
        self.strategy: str | None = None  # the planner to try first, where a question names none
        self.timezone = "UTC"  # where a question of the service names none
        self.notes: list[str] = []  # remarks for the user about this project
        self._opened = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._cascade: Cascade | None = None
        self._checkpoints: Checkpoints | PostgresCheckpoints | None = None
        self._threads: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @classmethod
    @_typed()
    async def open(
        cls,
        where: Any,
        embeddings: str | None = None,
        models: Sequence[Endpoint] = (),
        columns: Mapping[str, ColumnSettings] | None = None,
        database: Database | None = None,
        roles: Roles | None = None,
        files: Sequence[Any] = (),
        transport: httpx2.AsyncBaseTransport | None = None,
        tools: Mapping[str, bytes] | None = None,
        rows_without_approval: int = ROWS_WITHOUT_APPROVAL,
    ) -> Self:
        """Open a file, a folder, a DuckDB file, a Postgres URL, an Ibis backend, data frames, or a knowledge base.

        Servers such as GitLab are given by name: {"gitlab": {"url": …, "projects": […], "token_env": …}}.

        `embeddings` names a sentence-transformers model that helps find tools and columns when words do not match.
        `models` are language models, smallest first. They are called only when rules cannot settle a question.
        `columns` says what columns mean and what else they are called, by `column` or `table.column`.
        `database` holds plans, effects and checkpoints; by default a SQLite file in the state folder.
        `roles` says what the models are used for and how much of them, as the table [roles] of groundplan.toml does.
        `files` are database files whose tables are added (`AttachedFile`).
        `transport` carries the calls of the models: one that replays or records their replies.
        `tools` are YAML and Python files with tools of your own, by their names. The Python files are run as code.
        `rows_without_approval`: a plan that would read more rows, as the engines estimate them, has to be approved.
        """
        own, functions = load_own_tools(tools or {})
        sources: dict[str, Source] = {}
        try:
            for opener in openers(where, files):
                source = await asyncio.to_thread(opener)
                sources[source.name] = source
            schemas = {name: await source.describe() for name, source in sources.items()}
            _refuse_shared_names(schemas)
            schemas = described(schemas, columns or {})
            catalog = _catalog_of(sources, bool(models), own)
            for computing in (source for source in sources.values() if isinstance(source, ComputingSource)):
                computing.add_functions(functions)
            given = (embeddings, models, columns, database, roles, transport, rows_without_approval)
            project = cls(sources, schemas, catalog, *given)
            await project._know_names(_data_at(where))
        except BaseException:
            for source in sources.values():
                await source.close()
            raise
        return project

    def apply(self, saved: Mapping[Place, ColumnSettings]) -> None:
        """Use these settings of columns from the next question on, instead of those applied before."""
        if saved != self._saved:
            self._saved = {**saved}
            self.schemas = {name: with_saved(schema, saved) for name, schema in self._found.items()}

    async def _know_names(self, data: str) -> None:
        """Use the names of columns that were remembered for this data on this machine."""
        if self._database is None and data:
            self._data = data
            if (state_folder() / DATABASE_FILE).exists():
                self.apply(await self._settings().list())

    def _settings(self) -> SavedSettings:
        """The settings of columns of the tenant; on one machine, those of the data at one place."""
        return SavedSettings(self._database or self.database.of(self._data))

    async def remember(self, column: MeantColumn, word: str) -> str:
        """Give a column another name, from the next question on. Returns a remark about it."""
        place = (column.table, column.column)
        known = self._saved.get(place, ColumnSettings())
        try:
            called = tuple(dict.fromkeys((*known.called, word)))
            settings = ColumnSettings.model_validate({**known.model_dump(), "called": called})
            if self._database or self._data:
                await self._settings().put(place, settings)
        except (ValidationError, UsageError) as error:
            return f"{word!r} was not remembered: {str(error).splitlines()[-1].strip()}"
        self.apply({**self._saved, place: settings})
        lasting = "" if self._database or self._data else ", until the project is closed"
        return f"{word!r} is remembered as {column.column}{lasting}"

    async def forget_name(self, word: str) -> bool:
        """Take back a name that was remembered. False if no column has it."""
        having = {place: settings for place, settings in self._saved.items() if word in settings.called}
        for place, settings in having.items():
            left = settings.model_copy(update={"called": tuple(name for name in settings.called if name != word)})
            if self._database or self._data:
                await self._settings().put(place, left)
            self.apply({**self._saved, place: left})
        return bool(having)

    @_typed()
    async def ask(
        self,
        question: str,
        *,
        today: date | None = None,
        timezone: str = "UTC",
        strategy: str | None = None,
        thread: str | None = None,
        run_id: str | None = None,
        bounds: Bounds = NO_BOUNDS,
        inputs: Mapping[str, Scalar] | None = None,
        **options: Unpack[Options],
    ) -> Outcome:
        """Answer a question or do a task. The outcome is an answer, a refusal or a clarification.

        `strategy`: by default rules plan first, and a model is called only if they cannot. `rules` never calls a model,
        `adapt` always does, `compose` plans a workflow for a task.
        `thread`: a conversation. Follow-ups such as `and by month?`, `only the West`, `as a table` refer to its last
        question, and a reply to a clarification completes the question that waits there.
        `approve`: whether steps with an effect may run: a bool, or a function that receives the plan.
        `output`: the folder to which files may be written.
        `bounds`: what else the caller allows: which tools, and how many steps, items, seconds and tokens.
        `inputs`: values for a task by their names, which it need not say itself.
        `on_stage`, `on_progress`, `on_run`: callbacks for progress.
        """
        asked = _question(question, today, timezone, strategy, bounds, inputs)
        run_id = None if run_id is None else _run_id(run_id)
        thread = None if thread is None else _thread(thread)
        stage = await self._stage(strategy, _run_options(options), bounds)
        if thread is None:
            stage.context = replace(stage.context, schemas=await self._schemas_about(question))
            return await self._drive_once(begin(run_id or uuid.uuid4().hex[:12], asked), stage, lasting=bool(run_id))
        async with self._threads.setdefault(thread, asyncio.Lock()):
            saver, place = await self._open_checkpoints(), self._conversation(thread)
            waiting = await inspect_thread(place, saver)
            said = [turn.reading.question for turn in waiting.turns]
            schemas = await self._schemas_about(question, *said, *_named_in(waiting))
            stage.context = replace(stage.context, turns=waiting.turns, schemas=schemas)
            given = _next(waiting, asked) if run_id is None else begin(run_id, asked)
            await self._drive_thread(given, stage, place)
        return _ended(stage)

    async def _drive_thread(
        self, given: State | Reply | None, stage: Stage, place: str, checkpoint: str | None = None
    ) -> None:
        saver = await self._open_checkpoints()
        await drive(given, stage, place, saver, checkpoint)
        with suppress(StateInvalid):  # only tidies up: the outcome is there
            await saver.keep_latest(place)

    @_typed()
    async def reply(
        self,
        asked: Clarification,
        reply: str,
        *,
        today: date | None = None,
        timezone: str = "UTC",
        strategy: str | None = None,
        bounds: Bounds = NO_BOUNDS,
        inputs: Mapping[str, Scalar] | None = None,
        **options: Unpack[Options],
    ) -> Outcome:
        """Reply to a clarification that was asked outside a conversation; the options are those of `ask`.

        In a conversation, the reply is the next question of the thread.
        """
        before = _question(asked.question, today, timezone, strategy, bounds, inputs)
        stage = await self._stage(strategy, _run_options(options), bounds)
        given = after_reply(before, asked, reply, uuid.uuid4().hex[:12])
        if isinstance(given, Refusal):
            stage.ended(begin("", before), given)
            return _ended(stage)
        schemas = await self._schemas_about(asked.question, reply, *_tables_of(asked))
        stage.context = replace(stage.context, schemas=schemas)
        given = await remembered(given, asked, reply, stage.context)
        return await self._drive_once(given, stage)

    async def _drive_once(self, given: State, stage: Stage, *, lasting: bool = False) -> Outcome:
        """Ask outside a conversation. If the run may have effects, checkpoint it so that it can be resumed."""
        if lasting or stage.context.has_actions:
            await self._drive_lasting(given, stage, given["run"])
        else:
            await drive(given, stage)
        return _ended(stage)

    async def _drive_lasting(
        self, given: State | Reply | None, stage: Stage, run: str, checkpoint: str | None = None
    ) -> None:
        """Run with checkpoints, and delete them when the run has ended. A run that waits or is partial keeps them."""
        saver, place = await self._open_checkpoints(), self._place(run)
        stage.options.on_run(run)
        state = await drive(given, stage, place, saver, checkpoint)
        if not waits(state) and not state.get("partial"):
            with suppress(StateInvalid):  # only tidies up: the outcome is there
                await saver.adelete_thread(place)

    def _place(self, run: str) -> str:
        return run_place(self.database.tenant, run)

    def _conversation(self, thread: str) -> str:
        return conversation_place(self.database.tenant, _thread(thread))

    async def forget(self, run_id: str) -> None:
        """Delete the checkpoints of a run that will not be resumed."""
        await (await self._open_checkpoints()).adelete_thread(self._place(_run_id(run_id)))

    @_typed()
    async def resume(
        self,
        run_id: str,
        *,
        reply: str | None = None,
        reply_to: str | None = None,
        thread: str | None = None,
        **options: Unpack[Options],
    ) -> Outcome:
        """Continue a run that was interrupted, or that waits for approval or for a `reply` to its clarification.

        Without the reply that it waits for, it asks its question again. The plan passes the gate again. Finished steps
        do not run again, and no effect happens twice. A run that ended as partial tries what failed. `reply_to` is the
        text of the clarification that was replied to: the reply is not used for another one. `thread` is the
        conversation in which the run was started.
        """
        saver, place = (
            await self._open_checkpoints(),
            self._place(_run_id(run_id)) if thread is None else self._conversation(thread),
        )
        waiting = await inspect_thread(place, saver)
        if not waiting.exists or (thread is not None and waiting.state.get("run") != run_id):
            raise StateInvalid(f"there is no run {run_id!r} to resume")
        if waiting.stage == "clarify":
            asked = Clarification.model_validate(waiting.state["clarification"])
            if reply is None or reply_to not in (None, asked.text):
                return asked
        given: State | Reply | None = Reply(reply) if waiting.stage == "clarify" and reply else None
        partial = waiting.ended and bool(waiting.state.get("partial"))
        repeated = await last_stage(place, saver) if waiting.ended and not partial else None
        if waiting.ended and repeated is None:  # its earlier checkpoints are gone, or something is left to do
            given = rest(waiting.state) if partial else again(waiting.state)
            waiting = replace(waiting, state=given)
        asks_model = waiting.plan is None or any(step.kind in ("llm", "agent") for step in waiting.plan.steps)
        bounds = bounds_of(waiting.state)
        stage = await self._stage(None if asks_model else NO_MODEL, _run_options(options), bounds)
        turns = waiting.turns if thread else ()
        stage.context = replace(stage.context, turns=turns, schemas=await self._schemas_about(*_named_in(waiting)))
        if thread is None:
            await self._drive_lasting(given, stage, run_id, repeated)
        else:
            await self._drive_thread(given, stage, place, repeated)
        return _ended(stage)

    async def turns(self, thread: str) -> tuple[Turn, ...]:
        """The last turns of a conversation, oldest first."""
        return (await inspect_thread(self._conversation(thread), await self._open_checkpoints())).turns

    @_typed()
    async def plan(
        self,
        question: str,
        *,
        today: date | None = None,
        timezone: str = "UTC",
        strategy: str | None = None,
        bounds: Bounds = NO_BOUNDS,
        inputs: Mapping[str, Scalar] | None = None,
        on_stage: Callable[[str], None] = lambda _: None,
        on_attempt: Callable[[ModelAttempt], None] = lambda _: None,
    ) -> Planned:
        """Plan a question and check the plan, without running it. `bounds` is what the caller allows.

        `inputs` are those that a task takes; their values are given anew whenever the plan runs.
        `on_stage`, `on_attempt`: callbacks for progress.
        """
        asked = _question(question, today, timezone, strategy, bounds, inputs)
        context = (await self._stage(strategy, RunOptions(), bounds)).context
        context = replace(context, schemas=await self._schemas_about(question), attempts=Attempts(on_attempt))
        return await plan_for(asked, context, on_stage=on_stage)

    @_typed()
    async def plan_beside(
        self,
        question: str,
        *,
        today: date,
        timezone: str = "UTC",
        strategy: str | None = None,
        turns: Sequence[Turn] = (),
        bounds: Bounds = NO_BOUNDS,
        inputs: Mapping[str, Scalar] | None = None,
    ) -> Planned:
        """Plan a question that another variant answers, after these turns of its conversation. Nothing is stored.

        Read as when it is answered: rows of two readings may be compared. No step with an effect runs.
        """
        asked = _question(question, today, timezone, strategy, bounds, inputs)
        stage = await self._stage(strategy, RunOptions(), bounds)
        schemas = await self._schemas_about(question, *(turn.reading.question for turn in turns))
        context = replace(stage.context, schemas=schemas, turns=tuple(turns), keeps_plans=False)
        return await plan_for(asked, context, sources=stage.sources)

    @_typed()
    async def prompt(self, question: str, *, today: date | None = None) -> str:
        """Exactly what a model would be sent for a question about tables. Nothing is sent."""
        from groundplan.asking.tables.model.context import asked_of, prompt_for

        asked = _question(question, today, "UTC", NO_MODEL)
        context = (await self._stage(NO_MODEL, RunOptions())).context
        context = replace(context, schemas=await self._schemas_about(question), plans=PlanStore(self.database))
        values = await context.find_values(question)
        return prompt_for(await asked_of(asked, context, values, share_values=(self.roles or Roles()).share_values))

    @_typed()
    async def derivation(self, question: str, *, today: date | None = None, timezone: str = "UTC") -> str:
        """How the grammar reads a question about tables: senses, phrases and rules, or what does not compose."""
        from groundplan.asking.tables.grammar.derivation import derivation

        asked = _question(question, today, timezone, NO_MODEL)
        context = (await self._stage(NO_MODEL, RunOptions())).context
        context = replace(context, schemas=await self._schemas_about(question))
        values = await context.find_values(question)
        return "\n".join(derivation(question, context.tables, values, asked.today, asked.timezone))

    @_typed()
    async def change(self, reading: Reading, changes: Sequence[Change] = (), *, today: date | None = None) -> Planned:
        """Plan a reading with changes made by hand, and check the plan. Only readings about tables can be changed;
        others come back with a refusal."""
        if not is_about_tables(reading):
            problem = "only questions about tables are changed part by part"
            return Planned(reading, ended=refused("reading/not-tables", problem, "ask the question in other words"))
        edited = changed(reading, changes, await self._assumed(reading)) if changes else reading
        asked = _question(reading.question, today, "UTC", NO_MODEL)
        context = (await self._stage(NO_MODEL, RunOptions())).context
        schemas = await self._schemas_about(reading.question, *edited.tables)
        return await plan_for(asked, replace(context, schemas=schemas), edited)

    @_typed()
    async def suggest(
        self,
        reading: Reading,
        requirement: str | None = None,
        *,
        kind: Kind | None = None,
        search: str = "",
        today: date | None = None,
    ) -> tuple[Suggestion, ...]:
        """What a part of a reading could be instead; without a requirement, what of this kind could be added."""
        if not is_about_tables(reading):
            return ()
        context = (await self._stage(NO_MODEL, RunOptions())).context
        schemas = await self._schemas_about(reading.question, search, *reading.tables)
        tables = replace(context, schemas=schemas).schema_of(reading)
        values = await context.find_values(search)
        day = today or _today("UTC")
        return suggest(reading, tables, values, today=day, requirement=requirement, kind=kind, search=search)

    @_typed()
    async def verify(
        self, question: str, sql: str, *, today: date | None = None, timezone: str = "UTC"
    ) -> Verification:
        """What a SELECT that somebody else wrote asks, and what is wrong with it. Nothing of it is executed."""
        from groundplan.asking.tables.sql.verify import verify

        if not isinstance(sql, str):
            raise UsageError(f"a query is text, not {type(sql).__name__}")
        asked = _question(question, today, timezone, None)
        schema = await self._schema_for(question, sql)
        values = await self._values_finder(set())(f"{question} {sql[:QUERY_CHARACTERS]}")
        return verify(asked.text, sql, schema, values, today=asked.today, timezone=asked.timezone)

    @_typed()
    async def review(
        self, run_id: str, *, reading: Reading | None = None, sql: str | None = None, actor: str = ONE_PERSON
    ) -> Reading:
        """Say how the question of a bad answer is read rightly: as this reading, as this SELECT, or as it was read.

        The pair becomes an approved example, which models see, and an item of the tenant's own regression set.
        """
        ratings = Ratings(self.database)
        review = await ratings.get(run_id)
        right = reading or (await self._read_as_sql(review, sql) if sql else review.reading)
        if right is None:
            raise UsageError(f"run {run_id} has no reading; say how it is read rightly, as a SELECT or a reading")
        right = right.model_copy(update={"question": review.question})
        context = (await self._stage(NO_MODEL, RunOptions())).context
        context = replace(context, schemas=await self._schemas_about(review.question, *right.tables))
        planned = await plan_for(_question(review.question, review.today, "UTC", NO_MODEL), context, right)
        if planned.plan is None or planned.ended or isinstance(planned.verdict, Refused):
            raise UsageError(f"this reading cannot be planned: {planned.why or _first_problem(planned)}")
        store = PlanStore(self.database)
        await store.keep(context.plan_key(right), review.question, right, planned.plan, approved=True)
        await ratings.settle(review, right, actor)
        return right

    async def _read_as_sql(self, review: Review, sql: str) -> Reading:
        found = await self.verify(review.question, sql, today=review.today)
        if found.reading is None or found.result == "faulty":
            faults = [finding.problem for finding in found.findings] or [*found.unverified]
            raise UsageError(f"this query is not what the question asks: {'; '.join(faults)[:500]}")
        return found.reading

    async def _schema_for(self, question: str, sql: str) -> SourceSchema:
        """The source whose tables a query names; all of its tables, those described in full first."""
        text = sql[:QUERY_CHARACTERS].casefold()
        tabled = [schema for schema in self.schemas.values() if schema.tables]
        if not tabled:
            raise UsageError("there are no tables that a query could be about")
        chosen = max(tabled, key=lambda schema: sum(table.name.casefold() in text for table in schema.tables))
        full = (await self._schemas_about(question, text))[chosen.source]
        rest = (table for table in chosen.tables if full.find(table.name) is None)
        return full.model_copy(update={"tables": (*full.tables, *rest)})

    async def explain(self, question: str, **options: Any) -> tuple[Reason, ...]:
        """Why these steps: each requirement with the words that ask for it and the steps that serve it."""
        return (await self.plan(question, **options)).reasons

    async def describe(self) -> dict[str, SourceSchema]:
        """The schemas with the meaning of each column: given by a person, or inferred from names and values."""
        values = await self._values_finder(set())("")
        return {
            name: schema.model_copy(
                update={"tables": tuple(with_meanings(table, values.get(table.name, {})) for table in schema.tables)}
            )
            for name, schema in self.schemas.items()
        }

    async def few_values(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """By table and column, the values of categories that have few; none where values are not to be shared."""
        if not (self.roles or Roles()).share_values:
            return {}
        known = await self._values_finder(set())("")
        tables = [table for schema in (await self.describe()).values() for table in schema.tables]
        return {
            table.name: {
                column.name: values
                for column in table.columns
                if column.meaning in ("category", "flag")
                and 0 < len(values := known.get(table.name, {}).get(column.name, ())) <= MOST_LISTED
            }
            for table in tables
        }

    def check(self, proposed: Proposed) -> Verdict:
        if isinstance(proposed, Proposal):
            return check(proposed.plan, proposed.reading, self.catalog, self.schemas)
        return check_text(_text(proposed), self.catalog, self.schemas)

    @_typed()
    async def run(
        self,
        proposed: Proposed,
        *,
        run_id: str | None = None,
        thread: str | None = None,
        bounds: Bounds = NO_BOUNDS,
        inputs: Mapping[str, Scalar] | None = None,
        **options: Unpack[Options],
    ) -> Answer | Refusal:
        """Check a proposal and run it. With a `run_id` the run is checkpointed, so that `resume` can continue it.

        `thread`: a conversation, whose next question may follow up on this one.

        `approve` allows steps with an effect; `output` is the folder to which files may be written; `bounds` is what
        else the caller allows; `inputs` are the values that the plan takes, by name.
        """
        read = proposed if isinstance(proposed, Proposal) else parse(_text(proposed))
        if isinstance(read, Refused):
            return refuse(None, read.issues, ())
        asks_model = any(step.kind in ("llm", "agent") for step in read.plan.steps)
        stage = await self._stage(None if asks_model else NO_MODEL, _run_options(options), bounds)
        stage.context = replace(stage.context, schemas=await self._schemas_about(*_tables_in(read.plan)))
        run = _run_id(uuid.uuid4().hex if run_id is None else run_id)
        given = begin(run, reading=read.reading, plan=read.plan, bounds=bounds, inputs=inputs or {})
        if thread is not None:
            async with self._threads.setdefault(_thread(thread), asyncio.Lock()):
                await self._drive_thread(given, stage, self._conversation(thread))
        elif run_id is None:
            await drive(given, stage)
        else:
            await self._drive_lasting(given, stage, run_id)
        outcome = _ended(stage)
        assert isinstance(outcome, Answer | Refusal), "a supplied plan needs no clarification"
        return outcome

    async def _stage(self, strategy: str | None, options: RunOptions, bounds: Bounds = NO_BOUNDS) -> Stage:
        """The live objects for one question. Models are opened unless the strategy uses none."""
        for name in (*bounds.allow, *bounds.forbid):
            if name not in self.catalog.tools and name not in self.sources and name != MODEL:
                raise UsageError(
                    f"there is no tool or source {name!r} to allow or forbid; see `groundplan catalog list`"
                )
        if strategy:
            known_strategy(strategy)
        if needs_model(strategy) and not self.models:
            raise UsageError(f"the strategy `{strategy}` needs a model; name one, or plan with `{NO_MODEL}`")
        calls, sources = await self._calls(strategy, bounds), self.sources
        if calls:
            model = load_type(MODEL).open((calls.of("write"), self.catalog.tools, self.sources), MODEL)
            sources = {**sources, model.name: model}
        unread = set[str]()
        context = Context(
            catalog=self.catalog,
            schemas=self.schemas,
            find_values=self._values_finder(unread),
            unread=unread,
            compilers={name: one.compiled for name, one in self.sources.items() if isinstance(one, QueriedSource)},
            retriever=self._search,
            nearness=self._search.nearness if self._search.has_embeddings else None,
            registry=self._registry,
            remember=self.remember,
            plans=PlanStore(self.database) if calls else None,
            calls=calls,
            notes=[*self.notes],
            rows_without_approval=self.rows_without_approval,
        )
        return Stage(context, sources, options, Effects(self.database))

    async def _schemas_about(self, *texts: str) -> dict[str, SourceSchema]:
        """The schemas, with only the tables that a question may be about where a source has many."""
        found = {}
        for name, schema in self.schemas.items():
            source = self.sources[name]
            if isinstance(source, SearchedSource):
                schema = with_saved(corrected(await source.about(" ".join(texts)), self.columns), self._saved)
            found[name] = schema
        return found

    async def _assumed(self, reading: Reading) -> tuple[Default, ...]:
        """The defaults that are not switched off for the table that a reading is about."""
        schemas = await self._schemas_about(reading.question, *reading.tables)
        tables = [table for schema in schemas.values() if (table := schema.find(next(iter(reading.tables), "")))]
        return tables[0].assume if tables else DEFAULTS

    async def _calls(self, strategy: str | None, bounds: Bounds) -> CallsByRole | None:
        if strategy == NO_MODEL or not self.models:
            return None
        from groundplan.llm.calls import CallsByRole

        async with self._opening:
            if self._cascade is None:
                from groundplan.llm.cascade import Cascade
                from groundplan.llm.client import Model

                entered = (Model.open(endpoint, self._transport) for endpoint in self.models)
                opened = [await self._opened.enter_async_context(model) for model in entered]
                self._cascade, self.models = Cascade(tuple(opened)), tuple(model.endpoint for model in opened)
        return CallsByRole(self._cascade, bounds.roles(self.roles or Roles()), bounds.tokens)

    @property
    def database(self) -> Database:
        return self._database or SQLite(state_folder())

    async def _open_checkpoints(self) -> Checkpoints | PostgresCheckpoints:
        async with self._opening:
            if self._checkpoints is None:
                from groundplan.running.checkpoints import open_checkpoints

                opening = asyncio.ensure_future(open_checkpoints(self.database))
                try:
                    await asyncio.shield(opening)
                finally:  # also for a caller that is cancelled: nobody else would close it
                    self._checkpoints = await opening
                    self._opened.push_async_callback(self._checkpoints.close)
        return self._checkpoints

    def _values_finder(self, unread: set[str]) -> Callable[[str], Any]:
        """A function that finds the values a text may name, in every source. Results are cached by text.

        Tables with values that could not be read in time are added to `unread`.
        """
        known: dict[str, Values] = {}

        async def find(text: str) -> Values:
            if text not in known:
                found: dict[str, Mapping[str, tuple[str, ...] | None]] = {}
                for source in self.sources.values():
                    found |= await source.values(text) if isinstance(source, TableSource) else {}
                unread.update(table for table, columns in found.items() if None in columns.values())
                known[text] = {
                    table: {name: values for name, values in columns.items() if values is not None}
                    for table, columns in found.items()
                }
            return known[text]

        return find

    @cached_property
    def _search(self) -> LazySearch:
        """Search over all tools except model tools, which plans call by name."""
        searched = self.catalog
        if self.models:
            searched = Catalog.of(tool for tool in self.catalog.tools.values() if tool.source != MODEL)
        return LazySearch(searched, cache_folder(), self.embeddings, self.notes)

    @cached_property
    def _registry(self) -> Registry | None:
        """The names in a knowledge base."""
        named = [source for source in self.sources.values() if isinstance(source, EntitySource)]
        rows = [row for source in named for row in source.entities()]
        return build_registry(rows) if any(schema.knowledge for schema in self.schemas.values()) else None

    async def close(self) -> None:
        await self._opened.aclose()
        for source in self.sources.values():
            await source.close()


def _data_at(where: object) -> str:
    """What data is called in the database of this machine: by its place; empty for data frames and the like."""
    if not isinstance(where, str | Path):
        return ""
    place = str(where) if "://" in str(where) else str(Path(where).resolve())
    return f"data-{blake2b(place.encode(), digest_size=8).hexdigest()}"


def _next(waiting: Waiting, asked: Question) -> State | Reply:
    """The input for a thread: a reply if it waits for one, else a new question."""
    if waiting.stage == "clarify":
        return Reply(asked.text)
    if waiting.stage == "approve" and (approved := yes_or_no(asked.text)) is not None:
        return Reply(approved)
    return begin(uuid.uuid4().hex[:12], asked)


def _first_problem(planned: Planned) -> str:
    return (
        planned.verdict.issues[0].problem if planned.verdict and planned.verdict.issues else "there is no plan for it"
    )


def _ended(stage: Stage) -> Outcome:
    assert stage.outcome is not None, "every path through the stages ends in an outcome"
    return stage.outcome


class Project:
    """The sync API. It also works in notebooks, where an event loop is already running. `aio` is the async project."""

    def __init__(
        self,
        where: Any,
        embeddings: str | None = None,
        models: Sequence[Endpoint] = (),
        columns: Mapping[str, ColumnSettings] | None = None,
        roles: Roles | None = None,
        tools: Mapping[str, bytes] | None = None,
        rows_without_approval: int = ROWS_WITHOUT_APPROVAL,
    ) -> None:
        self._portal = Portal("groundplan")
        try:
            more: dict[str, Any] = {"tools": tools, "rows_without_approval": rows_without_approval}
            opening = AsyncProject.open(where, embeddings, models, columns, roles=roles, **more)
            self.aio = self._portal.call(opening)
        except BaseException:
            self._portal.stop()
            raise

    @property
    def catalog(self) -> Catalog:
        return self.aio.catalog

    @property
    def schemas(self) -> dict[str, SourceSchema]:
        return self.aio.schemas

    def ask(self, question: str, **options: Unpack[AskOptions]) -> Result:
        """Answer a question or do a task; the options are those of `AsyncProject.ask`."""
        return self._result(self._portal.call(self.aio.ask(question, **options)), options)

    def _result(self, outcome: Outcome, options: AskOptions) -> Result:
        """The outcome, and how a choice goes on: as the next question of the thread, or with the reading alone."""

        def reply(said: str) -> Result:
            assert isinstance(outcome, Clarification)
            if options.get("thread"):
                return self.ask(said, **options)
            more: Any = {name: value for name, value in options.items() if name not in ("thread", "run_id")}
            return self._result(self._portal.call(self.aio.reply(outcome, said, **more)), options)

        return Result(outcome, reply)

    def plan(self, question: str, **options: Unpack[PlanOptions]) -> Planned:
        """The checked plan for a question, without running it."""
        return self._portal.call(self.aio.plan(question, **options))

    def explain(self, question: str, **options: Unpack[PlanOptions]) -> tuple[Reason, ...]:
        """Why these steps: each requirement with the words that ask for it and the steps that serve it."""
        return self.plan(question, **options).reasons

    def derivation(self, question: str, *, today: date | None = None, timezone: str = "UTC") -> str:
        """How the grammar reads a question about tables: senses, phrases and rules, or what does not compose."""
        return self._portal.call(self.aio.derivation(question, today=today, timezone=timezone))

    def verify(self, question: str, sql: str, *, today: date | None = None, timezone: str = "UTC") -> Verification:
        """What a SELECT that somebody else wrote asks, and what is wrong with it."""
        return self._portal.call(self.aio.verify(question, sql, today=today, timezone=timezone))

    def forget_name(self, word: str) -> bool:
        """Take back a name of a column that a reply had remembered. False if no column has it."""
        return self._portal.call(self.aio.forget_name(word))

    def describe(self) -> dict[str, SourceSchema]:
        """The schemas with the meaning of each column: given by a person, or inferred from names and values."""
        return self._portal.call(self.aio.describe())

    def check(self, proposed: Proposed) -> Verdict:
        """Check whether a plan may run; a refusal lists every reason."""
        return self.aio.check(proposed)

    def run(self, proposed: Proposed, **options: Unpack[RunPlanOptions]) -> Result:
        """Check a plan and run it; the options are those of `AsyncProject.run`."""
        return Result(self._portal.call(self.aio.run(proposed, **options)))

    def resume(self, run_id: str, **options: Unpack[ResumeOptions]) -> Result:
        """Continue a run that was interrupted or that waits; the options are those of `AsyncProject.resume`."""
        outcome = self._portal.call(self.aio.resume(run_id, **options))
        replied = ResumeOptions(**options)

        def reply(said: str) -> Result:
            replied.update({"reply": said, "reply_to": None})
            return self.resume(run_id, **replied)

        return Result(outcome, reply)

    def close(self) -> None:
        self._portal.call(self.aio.close())
        self._portal.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
