"""A project: its sources, their schemas and the catalog, wired together; the sync façade stands on it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import date, datetime
from functools import cached_property
from importlib.metadata import entry_points
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from groundplan.answering.answer import refuse
from groundplan.asking.lists.read import read_projects
from groundplan.blocking import Aside
from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check, check_text
from groundplan.checking.parsing import parse
from groundplan.context import Asked, Asking, Planned, Trace, World
from groundplan.contracts.answer import Answer, Outcome, Refusal, Usage
from groundplan.contracts.plan import Plan, Proposal
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.verdict import Passed, Refused, Verdict
from groundplan.errors import UsageError
from groundplan.pipeline import ask, carry_out, plan_for
from groundplan.result import Asked as Shown
from groundplan.running.model import tools as model_tools
from groundplan.settings import Endpoint, cache_folder, state_folder
from groundplan.sources.interface import Source
from groundplan.state.plans import PlanStore
from groundplan.state.threads import Threads
from groundplan.task import unapproved
from groundplan.text.entities import Registry, build_registry

if TYPE_CHECKING:
    from groundplan.llm.cascade import Cascade

__all__ = ["AsyncProject", "Planned", "Project", "load_catalog"]

KNOWLEDGE = "knowledge.yaml"
LOCAL = ("tables", "knowledge")  # sources that are opened by a path
Approve = bool | Callable[[Passed], bool]
Proposed = Proposal | str | bytes
"""A plan with the reading it answers, as a contract or as JSON."""


def load_catalog(sources: Collection[str] | None = None) -> Catalog:
    """The tools of these installed sources, or of every one: the built-in ones come by the same entry point."""
    found = sorted(entry_points(group="groundplan.sources"), key=lambda point: point.name)
    wanted = [point for point in found if sources is None or point.name in sources]
    return Catalog.load([file for point in wanted for file in point.load().tools()], cache=cache_folder())


def _catalog_of(sources: Mapping[str, Source], models: Sequence[Endpoint]) -> Catalog:
    """The tools of the installed sources that are open, those that an open server lists itself, and a model's."""
    catalog = load_catalog(sources)
    listed = [tool for source in sources.values() for tool in getattr(source, "catalog_tools", list)()]
    listed += model_tools.TOOLS if models else ()
    return Catalog.of([*catalog.tools.values(), *listed]) if listed else catalog


def _open_sources(where: Any) -> list[Source]:
    """One place, or the servers of tables [sources.NAME] with a place to work on the rows that they send."""
    if not isinstance(where, Mapping) or not where or not all(isinstance(given, Mapping) for given in where.values()):
        return [_open_source(where)]
    from groundplan.sources.tables.source import Tables

    return [*(_open_server(name, dict(given)) for name, given in where.items()), Tables.scratch()]


def _open_server(name: str, settings: dict[str, Any]) -> Source:
    if name == model_tools.SOURCE:
        raise UsageError(f"[sources.{name}]: a source cannot be called as models are; give it another name")
    if "mcp" in settings:
        from groundplan.sources.mcp.source import Mcp

        return Mcp.open(name, settings)
    known = {point.name: point for point in entry_points(group="groundplan.sources") if point.name not in LOCAL}
    if name not in known:
        raise UsageError(f"[sources.{name}]: there is no such source; there are {', '.join(sorted(known))}")
    opened: Source = known[name].load().open(settings)
    return opened


def _open_source(where: Any) -> Source:
    """A folder with a knowledge.yaml is a knowledge base; everything else holds tables. Both are heavy to import."""
    path = Path(where).expanduser() if isinstance(where, str | PathLike) and "://" not in str(where) else None
    if path is not None and (path.name == KNOWLEDGE or (path / KNOWLEDGE).is_file()):
        from groundplan.sources.knowledge.source import Knowledge

        return Knowledge.open(path)
    from groundplan.sources.tables.source import Tables

    return Tables.open(where)


def _today(timezone: str) -> date:
    try:
        return datetime.now(ZoneInfo(timezone)).date()
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise UsageError(f"there is no time zone {timezone!r}; write one as Europe/Berlin or UTC") from error


def _kept_run(run_id: str) -> Path:
    """Where the plan of a task lies while it runs, for whoever goes on with it."""
    return state_folder() / "runs" / f"{run_id}.json"


def _with_usage(done: Answer | Refusal, world: World) -> Answer | Refusal:
    """With what the plan's own steps asked of models."""
    model = world.sources.get(model_tools.SOURCE)
    if model is None:
        return done
    from groundplan.llm.reply import add

    return done.model_copy(update={"usage": add(done.usage, getattr(model, "usage", Usage()))})


class AsyncProject:
    """Everything that does I/O is awaited; `check` is pure and is not."""

    def __init__(
        self,
        sources: dict[str, Source],
        schemas: dict[str, SourceSchema],
        catalog: Catalog,
        embeddings: str | None = None,
        models: Sequence[Endpoint] = (),
    ) -> None:
        self.sources, self.schemas, self.catalog, self.embeddings = sources, schemas, catalog, embeddings
        self.models = tuple(models)
        self._opened = AsyncExitStack()
        self._cascade: Cascade | None = None

    @classmethod
    async def open(cls, where: Any, embeddings: str | None = None, models: Sequence[Endpoint] = ()) -> Self:
        """A file, a folder, a DuckDB file, an Ibis URL or backend, frames from Python, or a knowledge base.

        Servers such as gitlab are settings by name: {"gitlab": {"url": …, "projects": […], "token_env": …}}.

        `embeddings` names a sentence-transformers model for tools and columns that words alone do not find.
        `models` are language models, the smallest first: asked where words and rules leave something open.
        """
        sources = {source.name: source for source in await asyncio.to_thread(_open_sources, where)}
        schemas = {name: await source.describe() for name, source in sources.items()}
        return cls(sources, schemas, _catalog_of(sources, models), embeddings, models)

    @cached_property
    def world(self) -> World:
        from groundplan.catalog.search.index import open_index
        from groundplan.catalog.search.search import Search
        from groundplan.catalog.search.vectors import SentenceEmbedder

        if self.embeddings is None:
            retriever = Search(open_index(self._searched(), cache_folder()))
            return World(self.catalog, self.sources, self.schemas, retriever, registry=self._registry())
        embedder = SentenceEmbedder(self.embeddings)
        retriever = Search(open_index(self._searched(), cache_folder(), embedder), embedder)

        def meaning(phrase: str, names: Sequence[str]) -> Sequence[float]:
            near = embedder.queries([phrase]) @ embedder.documents(names).T
            return [float(cosine) for cosine in near[0]]

        return World(self.catalog, self.sources, self.schemas, retriever, meaning, registry=self._registry())

    def _searched(self) -> Catalog:
        """The tools that a question's words may find; those of a model are taken by name, by whoever plans a task."""
        if not self.models:
            return self.catalog
        return Catalog.of(tool for tool in self.catalog.tools.values() if tool.source != model_tools.SOURCE)

    def _registry(self) -> Registry | None:
        """The names of a knowledge base or of trackers' projects, found in questions by their words."""
        if not any(schema.knowledge for schema in self.schemas.values()):
            return read_projects(self.schemas.values())
        from groundplan.sources.knowledge.source import Knowledge

        return build_registry(
            row for source in self.sources.values() if isinstance(source, Knowledge) for row in source.entities()
        )

    async def ask(
        self,
        question: str,
        *,
        today: date | None = None,
        timezone: str = "UTC",
        strategy: Asking | None = None,
        thread: str | None = None,
        on_stage: Callable[[str], None] = lambda _: None,
        **running: Any,
    ) -> Outcome:
        """A question in plain words to an answer, a refusal or a question back; a task to what was done.

        Without a `strategy` words and rules come first, and a model is asked where they leave something open;
        `rules` asks no model, `adapt` asks it every time, `direct` makes one typed query of all that one can say,
        `compose` makes a workflow of a task. A `thread` remembers its last questions: `and by month?`, `only the West`,
        `as a table` go on from them. `approve` lets steps with an effect run: yes or no, or whom to ask with the plan.
        """
        threads = Threads(state_folder()) if thread else None
        turns = threads.turns(thread) if threads and thread else ()
        asked = Asked(question, today or _today(timezone), timezone, strategy, turns)
        world, trace = await self._with_models(strategy), Trace(on_stage)
        if world.is_task(strategy):
            return await self._do(asked, world, trace, **running)
        outcome = await ask(asked, world, trace, **running)
        if threads and thread and isinstance(outcome, Answer) and outcome.reading:
            threads.keep(thread, outcome.reading, outcome.plan)
        return outcome

    async def _do(
        self,
        asked: Asked,
        world: World,
        trace: Trace,
        *,
        approve: Approve = False,
        run_id: str | None = None,
        **running: Any,
    ) -> Outcome:
        """A task: planned, approved where it changes something, and run so that every effect happens once."""
        planned = await plan_for(asked, world, trace)
        if planned.ended:
            return planned.ended
        proposal, verdict = planned.response, planned.verdict
        assert isinstance(verdict, Passed)
        if verdict.plan.writes and not (approve(verdict) if callable(approve) else approve):
            return trace.ended(unapproved(verdict.plan, proposal.reading))
        run_id = run_id or uuid.uuid4().hex[:12]
        kept = _kept_run(run_id)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(proposal.model_dump_json(), encoding="utf-8")  # for `groundplan run FILE --resume ID`
        async with self._lasting(run_id) as lasting:
            done = await carry_out(proposal.plan, proposal.reading, world, trace, approve=True, **running, **lasting)
        kept.unlink(missing_ok=True)
        return _with_usage(done, world)

    @asynccontextmanager
    async def _lasting(self, run_id: str, resume: bool = False) -> AsyncIterator[dict[str, Any]]:
        """What a run needs to be gone on with by another process; once it has ended it needs no checkpoints."""
        from groundplan.running.run import sqlite_checkpoints
        from groundplan.state.effects import Effects

        async with sqlite_checkpoints(state_folder() / "runs.sqlite") as saved:
            effects = Effects(state_folder() / "effects.sqlite")
            yield {"run_id": run_id, "resume": resume, "checkpointer": saved, "effects": effects}
            await saved.adelete_thread(run_id)

    async def plan(
        self,
        question: str,
        *,
        today: date | None = None,
        timezone: str = "UTC",
        strategy: Asking | None = None,
    ) -> Planned:
        """A question to its checked plan; nothing is run."""
        asked = Asked(question, today or _today(timezone), timezone, strategy)
        return await plan_for(asked, await self._with_models(strategy), Trace())

    async def _with_models(self, strategy: Asking | None) -> World:
        """The world with its models open, unless the question goes without."""
        if strategy == "adapt" and not self.models:
            raise UsageError("the strategy `adapt` needs a model; name one, or plan with `rules`")
        if strategy == "rules" or not self.models:
            return self.world
        if self._cascade is None:
            from groundplan.llm.cascade import Cascade
            from groundplan.llm.client import Model

            opened = [await self._opened.enter_async_context(Model.open(endpoint)) for endpoint in self.models]
            self._cascade, self.models = Cascade(tuple(opened)), tuple(model.endpoint for model in opened)
        from groundplan.running.model.source import ModelSource

        model = ModelSource(self._cascade, self.catalog.tools, self.sources)
        sources = {**self.sources, model.name: model}
        return replace(self.world, sources=sources, models=self._cascade, store=PlanStore(state_folder()))

    def check(self, proposed: Proposed) -> Verdict:
        if isinstance(proposed, Proposal):
            return check(proposed.plan, proposed.reading, self.catalog, self.schemas)
        return check_text(proposed, self.catalog, self.schemas)

    async def run(
        self,
        proposed: Proposed,
        *,
        run_id: str | None = None,
        resume: bool = False,
        **running: Any,
    ) -> Answer | Refusal:
        """Check and run a proposal. With a `run_id` it leaves checkpoints, and `resume` goes on from them.

        `approve` lets steps with an effect run; `output` is the folder that files may be written to.
        """
        read = proposed if isinstance(proposed, Proposal) else parse(proposed)
        if isinstance(read, Refused):
            return refuse(None, read.issues, ())
        if run_id is None:
            return await self.carry_out(read.plan, read.reading, **running)
        async with self._lasting(run_id, resume) as lasting:
            done = await self.carry_out(read.plan, read.reading, **running, **lasting)
        _kept_run(run_id).unlink(missing_ok=True)
        return done

    async def carry_out(self, plan: Plan, reading: Reading, **running: Any) -> Answer | Refusal:
        """Models are opened only for a plan that asks them."""
        asks = any(step.kind in ("llm", "agent") for step in plan.steps)
        world = await self._with_models(None) if asks else self.world
        return _with_usage(await carry_out(plan, reading, world, Trace(), **running), world)

    async def close(self) -> None:
        await self._opened.aclose()
        for source in self.sources.values():
            await source.close()


class Project:
    """The same for code that does not await; works inside a notebook's running loop too. `aio` is the async one."""

    def __init__(self, where: Any, embeddings: str | None = None, models: Sequence[Endpoint] = ()) -> None:
        self._aside = Aside("groundplan")
        self.aio = self._aside.do(AsyncProject.open(where, embeddings, models))

    @property
    def catalog(self) -> Catalog:
        return self.aio.catalog

    @property
    def schemas(self) -> dict[str, SourceSchema]:
        return self.aio.schemas

    def ask(self, question: str, **options: Any) -> Shown:
        """Ask in plain words; the options are those of `AsyncProject.ask`."""
        return Shown(self._aside.do(self.aio.ask(question, **options)))

    def plan(self, question: str, **options: Any) -> Planned:
        """The checked plan for a question, without running it."""
        return self._aside.do(self.aio.plan(question, **options))

    def check(self, proposed: Proposed) -> Verdict:
        """Whether a plan may run, and if not, every reason why."""
        return self.aio.check(proposed)

    def run(self, proposed: Proposed, **options: Any) -> Shown:
        """Check a plan and run it; the options are those of `AsyncProject.run`."""
        return Shown(self._aside.do(self.aio.run(proposed, **options)))

    def close(self) -> None:
        self._aside.do(self.aio.close())
        self._aside.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
