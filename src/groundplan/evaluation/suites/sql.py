"""The suite `sql`: questions over databases of several tables, with the tables that answer them.

The folder has `questions.jsonl` and `db/NAME/*.csv`. An answer is right if a table of it has exactly the rows of one of
the wanted tables, in any order; it may have more columns, unless it is counted as `exact`. Right and exact are shares
of the questions that have an answer; wrong, refused and asked are shares of all.
"""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from groundplan.contracts.answer import Answer, Outcome, Refusal, Usage
from groundplan.evaluation.asking import NO_MODEL, Asked, Asking
from groundplan.evaluation.report import Miss, Report
from groundplan.evaluation.suites.judging import Row, Verdict, cells, table_is
from groundplan.evaluation.suites.rows import load_rows
from groundplan.evaluation.suites.sampling import spread

HOLDS = "questions.jsonl and db/NAME/*.csv"


class Gold(BaseModel):
    """A table that answers the question."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


class Question(BaseModel):
    id: str
    db: str
    question: str
    answerable: bool
    as_of: dt.date
    gold: tuple[Gold, ...] = ()  # each is as good as another


class Scored(BaseModel):
    question: Question
    end: Verdict
    exact: bool
    confirmed: Verdict | None  # once a person has confirmed the one reading that was asked back
    said: str
    usage: Usage
    seconds: float


async def evaluate(
    folder: Path, sample: int | None, on_progress: Callable[[int, int], None], asking: Asking = NO_MODEL
) -> Report:
    """Ask every question, or an evenly spread `sample`."""
    began = time.perf_counter()
    questions = spread(load_rows(folder / "questions.jsonl", Question, HOLDS), sample)
    scored = await _ask_all(folder / "db", questions, on_progress, asking)
    counts = Counter(one.end for one in scored)
    answerable = [one for one in scored if one.question.answerable]
    right, exact = (sum(one.end == "right" and (one.exact or any_) for one in answerable) for any_ in (True, False))
    return Report(
        suite="sql",
        n=len(scored),
        scores={
            "right": round(right / max(len(answerable), 1), 4),
            "exact": round(exact / max(len(answerable), 1), 4),
            **{end: round(counts[end] / max(len(scored), 1), 4) for end in ("wrong", "refused", "asked")},
        },
        misses=tuple(_miss(one) for one in scored if one.end != "right"),
        usage=reduce(Usage.plus, (one.usage for one in scored), Usage()),
        seconds=round(time.perf_counter() - began, 1),
        extra=_extra(scored, len(answerable)),
    )


def _extra(scored: Sequence[Scored], answerable: int) -> dict[str, float]:
    found = {"slowest_seconds": round(max((one.seconds for one in scored), default=0.0), 3)}
    if any(one.confirmed for one in scored):
        after = [(one.confirmed or one.end, one.question.answerable) for one in scored]
        found["right_once_confirmed"] = round(after.count(("right", True)) / max(answerable, 1), 4)
        found["wrong_once_confirmed"] = round(sum(end == "wrong" for end, _ in after) / len(after), 4)
    return found


async def _ask_all(
    folder: Path, questions: Sequence[Question], on_progress: Callable[[int, int], None], asking: Asking
) -> list[Scored]:
    scored: list[Scored] = []
    for name in dict.fromkeys(question.db for question in questions):
        async with asking.open(folder / name) as project:
            for question in (one for one in questions if one.db == name):
                asked = await asking.ask(project, question.id, question.question, question.as_of)
                scored.append(_scored(question, asked))
                on_progress(len(scored), len(questions))
    return scored


def _scored(question: Question, asked: Asked) -> Scored:
    fits = _fits_of(question, asked.outcome)
    confirmed = asked.confirmed and _end(question, asked.confirmed, any(_fits_of(question, asked.confirmed)))
    return Scored(
        question=question,
        end=_end(question, asked.outcome, any(fits)),
        exact="exact" in fits,
        confirmed=confirmed,
        said=asked.outcome.text,
        usage=asked.outcome.usage,
        seconds=asked.seconds,
    )


def _fits_of(question: Question, outcome: Outcome) -> list[str]:
    tables = [[cells(row) for row in table.rows] for table in outcome.tables] if isinstance(outcome, Answer) else []
    return [_fits(gold, rows) for gold in question.gold for rows in tables]


def _fits(gold: Gold, rows: Sequence[Row]) -> str:
    if not table_is([cells(row) for row in gold.rows], rows, ordered=False):
        return ""
    return "exact" if all(len(row) == len(gold.columns) for row in rows) else "more"


def _end(question: Question, outcome: Outcome, fits: bool) -> Verdict:
    if isinstance(outcome, Answer):
        return "right" if fits else "wrong"
    if not question.answerable:
        return "right"
    return "refused" if isinstance(outcome, Refusal) else "asked"


def _miss(scored: Scored) -> Miss:
    wanted = scored.question.gold[0].rows[:5] if scored.question.gold else ()
    return Miss(
        id=scored.question.id,
        question=scored.question.question,
        expected=[list(row) for row in wanted] or "a refusal",
        got=scored.said[:500],
        why=scored.end,
    )
