"""One project asked 600 mixed questions, many at a time: every outcome must equal the one asked alone.

    python benchmarks/many_at_once.py [--questions 600] [--at-once 1 8 64 128] [--json]

About 40 distinct questions over two tables: totals, groups, time, rankings, shares, filters, charts, refusals and
questions back. Each is asked alone first. An outcome is the same when its kind, text, plan and tables are. The exit
code is 1 if one differs.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from pathlib import Path

from groundplan.contracts.answer import Answer, Outcome
from groundplan.project import AsyncProject

SALES = Path(__file__).parents[1] / "examples/sales.csv"
TODAY = date(2026, 1, 15)
LEVELS = (1, 8, 64, 128)
SHOWN = 5  # differing outcomes of one level
QUESTIONS = (
    "What is the total revenue?",
    "total units",
    "how many tickets are there?",
    "how many different product categories are there?",
    "revenue by region",
    "revenue by channel",
    "total revenue by region and channel",
    "average units per region",
    "median cost by channel",
    "average points by queue",
    "how many tickets per priority?",
    "total revenue by region except West",
    "total revenue for online sales with units of at least 100",
    "total revenue where units is between 100 and 200",
    "how many tickets with high priority by queue?",
    "revenue in West but not East by channel",
    "show rows where channel is online and units is below 8",
    "which regions have total revenue over 15000000?",
    "daily revenue in March 2025",
    "quarterly revenue in 2024",
    "monthly cost by region",
    "total revenue in the last 30 days",
    "revenue by region last quarter",
    "compare revenue in 2024 and 2025",
    "weekly points in Q1 2025",
    "top 3 product categories by revenue",
    "bottom 2 regions by units",
    "top 5 days by revenue",
    "top 3 agents by points",
    "which month had the highest revenue?",
    "share of revenue by region",
    "what share of revenue does West have?",
    "share of points by queue",
    "cost per unit by region",
    "bar chart of units by channel",
    "heatmap of revenue by region and product category",
    "is there a correlation between revenue and cost?",
    "find anomalies in daily revenue by region",
    "выручка по регионам",
    "доля выручки по каналам",
    "who wrote Hamlet?",
    "average profit by region",
    "total revenue in France by channel",
    "total revenue on 30 February 2025",
    "total revenue on 03/04/2025",
    "share of revenue",
)


@dataclass(frozen=True)
class Seen:
    """What a person would notice if it changed."""

    kind: str
    text: str
    plan: str | None
    tables: str


@dataclass(frozen=True)
class Level:
    """How many outcomes were the same when this many questions were asked at once."""

    at_once: int
    questions: int
    same: int
    crashed: int
    seconds: float
    differing: tuple[str, ...]

    def __str__(self) -> str:
        speed = self.questions / self.seconds
        return f"{self.at_once:4} at once: {self.same} of {self.questions} the same, {speed:.1f} questions/s"


def seen(outcome: Outcome | BaseException) -> Seen:
    if isinstance(outcome, BaseException):
        return Seen(f"crashed: {type(outcome).__name__}", str(outcome), None, "")
    tables = [table.model_dump(mode="json") for table in outcome.tables] if isinstance(outcome, Answer) else []
    plan = getattr(outcome, "plan", None)
    return Seen(outcome.kind, outcome.text, plan.fingerprint if plan else None, json.dumps(tables, ensure_ascii=False))


def mixed(number: int, seed: int = 1) -> list[str]:
    """All the questions equally often, in an order that is the same every time."""
    asked = [QUESTIONS[place % len(QUESTIONS)] for place in range(number)]
    random.Random(seed).shuffle(asked)
    return asked


async def ask_alone(project: AsyncProject, questions: Sequence[str] = QUESTIONS) -> dict[str, Seen]:
    return {question: seen(await project.ask(question, today=TODAY)) for question in questions}


async def ask_many(project: AsyncProject, questions: Sequence[str], at_once: int) -> list[Seen]:
    """In this order, never more than this many at the same time."""
    slots = asyncio.Semaphore(at_once)

    async def ask(question: str) -> Outcome:
        async with slots:
            return await project.ask(question, today=TODAY)

    outcomes = await asyncio.gather(*(ask(question) for question in questions), return_exceptions=True)
    return [seen(outcome) for outcome in outcomes]


async def measure(project: AsyncProject, questions: Sequence[str], at_once: int, alone: dict[str, Seen]) -> Level:
    began = time.perf_counter()
    outcomes = await ask_many(project, questions, at_once)
    seconds = time.perf_counter() - began
    other = [(q, outcome) for q, outcome in zip(questions, outcomes, strict=True) if outcome != alone[q]]
    return Level(
        at_once,
        len(questions),
        same=len(questions) - len(other),
        crashed=sum(outcome.kind.startswith("crashed") for _, outcome in other),
        seconds=seconds,
        differing=tuple(f"{question!r} gave {outcome.kind}: {outcome.text[:200]}" for question, outcome in other),
    )


def make_tables(folder: Path) -> Path:
    """The example's sales, and the tickets of a help desk."""
    shutil.copy(SALES, folder / "sales.csv")
    chance = random.Random(7)
    with (folder / "tickets.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["ticket_id", "opened", "queue", "priority", "agent", "points"])
        for number in range(4_000):
            opened = date(2024, 1, 1) + timedelta(days=chance.randrange(731))
            queue = chance.choice(["Billing", "Returns", "Delivery", "Accounts"])
            priority = chance.choice(["low", "normal", "normal", "high", "urgent"])
            agent = chance.choice(["Ines", "Jonas", "Kofi", "Lena", "Mika"])
            writer.writerow([number, opened, queue, priority, agent, chance.randrange(1, 40)])
    return folder


async def compare(folder: Path, number: int, levels: Sequence[int]) -> list[Level]:
    project = await AsyncProject.open(make_tables(folder))
    try:
        alone = await ask_alone(project)
        return [await measure(project, mixed(number, seed=level), level, alone) for level in levels]
    finally:
        await project.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=600)
    parser.add_argument("--at-once", type=int, nargs="+", default=LEVELS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        levels = asyncio.run(compare(Path(folder), given.questions, given.at_once))
    if given.json:
        print(json.dumps([asdict(level) for level in levels], ensure_ascii=False))
    else:
        for level in levels:
            print(level, *level.differing[:SHOWN], sep="\n     ")
    return 0 if all(level.same == level.questions for level in levels) else 1


if __name__ == "__main__":
    sys.exit(main())
