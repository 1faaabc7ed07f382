"""Made-up questions: new for each seed, the same for the same one, each with a truth that can be missed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from groundplan.evaluation.measuring.folder import write_folder
from groundplan.evaluation.suites.questions import data_files, load_questions, load_tables, truths


def written(folder: Path, seed: int) -> dict[str, bytes]:
    folder.mkdir()
    write_folder(folder, seed)
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.*")}


def test_a_seed_makes_the_same_and_another_makes_others(tmp_path: Path) -> None:
    first, again, other = (written(tmp_path / name, seed) for name, seed in (("a", 3), ("b", 3), ("c", 4)))
    assert first == again
    questions = [{one.question for one in load_questions(tmp_path / name)} for name in "ac"]
    assert len(questions[0] & questions[1]) <= 8
    assert not {*first.values()} & {*other.values()}


@pytest.mark.parametrize("seed", range(8))
def test_every_question_has_a_truth_that_can_be_missed(tmp_path: Path, seed: int) -> None:
    """An empty result, a missing value or all rows would be right by chance."""
    write_folder(tmp_path, seed)
    questions = load_questions(tmp_path)
    kinds = Counter(one.expect for one in questions)
    assert 40 <= len(questions) <= 50
    assert kinds["refuse"] >= 4
    assert kinds["ask"] >= 1
    for dataset in dict.fromkeys(one.dataset for one in questions):
        engine = load_tables(data_files(tmp_path, dataset, tmp_path))
        for question in (one for one in questions if one.dataset == dataset):
            found = truths(question, engine)
            assert (not found) == (question.expect == "refuse")
            for rows in found:
                assert rows, question
                assert all(cell is not None for row in rows for cell in row), question
                assert rows != [[0.0]], question
        engine.close()


def test_a_condition_on_groups_keeps_some_and_drops_some(tmp_path: Path) -> None:
    write_folder(tmp_path, 5)
    questions = {one.id: one for one in load_questions(tmp_path)}
    engine = load_tables(data_files(tmp_path, "events", tmp_path))
    ((workers,),) = truths(questions["events-09"], engine)[0]
    assert 0 < len(truths(questions["events-10"], engine)[0]) < float(str(workers))
