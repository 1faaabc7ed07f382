"""An average per week may be one of weeks or of rows: without a model it is not answered."""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path

import pytest

import groundplan


@pytest.fixture(scope="module")
def deliveries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some days have no rows, and some rows no day."""
    chosen = random.Random(7)
    path = tmp_path_factory.mktemp("deliveries") / "deliveries.csv"
    lines = ["delivery_id,depot,sent,weight_kg,charge"]
    for number in range(400):
        day = "" if number % 40 == 0 else str(date(2025, 1, 1) + timedelta(days=chosen.randrange(300)))
        depot, weight = chosen.choice(("Ghent", "Lille")), chosen.randrange(1, 90)
        lines.append(f"D{1000 + number},{depot},{day},{weight},{weight * 3 + 0.5}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "question",
    [
        "average number of deliveries per week",
        "average deliveries per day",
        "average total charge per month",
        "total charge per week on average",
        "average daily charge",
        "average charge per day",
    ],
)
def test_of_periods_or_of_rows_is_not_guessed(deliveries: Path, question: str) -> None:
    with groundplan.open(deliveries) as project:
        assert project.ask(question).kind != "answer"


@pytest.mark.parametrize(
    "question", ["average charge by month", "total charge per month", "number of deliveries per day"]
)
def test_what_is_said_to_be_by_periods_is_a_series(deliveries: Path, question: str) -> None:
    with groundplan.open(deliveries) as project:
        assert len(project.ask(question).outcome.tables[0].rows) > 5  # type: ignore[union-attr]
