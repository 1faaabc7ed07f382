"""Two files of 2,000 columns: each question took thirty seconds."""

from __future__ import annotations

import asyncio
import random
import re
from pathlib import Path

import pytest

from groundplan.contracts.answer import Answer, Refusal
from tests.adversarial.loop_meter import HELD
from tests.adversarial.test_a02_hostile_questions import asked

WORDS = ("revenue", "region", "units", "date", "order", "west", "total", "by", "month", "top", "share")
SPENT = 8.0  # seconds of work for one question
HOSTILE = "revenue by region " * 20
QUESTIONS = ("how many rows are there", "total revenue by region", "what is the blorf of snark", HOSTILE)


@pytest.mark.parametrize("columns", [400, pytest.param(2_000, marks=pytest.mark.slow)])
def test_questions_beside_two_wide_files(columns: int, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / f"{name}.csv", columns, random.Random(name))
    found, meter = asyncio.run(asked(tmp_path, QUESTIONS))
    for spent, question, _ in found:
        assert spent < SPENT, question
    *_, (_, _, outcome) = found
    assert isinstance(outcome, Refusal)
    assert meter.longest < HELD, (meter.longest, meter.callback)


def write(path: Path, columns: int, chance: random.Random) -> None:
    """Names of words that questions are made of, so that much could be meant."""
    head = (f"c{number}_{chance.choice(WORDS)}_{chance.choice(WORDS)}" for number in range(columns))
    rows = (",".join(str(chance.randint(0, 9)) for _ in range(columns)) for _ in range(5))
    path.write_text("\n".join((",".join(head), *rows)))


def test_questions_to_a_wide_table_of_codes(tmp_path: Path) -> None:
    """300 different texts in each of 600 columns: how all of them are said is not worked out for each question."""
    rows = [[f"{chr(97 + (row + n) % 26)}{row}q{n}" for n in range(600)] for row in range(300)]
    head = ",".join(f"field{n}" for n in range(600))
    (tmp_path / "codes.csv").write_text("\n".join((head, *map(",".join, rows))))
    found, _ = asyncio.run(asked(tmp_path, ("how many rows are there", f"how many rows have field7 {rows[30][7]}")))
    for spent, question, _ in found:
        assert spent < SPENT, question
    answers = [outcome.text for _, _, outcome in found if isinstance(outcome, Answer)]
    assert [re.findall(r"\d+", text)[0] for text in answers] == ["300", "1"]
