"""Logs of a service: one JSON object for each line, with the id of the run. Never a question, a row or a key."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime

from groundplan.errors import crash_place

RUN: ContextVar[str | None] = ContextVar("groundplan_run", default=None)
MOST_A_MINUTE = 600  # lines from one place in the code: a fault that repeats itself must not fill the disk
MORE = "more"  # logging.info("…", extra={MORE: {…}}) adds these fields


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if run := RUN.get():
            line["run"] = run
        if record.exc_info and record.exc_info[1]:
            line["error"] = crash_place(record.exc_info[1])  # a traceback may quote data
        return json.dumps(line | getattr(record, MORE, {}), ensure_ascii=False, default=str)


class Calm(logging.Filter):
    """At most so many lines a minute from one place in the code; the first of the next minute counts those left out."""

    def __init__(self, most: int = MOST_A_MINUTE, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._most, self._clock = most, clock
        self._seen: dict[tuple[str, int], tuple[int, int]] = {}  # by place: the minute, and the lines in it

    def filter(self, record: logging.LogRecord) -> bool:
        place, minute = (record.pathname, record.lineno), int(self._clock() // 60)
        before, count = self._seen.get(place, (minute, 0))
        if before != minute:
            if count > self._most:
                setattr(record, MORE, {**getattr(record, MORE, {}), "left_out": count - self._most})
            count = 0
        self._seen[place] = (minute, count + 1)
        return count < self._most


def log_as_json() -> None:
    """Write the logs of this process to standard error as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(Calm())
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("groundplan").setLevel(logging.INFO)
