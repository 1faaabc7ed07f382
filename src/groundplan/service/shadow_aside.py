"""Reads for the shadow, as the child process of `groundplan.service.shadow_process`."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, BinaryIO

from groundplan.child_process import take_lowest_priority

if TYPE_CHECKING:
    from groundplan.contracts.rollout import Measured

GIVE_WAY = b"give way\n"  # what the worker tells this process, beside questions
END = b""  # the worker has closed the pipe, or has died
READY, OPENED, UNREAD = b"ready\n", b"opened\n", b"unread\n"  # what it is told, beside what was measured
GRACE = 2.0  # seconds to end in order
CONNECTIONS = 3  # of its own, to Postgres

log = logging.getLogger("groundplan.rollout")


def main() -> int:
    take_lowest_priority()  # before anything large is imported
    for number in (signal.SIGINT, signal.SIGTERM):  # sent to the whole group; the worker ends this process by its input
        signal.signal(number, signal.SIG_IGN)
    from groundplan.errors import Crashed, GroundplanError

    orders, told = os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)  # whatever else is printed must not reach the pipe
    try:
        asyncio.run(_work(orders, told))
    except GroundplanError as error:
        log.error("%s", error)  # noqa: TRY400 - a traceback may quote data
        return error.exit_code
    except Exception as error:  # noqa: BLE001
        log.error("%s", Crashed.by(error))  # noqa: TRY400
        return Crashed.exit_code
    return 0


async def _work(orders: BinaryIO, told: BinaryIO) -> None:
    """Open the store and the projects as the worker did, and read what it asks for."""
    from groundplan.service.data import Data
    from groundplan.service.projects import Projects
    from groundplan.service.shadow_reading import read_beside
    from groundplan.settings import Endpoint
    from groundplan.state.opening import open_database
    from groundplan.telemetry.logs import log_as_json

    given = json.loads(orders.readline())
    heard = _listen(orders)
    if given["url"]:
        log_as_json()
    data = Data(given["where"], [Endpoint.model_validate(model) for model in given["models"]])

    def opened() -> None:
        told.write(OPENED)

    async with open_database(given["url"], CONNECTIONS) as database:
        projects = Projects(database.of(given["tenant"]), data.open, opened)
        told.write(READY)
        await _obey(heard, told, lambda asked: read_beside(projects, **asked))
        await projects.close()


def _listen(orders: BinaryIO) -> asyncio.Queue[bytes]:
    """What the worker says. It is heard in a thread, so that this process also ends if its event loop hangs."""
    loop, heard = asyncio.get_running_loop(), asyncio.Queue[bytes]()

    def listen() -> None:
        for line in orders:
            loop.call_soon_threadsafe(heard.put_nowait, line)
        loop.call_soon_threadsafe(heard.put_nowait, END)
        time.sleep(GRACE)
        os._exit(1)

    threading.Thread(target=listen, daemon=True).start()
    return heard


async def _obey(
    heard: asyncio.Queue[bytes], told: BinaryIO, read: Callable[[dict[str, Any]], Coroutine[Any, Any, Measured]]
) -> None:
    """Read one question after another, each until the worker needs its slot."""
    reading: asyncio.Task[Measured] | None = None
    while (order := await heard.get()) != END:
        if order == GIVE_WAY and reading:
            reading.cancel()
        elif order != GIVE_WAY:
            if reading:
                await asyncio.wait([reading])
            reading = asyncio.create_task(read(json.loads(order)))
            reading.add_done_callback(lambda done: told.write(_reply(done)))
    if reading:
        reading.cancel()
        await asyncio.wait([reading])


def _reply(done: asyncio.Task[Measured]) -> bytes:
    """One line, also if it was given way before the task began."""
    from groundplan.errors import Crashed, StoreUnavailable

    if done.cancelled():
        return UNREAD
    if error := done.exception():
        log.warning("%s", error if isinstance(error, StoreUnavailable) else Crashed.by(error))
        return UNREAD
    return done.result().model_dump_json().encode() + b"\n"


if __name__ == "__main__":
    sys.exit(main())
