"""Long pieces of work wait for each other, so that short ones beside them are not delayed by all of them."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from groundplan import budget
from groundplan.budget import LIGHT, Budget, aside, spend, spending
from groundplan.errors import TooMuch
from tests.patience import HANGS


class Work:
    """Counts how many threads are past the light steps at once, and holds each there."""

    def __init__(self) -> None:
        self.inside = self.most = self.done = 0
        self.begun, self.go_on = threading.Event(), threading.Event()

    def heavy(self) -> None:
        spend(LIGHT + 1)
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.begun.set()
        assert self.go_on.wait(HANGS)
        self.inside -= 1
        self.done += 1


async def reading(work: Work) -> None:
    with spending(Budget("reading", "ask for less", steps=10 * LIGHT)):
        await aside(work.heavy)


async def light() -> None:
    with spending(Budget("reading", "ask for less", steps=10 * LIGHT)):
        await aside(lambda: spend(LIGHT))


def test_long_work_takes_turns_and_short_work_does_not_wait() -> None:
    work = Work()

    async def all_at_once() -> None:
        tasks = [asyncio.create_task(reading(work)) for _ in range(3)]
        await asyncio.to_thread(work.begun.wait, HANGS)
        async with asyncio.timeout(HANGS):
            await light()
        work.go_on.set()
        await asyncio.gather(*tasks)

    asyncio.run(all_at_once())
    assert (work.most, work.done) == (1, 3)


def test_work_that_waits_for_its_turn_ends_when_nobody_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "SECONDS", 0.3)
    first, second = Work(), Work()

    async def late() -> float:
        task = asyncio.create_task(reading(first))
        await asyncio.to_thread(first.begun.wait, HANGS)
        began = time.monotonic()
        with pytest.raises(TooMuch):
            await reading(second)
        took = time.monotonic() - began
        first.go_on.set()
        with pytest.raises(TooMuch):
            await task
        return took

    assert asyncio.run(late()) < HANGS / 2
    assert not second.begun.is_set()
