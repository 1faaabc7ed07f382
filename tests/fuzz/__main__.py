"""Fuzzes all parsers in turn: python -m tests.fuzz SECONDS. Inputs that crash are kept in tests/fuzz/found/."""

from __future__ import annotations

import hashlib
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.mutating import inputs
from tests.fuzz.parsers import PARSERS, Parse

FOUND = Path(__file__).parent / "found"
SLICE = 20.0  # seconds of one parser before the next
SLOWEST = 10  # seconds of processor time for one input


def main(seconds: float) -> int:
    signal.signal(signal.SIGPROF, _too_slow)
    until, number = time.monotonic() + seconds, 0
    runs, crashes = Counter[str](), Counter[str]()
    while time.monotonic() < until:
        name = list(PARSERS)[number % len(PARSERS)]
        end = min(until, time.monotonic() + SLICE)
        with PARSERS[name]() as parse:
            while time.monotonic() < end:
                number += len(PARSERS)  # another seed for the same parser
                _fuzz(name, parse, number, end, runs, crashes)
        number += 1
        print(f"{name}: {runs[name]:,} executions, {crashes[name]} crashes; peak {_peak()} MB", flush=True)
    print(f"\n{sum(runs.values()):,} executions, {sum(crashes.values())} crashes, peak RSS {_peak()} MB")
    return 1 if crashes else 0


def _fuzz(name: str, parse: Parse, number: int, end: float, runs: Counter[str], crashes: Counter[str]) -> None:
    """Up to 100 inputs; after a crash, Hypothesis looks for the smallest input that crashes."""
    last = [b""]

    @seed(number)
    @settings(
        max_examples=100,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(body=inputs(name))
    def fuzz(body: bytes) -> None:
        if time.monotonic() > end + 2 * SLICE:  # enough of making it smaller
            return
        last[0] = body
        runs[name] += 1
        signal.setitimer(signal.ITIMER_PROF, SLOWEST)
        try:
            parse(body)
        except Exception:
            last.append(body)
            raise
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    try:
        fuzz()
    except Exception:  # noqa: BLE001 - any crash is a finding
        crashes[name] += 1
        FOUND.mkdir(exist_ok=True)
        file = FOUND / f"{name}-{hashlib.sha256(last[-1]).hexdigest()[:8]}"
        file.write_bytes(last[-1])
        print(f"CRASH in {name}, kept in {file}:\n{traceback.format_exc(limit=-6)}", flush=True)


def _too_slow(*_: object) -> None:
    raise TimeoutError(f"one input took more than {SLOWEST} s")


def _peak() -> int:
    """Of this process or a child of it, in MB."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(one).ru_maxrss for one in who) // 1024


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
