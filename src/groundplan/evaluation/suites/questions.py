"""The suite `questions`: questions as people type them, with truths in SQL; how many answers are right or wrong.

The folder has `questions.jsonl` and the data of each data set: `NAME/*.csv`, or one file `NAME.csv`; both may be packed
as `.csv.xz`. Questions are asked, and what is shown is compared with the rows of the SQL over the same files.
"""

from __future__ import annotations

import lzma
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import duckdb

from groundplan.contracts.answer import Outcome, Usage
from groundplan.errors import UsageError
from groundplan.evaluation.report import Miss, Report
from groundplan.evaluation.suites.judging import Question, Row, Verdict, cells, judge
from groundplan.evaluation.suites.rows import load_rows
from groundplan.evaluation.suites.sampling import spread
from groundplan.project import AsyncProject
from groundplan.settings import Endpoint

PACKED = ".xz"
VERDICTS: tuple[Verdict, ...] = ("right", "wrong", "refused", "asked")


@dataclass(frozen=True)
class Judged:
    question: Question
    outcome: Outcome
    verdict: Verdict
    truths: Sequence[Sequence[Row]]
    seconds: float


async def evaluate(
    folder: Path,
    sample: int | None,
    on_progress: Callable[[int, int], None],
    models: Sequence[Endpoint] = (),
    strategy: str | None = None,
) -> Report:
    """Ask every question, or an evenly spread `sample`."""
    questions = spread(load_questions(folder), sample)
    began, judged = time.perf_counter(), list[Judged]()
    for name in dict.fromkeys(question.dataset for question in questions):
        asked = [question for question in questions if question.dataset == name]
        judged += await judge_all(folder, name, asked, models, strategy)
        on_progress(len(judged), len(questions))
    return Report(
        suite="questions",
        n=len(judged),
        scores=dict(_scores(judged)),
        misses=tuple(_miss(one) for one in judged if one.verdict != "right"),
        usage=reduce(Usage.plus, (one.outcome.usage for one in judged), Usage()),
        seconds=round(time.perf_counter() - began, 2),
        extra={"median_seconds": round(median(one.seconds for one in judged), 4)} if judged else {},
    )


def load_questions(folder: Path) -> list[Question]:
    return load_rows(folder / "questions.jsonl", Question, "questions.jsonl and the data of each data set")


async def judge_all(
    folder: Path,
    name: str,
    questions: Iterable[Question],
    models: Sequence[Endpoint] = (),
    strategy: str | None = None,
) -> list[Judged]:
    """Ask the questions about one data set."""
    with TemporaryDirectory() as unpacked:
        files = data_files(folder, name, Path(unpacked))
        engine = load_tables(files)
        project = await AsyncProject.open(files[0] if len(files) == 1 else files[0].parent, models=models)
        try:
            return [await _judged(question, project, truths(question, engine), strategy) for question in questions]
        finally:
            await project.close()
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


async def _judged(
    question: Question, project: AsyncProject, wanted: Sequence[Sequence[Row]], strategy: str | None
) -> Judged:
    began = time.perf_counter()
    outcome = await project.ask(question.question, today=question.today, strategy=strategy)
    return Judged(question, outcome, judge(question, outcome, wanted), wanted, time.perf_counter() - began)


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


def _miss(judged: Judged) -> Miss:
    return Miss(
        id=judged.question.id,
        question=judged.question.question,
        expected=[list(row) for row in judged.truths[0][:5]] if judged.truths else judged.question.expect,
        got=judged.outcome.text[:500],
        why=judged.verdict,
    )
