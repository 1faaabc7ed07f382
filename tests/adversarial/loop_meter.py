"""How long the event loop was held by one callback, in seconds of its thread's work: a busy machine is not a fault."""

from __future__ import annotations

import gc
import threading
import time
from asyncio import events
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

HELD = 0.05  # seconds that one callback may hold the loop


@dataclass
class Meter:
    longest: float = 0.0
    callback: str = ""


@contextmanager
def measured_loop() -> Iterator[Meter]:
    """Collecting garbage is turned off meanwhile: it would be charged to whoever happens to run."""
    meter, run = Meter(), events.Handle._run
    thread, measuring = threading.get_ident(), True

    def timed(self: events.Handle) -> None:
        begin = time.thread_time()
        run(self)
        held = time.thread_time() - begin
        if measuring and threading.get_ident() == thread and held > meter.longest:
            meter.longest, meter.callback = held, repr(self)

    gc.collect()
    gc.disable()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(events.Handle, "_run", timed)
            yield meter
    finally:
        measuring = False  # the callback that ends the measuring goes on, and pays for the garbage
        gc.enable()
