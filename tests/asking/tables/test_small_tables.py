"""Tables of a handful of rows, and what a question must not be turned into."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import groundplan
from groundplan.contracts.answer import Answer

ORDERS = "order_id,customer,order_date,price\n1,Ann,2025-01-03,20\n2,Bob,2025-01-05,30\n3,Ann,2025-01-20,50\n"
CITIES = "city,temperature\nOslo,3\nOslo,5\nRome,20\nRome,22\nCairo,30\nCairo,31\n"
PAID = "customer,amount,is_paid\nAnn,20,true\nBob,30,false\nAnn,50,true\nEve,10,false\n"
UNSURE = "day,amount\n03/04/2025,5\n04/05/2025,6\n05/06/2025,7\n"


def asked(folder: Path, data: str, question: str) -> Any:
    (folder / "orders.csv").write_text(data)
    with groundplan.open(folder / "orders.csv") as project:
        return project.ask(question).outcome


@pytest.mark.requirement("R5", "R8")
@pytest.mark.parametrize(
    ("data", "question", "rows"),
    [
        (ORDERS, "total price by customer", {("Ann", 70), ("Bob", 30)}),
        (ORDERS, "how many customers", {(2,)}),
        (ORDERS, "how many orders per customer", {("Ann", 2), ("Bob", 1)}),
        (CITIES, "temperature by city", {("Cairo", 30.5), ("Rome", 21.0), ("Oslo", 4.0)}),
        (CITIES, "сколько строк не в Oslo", {(4,)}),
        (PAID, "how many rows by is_paid", {(True, 2), (False, 2)}),
        (PAID, "total amount of unpaid rows", {(40,)}),
    ],
)
def test_few_rows_are_read_like_many(data: str, question: str, rows: set[tuple[Any, ...]], tmp_path: Path) -> None:
    outcome = asked(tmp_path, data, question)
    assert isinstance(outcome, Answer), outcome
    assert {tuple(row) for row in outcome.tables[0].rows} == rows


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(
    ("data", "question", "code"),
    [
        (ORDERS, "how many employees", "reading/unread-word"),
        (ORDERS, "price by customer as a pie chart", "reading/chart"),
        (ORDERS, "delete all orders of Ann", "reading/change"),
        (UNSURE, "amount by month", "reading/no-time"),
        (ORDERS, "customer with the second highest price", "reading/rank-nth"),
        (ORDERS, "how many orders were not delivered", "reading/unread-word"),
    ],
)
def test_what_is_not_there_is_refused_by_name(data: str, question: str, code: str, tmp_path: Path) -> None:
    outcome = asked(tmp_path, data, question)
    assert outcome.kind == "refusal", outcome
    assert outcome.issues[0].code == code


@pytest.mark.requirement("R10")
def test_a_misspelt_function_is_corrected_and_told(tmp_path: Path) -> None:
    """Passed over, it would be another number."""
    outcome = asked(tmp_path, ORDERS, "medain price by customer")
    assert outcome.kind == "answer", outcome
    assert "median" in outcome.text
    assert outcome.notes == ("'medain' was read as 'median'",)


def test_a_yes_or_no_column_is_a_condition(tmp_path: Path) -> None:
    outcome = asked(tmp_path, PAID, "how many paid rows")
    assert outcome.kind == "answer", outcome
    assert outcome.tables[0].rows == ((2,),)
