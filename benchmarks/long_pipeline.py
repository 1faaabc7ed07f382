"""The long way to an answer, as a baseline: route, plan, schema, build, check, run, answer, one after the other.

It is made of groundplan's own parts, so that only the order and the number of calls differ:

- a model is asked to route, to plan, to build the query and to choose the answer's sentences, one call for each;
- the schema is fetched for every question, known or not;
- no earlier query is used again.

It is given the best of luck. Whatever its models say, the question goes on in the words that a perfect planner would
have written (`restated`), read by the grammar; members of fields stay known when the schema is read again; nothing has
to be tried twice. Without a model the same steps are taken without the calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from groundplan.answering.answer import refuse
from groundplan.asking.tables import plan as by_rules
from groundplan.asking.tables.one_query import Inexpressible, with_query
from groundplan.asking.tables.route import read_plain
from groundplan.contracts.answer import Clarification, Outcome, Refusal, TraceEntry
from groundplan.contracts.contract import Contract
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Proposal
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.llm.calls import Calls
from groundplan.llm.cascade import Cascade
from groundplan.llm.prompt import load_prompt
from groundplan.project import AsyncProject
from groundplan.sources.interface import TableSource
from groundplan.sources.tableau.source import Tableau

PROMPTS = Path(__file__).with_name("long_pipeline_prompts")
ROUTE_TOKENS, OUTLINE_TOKENS, BUILD_TOKENS = 16, 160, 320
SECONDS = 120.0  # for all calls of one question


class Route(Contract):
    to: Literal["query", "chat", "refuse"]


class Outline(Contract):
    question: Annotated[str, Field(max_length=300)]
    steps: Annotated[tuple[Annotated[str, Field(max_length=80)], ...], Field(max_length=5)]


class Part(Contract):
    words: Annotated[str, Field(max_length=80)]
    column: Annotated[str, Field(max_length=80)]
    function: Literal["sum", "mean", "median", "min", "max", "count", "unsaid"] = "unsaid"


class Build(Contract):
    measures: Annotated[tuple[Part, ...], Field(max_length=6)]
    groups: Annotated[tuple[Part, ...], Field(max_length=6)]


@dataclass
class LongPipeline:
    """`restated` has the whole question for each turn that leans on an earlier one, by thread and by its words."""

    project: AsyncProject
    restated: Mapping[str, Mapping[str, str]]
    today: date
    models: Cascade | None = None
    history: dict[str, list[str]] = field(default_factory=dict)

    async def answer(self, question: str, thread: str) -> Outcome:
        began, calls = datetime.now(UTC), Calls(self.models, SECONDS) if self.models else None
        await self._route_and_outline(question, thread, calls)
        self.history.setdefault(thread, []).append(question)
        whole = self.restated.get(thread, {}).get(question, question)
        sources = self.project.sources
        schemas = {name: await read_anew(source) for name, source in sources.items()}
        table = next(schema for schema in schemas.values() if schema.tables)
        reading = await self._build(whole, table, calls)
        outcome: Outcome
        if not isinstance(reading, Reading):
            outcome = reading
        else:
            outcome = await self._run(reading, table)
        ms = (datetime.now(UTC) - began).total_seconds() * 1000
        schema = TraceEntry(stage="schema", at=began, ms=ms, action=table.tables[0].name)
        used = outcome.usage.plus(calls.usage) if calls else outcome.usage
        return outcome.model_copy(update={"usage": used, "trace": (schema, *outcome.trace)})

    async def _run(self, reading: Reading, schema: SourceSchema) -> Outcome:
        plan = by_rules.propose(reading, schema)
        try:
            steps = with_query(plan.steps, schema.tables[0], "tableau_query")
        except Inexpressible as error:
            return refuse(None, [Issue(code="planning/inexpressible", problem=str(error), hint="ask for less")], ())
        return await self.project.run(Proposal(reading=reading, plan=plan.model_copy(update={"steps": steps})))

    async def _route_and_outline(self, question: str, thread: str, calls: Calls | None) -> None:
        said = {"history": " / ".join(self.history.get(thread, [])) or "nothing", "question": question}
        if calls:
            await calls.ask(load_prompt("route", PROMPTS).fill(**said), Route, max_tokens=ROUTE_TOKENS)
            await calls.ask(load_prompt("outline", PROMPTS).fill(**said), Outline, max_tokens=OUTLINE_TOKENS)

    async def _build(
        self, question: str, schema: SourceSchema, calls: Calls | None
    ) -> Reading | Clarification | Refusal:
        tables = [source for source in self.project.sources.values() if isinstance(source, TableSource)]
        values = {
            table: {name: known for name, known in found.items() if known is not None}
            for source in tables
            for table, found in (await source.values(question)).items()
        }
        if calls:
            columns = ", ".join(f"{column.name} ({column.kind})" for column in schema.tables[0].columns)
            prompt = load_prompt("build", PROMPTS).fill(columns=columns, question=question)
            await calls.ask(prompt, Build, max_tokens=BUILD_TOKENS)
        return read_plain(question, schema, values, today=self.today).answer


async def read_anew(source: Any) -> Any:
    """A description that was just fetched. Members are no part of it, so those that are known stay so."""
    if not isinstance(source, Tableau):
        return await source.describe()
    datasource = source._service._datasource  # nobody outside a benchmark has a reason to forget what holds
    before = datasource._known
    datasource.forget()
    described = await source.describe()
    if before and datasource._known:
        datasource._known.members.update(before.members)
    return described
