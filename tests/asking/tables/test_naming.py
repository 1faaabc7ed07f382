"""The words that a requirement quotes name it; what nobody said is implied, told, and can be switched off."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import duckdb
import pytest

import groundplan
from groundplan.asking.tables.naming import Naming
from groundplan.asking.tables.route import read_plain
from groundplan.contracts.answer import Answer, Clarification
from groundplan.contracts.reading import Evidence, Reading, Requirement
from groundplan.errors import SourceError
from groundplan.text.words import words_of
from tests.asking.tables.described import SALES, Known, describe

TODAY = date(2026, 1, 15)
GOLDEN = sorted((Path(__file__).parents[2] / "questions").glob("*/question.md"))
STAFF = "name,department,salary,started,left_on\n" + "".join(
    f"Person {n},{('Kitchen', 'Floor', 'Bar')[n % 3]},{2000 + 37 * n},2022-0{1 + n % 9}-11,"
    f"{'2025-03-0' + str(1 + n % 9) if n % 4 == 0 else ''}\n"
    for n in range(40)
)
JOBS = "job_id,bay,hours,received,finished\n" + "".join(
    f"{n},{('A', 'B', '')[n % 3]},{1 + n % 7},2025-{1 + n % 12:02}-03,2025-{1 + n % 12:02}-1{n % 9}\n"
    for n in range(60)
)
ASKED = """
staff: average salary by department
staff: how many people work in the bar
staff: who left in 2025
staff: top 2 departments by salary
jobs: hours by month
jobs: top 2 bays by hours
jobs: jobs finished in june 2025
jobs: jobs by bay
jobs: average hours in may 2025
"""


@pytest.fixture(scope="module")
def trades(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("trades")
    for name, text in (("staff", STAFF), ("jobs", JOBS)):
        (folder / f"{name}.csv").write_text(text)
    return {name: folder / f"{name}.csv" for name in ("staff", "jobs")}


@pytest.fixture(scope="module")
def known(trades: dict[str, Path]) -> dict[str, Known]:
    files = {"sales": SALES, **trades}
    return {name: asyncio.run(describe(file)) for name, file in files.items()}


def golden() -> Iterator[tuple[str, str]]:
    for file in GOLDEN:
        yield "sales", file.read_text(encoding="utf-8").splitlines()[0]
    for line in ASKED.strip().splitlines():
        name, _, question = line.partition(": ")
        yield name, question


def read(question: str, known: Known) -> Reading | None:
    answer = read_plain(question, *known, today=TODAY).answer
    return answer if isinstance(answer, Reading) else None


def naming(reading: Reading, known: Known) -> Naming:
    return Naming(reading.question, *known, reading.tables, TODAY)


def pointed(requirement: Requirement, text: str, start: int) -> Requirement:
    return requirement.model_copy(update={"evidence": Evidence(text=text, start=start), "also": ()})


@pytest.mark.requirement("R8")
@pytest.mark.parametrize(("name", "question"), [*golden()], ids=[question[:50] for _, question in golden()])
def test_the_words_of_every_requirement_name_it_and_no_other_words_do(
    name: str, question: str, known: dict[str, Known]
) -> None:
    reading = read(question, known[name])
    if reading is None:
        return
    words = naming(reading, known[name])
    assert words.unfounded(reading) is None
    said = [quote for r in reading.requirements for quote in r.quotes]
    places = [Evidence(text=word.text, start=word.start) for word in words_of(reading.question)]
    loose = [place for place in places if not any(quote.covers(place) for quote in said)]
    for requirement in (r for r in reading.requirements if not r.implied and r.kind not in ("analysis", "columns")):
        assert not any(words.names(pointed(requirement, place.text, place.start or 0)) for place in loose), (
            requirement.id
        )
        assert not words.names(pointed(requirement, "zebra", 0))


@pytest.mark.requirement("R8")
@pytest.mark.parametrize(
    ("name", "question", "requirement", "elsewhere"),
    [
        ("sales", "total revenue by region in 2025", "metric:revenue", "by region"),
        ("sales", "total revenue by region in 2025", "group_by:region", "total revenue"),
        ("sales", "total revenue by region in 2025", "filter:date", "by region"),
        ("sales", "total revenue by region in 2025", "group_by:region", "in 2025"),
        ("sales", "average cost by channel for North", "filter:region", "by channel"),
        ("sales", "average cost by channel for North", "metric:cost", "North"),
        ("sales", "top 3 regions by units", "rank:top3", "units"),
        ("sales", "anomalies in daily revenue", "analysis:anomaly", "daily"),
        ("staff", "average salary by department", "metric:salary", "by department"),
        ("staff", "average salary by department", "group_by:department", "average"),
        ("jobs", "average hours in may 2025", "filter:finished", "average hours"),
        ("jobs", "average hours in may 2025", "metric:hours", "in may 2025"),
    ],
)
def test_a_requirement_that_quotes_other_words_is_refused(
    name: str, question: str, requirement: str, elsewhere: str, known: dict[str, Known]
) -> None:
    reading = read(question, known[name])
    assert reading is not None
    moved = [
        pointed(r, elsewhere, question.index(elsewhere)) if r.id == requirement else r for r in reading.requirements
    ]
    assert moved != [*reading.requirements]
    found = naming(reading, known[name]).unfounded(reading.model_copy(update={"requirements": tuple(moved)}))
    assert found is not None
    assert found.id == requirement


@pytest.mark.requirement("R8")
def test_a_misspelt_word_names_what_it_was_read_as(known: dict[str, Known]) -> None:
    reading = read("total revenu by regoin", known["sales"])
    assert reading is not None
    assert {"metric:revenue", "group_by:region"} <= {r.id for r in reading.requirements if not r.implied}
    assert naming(reading, known["sales"]).unfounded(reading) is None


@pytest.mark.requirement("R85", part="implied")
@pytest.mark.requirement("R66", part="read-back")
@pytest.mark.parametrize(
    ("name", "question", "assumed", "truth", "off"),
    [
        (
            "staff",
            "average salary by department",
            "left on is missing",
            "SELECT department, AVG(salary) FROM t WHERE left_on IS NULL GROUP BY 1",
            "SELECT department, AVG(salary) FROM t GROUP BY 1",
        ),
        (
            "jobs",
            "top 3 bays by total hours",
            "bay is present",
            "SELECT bay, SUM(hours) FROM t WHERE bay IS NOT NULL GROUP BY 1",
            "SELECT bay, SUM(hours) FROM t GROUP BY 1",
        ),
    ],
)
def test_a_default_is_told_and_can_be_switched_off(
    name: str, question: str, assumed: str, truth: str, off: str, trades: dict[str, Path], tmp_path: Path
) -> None:
    file = tmp_path / trades[name].name
    file.write_text(trades[name].read_text())
    told = answered(file, question)
    assert assumed in told.read_as.partition("Assumed: ")[2]
    assert rows(told) == expected(file, truth)
    [implied] = [r for r in told.reading.requirements if r.kind == "filter"] if told.reading else []
    assert implied.implied
    assert not implied.quotes
    file.with_name(f"{name}.semantic_model.yaml").write_text(
        f"semantic_model: [{{name: x, datasets: [{{name: {name}, source: {name}, assume: false}}]}}]\n"
    )
    plain = answered(file, question)
    assert "Assumed" not in plain.read_as
    assert rows(plain) == expected(file, off)


def answered(file: Path, question: str) -> Answer:
    with groundplan.open(file) as project:
        outcome = project.ask(question, today=TODAY).outcome
    assert isinstance(outcome, Answer), outcome
    return outcome


def rows(answer: Answer) -> list[tuple[str, float]]:
    return sorted((str(row[0]), round(float(str(row[1])), 6)) for row in answer.tables[0].rows)


def expected(file: Path, sql: str) -> list[tuple[str, float]]:
    engine = duckdb.connect()
    engine.read_csv(str(file)).create("t")
    return sorted((str(row[0]), round(float(row[1]), 6)) for row in engine.execute(sql).fetchall())


@pytest.mark.requirement("R8")
@pytest.mark.parametrize(
    ("question", "kept", "candidates"),
    [
        ("total hours by month", "usual_function", {"dates": 2}),
        ("average hours by month", "main_date", {}),
        ("hours by bay", "main_date", {"functions": 2}),
    ],
)
def test_without_defaults_it_is_asked_which_date_and_which_function(
    question: str, kept: str, candidates: dict[str, int], trades: dict[str, Path], tmp_path: Path
) -> None:
    file = tmp_path / "jobs.csv"
    file.write_text(trades["jobs"].read_text())
    model = f"semantic_model: [{{name: x, datasets: [{{name: jobs, source: jobs, assume: [{kept}, chart]}}]}}]\n"
    file.with_name("jobs.semantic_model.yaml").write_text(model)
    with groundplan.open(file) as project:
        outcome = project.ask(question, today=TODAY).outcome
    if not candidates:
        assert isinstance(outcome, Answer)
        assert "dates are those of finished" in outcome.read_as
        return
    assert isinstance(outcome, Clarification), outcome
    assert len(outcome.readings) == next(iter(candidates.values()))
    assert len({*outcome.candidates}) == len(outcome.candidates)


def test_an_unknown_default_is_a_fault_of_the_model_file(trades: dict[str, Path], tmp_path: Path) -> None:
    file = tmp_path / "jobs.csv"
    file.write_text(trades["jobs"].read_text())
    model = "semantic_model: [{name: x, datasets: [{name: jobs, source: jobs, assume: [guesses]}]}]\n"
    file.with_name("jobs.semantic_model.yaml").write_text(model)
    with pytest.raises(SourceError, match="'assume' is true, false or a list of present_people"):
        groundplan.open(file)
