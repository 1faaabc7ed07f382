"""People among the rows, dates that date nothing, and asides that are not passed over."""

from __future__ import annotations

from datetime import date

import pytest

from groundplan.asking.tables.route import read_plain
from groundplan.contracts.answer import Clarification
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import Column, SourceSchema, Table
from groundplan.text.read_back import read_back

CROSSINGS = Table(
    name="crossings",
    row_count=1_000,
    keys=(("crossing_id",),),
    columns=(
        Column(name="crossing_id", type="VARCHAR", kind="text", role="id", cardinality=1_000, nulls=0),
        Column(name="passenger_id", type="VARCHAR", kind="text", role="dimension", cardinality=200, nulls=0),
        Column(name="sex", type="VARCHAR", kind="text", role="dimension", cardinality=2, nulls=0),
        Column(name="season", type="VARCHAR", kind="text", role="dimension", cardinality=3, nulls=0),
        Column(name="port", type="VARCHAR", kind="text", role="dimension", cardinality=3, nulls=0),
        Column(name="voucher", type="VARCHAR", kind="text", role="dimension", cardinality=50, nulls=700),
        Column(
            name="fare", type="DOUBLE", kind="number", role="measure", cardinality=80, nulls=0, least=-9, greatest=9
        ),
        Column(name="boarded_at", type="DATE", kind="time", role="temporal", cardinality=300, nulls=0),
        Column(name="landed_at", type="DATE", kind="time", role="temporal", cardinality=290, nulls=90),
    ),
)
RIDES = Table(
    name="stable",
    row_count=1_000,
    keys=(("rid_id",),),
    columns=(
        Column(name="rid_id", type="VARCHAR", kind="text", role="id", cardinality=1_000, nulls=0),
        Column(name="coach_no", type="VARCHAR", kind="text", role="dimension", cardinality=90, nulls=0),
        Column(name="sex", type="VARCHAR", kind="text", role="dimension", cardinality=2, nulls=0),
        Column(
            name="birth_dt", type="DATE", kind="time", role="temporal", cardinality=800, nulls=0, least="1950-01-02"
        ),
        Column(
            name="start_date", type="DATE", kind="time", role="temporal", cardinality=500, nulls=0, least="2024-01-02"
        ),
        Column(name="lab_dt", type="DATE", kind="time", role="temporal", cardinality=400, nulls=90, least="2024-01-05"),
        Column(name="fee", type="DOUBLE", kind="number", role="measure", cardinality=80, nulls=0, least=0, greatest=9),
    ),
)
SCHEMA = SourceSchema(source="ferry", engine="duckdb", tables=(CROSSINGS,))
STABLE = SourceSchema(source="stable", engine="duckdb", tables=(RIDES,))
VALUES = {
    "crossings": {
        "sex": ("F", "M"),
        "season": ("Autumn 2025", "Spring 2025", "Summer 2025"),
        "port": ("Bergen", "Oslo", "Moss"),
    }
}
READ = {
    "how many women": "number of different passenger ids of rows where sex is F",
    "how many men boarded": "number of different passenger ids of rows where sex is M",
    "number of women vs men": "number of different passenger ids by sex, where sex is F or M",
    "crossings of women": "number of crossings where sex is F",
}
NOT_READ = [
    "refunds by port (crossings with a negative fare)",
    "how many are still at sea, i.e. not landed",
    "average fare last season",
    "average fare by port in the most recent season",
    "refunds by port (Oslo)",
    "refunds by port (not Oslo)",
    "refunds by port (with a voucher)",
    "how many are not paid (fare = 0)",
    "how many refunds by port",
]


OF_RIDES = {
    "total fee in 2025": "total fee of rows where start date is in 2025",  # nobody was born then
    "how many women in 2025": "number of different coach nos of rows where sex is F and start date is in 2025",
    "total fee of those born after 1990": "total fee of rows where birth dt is on or after 1991-01-01",
    "average days between start date and lab date": "average days from start date to lab dt",
    "average days from start_date to lab_dt": "average days from start date to lab dt",
    "how many rows havent got a lab date": "number of rows where lab dt is missing",
    "ridings in 2025": "number of rows where start date is in 2025",
}


@pytest.mark.parametrize("question", OF_RIDES)
def test_births_date_nothing_and_named_dates_have_a_distance(question: str) -> None:
    values = {"stable": {"sex": ("F", "M")}}
    found = read_plain(question, STABLE, values, today=date(2026, 1, 15)).answer
    assert isinstance(found, Reading), found
    assert read_back(found) == OF_RIDES[question]


def read(question: str) -> Reading | object:
    return read_plain(question, SCHEMA, VALUES, today=date(2026, 1, 15)).answer


@pytest.mark.parametrize("question", READ)
def test_a_question_is_read_as(question: str) -> None:
    found = read(question)
    assert isinstance(found, Reading), found
    assert read_back(found.model_copy(update={"language": "en"})) == READ[question]


@pytest.mark.parametrize("question", NOT_READ)
def test_words_that_an_aside_explains_are_not_read(question: str) -> None:
    assert not isinstance(read(question), Reading)


def test_two_sexes_without_a_measure_are_asked_about() -> None:
    assert isinstance(read("women vs men in Oslo"), Clarification)
