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
RACES = "rider,team,season,points,wins\nAnn,A,1,10,1\nBob,B,1,12,2\nCid,A,2,9,0\nDan,C,3,4,1\n"
NUMBERED = "#,name,score\n1,Ann,10\n2,Bob,12\n3,Cid,9\n"
ODD = ("#", "№", "%", "$", "...", "1", "2024", "日本", "🙂", "a/b", "_", "-", "Ω", "by", "the", "id", "total", "count")
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
        (RACES, "how many points does Bob have", {(12,)}),
        (RACES, "number of points by team", {("A", 19), ("B", 12), ("C", 4)}),
        (RACES, "how many wins were there", {(4,)}),
        (RACES, "which season had the least number of points", {(3, 4, 1)}),
        (NUMBERED, "average score", {(10.333333333333334,)}),
        (PAID, "how many rows by is_paid", {(True, 2), (False, 2)}),
        (PAID, "total amount of unpaid rows", {(40,)}),
    ],
)
def test_few_rows_are_read_like_many(data: str, question: str, rows: set[tuple[Any, ...]], tmp_path: Path) -> None:
    outcome = asked(tmp_path, data, question)
    assert isinstance(outcome, Answer), outcome
    assert {tuple(row) for row in outcome.tables[0].rows} == rows


TIED = "town,shop,sales\nA,x,5\nA,y,5\nB,z,3\nB,q,2\nC,w,10\n"


@pytest.mark.requirement("R5", "R8")
@pytest.mark.parametrize(
    ("question", "towns", "text"),
    [
        ("which town has the highest total sales", ["A", "C"], "2 share the highest sales, 10:\n- A\n- C"),
        ("which town has the lowest total sales", ["B"], "B has the lowest sales: 5."),
        ("top 2 shops by sales", ["w", "x"], "Top 2 by sales:\n1. w: 10\n2. x: 5"),
    ],
)
def test_all_that_share_the_first_place_are_told(question: str, towns: list[str], text: str, tmp_path: Path) -> None:
    outcome = asked(tmp_path, TIED, question)
    assert isinstance(outcome, Answer), outcome
    assert [row[0] for row in outcome.tables[0].rows] == towns
    assert text in outcome.text


PETS = "pet,visits\nRex,1\nrex,2\nRex ,3\nBella,1\nMax,4\n"


@pytest.mark.parametrize(
    ("data", "question", "notes"),
    [
        (PETS, "how many different pets", 1),
        (PETS, "visits by pet", 1),
        (PETS, "total visits", 0),
        (CITIES, "temperature by city", 0),
    ],
)
def test_names_that_are_only_spelt_differently_are_noted(data: str, question: str, notes: int, tmp_path: Path) -> None:
    outcome = asked(tmp_path, data, question)
    found = [note for note in outcome.notes if "capital letters or spaces" in note]
    assert len(found) == notes
    assert all(note.startswith("2 values of 'pet'") for note in found)


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(
    ("data", "question", "code"),
    [
        (ORDERS, "price by employee", "reading/unread-word"),
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


@pytest.mark.requirement("R10")
@pytest.mark.parametrize("header", ODD)
def test_any_name_of_a_column_ends_typed(header: str, tmp_path: Path) -> None:
    for values in ((1, 2, 3), ("x", "y", "x"), ("2025-01-03", "2025-02-03", "2025-03-03"), ("", "", "")):
        rows = "".join(f"{value},{place * 5}\n" for place, value in enumerate(values))
        for question in ("total score", "how many rows", f"score by {header}", "top 2 by score", "сколько всего"):
            asked(tmp_path, f"{header},score\n{rows}", question)  # an exception fails


@pytest.mark.requirement("R10")
def test_how_many_asks_for_no_distribution(tmp_path: Path) -> None:
    landings = "year,aircraft landings\n1999,8200\n2000,8600\n2001,9000\n2002,9900\n2003,10100\n"
    assert not isinstance(asked(tmp_path, landings, "how many aircraft landed from 2000 to 2003"), Answer)
