"""Budgets: how much work one piece of input may cost, counted while the work is done.

    with spending(Budget("reading the question", "ask for less at once", steps=60_000)):
        await aside(work)   # off the event loop; `spend()` anywhere inside counts

What exceeds a budget raises `TooMuch`, which is one refusal everywhere: `budget/steps`, `budget/bytes`, …
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeVar

from groundplan.errors import TooMuch

T = TypeVar("T")
Kind = Literal["steps", "nodes", "levels", "rows", "bytes", "seconds"]
SECONDS = 60.0  # of one piece of work off the loop; steps end it far earlier
LIGHT = 5_000  # steps that are taken beside others; what takes more waits for its turn
LOOKS = 0.1  # seconds between two looks whether anybody still waits for the work
_TURN = (
    threading.Lock()
)  # threads share one interpreter: several long pieces at once end no earlier, and delay short ones


class Budget:
    """Limits by kind; what is not named is not limited."""

    def __init__(self, what: str, hint: str, **most: float) -> None:
        self._what, self._hint, self._most = what, hint, most
        self.spent: dict[str, int] = {}
        self._stopped = False
        self._is_aside = self._has_turn = False

    def take(self, kind: Kind, amount: int = 1) -> None:
        """Count this much; raises TooMuch once more is spent than there was, or nobody waits for the work."""
        spent = self.spent[kind] = self.spent.get(kind, 0) + amount
        self.refuse_above(kind, spent)
        if self._is_aside and not self._has_turn and kind == "steps" and spent > LIGHT:
            self._wait_for_turn()
        if self._stopped:
            raise self.exceeded("seconds")

    def _wait_for_turn(self) -> None:
        while not self._has_turn and not self._stopped:
            self._has_turn = _TURN.acquire(timeout=LOOKS)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Inside, in a thread of its own, what takes long waits until no other long piece of work runs."""
        self._is_aside = True
        try:
            yield
        finally:
            self._is_aside = False
            if self._has_turn:
                self._has_turn = False
                _TURN.release()

    @contextmanager
    def half(self, kind: Kind) -> Iterator[None]:
        """Inside there is half of what is left; the other half stays for what comes after."""
        whole = self._most.get(kind)
        if whole is not None:
            self._most[kind] = (self.spent.get(kind, 0) + whole) // 2
        try:
            yield
        finally:
            if whole is not None:
                self._most[kind] = whole

    def refuse_above(self, kind: Kind, size: float) -> None:
        if size > self._most.get(kind, size):
            raise self.exceeded(kind)

    def stop(self) -> None:
        """Nobody waits any longer: the work ends when it next takes something."""
        self._stopped = True

    def exceeded(self, kind: Kind) -> TooMuch:
        return TooMuch(kind, self._what, self._most.get(kind, SECONDS), self._hint)


_SPENDING: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def spending(budget: Budget) -> Iterator[Budget]:
    """`spend` inside the block takes from this budget, also in threads that `aside` starts."""
    token = _SPENDING.set(budget)
    try:
        yield budget
    finally:
        _SPENDING.reset(token)


def spend(amount: int = 1, kind: Kind = "steps") -> None:
    """Take from the budget of this context, if it has one."""
    budget = _SPENDING.get()
    if budget is not None:
        budget.take(kind, amount)


def if_affordable(work: Callable[[], T]) -> T | None:
    """What the work finds, or None where it takes more than half of the steps that are left."""
    budget = _SPENDING.get()
    if budget is None:
        return work()
    try:
        with budget.half("steps"):
            return work()
    except TooMuch:
        return None


async def aside(work: Callable[[], T]) -> T:
    """Run this off the event loop. If it takes too long, or the caller is cancelled, its budget stops it."""
    budget = _SPENDING.get() or Budget("this", "ask for less at once")
    ended = False

    def timed() -> T:
        with budget.aside():
            return work()

    try:
        async with asyncio.timeout(SECONDS):
            found = await asyncio.to_thread(timed)
            ended = True
            return found
    except TimeoutError as error:
        raise budget.exceeded("seconds") from error
    finally:
        if not ended:
            budget.stop()
