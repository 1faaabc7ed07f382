"""Runs a module of this package in a child process with limits: if it crashes, this process goes on."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

REFUSED = 3  # the exit code with which a child says on stderr, in one line, why it cannot do it


def run_module(
    module: str, arguments: Sequence[str], seconds: float, given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run `python -m module` with `given` as its input. Raises `subprocess.TimeoutExpired` after the seconds."""
    return subprocess.run(  # noqa: S603 - our own module, without a shell
        [*_command(module), *arguments],
        input=given,
        capture_output=True,
        timeout=seconds,
        env=_environment(),
        check=False,
    )


async def start_module(module: str) -> asyncio.subprocess.Process:
    """Start `python -m module`, with pipes as its input and output. It has to end when its input does."""
    pipe = subprocess.PIPE
    return await asyncio.create_subprocess_exec(*_command(module), stdin=pipe, stdout=pipe, env=_environment())


def _command(module: str) -> list[str]:
    return [sys.executable, "-P", "-m", module]  # -P: a Python file in the current folder must not replace a library


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(_import_path())}


def _import_path() -> list[str]:
    """This package and what the user added, so that the child runs the same code; relative folders are left out."""
    added = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [str(Path(__file__).parents[1]), *(folder for folder in added if Path(folder).is_absolute())]


def limit_this_process(memory: int, seconds: int, counted: Literal["RLIMIT_AS", "RLIMIT_DATA"] = "RLIMIT_AS") -> None:
    """Called by the child. `RLIMIT_DATA` is for libraries that reserve much more address space than they use."""
    with suppress(ImportError, ValueError, OSError):  # not on Windows; elsewhere a lower limit may already hold
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(getattr(resource, counted), (memory, memory))


def take_lowest_priority() -> None:
    """Called by the child, before it imports much: it runs only while the processor has nothing else to do."""
    if hasattr(os, "nice"):  # not on Windows
        os.nice(19)
    if hasattr(os, "SCHED_IDLE"):  # Linux
        with suppress(OSError):  # a container may forbid it
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
