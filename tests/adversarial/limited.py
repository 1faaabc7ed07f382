"""Runs a program in a process of its own and measures it, so that a crash of it is a result."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

MEASURED = """
from pathlib import Path
{program}
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print("PEAK", int(peak.split()[1]) // 1024)  # not ru_maxrss: it begins with the parent's
"""


@dataclass(frozen=True)
class Done:
    code: int  # negative if a signal ended it
    text: str

    @property
    def peak(self) -> int:
        """The most memory it held, in MB."""
        return int(self.text.rpartition("PEAK ")[2].split()[0])


def run(program: str, seconds: float = 120) -> Done:
    command = [sys.executable, "-c", MEASURED.format(program=program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    return Done(done.returncode, done.stdout + done.stderr)


OPENED = """
import groundplan
from groundplan.errors import GroundplanError
try:
    with groundplan.open({path!r}) as project:
        print("OPENED", sum(len(schema.tables) for schema in project.schemas.values()))
except GroundplanError as error:
    print("REFUSED", error)
"""


def opened(path: object, seconds: float = 120) -> Done:
    return run(OPENED.format(path=str(path)), seconds)
