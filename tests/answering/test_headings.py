"""The headings of a table say its periods and what it counts."""

from __future__ import annotations

from pathlib import Path

import pytest

import groundplan
from groundplan.contracts.answer import Answer
from groundplan.contracts.contract import thaw

ROWS = (f"{n},{'AB'[n % 2]},202{3 + n % 2}-0{n % 9 + 1}-11\n" for n in range(1, 41))
MILLION = r"\\u043c\\u043b\\u043d"  # млн, as an expression of Vega has it
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


@pytest.mark.parametrize(
    ("question", "title"),
    [("number of loans by branch", "Number of loans"), ("число строк по branch", "Число строк «loans»")],
)
def test_the_titles_of_a_chart_say_what_is_counted(question: str, title: str, tmp_path: Path) -> None:
    (tmp_path / "loans.csv").write_text(LOANS)
    with groundplan.open(tmp_path / "loans.csv") as project:
        outcome = project.ask(question).outcome
    assert isinstance(outcome, Answer), outcome
    chart = outcome.charts[0]
    assert chart["title"]["text"][0].startswith(title)
    assert f"'title': '{title}'" in str(thaw(chart["encoding"]))


def test_large_numbers_of_a_chart_are_short_in_the_language_of_the_question(tmp_path: Path) -> None:
    (tmp_path / "loans.csv").write_text("branch,fee\nA,1900000\nB,2600000\nB,700000\n")
    with groundplan.open(tmp_path / "loans.csv") as project:
        english, russian = (project.ask(said).outcome for said in ("total fee by branch", "сумма fee по branch"))
    assert isinstance(english, Answer)
    assert isinstance(russian, Answer)
    assert MILLION in str(thaw(russian.charts[0]))
    assert MILLION not in str(thaw(english.charts[0]))
