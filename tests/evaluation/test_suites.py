"""The suites by others from the command line: their report, and what a wrong call says."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def suites(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.suites", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT)


@pytest.mark.requirement("R60")
def test_a_suite_scores_paths_through_a_graph(tmp_path: Path) -> None:
    crew = {"from": "boat", "to": "sailor", "words": {"en": {"forward": ["crew"]}}}
    asked = {"id": "1", "hops": 1, "question": "the crew of Gull", "topic_entity": "Gull", "answers": ["Ann"]}
    (tmp_path / "knowledge.yaml").write_text(
        json.dumps({"types": {"boat": {}, "sailor": {}}, "relations": {"crew": crew}})
    )
    (tmp_path / "kb.tsv.gz").write_bytes(gzip.compress(b"Gull\tcrew\tAnn\n"))
    (tmp_path / "questions.jsonl").write_text(
        json.dumps({**asked, "gold_path": [{"relation": "crew", "direction": "out"}]})
    )
    assert evaluated("metaqa", tmp_path) == {"hops1": 1.0}


@pytest.mark.requirement("R60")
def test_a_suite_scores_the_search_of_documents_in_two_languages(tmp_path: Path) -> None:
    passage = {"doc_id": "a", "title": "", "text_ru": "Мост стоит на граните.", "text_en": "It stands on granite."}
    asked = {"id": "1", "doc_id": "a", "question_ru": "Что стоит на граните?", "question_en": "What is on granite?"}
    (tmp_path / "xquad_docs.jsonl").write_text(json.dumps(passage))
    (tmp_path / "xquad_questions.jsonl").write_text(json.dumps(asked))
    assert evaluated("ruqa", tmp_path) == dict.fromkeys(
        ("ru_recall@1", "ru_recall@5", "en_recall@1", "en_recall@5"), 1.0
    )


def evaluated(suite: str, folder: Path) -> dict[str, float]:
    done = suites(suite, folder, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["suite"], report["n"]) == (suite, 1)
    scores: dict[str, float] = report["scores"]
    return scores


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing", "."], "invalid choice: 'nothing'"),
        (["metaqa", "no_such"], "no_such is not a folder"),
        (["metaqa", "docs"], "name a folder with questions.jsonl and kb.tsv.gz"),
        (["ruqa", "docs", "--strategy", "adapt"], "omit --model and --strategy"),
        (["tools", "docs", "--model", "qwne"], "omit --model"),
        (["nlv", "docs", "--model", "qwne"], "[models.qwne]"),
        (["nlv", "docs", "--sample", "0"], "--sample"),
    ],
)
def test_a_wrong_call_says_what_to_do(arguments: list[str], says: str) -> None:
    done = suites(*arguments)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
