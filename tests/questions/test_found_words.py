"""How answers and refusals are said: what trials found hard to understand, asked of other tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from groundplan.contracts.answer import Answer
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
    assert isinstance(found.outcome, Answer)
    held = {row[0]: row[1] for row in found.outcome.tables[0].rows}
    assert held["old"] != 0.7, "these numbers add up exactly, so nothing is tried here"
    (tmp_path / "out").mkdir()
    write(found.outcome, tmp_path / "out", "total litres by cellar")
    assert (tmp_path / "out/table.csv").read_text().splitlines()[1:] == ["new,4.875", "old,0.7"]
    assert "<td>old</td><td>0.7</td>" in found._repr_mimebundle_()["text/html"]


DIVES = """
    CREATE TABLE dives AS SELECT 'D' || n AS dive_no, TIMESTAMP '2025-03-03 08:15:00' + INTERVAL (n % 25) DAY
        + INTERVAL (n * n % 11) HOUR AS dived_at, CASE WHEN n % 3 > 0 THEN ['Fan', 'Cod'][n % 3] END AS reef,
        n * 13 % 90 + 0.5 AS bar FROM range(1, 121) AS s(n)
"""


@pytest.fixture(scope="module")
def dives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("dives")
    write_csv(folder, DIVES, ["dives"])
    with Project(str(folder)) as project:
        yield project


def test_a_heatmap_of_hours_and_weekdays_is_drawn(dives: Project) -> None:
    answer = dives.ask("heatmap of dives by weekday and hour", today=TODAY)
    assert [chart.spec["usermeta"]["groundplan"]["kind"] for chart in answer.charts] == ["heatmap"]
    with duckdb.connect() as truth:
        truth.execute(DIVES)
        cells = truth.execute("SELECT count(*) FROM dives GROUP BY dayname(dived_at), hour(dived_at)").fetchall()
    assert isinstance(answer.outcome, Answer)
    assert Counter(row[-1] for row in answer.outcome.tables[0].rows) == Counter(count for (count,) in cells)


@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        ("which hour has the most dives", ":00", " 8 has"),
        ("which weekday has the most dives", "Tuesday", "weekday is"),
        ("share of dives by reef", "- (no reef): 33% (40)", "(none)"),
        ("how many different reefs", "There are 2 different reefs.", "Number of different"),
        ("which dive has the highest bar", "D83 has the highest bar: 89.50.", "There is one row"),
    ],
)
def test_what_is_counted_and_when_is_said_in_words(dives: Project, question: str, told: str, untold: str) -> None:
    text = said(dives, question)
    assert told in text
    assert untold not in text


def test_rows_of_another_length_lose_no_cells(tmp_path: Path) -> None:
    (tmp_path / "looms.csv").write_text("loom,yards,weaver\nL1,10,Ito\nL2,20,Osei,wool,blue\nL3,30\nL4,40,Ito,silk\n")
    with Project(str(tmp_path / "looms.csv")) as project:
        assert "100" in said(project, "total yards")
        (schema,) = project.schemas.values()
    columns = {column.name: column for column in schema.tables[0].columns}
    assert columns["weaver"].nulls == 1
    assert [column.note for column in columns.values() if column.note] == [
        "column 4 of the file has no name",
        "column 5 of the file has no name",
    ]
