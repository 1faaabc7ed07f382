"""Renews a worker's claims in a thread of its own: a busy event loop loses none, and one that hangs keeps none."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from types import TracebackType
from typing import Self

from groundplan.blocking import Portal
from groundplan.errors import Crashed, GroundplanError
from groundplan.state.database import Database, wait_for
from groundplan.state.runs import Claim, Runs

RENEW = 1.0  # seconds between two renewals of all claims
HANGS = 90.0  # seconds after which a loop that does nothing else is given up; no piece of work may take so long

log = logging.getLogger("groundplan.worker")


class Leases:
    """`claims` says what to renew, `found` receives what the database says of each claim, in the worker's loop."""

    def __init__(
        self,
        database: Database,
        claims: Callable[[], Collection[Claim]],
        found: Callable[[Claim, bool | None], None],
    ) -> None:
        self._database, self._claims, self._found = database, claims, found
        self._beat, self._given_up = time.monotonic(), set[Claim]()
        self._stopping = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._loop, self._portal = asyncio.get_running_loop(), Portal("groundplan-leases")
        self._renewing = asyncio.ensure_future(self._portal.wait(self._renew_always()))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._portal.wait(self._stop())
        await asyncio.gather(self._renewing, return_exceptions=True)
        await asyncio.to_thread(self._portal.stop)

    async def _stop(self) -> None:
        self._stopping.set()

    async def _renew_always(self) -> None:
        async with self._database.apart() as database:
            runs = Runs(database)
            while not self._stopping.is_set():
                self._loop.call_soon_threadsafe(self._beats)
                if claims := self._claims():
                    try:
                        await self._renew(runs, claims)
                    except GroundplanError as error:
                        log.warning("claims cannot be renewed: %s", error)
                    except Exception as error:  # noqa: BLE001 - without renewals every run would be taken over
                        log.error("claims cannot be renewed: %s", Crashed.by(error))  # noqa: TRY400 - may quote data
                await wait_for(self._stopping, RENEW)

    async def _renew(self, runs: Runs, claims: Collection[Claim]) -> None:
        """Renew all claims, or give them up if the loop hangs: a single run that hangs it counts twice."""
        if time.monotonic() - self._beat > HANGS:
            left = {claim for claim in claims if claim not in self._given_up}
            self._given_up |= left
            if left:
                log.error("the event loop of this worker hangs; %d runs are given up", len(left))
                await runs.give_up(left, blamed=len(claims) == 1)
            return
        self._given_up.clear()
        for claim, cancelled in (await runs.renew(claims)).items():
            self._loop.call_soon_threadsafe(self._found, claim, cancelled)

    def _beats(self) -> None:
        self._beat = time.monotonic()
