"""A language model as a source. It sees only what a step passes to it, and returns facts like any other source."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from groundplan.contracts.answer import Usage
from groundplan.contracts.contract import Contract, thaw
from groundplan.contracts.facts import Cited, Complete, Item, StepFacts, Truncated
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool
from groundplan.errors import UsageError
from groundplan.llm.calls import Calls
from groundplan.llm.prompt import load_prompt
from groundplan.llm.schema import strict_schema
from groundplan.running.model import tools
from groundplan.running.model.agent import work
from groundplan.running.model.prompt_facts import facts_json
from groundplan.running.model.step_calls import Budget, ModelRequest, StepCalls, late
from groundplan.running.model.write import HINT, write
from groundplan.sources.interface import Call, Result, Source

CHOICE_TOKENS = 120
LONGEST_TITLE = 80


class Chosen(Contract):
    choice: str


class ModelSource:
    """The model source of one run; its steps share a token budget, and its agents call tools of other sources."""

    name = tools.SOURCE

    def __init__(self, calls: Calls, catalog: Mapping[str, Tool], sources: Mapping[str, Source]) -> None:
        self._calls, self._catalog, self._sources = calls, catalog, sources
        self._budget = Budget(calls.limits.tokens)

    @property
    def usage(self) -> Usage:
        """Model usage of the run so far."""
        return self._budget.usage

    @staticmethod
    def tools() -> Sequence[Path]:
        return []  # no tool files: see `catalog_tools`

    @classmethod
    def open(cls, where: tuple[Calls, Mapping[str, Tool], Mapping[str, Source]], name: str) -> ModelSource:
        """`where` has the calls of the role `write`, the tools of the catalog, and the sources that agents may call."""
        return cls(*where)

    @staticmethod
    def catalog_tools() -> Sequence[Tool]:
        return tools.TOOLS

    async def describe(self) -> SourceSchema:
        return SourceSchema(source=self.name, engine="llm", tables=())

    async def call(self, call: Call) -> Result:
        given = self._calls
        limits = given.limits.model_copy(update={"seconds": call.seconds})
        calls = StepCalls(call.step, Calls(given.cascade, call.seconds, given.role, limits), self._budget)
        try:
            async with asyncio.timeout(call.seconds):
                return Result(await self._facts(call, calls))
        except TimeoutError:
            raise late(call.step, call.seconds) from None

    async def close(self) -> None:
        """Does nothing: the models belong to the caller."""

    async def _facts(self, call: Call, calls: StepCalls) -> StepFacts:
        params: Any = thaw(call.params)
        match call.tool.name:
            case tools.WRITE:
                text, missing = await write(calls, params["instruction"], params["facts"], params["words"])
                return _text_facts(call.step, "text", text, params["instruction"], missing)
            case tools.CHOOSE:
                return await _choose(call.step, params, calls)
            case tools.WORK:
                text, done = await work(call, calls, self._catalog, self._sources)
                return _text_facts(
                    call.step, "text", text, params["instruction"], done.missing, (*done.cited.values(),)
                )
            case name:
                raise UsageError(f"{name!r} is not a model tool; see `groundplan catalog list`")


async def _choose(step: str, params: dict[str, Any], calls: StepCalls) -> StepFacts:
    facts, missing = facts_json(params["facts"])
    choices, _ = facts_json(params["choices"])
    prompt = load_prompt("choose").fill(facts=facts, choices=choices, question=params["question"])
    schema = strict_schema(Chosen, {"choice": params["choices"]})
    chosen = await calls.ask(ModelRequest(prompt, Chosen, schema, CHOICE_TOKENS, lambda _: "", HINT))
    return _text_facts(step, "choice", chosen.choice, params["question"], missing)


def _text_facts(step: str, field: str, text: str, asked: str, missing: str, cited: tuple[Cited, ...] = ()) -> StepFacts:
    """Facts with one item for the answer and one field for later steps."""
    title = " ".join(asked.split()).rstrip(".:")
    short = title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
    return StepFacts(
        step=step,
        first={field: text},
        items=(Item(kind="text", title=short, text=text),),
        sources=cited,
        state=Truncated(reason=missing) if missing else Complete(),
    )
