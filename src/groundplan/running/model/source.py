"""A model as a source. It sees what a step hands it and nothing else, and gives facts like any other."""

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
from groundplan.llm.cascade import Cascade
from groundplan.llm.prompt import load_prompt
from groundplan.llm.schema import strict_schema
from groundplan.running.model import tools
from groundplan.running.model.asking import Asked, Asking, Budget, late
from groundplan.running.model.shown import shown
from groundplan.running.model.working import work
from groundplan.running.model.writing import HINT, write
from groundplan.sources.interface import Call, Result, Source

CHOICE_TOKENS = 120
LONGEST_TITLE = 80


class Chosen(Contract):
    choice: str


class ModelSource:
    """For one run: what its steps ask of models is counted together. An agent calls tools of the other sources."""

    name = tools.SOURCE

    def __init__(self, models: Cascade, catalog: Mapping[str, Tool], sources: Mapping[str, Source]) -> None:
        self._models, self._catalog, self._sources = models, catalog, sources
        self._budget = Budget()

    @property
    def usage(self) -> Usage:
        """What the run has asked of models so far."""
        return self._budget.usage

    @staticmethod
    def tools() -> Sequence[Path]:
        return []  # no file describes them: see `catalog_tools`

    @classmethod
    def open(cls, where: tuple[Cascade, Mapping[str, Tool], Mapping[str, Source]], name: str) -> ModelSource:
        """With the models, the tools of the catalog, and the sources that an agent may call."""
        return cls(*where)

    @staticmethod
    def catalog_tools() -> Sequence[Tool]:
        return tools.TOOLS

    async def describe(self) -> SourceSchema:
        return SourceSchema(source=self.name, engine="llm", tables=())

    async def call(self, call: Call) -> Result:
        asking = Asking(call.step, Calls(self._models, call.seconds), self._budget)
        try:
            async with asyncio.timeout(call.seconds):
                return Result(await self._facts(call, asking))
        except TimeoutError:
            raise late(call.step, call.seconds) from None

    async def close(self) -> None:
        """The models are closed by whoever opened them."""

    async def _facts(self, call: Call, asking: Asking) -> StepFacts:
        params: Any = thaw(call.params)
        match call.tool.name:
            case tools.WRITE:
                text, missing = await write(asking, params["instruction"], params["facts"], params["words"])
                return _told(call.step, "text", text, params["instruction"], missing)
            case tools.CHOOSE:
                return await _choose(call.step, params, asking)
            case tools.WORK:
                text, done = await work(call, asking, self._catalog, self._sources)
                return _told(call.step, "text", text, params["instruction"], done.missing, (*done.cited.values(),))
            case name:
                raise UsageError(f"{name!r} is nothing that a model does; see `groundplan catalog list`")


async def _choose(step: str, params: dict[str, Any], asking: Asking) -> StepFacts:
    facts, missing = shown(params["facts"])
    choices, _ = shown(params["choices"])
    prompt = load_prompt("choose").fill(facts=facts, choices=choices, question=params["question"])
    schema = strict_schema(Chosen, {"choice": params["choices"]})
    chosen = await asking.ask(Asked(prompt, Chosen, schema, CHOICE_TOKENS, lambda _: "", HINT))
    return _told(step, "choice", chosen.choice, params["question"], missing)


def _told(step: str, field: str, text: str, asked: str, missing: str, cited: tuple[Cited, ...] = ()) -> StepFacts:
    """One item for a person, and one field for later steps."""
    title = " ".join(asked.split()).rstrip(".:")
    short = title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
    return StepFacts(
        step=step,
        first={field: text},
        items=(Item(kind="text", title=short, text=text),),
        sources=cited,
        state=Truncated(reason=missing) if missing else Complete(),
    )
