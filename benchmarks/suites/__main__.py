"""Scores a folder in the format of a suite, and lists the misses.

    python -m benchmarks.suites SUITE FOLDER [--json] [--sample 300] [--model URL] [--strategy rules]

The report is that of `groundplan eval`. The formats are in docs/how-to/evaluate.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.suites.registry import SUITES, evaluate

from groundplan.errors import GroundplanError
from groundplan.interfaces.cli import show


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.suites", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("folder", type=Path, help="a folder in the suite's format")
    parser.add_argument("--json", action="store_true", help="print one document")
    parser.add_argument("--sample", type=_at_least_one, help="score only so many items, evenly spread")
    parser.add_argument("--model", help="nlv, workflow: a model of groundplan.toml, the URL of a server, or none")
    parser.add_argument("--strategy", help="nlv: rules or adapt")
    given = parser.parse_args()
    try:
        with show.counting() as on_progress:
            found = evaluate(given.suite, given.folder, given.sample, on_progress, given.model, given.strategy)
    except GroundplanError as error:
        print(f"benchmarks.suites: {error}", file=sys.stderr)
        return error.exit_code
    show.report(found, given.json)
    return 0


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("score at least one item")
    return number


if __name__ == "__main__":
    sys.exit(main())
