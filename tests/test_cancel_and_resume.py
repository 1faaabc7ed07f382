"""Questions cancelled somewhere and continued: each ends as if nobody had cancelled it, and typed."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from groundplan.catalog.catalog import Catalog
from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal
from groundplan.contracts.facts import StepFacts
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool
from groundplan.errors import StateInvalid
from groundplan.project import AsyncProject
from groundplan.sources.interface import Call, Result
from tests.asking.tables.described import SALES
from tests.mcp.workflows import proposal
from tests.patience import HANGS

IN_CI, SLOW = 60, 200  # rounds
TODAY = date(2026, 1, 15)
SIMPLE = "top 3 regions by revenue"
UNCLEAR = "total revenue on 03/04/2025"  # the third of April or the fourth of March
CLEAR = "total revenue on 2025-04-03"
STAGES = 7  # route, read, plan, check, approve, run, answer
AT_ONCE = 8
TICKS = 12  # turns of the loop after a stage: enough to reach the inside of the next one
WRITE = json.dumps(proposal([{"id": "it", "tool": "mail.send", "params": {"word": "hello"}}]))

Begin = Callable[[Callable[[str], None]], Coroutine[Any, Any, Outcome]]


class Mail:
    """Sends words, each once; the tool is a change that needs approval."""

    name = "mail"

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()

    def catalog_tools(self) -> Sequence[Tool]:
        word = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
        described = {"name": "mail.send", "description": "Sends a word.", "source": "mail", "effect": "write"}
        output = {"kind": "facts"}
        return [Tool.model_validate({**described, "capabilities": ["act"], "params": word, "output": output})]

    async def describe(self) -> SourceSchema:
        return SourceSchema(source="mail", engine="none", tables=())

    async def call(self, call: Call) -> Result:
        await asyncio.sleep(0.001)
        self.sent[call.idempotency_key] += 1
        await asyncio.sleep(0.001)
        return Result(StepFacts(step=call.step, found=True, rows=1))

    async def close(self) -> None:
        """It holds nothing open."""


async def opened(mail: Mail) -> AsyncProject:
    tables = await AsyncProject.open(SALES)
    catalog = Catalog.of([*tables.catalog.tools.values(), *mail.catalog_tools()])
    schemas = {**tables.schemas, mail.name: await mail.describe()}
    return AsyncProject({**tables.sources, mail.name: mail}, schemas, catalog)


class Cancelling:
    """Cancels what it begins: after so many stages and then so many turns of the loop, both by chance."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.cancelled = 0

    async def begin(self, begin: Begin) -> Outcome | None:
        """None if it was cancelled before it ended."""
        stages, ticks = self._chance.randrange(STAGES + 1), self._chance.randrange(TICKS)
        reached = asyncio.Event()
        seen: list[str] = []

        def on_stage(name: str) -> None:
            seen.append(name)
            if len(seen) >= stages:
                reached.set()

        task = asyncio.create_task(begin(on_stage))
        if stages:
            await asyncio.wait([task, asyncio.create_task(reached.wait())], return_when=asyncio.FIRST_COMPLETED)
            reached.set()
        for _ in range(ticks):
            await asyncio.sleep(0)
        task.cancel()
        try:
            return await task
        except asyncio.CancelledError:
            self.cancelled += 1
            return None


class Round:
    """One question over the project, under a run of its own."""

    def __init__(self, project: AsyncProject, cancelling: Cancelling, number: int) -> None:
        self.project, self.cancelling, self.run = project, cancelling, f"run{number}"

    async def simple(self) -> Outcome:
        return await self._cancelled(self._ask(SIMPLE), self._resume(), self._ask(SIMPLE))

    async def unclear(self) -> Outcome:
        asked = await self._cancelled(self._ask(UNCLEAR), self._resume(), self._ask(UNCLEAR))
        assert isinstance(asked, Clarification), asked
        return await self._cancelled(self._resume(reply="1"), self._resume(reply="1"), self._ask(CLEAR))

    async def in_a_thread(self) -> Outcome:
        """A thread is not resumed but asked again."""
        asking: Begin = lambda on_stage: self.project.ask(SIMPLE, today=TODAY, thread=self.run, on_stage=on_stage)  # noqa: E731
        return await self._cancelled(asking, asking, asking)

    async def write(self) -> Outcome:
        asked = await self._cancelled(self._write(False), self._resume(), self._write(False))
        assert isinstance(asked, Refusal), asked
        assert [issue.code for issue in asked.issues] == ["access/unapproved"]
        return await self._cancelled(self._resume(approve=True), self._resume(approve=True), self._write(True))

    def _ask(self, question: str) -> Begin:
        return lambda on_stage: self.project.ask(question, today=TODAY, run_id=self.run, on_stage=on_stage)

    def _write(self, approve: bool) -> Begin:
        async def write(on_stage: Callable[[str], None]) -> Outcome:
            return await self.project.run(WRITE, run_id=self.run, approve=approve, on_stage=on_stage)

        return write

    def _resume(self, **options: Any) -> Begin:
        return lambda on_stage: self.project.resume(self.run, on_stage=on_stage, **options)

    async def _cancelled(self, begin: Begin, continued: Begin, anew: Begin) -> Outcome:
        """Begun, cancelled and continued; anew where nothing is left: it had not begun, or had just ended."""
        ended = await self.cancelling.begin(begin)
        if ended is not None:
            return ended
        try:
            return await continued(_nothing)
        except StateInvalid as error:
            assert "no run" in str(error)  # noqa: PT017 - any other is a fault
            return await anew(_nothing)


def _nothing(_: str) -> None:
    """Nobody watches the stages."""


def told(outcome: Outcome) -> tuple[object, ...]:
    """What a person gets, without the times of the trace."""
    return outcome.kind, outcome.text, outcome.tables if isinstance(outcome, Answer) else ()


async def expected(project: AsyncProject) -> dict[str, tuple[object, ...]]:
    simple, clear = [told(await project.ask(question, today=TODAY)) for question in (SIMPLE, CLEAR)]
    write = told(await project.run(WRITE, approve=True))
    return {"simple": simple, "unclear": clear, "in_a_thread": simple, "write": write}


def is_unknown(outcome: Outcome) -> bool:
    """A change that was cancelled while it was made: nobody knows, and that is said."""
    return isinstance(outcome, Refusal) and [issue.code for issue in outcome.issues] == ["running/unknown-effect"]


async def rounds(count: int, seed: int) -> tuple[Counter[str], Cancelling]:
    """How the kinds of questions ended: those that differ from the uncancelled one by their text."""
    mail, cancelling = Mail(), Cancelling(random.Random(seed))
    project, ends, at_once = await opened(mail), Counter[str](), asyncio.Semaphore(AT_ONCE)
    alone = await expected(project)

    async def one(number: int) -> None:
        kind = [*alone][number % len(alone)]
        async with at_once, asyncio.timeout(HANGS):
            outcome = await getattr(Round(project, cancelling, number), kind)()
        same = told(outcome) == alone[kind]
        ends[kind if same else "unknown" if kind == "write" and is_unknown(outcome) else outcome.text] += 1

    await asyncio.gather(*(one(number) for number in range(count)))
    assert set(mail.sent.values()) == {1}, "no change is made twice"
    assert told(await project.ask(SIMPLE, today=TODAY)) == alone["simple"]
    await project.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return ends, cancelling


@pytest.mark.requirement("R37")
@pytest.mark.requirement("R75", part="one process")
@pytest.mark.parametrize("count", [IN_CI, pytest.param(SLOW, marks=pytest.mark.slow)])
def test_what_is_cancelled_anywhere_and_resumed_ends_as_if_it_had_not_been(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))
    ends, cancelling = asyncio.run(rounds(count, seed=7))
    assert set(ends) <= {"simple", "unclear", "in_a_thread", "write", "unknown"}
    assert {kind: ends[kind] for kind in ("simple", "unclear", "in_a_thread")} == dict.fromkeys(
        ("simple", "unclear", "in_a_thread"), count // 4
    )
    assert ends["write"] + ends["unknown"] == count // 4
    assert ends["write"] > ends["unknown"]
    assert cancelling.cancelled > count // 2


def test_a_run_that_waits_for_a_reply_gives_its_question_back_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever cancelled it has not seen the question."""
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))

    async def twice() -> tuple[Outcome, Outcome]:
        project = await AsyncProject.open(SALES)
        try:
            return await project.ask(UNCLEAR, today=TODAY, run_id="one"), await project.resume("one")
        finally:
            await project.close()

    first, again = asyncio.run(twice())
    assert isinstance(again, Clarification)
    assert isinstance(first, Clarification)
    assert (again.text, again.candidates) == (first.text, first.candidates)
