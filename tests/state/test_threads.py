"""What a thread remembers: the last turns as they were asked and planned, and nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from groundplan.asking.tables.read import read
from groundplan.contracts.answer import Answer
from groundplan.contracts.conversation import Turn
from groundplan.contracts.plan import Plan, Provenance, Step
from groundplan.contracts.reading import Reading
from groundplan.errors import StateInvalid
from groundplan.project import Project
from groundplan.state.threads import FILE, TURNS, Threads
from groundplan.text.similar import similar
from tests.asking.tables.described import SALES, Known

TODAY = date(2026, 1, 15)


def asked(question: str, known: Known) -> Reading:
    found = read(question, *known, today=TODAY)
    assert isinstance(found, Reading)
    return found


def plan(table: str = "sales") -> Plan:
    thought = Provenance(template="total", reasoning="a thought", log=("a log line",), model="small")
    steps = (Step(id="rows", tool="show_table", params={"table": table}),)
    return Plan(strategy="rules", steps=steps, answer="the answer", provenance=thought)


@pytest.mark.requirement("R55")
def test_the_last_turns_come_back_in_order_in_another_process(sales: Known, tmp_path: Path) -> None:
    readings = [asked(f"top {number} regions by revenue", sales) for number in range(1, TURNS + 4)]
    for reading in readings:
        Threads(tmp_path).keep("work", reading, plan())
    Threads(tmp_path).keep("other", readings[0], plan())
    assert [turn.reading for turn in Threads(tmp_path).turns("work")] == readings[-TURNS:]
    assert [turn.reading for turn in Threads(tmp_path).turns("other")] == readings[:1]
    assert Threads(tmp_path).turns("unknown") == ()


@pytest.mark.requirement("R55")
def test_of_a_plan_the_work_is_kept_and_no_thought_or_answer(sales: Known, tmp_path: Path) -> None:
    Threads(tmp_path).keep("work", asked("revenue by region", sales), plan())
    [turn] = Threads(tmp_path).turns("work")
    assert turn.plan.fingerprint == plan().fingerprint
    stored = (tmp_path / FILE).read_bytes()
    assert b"show_table" in stored
    for told in (b"a thought", b"a log line", b"the answer", b"small"):
        assert told not in stored


@pytest.mark.requirement("R55")
def test_no_row_of_an_answer_is_in_the_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path))
    with Project(SALES) as project:
        answer = project.ask("total revenue by region", thread="work", today=TODAY).outcome
    assert isinstance(answer, Answer)
    stored = (tmp_path / FILE).read_bytes()
    assert b"total revenue by region" in stored
    cells = [cell for row in answer.tables[0].rows for cell in row]
    assert {"West", "North"} <= set(cells)
    for cell in cells:
        assert str(cell).encode() not in stored


@pytest.mark.requirement("R55")
def test_what_is_no_turn_of_this_format_is_passed_over(sales: Known, tmp_path: Path) -> None:
    threads, reading = Threads(tmp_path), asked("revenue by region", sales)
    threads.keep("work", reading, plan())
    good = Turn(format=1, reading=reading, plan=plan()).model_dump_json()
    foreign = [
        "not json",
        "{}",
        good.replace('"format":1', '"format":2'),
        good.replace('"format":1,', ""),
        good[:-1] + ',"rows":[[1]]}',
    ]
    assert all(text != good for text in foreign)
    with sqlite3.connect(tmp_path / FILE) as stored:
        stored.executemany("insert into turns (thread, turn) values ('work', ?)", [(text,) for text in foreign])
    assert [turn.reading for turn in threads.turns("work")] == [reading]


@pytest.mark.requirement("R55")
def test_a_file_of_the_layout_before_begins_anew(sales: Known, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as stored:
        stored.execute("create table turn (thread text primary key, spoken text not null)")
        stored.execute("""insert into turn values ('work', '{"question": "revenue"}')""")
    assert Threads(tmp_path).turns("work") == ()
    Threads(tmp_path).keep("work", asked("revenue by region", sales), plan())
    assert len(Threads(tmp_path).turns("work")) == 1


def test_a_file_that_is_no_database_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("no database, but long enough to be looked at as one " * 20)
    with pytest.raises(StateInvalid, match="move it away"):
        Threads(tmp_path).turns("work")


EARLIER = ("total revenue by region in 2024", "average cost by channel", "выручка по регионам за 2024 год")


@pytest.fixture(scope="module")
def turns(sales: Known) -> tuple[Turn, ...]:
    return tuple(Turn(format=1, reading=asked(question, sales), plan=plan()) for question in EARLIER)


@pytest.mark.requirement("R25")
@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("show me the total revenue by region in 2024", EARLIER[0]),
        ("Total revenue by region in 2025?", EARLIER[0]),  # four of five words: the year is to be adapted
        ("Total revenue by channel in 2025?", None),
        ("what is the average cost by channel?", EARLIER[1]),
        ("выручка за 2024 год по регионам", EARLIER[2]),
        ("average units by product category", None),
        ("?", None),
    ],
)
def test_without_embeddings_a_similar_question_shares_its_words(
    question: str, found: str | None, turns: tuple[Turn, ...]
) -> None:
    near = similar(question, turns, None)
    assert (near.question if near else None) == found


@pytest.mark.requirement("R25")
def test_with_embeddings_the_nearest_above_the_threshold_is_found(turns: tuple[Turn, ...]) -> None:
    cosines = {"near": (0.79, 0.93, 0.85), "far": (0.79, 0.2, -0.1), "equal": (0.9, 0.1, 0.9)}

    def meaning(phrase: str, names: Sequence[str]) -> Sequence[float]:
        assert list(names) == list(EARLIER)
        return cosines[phrase]

    assert similar("near", turns, meaning) == turns[1]
    assert similar("far", turns, meaning) is None
    assert similar("equal", turns, meaning) == turns[2]  # the latest
    assert similar("near", (), meaning) is None
