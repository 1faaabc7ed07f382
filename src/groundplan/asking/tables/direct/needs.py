"""What a query's builder may have fetched, each thing once for a question."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

from groundplan.context import Fetched
from groundplan.contracts.plan import Plan
from groundplan.errors import WorldError

Need = Literal["metadata", "prior_query"]


@dataclass
class Offered:
    """The tools of one question, and what they gave so far; a tool that is None is not there.

    `metadata` tells what the data is about, in its publisher's words; `prior_query` finds the plan of an earlier
    question that came near this one.
    """

    metadata: Callable[[], Awaitable[str]] | None = None
    prior_query: Callable[[], Awaitable[Plan | None]] | None = None
    found: Fetched = field(default_factory=Fetched)

    @property
    def left(self) -> tuple[Need, ...]:
        """Those that were not called yet."""
        tools = {"metadata": self.metadata, "prior_query": self.prior_query}
        names: tuple[Need, ...] = get_args(Need)
        return tuple(name for name in names if tools[name] and name not in self.found.called)

    async def fetch(self, needs: Iterable[Need], seconds: float) -> None:
        """Those of them that are left, side by side; what fails is told in `found.problems`."""
        wanted = [need for need in self.left if need in needs]
        await asyncio.gather(*(self._fetch(need, seconds) for need in wanted))

    async def _fetch(self, need: Need, seconds: float) -> None:
        self.found.called.add(need)
        try:
            async with asyncio.timeout(seconds):
                await self._call(need)
        except TimeoutError:
            self.found.problems[need] = f"the {need} took longer than the {seconds:.3g} s that were left"
        except WorldError as error:
            self.found.problems[need] = str(error)

    async def _call(self, need: Need) -> None:
        if need == "metadata" and self.metadata:
            self.found.metadata = await self.metadata()
        elif self.prior_query:
            self.found.prior = await self.prior_query()
