"""The grammar: what questions over one table are read as, and that no word of them is passed over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import example, given, settings
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
    "how many loans last month?": "number of library loans where loaned on is in December 2025",
    "how many different readers do we have": "number of different reader ids",
    "top 2 genres by fee": "total fee by genre, where genre is present, top 2",
    "which branch has the lowest total fee": "total fee by branch, only the lowest",
    "fee per reader": "total fee divided by number of different reader ids",
    "share of loans that were renewed": 'share of library loans (where renewed is "yes")',
    "number of loans not returned": "number of library loans where returned on is missing",
    "loans without genre by branch": "number of library loans by branch, where genre is missing",
    "fee in Hill or Market except poetry": (
        "total fee of rows where branch is Hill or Market and (genre is not Poetry or missing)"
    ),
    "branches with more than 300 loans": "every branch, only those where number of library loans is above 300",
    "running total of fee by month": "running total of fee by month (loaned on)",
    "crime vs travel loans": "number of library loans by genre, where genre is Crime or Travel",
    "total fee by loan genre": "total fee by genre",
    "top 2 loan genres by fee": "total fee by genre, where genre is present, top 2",
    "how many loan genres are there": "number of different genres",
    "share of each branch in the fee": "total fee as a share of the whole by branch",
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
    "rank the branches by total fee": "total fee by branch, highest first",
    "total count for each branch": "number of library loans by branch",
    "count by branch sorted high to low": "number of library loans by branch, highest first",
    "overview of the loans in Hill": "summary of all columns where branch is Hill",
    "heatmap of fee by branch and genre": "total fee by branch and genre, as a heatmap",
    "line chart of fee": "total fee by loaned on in suitable periods, as a line chart",
    "share of fee by branch": "total fee as a share of the whole by branch",
    "compare fee in 2024 and 2025": "total fee, loaned on in 2025 compared with 2024",
    "total fee by branch for Hill": "total fee by branch, where branch is Hill",
    "how many readers have more than 5 loans": "number of reader ids where number of rows is above 5",
}
ASKED_BACK = {
    "share of fee": "'share' by what? It could be branch, genre.",
    "bar chart of fee": "'bar chart' by what? It could be branch, genre.",
    "find anomalies": "'anomalies' of what? It could be fee, pages.",
    "in Hill": "What do you want to know of these rows?",
}
LEFT_OVER = {
    "total fee by librarian": "librarian",
    "how many loans were stolen": "stolen",
    "fee of gold readers": "gold",
    "did the fee go up": "go up",
}


def test_short_names_are_written_out_where_one_family_of_words_has_their_letters() -> None:
    known = load()
    assert known.written_out("qty") == ("quantity",)  # by the list
    assert {*known.written_out("dlv")} == {"deliver", "delivery", "delivered"}
    assert known.written_out("mbr") == ("member",)
    for short in ("ctry", "chk"):  # category or country; check or checkout
        assert known.written_out(short) == ()
    for word in ("car", "man", "age", "plan", "star"):  # words, though carrier and manager begin like them
        assert known.written_out(word) == ()


SHIPPED = Table(
    name="exports",
    row_count=900,
    columns=(
        Column(name="rsn_cd", type="VARCHAR", kind="text", role="dimension", cardinality=3, nulls=0),
        Column(name="dst", type="VARCHAR", kind="text", role="dimension", cardinality=4, nulls=0),
        Column(name="dwt_h", type="DOUBLE", kind="number", role="measure", cardinality=200, nulls=0),
    ),
)


def test_words_find_names_that_are_short_for_them_and_tell_what_numbers_are() -> None:
    values = {"dst": ("DE", "FR", "GB", "NL"), "rsn_cd": ("A1", "B2", "C3")}

    def told(question: str) -> str | None:
        found = derive(question, SHIPPED, values, today=TODAY)
        return read_back(found.reading) if found.reading else None

    assert told("exports by country") == "number of exports by dst"  # its values are codes of countries
    assert told("how many exports to germany") == "number of exports where dst is DE"


def read(question: str) -> str | None:
    found = derive(question, LOANS, VALUES, today=TODAY)
    return read_back(found.reading) if found.reading and not found.others else None


@pytest.mark.parametrize("question", READ)
def test_a_question_is_read_as(question: str) -> None:
    assert read(question) == READ[question]


@pytest.mark.parametrize("question", ["what fee did the branches take by genre", "how many loans branches made"])
def test_who_does_something_is_no_group(question: str) -> None:
    assert read(question) in (None, "number of library loans by branch")


@pytest.mark.parametrize("question", ASKED_BACK)
def test_what_is_missing_is_asked_for(question: str) -> None:
    found = decided(derive(question, LOANS, VALUES, today=TODAY), question)
    assert isinstance(found, Clarification)
    assert found.text.startswith(ASKED_BACK[question])


def test_a_share_of_some_by_groups_has_two_meanings() -> None:
    found = derive("share of crime fee by branch", LOANS, VALUES, today=TODAY)
    assert found.reading is not None
    assert {read_back(one) for one in (found.reading, *found.others)} == {
        "share of total fee (where genre is Crime), by branch",
        "total fee as a share of the whole by branch, where genre is Crime",
    }


@pytest.mark.parametrize("question", ["share of crime loans by genre", "share of renewed loans by renewed"])
def test_a_share_that_is_all_or_nothing_is_not_computed(question: str) -> None:
    found = derive(question, LOANS, VALUES, today=TODAY)
    assert found.reading is None or "divided" not in read_back(found.reading)


REPAIRS = Table(
    name="repairs",
    row_count=400,
    keys=(("RO no",),),
    columns=(
        Column(name="RO no", type="VARCHAR", kind="text", role="id", cardinality=400, nulls=0),
        Column(name="Hall", type="VARCHAR", kind="text", role="dimension", cardinality=2, nulls=0),
        Column(name="Repair type", type="VARCHAR", kind="text", role="dimension", cardinality=2, nulls=0),
        Column(name="Fitter", type="VARCHAR", kind="text", role="dimension", cardinality=3, nulls=0),
        Column(name="asked_on", type="DATE", kind="time", role="temporal", cardinality=200, nulls=0),
        Column(name="mended_on", type="DATE", kind="time", role="temporal", cardinality=190, nulls=30),
        Column(name="Downtime (h)", type="DOUBLE", kind="number", role="measure", cardinality=90, nulls=0),
        Column(name="Used kWh", type="DOUBLE", kind="number", role="measure", cardinality=90, nulls=0),
        Column(name="Parts GBP", type="DOUBLE", kind="number", role="measure", cardinality=90, nulls=4),
        Column(name="Labour GBP", type="DOUBLE", kind="number", role="measure", cardinality=90, nulls=0),
        Column(name="planned_mnh", type="DOUBLE", kind="number", role="measure", cardinality=90, nulls=0),
        Column(name="hall_m2", type="DOUBLE", kind="number", role="measure", cardinality=90, nulls=5),
        Column(name="Guarantee", type="VARCHAR", kind="text", role="dimension", cardinality=2, nulls=0),
    ),
)
REPAIR_VALUES = {
    "Hall": ("North", "South"),
    "Repair type": ("Planned", "Sudden"),
    "Fitter": ("A. Novak", "Ines Ruiz", "Olaf Berg"),
    "Guarantee": ("N", "Y"),
}
MENDED = {
    "how many repair orders are there": "number of repairs",
    "total downtime hours by hall": "total downtime (h) by hall",
    "which hall has the most downtime": "total downtime (h) by hall, only the highest",
    "energy used by hall": "total used kWh by hall",
    "average square metres": "average hall m2",
    "list the repairs mended in Hall North in May 2025": ("repairs where hall is North and mended on is in May 2025"),
    "how many repairs by Novak": "number of repairs where fitter is A. Novak",
    "how mnay repairs": "number of repairs",
    "how many were mended in 2025": "number of repairs where mended on is in 2025",
    "number of repairs mended by month": "number of repairs by month (mended on), where mended on is present",
    "month over month % change in repairs mended in 2025": (
        "percent change of number of repairs from the month before by month (mended on), where mended on is in 2025"
    ),
}


@pytest.mark.parametrize("question", MENDED)
def test_units_initials_and_dates_that_some_rows_lack(question: str) -> None:
    found = derive(question, REPAIRS, REPAIR_VALUES, today=TODAY).reading
    assert found is not None
    assert read_back(found) == MENDED[question]


@pytest.mark.parametrize(
    "question",
    [
        "halls with fewer than 80% repairs",
        "share of month over month change in repairs",
        "which repairs are there",
        "difference between Novak and Ruiz",
    ],
)
def test_a_percentage_is_no_number_of_rows_and_repairs_are_no_types(question: str) -> None:
    found = derive(question, REPAIRS, REPAIR_VALUES, today=TODAY)
    assert found.reading is None or "repair type" not in read_back(found.reading)
    assert found.reading is None or "80" not in read_back(found.reading)
    assert found.reading is None or "share" not in read_back(found.reading)


def test_an_unknown_noun_is_not_taken_for_a_short_form() -> None:
    for question in ("average planned effort", "average effort", "total planned visitors", "average hall effort"):
        assert derive(question, REPAIRS, REPAIR_VALUES, today=TODAY).reading is None, question


def test_the_most_of_an_unknown_kind_of_number_is_a_total_or_an_average() -> None:
    found = derive("which hall has the most planned mnh", REPAIRS, REPAIR_VALUES, today=TODAY)
    assert found.reading is not None
    assert {read_back(one) for one in (found.reading, *found.others)} == {
        "total planned mnh by hall, only the highest",
        "average planned mnh by hall, only the highest",
    }
    assert not derive("which hall has the highest planned mnh", REPAIRS, REPAIR_VALUES, today=TODAY).others


MOORINGS = Table(
    name="moorings",
    row_count=600,
    keys=(("berth_ref",),),
    columns=(
        Column(name="berth_ref", type="VARCHAR", kind="text", role="id", cardinality=600, nulls=0),
        Column(name="intake_date", type="DATE", kind="time", role="temporal", cardinality=300, nulls=0),
        Column(name="outcome_date", type="DATE", kind="time", role="temporal", cardinality=290, nulls=40),
        Column(name="intake_kind", type="VARCHAR", kind="text", role="dimension", cardinality=2, nulls=0),
        Column(name="outcome_kind", type="VARCHAR", kind="text", role="dimension", cardinality=3, nulls=40),
        Column(name="crew", type="VARCHAR", kind="text", role="dimension", cardinality=5, nulls=0),
        Column(name="hull", type="VARCHAR", kind="text", role="dimension", cardinality=2, nulls=0),
        Column(name="age_months", type="BIGINT", kind="number", role="measure", cardinality=90, nulls=0),
        Column(name="weight_kg", type="DOUBLE", kind="number", role="measure", cardinality=300, nulls=9),
        Column(name="harbour_cost", type="DOUBLE", kind="number", role="measure", cardinality=300, nulls=0),
        Column(name="auction_fee", type="DOUBLE", kind="number", role="measure", cardinality=80, nulls=200),
    ),
)
MOORING_VALUES = {
    "intake_kind": ("Seizure", "Tow"),
    "outcome_kind": ("Auction", "Fail", "Scrap"),
    "crew": ("Can", "Gull", "Kite", "Tern", "Wren"),
    "hull": ("Steel", "Wood"),
}
MOORED = {
    "how many wood hulls do we have right now": "number of moorings where hull is Wood and outcome date is missing",
    "age of the oldest steel hull, in months": "highest age months of rows where hull is Steel",
    "moorings longer than 20 days by hull": (
        "number of moorings by hull, where days from intake date to outcome date is above 20"
    ),
    "share of moorings scrapped within 14 days, by hull": (
        "share of moorings (where outcome kind is Scrap and days from intake date to outcome date is at most 14), "
        "by hull"
    ),
    "crews that average under 85 harbour cost": "every crew, only those where average harbour cost is below 85",
    "how many crews average under 85 harbour cost": "number of crews where average harbour cost is below 85",
    "share of harbour cost of the 2 biggest crews": (
        "share of total harbour cost (where total harbour cost is among the 2 highest) over crews"
    ),
    "which crew has the highest weight ever": (
        "berth ref, crew and weight kg, only the one with the highest weight kg"
    ),
    "harbour cost on Monday vs Sunday": (
        "total harbour cost by these groups: Monday (where weekday of intake date is Monday), "
        "Sunday (where weekday of intake date is Sunday), where weekday of intake date is Monday or Sunday"
    ),
    "auctions by month": "number of moorings by month (outcome date), where outcome kind is Auction",
    "cumulative auctions by month for 2025": (
        "running total of number of moorings (where outcome kind is Auction) by month (outcome date), "
        "among rows where outcome date is in 2025"
    ),
    "crews with more than 5 auctions": (
        "every crew, only those where number of moorings (where outcome kind is Auction) is above 5"
    ),
    "intakes by kind": "number of moorings by intake kind",
    "missing wieghts by hull": "number of moorings by hull, where weight kg is missing",
    "how many moorings failed": "number of moorings where outcome kind is Fail",
    "Can you show the total harbour cost by hull": "total harbour cost by hull",
    "Gull vs can harbour cost": "total harbour cost by crew, where crew is Can or Gull",
    "how many moorings leaving out auctions and seizures": (
        "number of moorings where (outcome kind is not Auction or missing) and intake kind is not Seizure"
    ),
    "cheapest auction fee": "lowest auction fee",
    "average length of stay by hull": "average days from intake date to outcome date by hull",
}


def test_a_year_over_a_year_is_a_comparison() -> None:
    found, same = (
        derive(f"growth of harbour cost by hull, 2025 {over} 2024", MOORINGS, MOORING_VALUES, today=TODAY).reading
        for over in ("over", "vs")
    )
    assert found is not None
    assert same is not None
    assert read_back(found) == read_back(same)


@pytest.mark.parametrize("question", MOORED)
def test_what_ends_what_is_now_and_values_that_are_things(question: str) -> None:
    found = derive(question, MOORINGS, MOORING_VALUES, today=TODAY)
    assert found.reading is not None
    assert read_back(found.reading) == MOORED[question]
    assert not found.others


def test_what_is_unknown_before_the_end_may_be_dated_by_it() -> None:
    found = derive("total auction fee in 2025", MOORINGS, MOORING_VALUES, today=TODAY)
    assert found.reading is not None
    assert {read_back(one) for one in (found.reading, *found.others)} == {
        "total auction fee of rows where intake date is in 2025",
        "total auction fee of rows where outcome date is in 2025",
    }
    assert not derive("total harbour cost in 2025", MOORINGS, MOORING_VALUES, today=TODAY).others


@pytest.mark.parametrize(
    "question",
    [
        "donations by month",  # no slip of `duration`
        "harbour cost in weeks",
        "difference between Gull and Kite harbour cost",
        "do Gull moorings stay longer than Kite moorings",
        "how many have been here more than 90 days and haven't left",
        "moorings whose crew contains ull",
        "number of repairs by crew (moorings with weight below 5)",
        "do wood hulls stay longer than 20 days",
        "when was the highest harbour cost by crew",
        "which crew had the highest single harbour cost in each hull",
    ],
)
def test_what_cannot_be_is_not_computed(question: str) -> None:
    assert derive(question, MOORINGS, MOORING_VALUES, today=TODAY).reading is None


SHIPS = Table(
    name="ships",
    row_count=500,
    keys=(("ship_no",),),
    columns=(
        Column(name="ship_no", type="VARCHAR", kind="text", role="id", cardinality=500, nulls=0),
        Column(name="build_year", type="BIGINT", kind="number", role="dimension", cardinality=50, nulls=0),
        Column(name="flag_state", type="VARCHAR", kind="text", role="dimension", cardinality=3, nulls=0),
        Column(name="tonnage", type="DOUBLE", kind="number", role="measure", cardinality=300, nulls=0),
    ),
)
OF_YEARS = {
    "how many ships have a build year since 2010": "number of ships where build year is at least 2010",
    "ships built after 1995 by flag state": "number of ships by flag state, where build year is at least 1996",
    "average tonnage of ships with build year before 2000": "average tonnage of rows where build year is below 2000",
    "how many ships have a build year after March 1995": None,
}


@pytest.mark.parametrize("question", OF_YEARS)
def test_years_that_are_numbers_are_compared_with_whole_years(question: str) -> None:
    found = derive(question, SHIPS, {"flag_state": ("Malta", "Norway", "Panama")}, today=TODAY).reading
    assert (read_back(found) if found else None) == OF_YEARS[question]


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


WARDS = Table(
    name="wards",
    row_count=200,
    columns=(
        Column(name="sister", type="VARCHAR", kind="text", role="dimension", cardinality=40, nulls=0),
        Column(name="side", type="VARCHAR", kind="text", role="dimension", cardinality=2, nulls=0),
        Column(name="patient beds", type="BIGINT", kind="number", role="measure", cardinality=50, nulls=0, least=2),
        Column(name="wash rooms", type="BIGINT", kind="number", role="measure", cardinality=9, nulls=0, least=0),
        Column(name="noise", type="DOUBLE", kind="number", role="measure", cardinality=90, nulls=0),
    ),
)
NUMBERED = {
    "how many wards have at least 10 patient beds": "number of wards where patient beds is at least 10",
    "how many wards have at least 3 wash rooms": "number of wards where wash rooms is at least 3",
    "average noise of wards with over 20 beds": "average noise of rows where patient beds is above 20",
    "how many wards with noise over 40": "number of wards where noise is above 40",
    "how many wards with noise over 40 and at least 3 wash rooms": (
        "number of wards where noise is above 40 and wash rooms is at least 3"
    ),
}


@pytest.mark.parametrize("question", NUMBERED)
def test_a_number_is_of_the_noun_behind_it(question: str) -> None:
    found = derive(question, WARDS, {}, today=TODAY).reading
    assert found is not None
    assert read_back(found) == NUMBERED[question]


@pytest.mark.parametrize(
    ("question", "unread"),
    [
        ("how many patients have at least 3 wash rooms", "patients"),  # beds for patients are no patients
        ("how many wards have at least 3 sinks", "sinks"),
        ("average noise of wards with over 20 visitors", "visitors"),
    ],
)
def test_a_noun_that_no_column_has_is_named(question: str, unread: str) -> None:
    found = derive(question, WARDS, {}, today=TODAY)
    assert found.reading is None
    assert unread in found.unread


@pytest.mark.parametrize(
    ("question", "read_as"),
    [
        ("average draught by number of cabins", "average draught by cabins"),
        ("average draught vs cabins", "average draught by cabins"),
        ("how many boats from each country", "number of boats by made in"),
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
@settings(deadline=None)  # it is about words; on a busy machine a case takes longer
@given(st.lists(st.sampled_from(SPOKEN.split()), min_size=1, max_size=9))
@example(["average", "average", "month", "renewed", "average"])
def test_every_word_of_a_reading_is_evidence_or_structure(words: list[str]) -> None:
    question = " ".join(words)
    found = derive(question, LOANS, VALUES, today=TODAY)
    if found.reading is None:
        return
    spans = [
        (evidence.start or 0, (evidence.start or 0) + len(evidence.text))
        for requirement in found.reading.requirements
        for evidence in requirement.quotes
    ]
    structure = load().structure
    assert [
        word.text
        for word in words_of(question)
        if word.lower not in structure and not any(start <= word.start and word.end <= end for start, end in spans)
    ] == []
