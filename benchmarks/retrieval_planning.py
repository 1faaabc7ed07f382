"""What planning a retrieval costs beside a bare loop: milliseconds and memory a plan, intents given and from text.

Exits 1 when a median is over 0.2 ms with intents given or 5 ms from text, or a plan takes more than 1 MB at its peak.
Contracts are checked and executions recorded, as in use; texts are warm, because a service reads its words once.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from itertools import cycle
from statistics import median, quantiles

from groundplan.asking.lists.plan import load_rules, plan_retrieval, structure_reasoning
from groundplan.asking.lists.read import detect_intents, load_tracker_words
from groundplan.contracts.retrieval import Reasoning, Retrieval
from groundplan.telemetry.audit import Execution
from groundplan.text.entities import build_registry

ROUNDS = 3_000
PROJECTS = 200
TODAY = date(2026, 7, 23)
QUESTIONS = (
    "What happened in project Alpha 7 last week?",
    "open issues by assignee in Alpha 12, as a bar chart",
    "commits per week this quarter and the trend",
    "status of Alpha 3",
    "Что произошло в проекте Альфа 7 на прошлой неделе?",
    "открытые задачи Альфа 12 по исполнителям, столбчатая диаграмма",
    "коммиты по неделям за этот квартал и тренд",
    "статус проекта Альфа 3",
)


@dataclass(frozen=True)
class Measured:
    what: str
    median_ms: float
    p99_ms: float
    allowed_ms: float
    peak_kilobytes: float

    @property
    def is_over(self) -> bool:
        return self.median_ms > self.allowed_ms or self.peak_kilobytes > 1_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")
    arguments = parser.parse_args()
    rows = [measure(what, call, allowed) for what, call, allowed in calls()]
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows]))
    else:
        print_table(rows)
    return int(any(row.is_over for row in rows))


def calls() -> list[tuple[str, Callable[[], object], float]]:
    rules, given = load_rules(), cycle([read(question, []) for question in QUESTIONS])
    structured = cycle([structure_reasoning(next(given), rules) for _ in QUESTIONS])
    questions = cycle(QUESTIONS)
    return [
        ("bare loop", lambda: next(questions), 0.2),
        ("intents given", lambda: plan_retrieval.execute([], next(structured), rules), 0.2),
        ("and hypotheses", lambda: planned(next(given), []), 0.2),
        ("from text", lambda: from_text(next(questions)), 5.0),
    ]


NAMES = build_registry((f"group/alpha-{n}", "project", f"Alpha {n}", (f"Альфа {n}",)) for n in range(PROJECTS))


def from_text(question: str) -> Retrieval:
    trail: list[Execution] = []
    return planned(read(question, trail), trail)


def read(question: str, trail: list[Execution]) -> Reasoning:
    return detect_intents.execute(trail, question, NAMES, load_tracker_words(), today=TODAY)


def planned(reasoning: Reasoning, trail: list[Execution]) -> Retrieval:
    rules = load_rules()
    return plan_retrieval.execute(trail, structure_reasoning.execute(trail, reasoning, rules), rules)


def measure(what: str, call: Callable[[], object], allowed: float) -> Measured:
    for _ in QUESTIONS:
        call()
    times = [timed(call) for _ in range(ROUNDS)]
    peak = max(peak_of(call) for _ in QUESTIONS)
    return Measured(what, median(times), quantiles(times, n=100)[-1], allowed, peak)


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


def peak_of(call: Callable[[], object]) -> float:
    """The most memory that one plan holds while it is made, in kilobytes."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e3


def print_table(rows: list[Measured]) -> None:
    print(f"{'':>16} {'median ms':>11} {'p99 ms':>9} {'at most':>9} {'peak kB':>9}")
    for row in rows:
        figures = f"{row.median_ms:>11.4f} {row.p99_ms:>9.4f} {row.allowed_ms:>9g} {row.peak_kilobytes:>9.1f}"
        print(f"{row.what:>16} {figures}{'  over' if row.is_over else ''}")


if __name__ == "__main__":
    sys.exit(main())
