"""How answers and refusals are said: what trials found hard to understand, asked of other tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from groundplan.interfaces.report import write
from groundplan.project import Project
from tests.questions.found import TODAY, write_csv

MOORINGS = """
    CREATE TABLE moorings AS SELECT 'B' || n AS "berth no", ['Alder', 'Birch', 'Cedar', 'Alder'][1 + n % 4] AS marina,
        ['Capt Ito', 'Capt Osei', 'Capt Rhys'][1 + n * 5 % 7 % 3] AS keeper, 4 + n * 3 % 11 AS "length m",
        10 + n * 7 % 40 AS dues, DATE '2025-01-02' + CAST(n * 9 % 200 AS INT) AS moored_on FROM range(1, 41) AS s(n)
"""


@pytest.fixture(scope="module")
def moorings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("moorings")
    write_csv(folder, MOORINGS, ["moorings"])
    with Project(str(folder)) as project:
        yield project


def said(project: Project, question: str) -> str:
    return project.ask(question, today=TODAY).text


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("marinas with more than 12 moorings", "Only marinas with more than 12 moorings are shown."),
        ("marinas with at least 1 mooring", "Only marinas with at least 1 mooring are shown."),
        ("marinas with total dues above 300", "Only marinas with dues above 300 are shown."),
        ("marinas with more than 1 keeper", "Only marinas with more than 1 keeper are shown."),
        ("months with fewer than 7 moorings", "Only months with fewer than 7 moorings are shown."),
        (
            "keepers with average dues over 20 and more than 3 moorings",
            "Only keepers with average dues above 20 and more than 3 moorings are shown.",
        ),
    ],
)
def test_the_groups_that_are_shown_are_called_by_what_they_are(moorings: Project, question: str, kept: str) -> None:
    assert kept in said(moorings, question)


def test_a_share_of_a_count_is_no_share_of_a_sum(moorings: Project) -> None:
    told = said(moorings, "количество moorings по marina")
    assert "«Alder» (20, 50\u00a0% из 40)" in told
    assert "сумм" not in told


def test_names_that_are_counted_are_said_to_be_names(tmp_path: Path) -> None:
    rows = "".join(f"2025-03-{n:02},{('Ada Moss', 'Ben Cole')[n % 2]},{('Elm', 'Oak')[n % 2]}\n" for n in range(1, 20))
    (tmp_path / "swims.csv").write_text(f"swum_on,swimmer_name,pool\n{rows}")
    with Project(str(tmp_path / "swims.csv")) as project:
        named = project.ask("how many different swimmer names", today=TODAY).outcome
        pools = project.ask("how many different pools", today=TODAY).outcome
    assert "'swimmer_name' holds names, and names are counted: two of the same name are one" in named.notes
    assert pools.kind == named.kind == "answer"
    assert not pools.notes


def test_digits_that_only_adding_made_are_in_no_file_and_no_notebook(tmp_path: Path) -> None:
    (tmp_path / "kegs.csv").write_text("cellar,litres\nold,0.1\nold,0.2\nnew,5\nold,0.4\nnew,-0.125\n")
    with Project(str(tmp_path / "kegs.csv")) as project:
        found = project.ask("total litres by cellar", today=TODAY)
    held = dict(found.outcome.tables[0].rows)  # type: ignore[union-attr]
    assert held["old"] != 0.7, "these numbers add up exactly, so nothing is tried here"
    (tmp_path / "out").mkdir()
    write(found.outcome, tmp_path / "out", "total litres by cellar")
    assert (tmp_path / "out/table.csv").read_text().splitlines()[1:] == ["new,4.875", "old,0.7"]
    assert "<td>old</td><td>0.7</td>" in found._repr_mimebundle_()["text/html"]
