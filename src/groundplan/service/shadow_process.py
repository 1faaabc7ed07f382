"""The child process that reads for the shadow at the lowest priority, so that nobody waits for it."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from asyncio.subprocess import Process
from collections.abc import Callable
from contextlib import suppress

from groundplan.child_process import start_module
from groundplan.contracts.contract import thaw
from groundplan.contracts.rollout import Measured, Rollout
from groundplan.service.data import Data
from groundplan.service.shadow_aside import GIVE_WAY, GRACE, OPENED, READY, UNREAD
from groundplan.state.database import Database
from groundplan.state.rollouts import SHADOW_LEASE

LIFE = 3_600.0  # seconds after which another child takes over
HANGS = 30.0  # seconds beyond those of a question, after which a child that has not replied is ended
PAUSES = (1.0, 5.0, 20.0, 60.0)  # seconds until the next child, after each that crashed

log = logging.getLogger("groundplan.rollout")


class ShadowProcess:
    """One child at most. It replies with one line to each question, in their order."""

    def __init__(self, data: Data, database: Database, on_open: Callable[[], None]) -> None:
        self._data, self._database, self._on_open = data, database, on_open
        self._process: Process | None = None
        self._ready_at: float | None = None
        self._late = 0  # replies to come to questions that have been given back
        self._crashes, self._next = 0, 0.0

    @property
    def is_ready(self) -> bool:
        """Whether it can read; no longer when it is old, so that what it may have leaked is freed."""
        return self._ready_at is not None and time.monotonic() - self._ready_at < LIFE

    async def start(self) -> None:
        """Start a child, in place of an old one, and wait until it can read. After a crash, there is a pause first."""
        await self.end()
        if time.monotonic() < self._next:
            return
        try:
            self._process = await start_module("groundplan.service.shadow_aside")
        except OSError as error:
            await self._crashed(f"cannot be started ({error.strerror})")
            return
        self._late = 0
        self._write(self._given())
        if await self._line() == READY:
            self._ready_at = time.monotonic()
        else:
            await self._crashed("has ended")

    async def measured(self, tenant: str, rollout: Rollout, run: str) -> Measured | None:
        """How the trial did with the question of this run; None if it could not be read."""
        seconds = min(rollout.limits.timeout, SHADOW_LEASE)
        self._write({"tenant": tenant, "variant": rollout.variant, "run_id": run, "seconds": seconds})
        try:
            async with asyncio.timeout(seconds + HANGS):
                while self._late:
                    await self._line()
                    self._late -= 1
                line = await self._line()
        except TimeoutError:
            await self._crashed("does not reply")
            return None
        except asyncio.CancelledError:
            self._late += 1
            self._write(GIVE_WAY)
            raise
        if not line:
            await self._crashed("has ended")
        return Measured.model_validate_json(line) if line not in (b"", UNREAD) else None

    async def end(self) -> None:
        """It ends by itself when its input does."""
        process, self._process, self._ready_at = self._process, None, None
        if process is None:
            return
        assert process.stdin
        process.stdin.close()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def _crashed(self, why: str) -> None:
        lived = time.monotonic() - self._ready_at if self._ready_at is not None else 0.0
        crashes = 0 if lived > PAUSES[-1] else self._crashes
        pause = PAUSES[min(crashes, len(PAUSES) - 1)]
        self._crashes, self._next = crashes + 1, time.monotonic() + pause
        log.warning("the process of the shadow %s; another one starts in %.0f s", why, pause)
        await self.end()

    def _given(self) -> dict[str, object]:
        return {
            "where": thaw(self._data.where),
            "models": [model.model_dump() for model in self._data.models],
            "url": self._database.url,
            "tenant": self._database.tenant,
        }

    def _write(self, order: dict[str, object] | bytes) -> None:
        """By its input: arguments of a process are seen by everybody on the machine."""
        assert self._process
        assert self._process.stdin
        self._process.stdin.write(order if isinstance(order, bytes) else json.dumps(order).encode() + b"\n")

    async def _line(self) -> bytes:
        """The next line that is a reply; empty when the child has ended."""
        assert self._process
        assert self._process.stdout
        while (line := await self._process.stdout.readline()) == OPENED:
            self._on_open()
        return line
