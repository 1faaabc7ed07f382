"""Files of every kind, made to be hostile: each is opened or refused within a gigabyte and thirty seconds of work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adversarial.hostile_files import written

SECONDS = 30.0  # of the processor, for one file: this process and its children
MEGABYTES = 1_000
HANGS = 3_600.0  # of a clock, for a batch
BATCH = 30  # files that one process opens: its own memory is counted anew for each
OPENING = """
import json, resource, sys, time
from pathlib import Path
import groundplan
from groundplan.errors import Crashed, GroundplanError

def worked():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime

def peak():
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(int(line.split()[1]), children) // 1024

for path in sys.argv[1:]:
    print(json.dumps({"path": path}), flush=True)
    Path("/proc/self/clear_refs").write_text("5")
    begin = worked()
    try:
        with groundplan.open(path) as project:
            how = project.ask("how many rows").outcome.kind
    except Crashed as error:
        how = f"crashed: {error}"
    except GroundplanError as error:
        how = f"refused: {error}"
    print(json.dumps({"path": path, "how": how, "seconds": worked() - begin, "peak": peak()}), flush=True)
"""


def opened(paths: list[Path]) -> list[dict[str, object]]:
    """What became of each file; the last line names the file that ended the process, if one did."""
    command = [sys.executable, "-c", OPENING, *map(str, paths)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=False)
    except subprocess.TimeoutExpired as error:
        pytest.fail(f"it hangs: {(error.stdout or b'')[-200:]!r}")
    assert done.returncode == 0, (done.returncode, done.stdout[-300:], done.stderr[-300:])
    return [told for line in done.stdout.splitlines() if "how" in (told := json.loads(line))]


def check(count: int, seed: int, folder: Path) -> None:
    paths = written(count, seed, folder)
    found = [one for place in range(0, count, BATCH) for one in opened(paths[place : place + BATCH])]
    assert len(found) == count
    assert [one for one in found if str(one["how"]).startswith("crashed")] == []
    assert [one for one in found if float(str(one["seconds"])) > SECONDS] == []
    assert [one for one in found if int(str(one["peak"])) > MEGABYTES] == []
    assert not (folder / "owned").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it is measured as Linux does")
def test_thirty_hostile_files(tmp_path: Path) -> None:
    check(30, 3, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it is measured as Linux does")
def test_a_thousand_hostile_files(tmp_path: Path) -> None:
    check(1_000, 5, tmp_path)
