"""The suite `questions`: questions as people type them, with truths in SQL; how many answers are right or wrong.

The folder has `questions.jsonl` and the data of each data set: `NAME/*.csv`, or one file `NAME.csv`; both may be packed
as `.csv.xz`. Questions are asked, and what is shown is compared with the rows of the SQL over the same files.
"""

from __future__ import annotations

import lzma
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory

import duckdb

from groundplan.contracts.answer import Outcome, Usage
from groundplan.errors import UsageError
from groundplan.evaluation.asking import NO_MODEL, Asked, Asking
from groundplan.evaluation.report import Miss, Report
from groundplan.evaluation.suites.judging import Question, Row, Verdict, cells, judge
from groundplan.evaluation.suites.rows import load_rows
from groundplan.evaluation.suites.sampling import spread

PACKED = ".xz"
VERDICTS: tuple[Verdict, ...] = ("right", "wrong", "refused", "asked")


@dataclass(frozen=True)
class Judged:
    question: Question
    outcome: Outcome
    verdict: Verdict
    confirmed: Verdict | None  # once a person has confirmed the one reading that was asked back
    truths: Sequence[Sequence[Row]]
    seconds: float


async def evaluate(
    folder: Path,
    sample: int | None,
    on_progress: Callable[[int, int], None],
    asking: Asking = NO_MODEL,
) -> Report:
    """Ask every question, or an evenly spread `sample`."""
    questions = spread(load_questions(folder), sample)
    began, judged = time.perf_counter(), list[Judged]()
    async for one in judge_folder(folder, questions, asking):
        judged.append(one)
        on_progress(len(judged), len(questions))
    return Report(
        suite="questions",
        n=len(judged),
        scores=dict(_scores(judged)),
        misses=tuple(_miss(one) for one in judged if one.verdict != "right"),
        usage=reduce(Usage.plus, (one.outcome.usage for one in judged), Usage()),
        seconds=round(time.perf_counter() - began, 2),
        extra=_extra(judged) if judged else {},
    )


def load_questions(folder: Path) -> list[Question]:
    return load_rows(folder / "questions.jsonl", Question, "questions.jsonl and the data of each data set")


async def judge_folder(folder: Path, questions: Sequence[Question], asking: Asking) -> AsyncIterator[Judged]:
    for name in dict.fromkeys(question.dataset for question in questions):
        async for one in judge_all(folder, name, [one for one in questions if one.dataset == name], asking):
            yield one


async def judge_all(
    folder: Path,
    name: str,
    questions: Iterable[Question],
    asking: Asking = NO_MODEL,
) -> AsyncIterator[Judged]:
    """Ask the questions about one data set."""
    with TemporaryDirectory() as unpacked:
        files = data_files(folder, name, Path(unpacked))
        engine = load_tables(files)
        try:
            async with asking.open(files[0] if len(files) == 1 else files[0].parent) as project:
                for question in questions:
                    asked = await asking.ask(project, question.id, question.question, question.today)
                    yield _judged(question, asked, truths(question, engine))
        finally:
            engine.close()


def data_files(folder: Path, name: str, unpacked: Path) -> list[Path]:
    """The CSV files of a data set; packed ones are unpacked first."""
    found = sorted((*(folder / name).glob("*.csv*"), *folder.glob(f"{name}.csv*")))
    if not found:
        raise UsageError(f"{folder / name} has no CSV files; each data set is a folder or a file of that name")
    return [_unpacked(file, unpacked) if file.suffix == PACKED else file for file in found]


def _unpacked(file: Path, into: Path) -> Path:
    unpacked = into / file.stem
    unpacked.write_bytes(lzma.decompress(file.read_bytes()))
    return unpacked


def load_tables(files: Iterable[Path]) -> duckdb.DuckDBPyConnection:
    """The files as tables of an engine of their own, each named for its file."""
    engine = duckdb.connect()
    for file in files:
        engine.read_csv(str(file), sample_size=-1).create(file.stem)
    return engine


def truths(question: Question, engine: duckdb.DuckDBPyConnection) -> list[list[Row]]:
    """The tables that answer it, each as good as another."""
    try:
        return [[cells(row) for row in engine.execute(sql).fetchall()] for sql in question.truths]
    except duckdb.Error as error:
        raise UsageError(f"the SQL of {question.id} fails: {error}") from error


def _judged(question: Question, asked: Asked, wanted: Sequence[Sequence[Row]]) -> Judged:
    confirmed = judge(question, asked.confirmed, wanted) if asked.confirmed else None
    verdict = judge(question, asked.outcome, wanted)
    return Judged(question, asked.outcome, verdict, confirmed, wanted, asked.seconds)


def _scores(judged: Sequence[Judged]) -> Iterable[tuple[str, float]]:
    """Of all; then right and wrong by data set and by difficulty. Right is a share of the answerable questions."""
    for verdict in VERDICTS:
        yield verdict, _share(judged, verdict)
    for key in ("dataset", "level"):
        for value in sorted({getattr(one.question, key) for one in judged}):
            some = [one for one in judged if getattr(one.question, key) == value]
            yield from ((f"{verdict} {value}", _share(some, verdict)) for verdict in ("right", "wrong"))


def _share(judged: Sequence[Judged], verdict: str) -> float:
    some = [one for one in judged if verdict != "right" or one.question.expect == "answer"]
    return round(Counter(one.verdict for one in some)[verdict] / len(some), 4) if some else 0.0  # type: ignore[index]


def _extra(judged: Sequence[Judged]) -> dict[str, float]:
    """The usual time; with a model also its cost, and the shares if a person confirms every reading asked back."""
    found = {"median_seconds": median(one.seconds for one in judged)}
    if any(one.outcome.usage.calls for one in judged):
        found["tokens_per_question"] = fmean(one.outcome.usage.tokens for one in judged)
    if any(one.confirmed for one in judged):
        after = [replace(one, verdict=one.confirmed or one.verdict) for one in judged]
        found |= {f"{verdict}_once_confirmed": _share(after, verdict) for verdict in ("right", "wrong")}
    return {name: round(value, 4) for name, value in found.items()}


def _miss(judged: Judged) -> Miss:
    return Miss(
        id=judged.question.id,
        question=judged.question.question,
        expected=[list(row) for row in judged.truths[0][:5]] if judged.truths else judged.question.expect,
        got=judged.outcome.text[:500],
        why=judged.verdict,
    )
