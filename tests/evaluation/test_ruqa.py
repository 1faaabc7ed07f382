"""The `ruqa` suite: its arithmetic on two passages, and floors on a public benchmark."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from benchmarks.suites.ruqa import evaluate

from groundplan.errors import UsageError
from groundplan.sources.knowledge.vectors import installed

ROOT = Path(__file__).parents[2]
BENCHMARK = Path(os.environ.get("GROUNDPLAN_BENCHMARKS") or ROOT.parent / "shared/benchmarks") / "ru_qa"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    passages = [
        {"doc_id": "a", "title": "", "text_ru": "Мост стоит на граните.", "text_en": "The bridge stands on granite."},
        {"doc_id": "b", "title": "", "text_ru": "Маяк горит ночью.", "text_en": "The lighthouse burns at night."},
    ]
    questions = [
        {"id": "1", "doc_id": "a", "question_ru": "Какие мосты на граните?", "question_en": "Which bridges?"},
        {"id": "2", "doc_id": "a", "question_ru": "Что горит ночами?", "question_en": "On what granite?"},
    ]
    for name, rows in (("docs", passages), ("questions", questions)):
        (tmp_path / f"xquad_{name}.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return tmp_path


def silent(done: int, total: int) -> None:
    assert 0 < done <= total


def test_recall_is_the_share_of_questions_whose_passage_is_among_the_first(folder: Path) -> None:
    report = evaluate(folder, None, silent)
    assert (report.suite, report.n) == ("ruqa", 2)
    assert report.scores["ru_recall@1"] == 0.5
    assert (report.scores["en_recall@1"], report.scores["en_recall@5"]) == (1.0, 1.0)
    (miss,) = report.misses
    assert (miss.id, miss.expected, miss.question) == ("2/ru", "a", "Что горит ночами?")


def test_progress_is_told_for_both_languages(folder: Path) -> None:
    told: list[tuple[int, int]] = []
    evaluate(folder, None, lambda done, total: told.append((done, total)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_wrong_folder_or_line_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere/xquad_docs.jsonl cannot be read"):
        evaluate(tmp_path / "nowhere", None, silent)
    (folder / "xquad_questions.jsonl").write_text('{"id": "a"}\n')
    with pytest.raises(UsageError, match=r"xquad_questions.jsonl:1: "):
        evaluate(folder, None, silent)


@pytest.mark.slow
@pytest.mark.skipif(not BENCHMARK.exists(), reason="the benchmark is not on this machine; see GROUNDPLAN_BENCHMARKS")
@pytest.mark.skipif(not installed(), reason="needs the extra `knowledge`")
@pytest.mark.requirement("R47", "R60")
def test_passages_are_found_in_russian_and_no_worse_in_english() -> None:
    scores = evaluate(BENCHMARK, None, silent).scores
    assert scores["ru_recall@1"] >= 0.92
    assert scores["ru_recall@5"] >= 0.985
    assert scores["en_recall@1"] >= scores["ru_recall@1"]
    assert scores["en_recall@5"] >= 0.985
