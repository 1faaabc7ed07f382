"""Money with its sign, hours as hours, and rows by what the table calls them."""

from __future__ import annotations

import pytest

import groundplan
from groundplan.answering.verifying.readback import shows_number
from groundplan.answering.writing.display import with_unit
from groundplan.contracts.contract import Language

ROWS = [
    ("Leith", "2025-03-03 09:15", 40),
    ("Leith", "2025-03-03 14:05", 60.5),
    ("Portobello", "2025-03-04 14:40", 1250),
]


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> groundplan.Project:
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    lines = [f'V{1000 + n},{site},{at},"£{fee:,.2f}"' for n, (site, at, fee) in enumerate(ROWS * 7)]
    path.write_text("\n".join(["visit_id,site,start,fee", *lines]) + "\n")
    return groundplan.open(path)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("total fee", "Fee totals £9,453.50."),
        (
            "total fee by site",
            "Portobello has the highest fee (£8,750, 93% of the total of £9,453.50) and Leith the lowest (£703.50).",
        ),
        ("how many visits", "There are 21 visits."),
        (
            "how many visits by site",
            "Leith has the highest number of visits (14, 67% of the total of 21) and Portobello the lowest (7).",
        ),
        ("how many sites", "There are 2 different sites."),
        ("busiest hour of the day", "14:00 has the highest number of visits: 14."),
        ("сумма fee", "Fee: всего 9\u00a0453,50\u00a0£."),
    ],
)
def test_answers(visits: groundplan.Project, question: str, text: str) -> None:
    assert visits.ask(question).text == text


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> groundplan.Project:
    folder = tmp_path_factory.mktemp("rooms")
    (folder / "rooms.csv").write_text(
        "room_id,room_name\n" + "".join(f"{n},Room {'ABCDEFGHIJKL'[n]}\n" for n in range(12))
    )
    held = [f"{n},{n * n % 11},2025-0{1 + n % 4}-15,{10 + n}" for n in range(1, 60)]
    (folder / "lessons.csv").write_text("\n".join(["lesson_id,room_id,held_on,pupils", *held]) + "\n")
    return groundplan.open(folder)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "lessons by room",
            "Room B has the highest number of lessons (11, 19% of the total of 59) and Room A the lowest (5).",
        ),
        ("average pupils by room", "Room A has the highest average pupils (43) and Room D the lowest (37.50)."),
        ("latest lesson", "15 share the highest held on, 15 April 2025:\n- 3\n- 7\n"),
        ("pupils by room and month", "Pupils fell most for Room B, from 130 to 86 (-34%)."),
    ],
)
def test_things_are_told_by_their_names(rooms: groundplan.Project, question: str, text: str) -> None:
    answer = rooms.ask(question)
    assert text in answer.text
    assert not answer.outcome.issues
    assert "room id" not in answer.text


@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize("unit", ["£", "$", "US$", "€", "₽", "%", "kWh", "USD"])
@pytest.mark.parametrize(("number", "value"), [("1250", 1250), ("-5", -5), ("+5", 5)])
def test_a_number_is_shown_with_its_own_unit_only(language: Language, unit: str, number: str, value: int) -> None:
    text = with_unit(number, unit, language)
    assert shows_number(text, value, unit, language)
    assert not shows_number(number, value, unit, language)
    assert not shows_number(with_unit(number, "¥", language), value, unit, language)
    assert not shows_number(text, value, None, language)


def test_where_the_sign_stands() -> None:
    assert with_unit("-1,250", "£", "en") == "-£1,250"
    assert with_unit("12.5", "%", "en") == "12.5%"
    assert with_unit("20", "kWh", "en") == "20 kWh"
