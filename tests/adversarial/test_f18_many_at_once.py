"""Sixty-four threads ask one project at once; each gets what it would get alone, and several projects share a file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from benchmarks.many_at_once import QUESTIONS, TODAY, make_tables

import groundplan
from groundplan.result import Result

THREADS = 64


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tables(tmp_path_factory.mktemp("many"))


def told(result: Result) -> tuple[str, str, str]:
    tables = getattr(result.outcome, "tables", ())
    return result.kind, result.text, str([(table.columns, table.rows) for table in tables])


def test_threads_of_a_sync_caller(folder: Path) -> None:
    with groundplan.open(folder) as project:
        alone = {question: told(project.ask(question, today=TODAY)) for question in QUESTIONS}
        asked = [*QUESTIONS, *reversed(QUESTIONS)]
        with ThreadPoolExecutor(THREADS) as pool:
            together = list(pool.map(lambda question: told(project.ask(question, today=TODAY)), asked))
    assert [question for question, one in zip(asked, together, strict=True) if one != alone[question]] == []


def test_a_file_opened_by_many_at_once_is_loaded_whole_for_each(tmp_path: Path) -> None:
    file = tmp_path / "sales.csv"
    file.write_text("region,revenue\n" + "West,1\n" * 20_000)

    def total(_: int) -> str:
        with groundplan.open(file) as project:
            return project.ask("total revenue").text

    with ThreadPoolExecutor(8) as pool:
        assert {"20,000" in text for text in pool.map(total, range(16))} == {True}
