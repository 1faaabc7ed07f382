"""The headings of a table say its periods and what it counts."""

from __future__ import annotations

from pathlib import Path

import pytest

import groundplan
from groundplan.contracts.answer import Answer

ROWS = (f"{n},{'AB'[n % 2]},202{3 + n % 2}-0{n % 9 + 1}-11\n" for n in range(1, 41))
LOANS = "loan_no,branch,lent_on\n" + "".join(ROWS)


@pytest.mark.parametrize(
    ("question", "headings", "said"),
    [
        ("number of loans in 2023 versus 2024", {"previous": "2023", "current": "2024"}, "2023"),
        ("number of loans by branch", {"count": "number of loans"}, "number of loans"),
        ("сколько строк по branch", {"число строк": "число строк «loans»"}, "Число строк «loans»: "),
        ("сколько строк", {"число строк": "число строк «loans»"}, "Число строк «loans»: 40."),
    ],
)
def test_headings_say_the_periods_and_what_is_counted(
    question: str, headings: dict[str, str], said: str, tmp_path: Path
) -> None:
    (tmp_path / "loans.csv").write_text(LOANS)
    with groundplan.open(tmp_path / "loans.csv") as project:
        outcome = project.ask(question).outcome
    assert isinstance(outcome, Answer), outcome
    table = outcome.tables[0]
    assert {**table.headings, **headings} == table.headings
    assert headings.keys() <= {*table.columns}
    assert said in outcome.text
