"""Kept plans: found by what is asked and not by how, checked again, and never an example before they were marked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.checking.gate import check
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.reading import Reading
from groundplan.contracts.verdict import Passed
from groundplan.errors import StateInvalid, UsageError
from groundplan.state.database import FILE, SQLite
from groundplan.state.plans import PlanStore, key_of, signature
from tests.checking.asked import SCHEMA, asked, catalog
from tests.state.blocking import Blocking

CATALOG = catalog()
TOTALS = Plan(
    strategy="adapt",
    steps=(
        Step(
            id="totals",
            tool="aggregate",
            params={"table": "sales", "metrics": [{"column": "revenue", "function": "sum", "as": "revenue"}]},
            satisfies=("metric:revenue",),
        ),
    ),
)
READING = asked("metric:revenue:sum")


@pytest.fixture
def store(tmp_path: Path) -> Blocking:
    return Blocking(PlanStore(SQLite(tmp_path / "of" / "its" / "own")))


def key(reading: Reading = READING) -> str:
    return key_of(reading, SCHEMA, CATALOG.version)


def requirement(id_: str, words: str, implied: bool = False, **value: Any) -> dict[str, Any]:
    kind = id_.split(":")[0]
    return {"id": id_, "value": {"kind": kind, **value}, "evidence": {"text": words}, "implied": implied}


wordings = st.fixed_dictionaries(
    {
        "question": st.text(max_size=20),
        "language": st.sampled_from(["en", "ru", "other"]),
        "confidence": st.floats(0, 1),
        "words": st.text(min_size=1, max_size=10),
        "order": st.randoms(use_true_random=False),
    }
)


@st.composite
def asks(draw: st.DrawFn) -> dict[str, Any]:
    """What is asked, as plain values that can be compared."""
    functions = st.sampled_from([None, "sum", "mean"])
    wanted = {f"metric:{c}": {"column": c, "function": draw(functions)} for c in draw(columns)}
    wanted |= {f"group_by:{c}": {"column": c} for c in draw(columns)}
    limits = draw(st.lists(st.integers(1, 9), max_size=1))
    wanted |= {f"rank:top{limit}": {"direction": "top", "limit": limit} for limit in limits}
    values = draw(st.lists(st.sampled_from(["West", "East", 5, 2.5]), max_size=2))
    wanted |= {"filter:region": {"column": "region", "operator": "in", "values": values}} if values else {}
    return {
        "requirements": {id_: (draw(st.booleans()), value) for id_, value in wanted.items()},
        "intents": draw(st.lists(st.sampled_from(["total", "share", "trend"]), max_size=2, unique=True)),
        "tables": draw(st.lists(st.sampled_from(["sales", "orders"]), max_size=2, unique=True)),
    }


columns = st.sets(st.sampled_from(["region", "revenue", "cost"]), max_size=2).map(sorted)


def worded(ask: dict[str, Any], how: dict[str, Any]) -> Reading:
    wanted = [requirement(id_, how["words"], implied, **v) for id_, (implied, v) in ask["requirements"].items()]
    how["order"].shuffle(wanted)
    return Reading.model_validate(
        {
            "question": how["question"],
            "language": how["language"],
            "requirements": wanted,
            "intents": [{"name": name, "confidence": how["confidence"]} for name in ask["intents"]],
            "tables": ask["tables"],
        }
    )


@pytest.mark.requirement("R29")
@given(ask=asks(), one=wordings, other=wordings)
def test_the_same_asked_in_other_words_has_the_same_signature(
    ask: dict[str, Any], one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert signature(worded(ask, one)) == signature(worded(ask, other))


@pytest.mark.requirement("R29")
def test_a_kept_plan_is_found_for_an_equivalent_question_and_passes_the_gate_again(store: Blocking) -> None:
    checked = check(TOTALS, READING, CATALOG, {"tables": SCHEMA})
    assert isinstance(checked, Passed)
    store.keep(key(), "total revenue", READING, checked.plan)
    found = store.find(key(READING.model_copy(update={"question": "сумма выручки", "language": "ru"})))
    assert type(found) is Plan
    again = check(found, READING, CATALOG, {"tables": SCHEMA})
    assert isinstance(again, Passed)
    assert again.plan.fingerprint == checked.plan.fingerprint


@pytest.mark.requirement("R30")
def test_only_a_marked_plan_is_an_example_and_a_forgotten_one_is_gone(store: Blocking) -> None:
    store.keep(key(), "total revenue", READING, TOTALS)
    [entry] = store.entries()
    assert (entry.question, entry.tools, entry.marked) == ("total revenue", ("aggregate",), False)
    assert store.example(READING) is None
    store.mark(entry.id)
    assert store.entries()[0].marked
    assert store.example(READING) == TOTALS
    store.forget(entry.id)
    assert store.entries() == ()
    assert store.example(READING) is None
    assert store.find(key()) is None


@pytest.mark.requirement("R30")
def test_the_example_shares_most_with_the_question_and_adds_least(store: Blocking) -> None:
    short = {
        "far": ["output:table"],
        "near": ["metric:revenue:sum", "group_by:region"],
        "near with more": ["metric:revenue:sum", "group_by:region", "analysis:share"],
        "unmarked": ["metric:revenue:sum", "group_by:region", "analysis:trend"],
    }
    for answer, wanted in short.items():
        reading = asked(*wanted)
        store.keep(key(reading), answer, reading, TOTALS.model_copy(update={"answer": answer}))
    for entry in store.entries():
        if entry.question != "unmarked":
            store.mark(entry.id)
    found = store.example(asked("metric:units:mean", "group_by:channel", "analysis:trend"))
    assert found is not None
    assert found.answer == "near"
    assert store.example(asked("goal:anything")) is None


@pytest.mark.requirement("R30")
def test_the_same_plan_kept_again_stays_marked_and_another_one_does_not(store: Blocking) -> None:
    store.keep(key(), "total revenue", READING, TOTALS)
    store.mark(store.entries()[0].id)
    store.keep(key(), "revenue in all", READING, TOTALS.model_copy(update={"confidence": 0.5}))
    assert [(entry.question, entry.marked) for entry in store.entries()] == [("revenue in all", True)]
    [step] = TOTALS.steps
    other = step.model_copy(update={"rationale": "another plan"})
    store.keep(key(), "total revenue", READING, TOTALS.model_copy(update={"steps": (other,)}))
    assert [entry.marked for entry in store.entries()] == [False]


@pytest.mark.parametrize("change", ["mark", "forget"])
def test_an_unknown_id_is_refused_with_the_known_ones(change: str, store: Blocking) -> None:
    with pytest.raises(UsageError, match="no plan is stored yet"):
        getattr(store, change)("x")
    store.keep(key(), "total revenue", READING, TOTALS)
    with pytest.raises(UsageError, match=f"'x'; the ids are {store.entries()[0].id}"):
        getattr(store, change)("x")
    assert len(store.entries()) == 1


def test_a_file_that_is_no_database_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("not a database at all, only text" * 99)
    with pytest.raises(StateInvalid, match=rf"{FILE} .*move the file away"):
        Blocking(PlanStore(SQLite(tmp_path))).find(key())


WRITER = """
import asyncio
import sys
from pathlib import Path
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading
from groundplan.state.database import SQLite
from groundplan.state.plans import PlanStore

folder, name, reading, plan = sys.argv[1:]
store = PlanStore(SQLite(Path(folder)))
known = Reading.model_validate_json(reading), Plan.model_validate_json(plan)
for number in range(40):
    asyncio.run(store.keep(f"{name}-{number % 20}", name, *known))
"""


def test_two_processes_write_at_once_and_lose_nothing(tmp_path: Path) -> None:
    texts = [READING.model_dump_json(), TOTALS.model_dump_json()]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name, *texts], stderr=subprocess.PIPE)
        for name in ("one", "other")
    ]
    for writer in writers:
        _, said = writer.communicate(timeout=120)
        assert writer.returncode == 0, said.decode()
    entries = Blocking(PlanStore(SQLite(tmp_path))).entries()
    assert sorted(entry.question for entry in entries) == ["one"] * 20 + ["other"] * 20
    assert len({entry.id for entry in entries}) == 40
