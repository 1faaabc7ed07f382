"""The grammar: what questions over one table are read as, and that no word of them is passed over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.asking.tables.grammar.lexicon import load
from groundplan.asking.tables.grammar.read import decided, derive
from groundplan.contracts.answer import Clarification
from groundplan.contracts.schema import Column, Table
from groundplan.text.read_back import read_back
from groundplan.text.words import words_of

TODAY = date(2026, 1, 15)
LOANS = Table(
    name="library_loans",
    row_count=1_000,
    keys=(("loan_id",),),
    columns=(
        Column(name="loan_id", type="VARCHAR", kind="text", role="id", cardinality=1_000, nulls=0),
        Column(name="reader_id", type="VARCHAR", kind="text", role="dimension", cardinality=200, nulls=0),
        Column(name="branch", type="VARCHAR", kind="text", role="dimension", cardinality=3, nulls=0),
        Column(name="genre", type="VARCHAR", kind="text", role="dimension", cardinality=4, nulls=20),
        Column(
            name="loaned_on", type="DATE", kind="time", role="temporal", cardinality=300, nulls=0, least="2024-01-02"
        ),
        Column(
            name="returned_on", type="DATE", kind="time", role="temporal", cardinality=290, nulls=90, least="2024-01-05"
        ),
        Column(name="fee", type="DOUBLE", kind="number", role="measure", cardinality=80, nulls=0, least=0, greatest=9),
        Column(name="pages", type="BIGINT", kind="number", role="measure", cardinality=400, nulls=0),
        Column(name="renewed", type="VARCHAR", kind="text", role="dimension", cardinality=2, nulls=0),
    ),
)
VALUES = {
    "branch": ("Harbour", "Hill", "Market"),
    "genre": ("Crime", "Poetry", "Science", "Travel"),
    "renewed": ("no", "yes"),
}
READ = {
    "total fee by branch": "total fee by branch",
    "how many loans last month?": "number of rows where loaned on is in December 2025",
    "how many different readers do we have": "number of different reader ids",
    "top 2 genres by fee": "total fee by genre, where genre is present, top 2",
    "which branch has the lowest total fee": "total fee by branch, only the lowest",
    "fee per reader": "total fee divided by number of different reader ids",
    "share of loans that were renewed": 'share of rows (where renewed is "yes")',
    "number of loans not returned": "number of rows where returned on is missing",
    "loans without genre by branch": "number of rows by branch, where genre is missing",
    "fee in Hill or Market except poetry": "total fee of rows where branch is Hill or Market and genre is not Poetry",
    "branches with more than 300 loans": "every branch, only those where number of rows is above 300",
    "running total of fee by month": "running total of fee by month (loaned on)",
    "crime vs travel loans": "number of rows by genre, where genre is Crime or Travel",
    "distribution of fee": "distribution of fee",
    "box plot of fee by branch": "distribution of fee by branch, as a box plot",
    "distribution of fee by branch": "total fee by branch",
    "unusual fee by day": "unusual values of fee by day (loaned on)",
    "correlation between fee and pages in Hill": "how fee and pages go together of rows where branch is Hill",
    "scatter plot of fee by pages": "how fee and pages go together, as a scatter plot",
    "plot fee vs pages coloured by branch": "how fee and pages go together by branch",
    "how does fee relate to pages": "how fee and pages go together",
    "number of loans by pages": "distribution of pages",
    "loans and total fee by branch": "number of loans and total fee by branch",
    "total fee by genre, top 2": "total fee by genre, where genre is present, top 2",
    "branches by average fee": "average fee by branch",
    "total count for each branch": "number of rows by branch",
    "count by branch sorted high to low": "number of rows by branch, highest first",
    "overview of the loans in Hill": "summary of all columns where branch is Hill",
    "heatmap of fee by branch and genre": "total fee by branch and genre, as a heatmap",
    "line chart of fee": "total fee by loaned on in suitable periods, as a line chart",
    "share of fee by branch": "total fee as a share of the whole by branch",
    "compare fee in 2024 and 2025": "total fee, loaned on in 2025 compared with 2024",
    "total fee by branch for Hill": "total fee by branch, where branch is Hill",
    "how many readers have more than 5 loans": "number of reader ids where number of rows is above 5",
}
ASKED_BACK = {
    "share of fee": "'share' by what? It could be branch or genre.",
    "bar chart of fee": "'bar chart' by what? It could be branch or genre.",
    "find anomalies": "'anomalies' of what? It could be fee or pages.",
    "in Hill": "What do you want to know of these rows?",
}
LEFT_OVER = {
    "total fee by librarian": "librarian",
    "how many loans were stolen": "stolen",
    "fee of gold readers": "gold",
    "did the fee go up": "go up",
}


def read(question: str) -> str | None:
    found = derive(question, LOANS, VALUES, today=TODAY)
    return read_back(found.reading) if found.reading and not found.others else None


@pytest.mark.parametrize("question", READ)
def test_a_question_is_read_as(question: str) -> None:
    assert read(question) == READ[question]


@pytest.mark.parametrize("question", ASKED_BACK)
def test_what_is_missing_is_asked_for(question: str) -> None:
    found = decided(derive(question, LOANS, VALUES, today=TODAY), question)
    assert isinstance(found, Clarification)
    assert found.text.startswith(ASKED_BACK[question])


BOATS = Table(
    name="boats",
    row_count=500,
    columns=(
        Column(name="made in", type="VARCHAR", kind="text", role="dimension", cardinality=3, nulls=0),
        Column(
            name="cabins", type="BIGINT", kind="number", role="measure", cardinality=5, nulls=0, least=1, greatest=5
        ),
        Column(name="draught", type="DOUBLE", kind="number", role="measure", cardinality=300, nulls=0),
    ),
)


@pytest.mark.parametrize(
    ("question", "read_as"),
    [
        ("average draught by number of cabins", "average draught by cabins"),
        ("average draught vs cabins", "average draught by cabins"),
        ("how many boats from each country", "number of rows by made in"),
    ],
)
def test_few_numbers_make_groups_and_values_tell_what_a_column_is(question: str, read_as: str) -> None:
    found = derive(question, BOATS, {"made in": ("France", "Italy", "Germany")}, today=TODAY).reading
    assert found is not None
    assert read_back(found) == read_as


def test_words_near_a_column_in_meaning_are_read_as_it() -> None:
    near = {"quibs": "fee"}

    def nearness(phrase: str, names: Sequence[str]) -> Sequence[float]:
        return [float(near.get(phrase) == name) for name in names]

    found = derive("total quibs by branch", LOANS, VALUES, today=TODAY, nearness=nearness)
    assert found.reading is not None
    assert read_back(found.reading) == "total fee by branch"
    assert derive("total glorp by branch", LOANS, VALUES, today=TODAY, nearness=nearness).reading is None


@pytest.mark.requirement("R65", part="tables")
@pytest.mark.parametrize("question", LEFT_OVER)
def test_words_that_nothing_explains_are_named(question: str) -> None:
    found = derive(question, LOANS, VALUES, today=TODAY)
    assert found.reading is None
    assert set(LEFT_OVER[question].split()) <= set(found.unread)


@pytest.mark.requirement("R65", part="tables")
@given(st.sampled_from(sorted(READ)), st.sampled_from(["quux", "zorblat", "фыва", "pelmets"]), st.integers(0, 12))
def test_an_unknown_word_anywhere_ends_the_reading(question: str, unknown: str, place: int) -> None:
    words = question.split()
    words.insert(min(place, len(words)), unknown)
    found = derive(" ".join(words), LOANS, VALUES, today=TODAY)
    assert found.reading is None


SPOKEN = """
total average number share of by per each top lowest not in without and or vs between more than over last fee pages
loans readers branch genre Harbour Hill Crime month 2025 7 renewed returned which how many growth running list who
best first monthly средний сколько по выручка кроме
"""


@pytest.mark.requirement("R65", part="tables")
@given(st.lists(st.sampled_from(SPOKEN.split()), min_size=1, max_size=9))
def test_every_word_of_a_reading_is_evidence_or_structure(words: list[str]) -> None:
    question = " ".join(words)
    found = derive(question, LOANS, VALUES, today=TODAY)
    if found.reading is None:
        return
    spans = [
        (evidence.start or 0, (evidence.start or 0) + len(evidence.text))
        for requirement in found.reading.requirements
        for evidence in (requirement.evidence, *requirement.also)
    ]
    structure = load().structure
    assert [
        word.text
        for word in words_of(question)
        if word.lower not in structure and not any(start <= word.start and word.end <= end for start, end in spans)
    ] == []
