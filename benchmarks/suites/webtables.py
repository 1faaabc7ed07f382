"""The suite `webtables`: questions about one table each, asked without a model and scored by the values in the answer.

The folder has `questions.jsonl` and `tables/*.csv`. An answer is right if a column of a shown table, or the first value
in the text, is exactly the known answer. Otherwise it is wrong; refusals and clarifications are counted apart.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.contracts.contract import Scalar
from groundplan.errors import SourceError
from groundplan.evaluation.report import Miss, Report
from groundplan.evaluation.suites.rows import load_rows
from groundplan.evaluation.suites.sampling import spread
from groundplan.project import AsyncProject

HOLDS = "questions.jsonl and tables/*.csv"
ADDED = ("rank", "share")  # columns that no question asks for
End = Literal["right", "wrong", "refused", "asked", "unopened"]
ENDS: tuple[End, ...] = ("right", "wrong", "refused", "asked", "unopened")


class Question(BaseModel):
    id: str
    question: str
    table: str
    answers: tuple[str, ...]
    answers_canon: tuple[str, ...] = ()  # numbers and dates in one format


class Scored(BaseModel):
    question: Question
    end: End
    said: str


def evaluate(folder: Path, sample: int | None, on_progress: Callable[[int, int], None]) -> Report:
    """Score every question, or an evenly spread `sample`."""
    began = time.perf_counter()
    questions = spread(load_rows(folder / "questions.jsonl", Question, HOLDS), sample)
    scored = asyncio.run(_ask_all(folder / "tables", questions, on_progress))
    counts = Counter(one.end for one in scored)
    return Report(
        suite="webtables",
        n=len(questions),
        scores={end: round(counts[end] / max(len(questions), 1), 4) for end in ENDS},
        misses=tuple(_miss(one) for one in scored if one.end != "right"),
        seconds=round(time.perf_counter() - began, 1),
    )


async def _ask_all(tables: Path, questions: list[Question], on_progress: Callable[[int, int], None]) -> list[Scored]:
    scored: list[Scored] = []
    for table, asked in groupby(sorted(questions, key=lambda one: one.table), key=lambda one: one.table):
        for one in await _ask_table(tables / f"{table}.csv", [*asked]):
            scored.append(one)
            on_progress(len(scored), len(questions))
    return scored


async def _ask_table(file: Path, questions: list[Question]) -> list[Scored]:
    try:
        project = await AsyncProject.open(file)
    except SourceError as error:
        return [Scored(question=one, end="unopened", said=str(error)) for one in questions]
    try:
        return [_scored(one, await project.ask(one.question, strategy="rules")) for one in questions]
    finally:
        await project.close()


def _scored(question: Question, outcome: Answer | Refusal | Clarification) -> Scored:
    match outcome:
        case Refusal():
            return Scored(question=question, end="refused", said=outcome.text)
        case Clarification():
            return Scored(question=question, end="asked", said=outcome.text)
        case _:
            known = [{*map(_plain, given)} for given in (question.answers, question.answers_canon) if given]
            right = any(values in known for values in _answered(outcome))
            return Scored(question=question, end="right" if right else "wrong", said=outcome.text)


def _answered(answer: Answer) -> Iterator[set[str]]:
    """The values that may be the answer: each column of each table, and the first value in the text."""
    for table in answer.tables:
        columns = zip(table.columns, zip(*table.rows, strict=True), strict=False)
        yield from ({_plain(cell) for cell in cells} for name, cells in columns if name not in ADDED)
    yield from ({_plain(citation.value)} for citation in answer.citations[:1])


def _plain(value: Scalar) -> str:
    """Numbers by value, text without case, quotes and spaces around it."""
    text = re.sub(r"\s+", " ", str(value)).strip(" \"'“”.").lower().replace("–", "-")
    try:
        return f"{float(text.replace(',', '')):.6g}"
    except ValueError:
        return text


def _miss(scored: Scored) -> Miss:
    asked = scored.question
    return Miss(id=asked.id, question=asked.question, expected=_listed(asked.answers), got=scored.said, why=scored.end)


def _listed(values: Iterable[str]) -> str:
    return ", ".join(values)
