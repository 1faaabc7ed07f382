"""Logs of a service: one JSON object for each line, with the id of the run. Never a question, a row or a key."""

from __future__ import annotations

import json
import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime

from groundplan.errors import crash_place

RUN: ContextVar[str | None] = ContextVar("groundplan_run", default=None)
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


def log_as_json() -> None:
    """Write all logs of this process to standard error as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("groundplan").setLevel(logging.INFO)
