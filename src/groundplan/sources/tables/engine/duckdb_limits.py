"""How much memory and disk DuckDB may use. What it spills to disk is deleted, also after a process was killed."""

from __future__ import annotations

import atexit
import os
import re
import shutil
from functools import cache
from pathlib import Path

from groundplan.errors import UsageError
from groundplan.settings import cache_folder

MOST_MEMORY = 4_000_000_000  # bytes, unless GROUNDPLAN_MEMORY says otherwise; never more than half of the machine's
MOST_SPILLED = "20GB"


def limits() -> dict[str, str | bool | int | float | list[str]]:
    """DuckDB's configuration. It must be equal for all connections of one process to one file."""
    return {
        "memory_limit": _memory(),
        "temp_directory": str(process_folder()),
        "max_temp_directory_size": MOST_SPILLED,
    }


def process_folder() -> Path:
    """A private folder of this process, deleted when it ends."""
    return _spill_folder(cache_folder(), os.getpid())


def _memory() -> str:
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
