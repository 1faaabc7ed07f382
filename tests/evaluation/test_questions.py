"""The suite `questions`, and that it judges as an independent script does."""

from __future__ import annotations

import asyncio
import json
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from groundplan.contracts.answer import Answer, ShownTable
from groundplan.evaluation.suites.judging import Question, judge
from groundplan.evaluation.suites.questions import (
    Judged,
    data_files,
    evaluate,
    judge_all,
    load_questions,
    load_tables,
    truths,
)
from tests.interfaces.test_cli import groundplan as command
from tests.questions.test_asked import FOLDER

SCRIPT = FOLDER / "score.py"
needs_script = pytest.mark.skipif(not SCRIPT.exists(), reason="the independent script is not here")
DATA = "item,region,amount\npen,North,10\nink,South,30\npen,South,5\n"
QUESTIONS: list[dict[str, Any]] = [
    {"id": "1", "question": "total amount by region", "sql": "select region, sum(amount) from shop group by 1"},
    {"id": "2", "question": "total amount", "sql": "select 99", "level": "hard"},
    {"id": "3", "question": "total amount by salesperson", "expect": "refuse"},
    {"id": "4", "question": "amount by salesperson", "sql": "select 1"},
]


@pytest.fixture(params=["shop/shop.csv", "shop.csv", "shop.csv.xz"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder of questions; its data in a folder, as a file, or packed."""
    file = tmp_path / request.param
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(lzma.compress(DATA.encode()) if file.suffix == ".xz" else DATA.encode())
    lines = [json.dumps({"dataset": "shop", "expect": "answer", "level": "easy", **one}) for one in QUESTIONS]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def test_answers_are_right_wrong_or_refused(folder: Path) -> None:
    found = asyncio.run(evaluate(folder, None, lambda *_: None))
    assert found.n == 4
    assert {miss.id: miss.why for miss in found.misses} == {"2": "wrong", "4": "refused"}
    assert found.scores == {
        "right": 0.3333,
        "wrong": 0.25,
        "refused": 0.25,
        "asked": 0.0,
        "right shop": 0.3333,
        "wrong shop": 0.25,
        "right easy": 0.5,
        "wrong easy": 0.0,
        "right hard": 0.0,
        "wrong hard": 1.0,
    }


@pytest.mark.parametrize("folder", ["shop.csv"], indirect=True)
@pytest.mark.parametrize(
    ("bounds", "code", "says"),
    [
        (["--floor", "right=0.3", "--ceiling", "wrong=0.3"], 0, ""),
        (["--floor", "right=0.5", "--ceiling", "wrong=0.1"], 1, "right is 0.3333, below 0.5\nwrong is 0.25, above 0.1"),
        (["--floor", "best=0.5"], 2, "there is no score 'best'"),
    ],
)
def test_a_floor_or_ceiling_that_is_missed_fails(folder: Path, bounds: list[str], code: int, says: str) -> None:
    done = command("eval", "questions", folder, *bounds)
    assert done.returncode == code, done.stderr
    assert says in done.stderr


@needs_script
def test_it_judges_made_up_answers_as_the_script_does() -> None:
    """Each truth shown as a table, in another order, cut and in the text; also under another question."""
    script, lines = functions_of(SCRIPT), lines_of(FOLDER)
    questions = load_questions(FOLDER)
    for dataset in dict.fromkeys(question.dataset for question in questions):
        engine = load_tables(data_files(FOLDER, dataset, FOLDER))
        engine.execute("set threads to 1")  # rows and sums in one order
        asked = [question for question in questions if question.dataset == dataset]
        wanted = {question.id: truths(question, engine) for question in asked}
        assert wanted == {question.id: script.truths(engine, lines[question.id]) for question in asked}
        for question, other in zip(asked, [*asked[1:], asked[0]], strict=True):
            for shown in made_up([*wanted[question.id], *wanted[other.id]]):
                verdict = script.judge(lines[question.id], shown, wanted[question.id])
                assert judge(question, shown, wanted[question.id]) == verdict.lower(), (question.id, shown)


@needs_script
@pytest.mark.slow
def test_it_judges_every_question_as_the_script_does() -> None:
    script, lines = functions_of(SCRIPT), lines_of(FOLDER)
    questions = load_questions(FOLDER)
    for dataset in dict.fromkeys(question.dataset for question in questions):
        for one in asyncio.run(judged(dataset, [q for q in questions if q.dataset == dataset])):
            verdict = script.judge(lines[one.question.id], one.outcome, one.truths)
            assert one.verdict == verdict.lower(), one.question.id


async def judged(dataset: str, questions: list[Question]) -> list[Judged]:
    return [one async for one in judge_all(FOLDER, dataset, questions)]


def made_up(results: list[Any]) -> Iterator[Answer]:
    for rows in results:
        shown = [tuple(row) for row in rows[:50]]
        yield answer(shown)
        yield answer(shown[::-1])
        yield answer(shown[:1])
        yield answer([], " ".join(str(cell) for row in shown[:1] for cell in row))
    yield answer([], "There are no rows.")


def answer(rows: list[Any], text: str = "") -> Answer:
    columns = tuple(f"c{place}" for place in range(len(rows[0]))) if rows else ()
    table = ShownTable(columns=columns, rows=tuple(rows), row_count=len(rows))
    return Answer.model_construct(text=text, tables=(table,) if rows else ())


def lines_of(folder: Path) -> dict[str, dict[str, Any]]:
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return {line["id"]: line for line in map(json.loads, filter(str.strip, lines))}


def functions_of(script: Path) -> Any:
    """What the script defines, without what it does."""
    defined, _, _ = script.read_text(encoding="utf-8").partition("\nimport groundplan\n")
    names: dict[str, Any] = {}
    before, sys.argv = sys.argv, ["score.py", str(script.parent)]
    try:
        exec(compile(defined, str(script), "exec"), names)
    finally:
        sys.argv = before
    return SimpleNamespace(**names)
