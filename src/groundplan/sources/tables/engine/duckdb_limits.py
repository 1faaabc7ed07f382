"""How much memory and disk DuckDB may use. What it spills to disk is deleted, also after a process was killed."""

from __future__ import annotations

import atexit
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import duckdb

from groundplan.errors import UsageError
from groundplan.settings import cache_folder

MOST_MEMORY = 4_000_000_000  # bytes, unless GROUNDPLAN_MEMORY says otherwise; never more than half of the machine's
MOST_SPILLED = "20GB"
Setting = str | bool | int | float | list[str]


def connect(database: str, config: Mapping[str, Setting], *, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """A connection within the limits. Neither it nor its cursors write progress to standard output."""
    connection = duckdb.connect(database, read_only=read_only, config={**config, **_limits()})
    with suppress(duckdb.InvalidInputException):  # locked: the file is open in this process already
        connection.execute("SET enable_progress_bar = false")
    return connection


def _limits() -> dict[str, Setting]:
    """These must be equal for all connections of one process to one file."""
    return {
        "memory_limit": most_memory(),
        "temp_directory": str(process_folder()),
        "max_temp_directory_size": MOST_SPILLED,
    }


def process_folder() -> Path:
    """A private folder of this process, deleted when it ends."""
    return _spill_folder(cache_folder(), os.getpid())


def most_memory() -> str:
    """`GROUNDPLAN_MEMORY`, such as 8GB, or the default."""
    given = os.environ.get("GROUNDPLAN_MEMORY")
    if given:
        if not re.fullmatch(r"\d{1,6}(\.\d+)? ?[KMGT]i?B", given):
            raise UsageError(f"GROUNDPLAN_MEMORY={given[:40]!r}: write a size such as 8GB")
        return given
    try:
        half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # not known on this platform
        half = MOST_MEMORY
    return f"{min(half, MOST_MEMORY) // 1_000_000}MB"


@cache
def _spill_folder(cached: Path, process: int) -> Path:
    """A folder for this process. Folders of processes that no longer run are deleted."""
    spilled = cached / "spill"
    spilled.mkdir(mode=0o700, exist_ok=True)
    for folder in spilled.iterdir():
        if folder.name.isdigit() and not is_running(int(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)
    own = spilled / str(process)
    own.mkdir(mode=0o700, exist_ok=True)
    atexit.register(_remove, own, process)
    return own


def _remove(folder: Path, process: int) -> None:
    """A forked child runs this, too, and must leave the folder of its parent."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True
