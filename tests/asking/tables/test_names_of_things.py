"""Groups by a thing that has both an id and a name of its own show the name; two things of one name stay apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import groundplan
from groundplan.contracts.answer import Answer, Clarification

OWNERS = "owner_id,name\n" + "".join(f"{n},{name}\n" for n, name in enumerate(("Ida", "Jan", "Kaj", "Liv"), 1))
TWINS = OWNERS.replace("Liv", "Ida")
CHARGES = "charge_id,owner_id,amount\n" + "".join(f"{n},{n % 4 + 1},{n}\n" for n in range(1, 13))
TRIPS = "trip_id,driver_id,driver_name,fare\n" + "".join(f"{n},{n % 3},Driver {n % 3},{n}\n" for n in range(1, 10))
SHARED = TRIPS.replace("Driver 2", "Driver 1")


def answered(folder: Path, question: str, **files: str) -> Answer:
    for name, data in files.items():
        (folder / f"{name}.csv").write_text(data)
    with groundplan.open(folder) as project:
        outcome = project.ask(question).outcome
    assert isinstance(outcome, Answer), outcome
    return outcome


@pytest.mark.parametrize(
    ("question", "columns", "first"),
    [
        ("top 3 owners by amount", ("owner name", "amount", "rank"), ("Ida", 24, 1)),
        ("total amount by owner", ("owner name", "amount"), ("Ida", 24)),
        ("share of amount by owner", ("owner name", "amount", "share"), ("Ida", 24, 24 / 78)),
        ("owners by number of charges", ("owner name", "count"), ("Ida", 3)),
        ("total amount by owner id", ("owner_id", "owner name", "amount"), (1, "Ida", 24)),
    ],
)
def test_a_name_stands_for_the_id_that_points_at_it(
    question: str, columns: Sequence[str], first: Sequence[object], tmp_path: Path
) -> None:
    table = answered(tmp_path, question, owners=OWNERS, charges=CHARGES).tables[0]
    assert tuple(table.columns) == tuple(columns)
    assert tuple(table.rows[0]) == pytest.approx(tuple(first)) or tuple(table.rows[0]) == tuple(first)


@pytest.mark.parametrize("charges", [CHARGES, CHARGES + "13,9,50\n"])
def test_two_things_called_the_same_keep_their_ids(charges: str, tmp_path: Path) -> None:
    """The same holds where an id has no name."""
    owners = TWINS if charges == CHARGES else OWNERS + "".join(f"{n},Owner {n}\n" for n in range(10, 70))
    charges += "".join(f"{n},{n},1\n" for n in range(10, 70)) if charges != CHARGES else ""
    table = answered(tmp_path, "total amount by owner", owners=owners, charges=charges).tables[0]
    assert tuple(table.columns) == ("owner_id", "owner name", "amount")
    assert len({row[0] for row in table.rows}) == len(table.rows)


@pytest.mark.parametrize(
    ("trips", "question", "columns"),
    [
        (TRIPS, "top 2 drivers by number of trips", ("driver_name", "count", "rank")),
        (TRIPS, "list drivers with fare above 5", ("driver_name",)),
        (TRIPS, "average fare by driver id", ("driver_id", "driver_name", "average fare")),
        (SHARED, "top 2 drivers by number of trips", ("driver_id", "driver_name", "count", "rank")),
        (SHARED, "list drivers with fare above 5", ("driver_id", "driver_name")),
    ],
)
def test_a_name_stands_for_the_id_beside_it(trips: str, question: str, columns: Sequence[str], tmp_path: Path) -> None:
    assert tuple(answered(tmp_path, question, trips=trips).tables[0].columns) == tuple(columns)


def test_rows_that_are_money_are_counted_or_added_up(tmp_path: Path) -> None:
    (tmp_path / "owners.csv").write_text(OWNERS)
    (tmp_path / "charges.csv").write_text(CHARGES)
    with groundplan.open(tmp_path) as project:
        outcome = project.ask("top 3 owners by charge").outcome
    assert isinstance(outcome, Clarification)
    assert outcome.candidates == (
        "number of charges by name of owners, top 3, in charges and owners",
        "total amount by name of owners, top 3, in charges and owners",
    )
