"""What is nearest to a word that the data does not know, and a refusal that says so and how to teach the word."""

from __future__ import annotations

from pathlib import Path

import pytest

import groundplan
from groundplan.asking.tables.nearest import nearest
from groundplan.asking.tables.nouns import may_name
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.project import Project

HEAD = "loan_id,borrower,branch,shelf_mark,wgt_grams,late_fee,returned_on,genre"
LINES = [
    f'L{n},Reader {n % 9},{("Hill", "Quay")[n % 2]},S{n % 7},{n % 40 + n},"£{n * 3 % 17}.50",2025-0{1 + n % 9}-11,'
    f"{('crime', 'poetry')[n % 2]}"
    for n in range(1, 80)
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("library")
    (folder / "loans.csv").write_text("\n".join([HEAD, *LINES]) + "\n")
    (folder / "visitors.csv").write_text("visitor_id,town\n" + "".join(f"{n},Town {n % 3}\n" for n in range(40)))
    return Project(str(folder))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("borower", ("borrower",)),
        ("weight", ("wgt_grams",)),
        ("takings", ("late_fee",)),
        ("poetri", ("'poetry' of genre",)),
        ("жанрам", ()),
        ("бранч", ("branch",)),
        ("visitor", ("the table visitors", "visitor_id")),
        ("skipper", ()),
    ],
)
def test_the_nearest_names_and_values(library: Project, said: str, told: tuple[str, ...]) -> None:
    (schema,) = library.schemas.values()
    values = {"loans": {"genre": ("crime", "poetry"), "branch": ("Hill", "Quay")}}
    assert tuple(near.told for near in nearest([said], schema, values)) == told


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("turnover by branch", "nothing called 'turnover'; the nearest is late_fee; called = [\"turnover\"] under"),
        ("late fee by skipper", "nothing called 'skipper'; ask for what is there: total "),
        ("loans in pottery", "the nearest is 'poetry' of genre."),
        ("сумма late_fee в Хилле", "Похоже называется: 'Hill' of branch"),
        ("by each of the", "I recognise every word but cannot tell what to compute; say what to compute, of what"),
    ],
)
def test_a_refusal_names_the_word_the_nearest_and_the_setting(library: Project, question: str, says: str) -> None:
    refused = library.ask(question).outcome
    assert isinstance(refused, Refusal), refused
    assert says in refused.text
    assert "shelf_mark" not in refused.text


def test_a_name_in_russian_letters_is_asked_about(library: Project) -> None:
    asked = library.ask("сумма late_fee по бранчам").outcome
    assert isinstance(asked, Clarification)
    assert asked.text == "«бранчам» — это 'branch'?"
    assert asked.candidates == ("branch",)


@pytest.mark.parametrize("question", ["how many scrolls", "total weight of scrolls"])
def test_a_question_back_offers_a_few(library: Project, question: str) -> None:
    asked = library.ask(question).outcome
    assert not isinstance(asked, Clarification) or len(asked.candidates) <= 5


@pytest.fixture(scope="module")
def surgery(tmp_path_factory: pytest.TempPathFactory) -> Project:
    file = tmp_path_factory.mktemp("surgery") / "visits.csv"
    rows = (
        f"V{n},P{n % 30},2025-0{1 + n % 9}-03,{('Hill', 'Vale')[n % 2]},{('A', 'B')[n % 3 > 0]},{n}"
        for n in range(1, 90)
    )
    file.write_text("\n".join(["Visit ID,Pt No,Seen On,By Vet,Room,Fee", *rows]) + "\n")
    return Project(str(file))


def test_two_letters_stand_for_the_word_that_begins_and_ends_with_them(surgery: Project) -> None:
    asked = surgery.ask("unique patients").outcome
    told = asked.candidates if isinstance(asked, Clarification) else (asked.text,)
    assert "Pt No" in " ".join(told)


def test_the_example_of_a_refusal_keeps_what_was_understood(surgery: Project) -> None:
    refused = surgery.ask("margin by room").outcome
    assert isinstance(refused, Refusal)
    assert "total Fee by Room" in refused.text


def test_the_example_of_a_refusal_is_money_by_a_few_groups(tmp_path: Path) -> None:
    """Not the number of bags by the minute in which they were weighed."""
    rows = [f"L{n},{n // 60:02}:{n % 60:02},{n % 7},{n % 90 + 0.5},{'oak' if n % 3 else 'ash'}" for n in range(90)]
    (tmp_path / "loads.csv").write_text("\n".join(["load no,weighed at,bags,fee,wood", *rows]))
    with groundplan.open(tmp_path / "loads.csv") as project:
        refused = project.ask("takings by skipper").outcome
    assert isinstance(refused, Refusal)
    assert "ask for what is there: total fee by wood" in refused.text, refused.text


def test_the_setting_names_the_word_that_is_near_its_column(surgery: Project) -> None:
    refused = surgery.ask("average age of patients").outcome
    assert isinstance(refused, Refusal)
    assert 'called = ["patients"] under [columns."Pt No"]' in refused.text


@pytest.fixture(scope="module")
def regatta(tmp_path_factory: pytest.TempPathFactory) -> Project:
    file = tmp_path_factory.mktemp("regatta") / "races.csv"
    rows = (
        f"2025-0{1 + n % 9}-03,{('Capt Ito', 'Capt Osei', 'Miss Rhys')[n % 3]},"
        f"{('Single Handed', 'Crewed')[n % 2]},{('MV', 'Sail')[n % 2]},{n}"
        for n in range(1, 60)
    )
    file.write_text("\n".join(["held_on,helm,class,drive,prize", *rows]) + "\n")
    return Project(str(file))


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("prize by captain", 'the nearest is helm (\'Capt Ito\'); called = ["captain"] under [columns."helm"]'),
        ("total prize of SH", "the nearest is 'Single Handed' of class."),
        ("total prize for motor vessel", "the nearest is 'MV' of drive."),
    ],
)
def test_a_value_is_near_by_its_title_or_its_initials(regatta: Project, question: str, says: str) -> None:
    refused = regatta.ask(question).outcome
    assert isinstance(refused, Refusal), refused
    assert says in refused.text


@pytest.mark.parametrize(
    "question",
    ["how many races overlap in March", "which helm thrives", "total prize we forfeit", "prizes plummet by class"],
)
def test_a_verb_is_no_name_to_teach(regatta: Project, question: str) -> None:
    outcome = regatta.ask(question).outcome
    if isinstance(outcome, Clarification):
        assert not any(outcome.means)
        assert not outcome.notes
        return
    assert isinstance(outcome, Refusal)
    assert outcome.unknown is None
    assert "called = " not in outcome.text


@pytest.mark.parametrize(
    ("question", "word"), [("prize by sponsor", "sponsor"), ("prize by class for dormant", "dormant")]
)
def test_a_noun_or_an_adjective_is_a_name_to_teach(regatta: Project, question: str, word: str) -> None:
    outcome = regatta.ask(question).outcome
    assert isinstance(outcome, Refusal), outcome
    assert outcome.unknown is not None
    assert outcome.unknown.word == word


@pytest.mark.parametrize(
    ("phrase", "text", "expected"),
    [
        ("overlap", "how many races overlap in March", False),
        ("overlap", "the overlap of races", True),
        ("thrives", "which helm thrives", False),
        ("enumerate", "enumerate the races", False),
        ("handicap", "handicap by class", True),
        ("purse", "average purse of races", True),
        ("финишировали", "сколько капитанов финишировали", False),
        ("сложности", "гонки по сложности", True),
        ("сложность", "средняя сложность гонок", True),
    ],
)
def test_a_verb_is_known_by_its_place_or_its_ending(phrase: str, text: str, expected: bool) -> None:
    assert may_name(phrase, text) is expected
