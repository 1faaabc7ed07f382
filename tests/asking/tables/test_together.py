"""One number over the best things together is refused by words; never is one for each shown instead."""

from __future__ import annotations

from pathlib import Path

import pytest

import groundplan

ROWS = [
    ("2024-02-01", "Adler", "harbour", 90, 4),
    ("2024-03-05", "Adler", "airport", 60, 1),
    ("2024-03-09", "Blum", "harbour", 120, 9),
    ("2025-01-11", "Cord", "airport", 70, 30),
    ("2025-01-19", "Cord", "harbour", 10, 2),
    ("2025-02-20", "Dorn", "harbour", 5, 50),
]


@pytest.fixture(scope="module")
def fares(tmp_path_factory: pytest.TempPathFactory) -> groundplan.Project:
    path: Path = tmp_path_factory.mktemp("fares") / "rides.csv"
    lines = ["day,driver,stop,fare,bags", *(",".join(map(str, row)) for row in ROWS)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return groundplan.open(path)


@pytest.mark.parametrize(
    "question",
    [
        "total fare of the top 2 drivers altogether",
        "combined fare of the top 3 drivers",
        "what is the total fare of the 2 best drivers in all?",
        "total fare of the top 2 drivers for airport altogether",
        "average fare of the top 2 drivers combined",
        "bags of the top 2 drivers by fare altogether",
        "total bags of the top 2 drivers by fare altogether",
        "the top 2 drivers by fare in each stop altogether",
        "fare of the top 2 drivers in total in 2024",
    ],
)
def test_one_number_of_the_best_is_refused(question: str, fares: groundplan.Project) -> None:
    assert fares.ask(question).kind == "refusal"


@pytest.mark.parametrize("question", ["top 2 drivers by combined fare", "top 2 drivers by total fare"])
def test_a_ranking_by_totals_is_still_a_ranking(question: str, fares: groundplan.Project) -> None:
    text = fares.ask(question).text
    assert text.index("Adler") < text.index("Blum")
    assert "Cord" not in text
