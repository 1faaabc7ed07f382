"""The `nlv` suite: its scores on three questions that can be judged by eye, and what a model adds to the report."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.suites.nlv import evaluate

from groundplan.evaluation.report import Report
from tests.llm.scripted import PROBED, says, scripted

CSV = (
    "day,shop,sold,price\n2025-01-01,Mill,3,2.5\n2025-01-02,Mill,4,2.0\n2025-02-01,Quay,5,3.5\n2025-02-02,Quay,9,1.5\n"
)
BARS = {"gold": "bars", "mark": "bar", "fields": ["shop", "sold"], "aggregate": "sum", "group_by": ["shop"]}
DOTS = {"gold": "dots", "mark": "point", "fields": ["sold", "price"], "aggregate": None, "group_by": []}
ASKED = {
    "total sold by shop as a bar chart": "bars",
    "scatter plot of sold and price": "dots",
    "total sold by lighthouse": "bars",
    "total sold per shop as a bar chart": "bars",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    (tmp_path / "tables").mkdir()
    (tmp_path / "gold_tables").mkdir()
    (tmp_path / "tables/shops.csv").write_text(CSV)
    (tmp_path / "gold_tables/bars.csv").write_text("shop,sum_sold\nMill,7\nQuay,14\n")
    questions = [
        {"id": f"q{place}", "table": "shops", "utterances": [words], "sequential": False, "gold": gold}
        for place, (words, gold) in enumerate(ASKED.items())
    ]
    sequel = {"id": "q9", "table": "shops", "utterances": ["and per day?"], "sequential": True, "gold": "dots"}
    lines(tmp_path / "questions.jsonl", [*questions, sequel])
    lines(tmp_path / "gold_specs.jsonl", [BARS | {"gold_table": "gold_tables/bars.csv"}, DOTS])
    return tmp_path


def lines(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("\n".join(json.dumps(row) for row in rows))


def silent(done: int, total: int) -> None:
    assert 0 < done <= total


def scored(folder: Path, sample: int | None = None, on_progress: Callable[[int, int], None] = silent) -> Report:
    return asyncio.run(evaluate(folder, sample, on_progress))


def test_a_plan_is_scored_part_by_part_and_a_refusal_misses_all(folder: Path) -> None:
    report = scored(folder)
    assert (report.suite, report.n) == ("nlv", 4)
    assert set(report.scores.values()) == {0.75, 0.6667}
    assert report.scores["table"] == 0.6667
    (miss,) = report.misses
    assert miss.id == "q2"
    assert "lighthouse" in miss.why
    assert report.usage.calls == 0
    assert report.extra.keys() == {"seconds_per_question", "repaired"}


def test_a_sample_is_spread_over_the_questions(folder: Path) -> None:
    told: list[tuple[int, int]] = []
    report = scored(folder, 2, lambda done, total: told.append((done, total)))
    assert report.n == 2
    assert [miss.id for miss in report.misses] == ["q2"]
    assert told == [(1, 2), (2, 2)]


@pytest.mark.requirement("R59")
def test_a_model_that_says_nothing_of_use_costs_tokens_and_no_score(folder: Path) -> None:
    pytest.importorskip("openai", reason="needs the extra `llm`")

    async def run() -> tuple[Report, int]:
        async with scripted(says(PROBED), says("I would rather talk about the weather.")) as server:
            return await evaluate(folder, None, silent, [server.endpoint()], "adapt"), len(server.requests)

    report, asked = asyncio.run(run())
    assert report.scores == scored(folder).scores
    assert (report.usage.models, report.usage.calls) == (("scripted",), asked)
    assert report.extra["asked"] == 1.0, "`adapt` has every plan adapted"
    assert report.extra["tokens_per_question"] == 10 * asked / 4
    assert "first_try" not in report.extra
