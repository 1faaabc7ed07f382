"""Words that the question explains, the last of labels that have an order in time, and people among the rows."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.asking.tables.grammar.labels import latest
from groundplan.asking.tables.grammar.restated import restated
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
    "refunds by port (crossings with a negative fare)": "number of crossings by port, where fare is below 0",
    "walk-ups in 2025 (crossings w/o voucher)": (
        "number of crossings where boarded at is in 2025 and voucher is missing"
    ),
    "how many are still at sea, i.e. not landed": "number of crossings where landed at is missing",
    "сколько возвратов по port, то есть crossings with negative fare": (
        "number of crossings by port, where fare is below 0"
    ),
    "average fare last season": "average fare of rows where season is Autumn 2025",
    "average fare by port in the most recent season": "average fare by port, where season is Autumn 2025",
    "how many women": "number of different passenger ids of rows where sex is F",
    "how many men boarded": "number of different passenger ids of rows where sex is M",
    "number of women vs men": "number of different passenger ids by sex, where sex is F or M",
    "crossings of women": "number of crossings where sex is F",
}
NOT_READ = [
    "refunds by port (Oslo)",  # a condition, which explains nothing
    "refunds by port (not Oslo)",
    "refunds by port (with a voucher)",
    "how many are not paid (fare = 0)",  # paid, or not paid?
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
def test_what_is_not_explained_is_not_read(question: str) -> None:
    assert not isinstance(read(question), Reading)


def test_the_explanation_is_told() -> None:
    found = read_plain("refunds by port (crossings with a negative fare)", SCHEMA, VALUES, today=date(2026, 1, 15))
    assert found.notes == ("'refunds' was read as 'crossings with a negative fare', as the question says",)


def test_two_sexes_without_a_measure_are_asked_about() -> None:
    assert isinstance(read("women vs men in Oslo"), Clarification)


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=8), max_size=3))
def test_any_text_is_restated_or_left(text: str, unread: list[str]) -> None:
    found = restated(text, unread)
    assert found is None or found.explanation in found.text


@pytest.mark.parametrize(
    ("labels", "last"),
    [
        (("Fall 2024", "Spring 2025", "Fall 2025"), "Fall 2025"),
        (("2024 Q4", "2025 Q1", "2024 Q2"), "2025 Q1"),
        (("H2 2024", "H1 2025"), "H1 2025"),
        (("FY2023", "FY2025", "FY2024"), "FY2025"),
        (("осень 2024", "весна 2025"), "весна 2025"),
        (("Winter 2025", "Fall 2025"), None),  # the winter before the autumn, or after?
        (("Fall 2024", "Q1 2025"), None),
        (("Fall 2025", "Autumn 2025"), None),
        (("Crime", "Poetry"), None),
        ((), None),
    ],
)
def test_the_last_label_is_known_only_if_all_tell_when(labels: tuple[str, ...], last: str | None) -> None:
    assert latest(labels) == last
