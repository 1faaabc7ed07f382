"""A model's measure: a model that knows the truths, one that guesses, one that cannot, and servers that fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from groundplan.contracts.roles import Role, Roles
from groundplan.errors import WorldError
from groundplan.evaluation.measuring.folder import write_folder
from groundplan.evaluation.measuring.measure import Measured, measure
from groundplan.evaluation.replies import Replayed
from groundplan.evaluation.suites.judging import Question
from groundplan.evaluation.suites.questions import load_questions
from groundplan.state.measures import find_measure
from tests.interfaces.test_cli import groundplan as command
from tests.llm.scripted import PROBED, Behaviour, Scripted, hangs, says, scripted, sends

SEED = 7
Replies = Callable[[Question], dict[str, object]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Question]:
    folder = tmp_path_factory.mktemp("made")
    write_folder(folder, SEED)
    return load_questions(folder)


def knows(question: Question) -> dict[str, object]:
    return {"sql": question.sql} if question.sql else {"cannot": "the tables do not have it"}


def guesses(question: Question) -> dict[str, object]:
    """Counts the rows of the table, whatever is asked."""
    table = next(question.truths).split(" FROM ")[1].split()[0] if any(question.truths) else "events"
    return {"sql": f"SELECT count(*) + 1 FROM {table.strip('()')}"}


def declines(question: Question) -> dict[str, object]:
    return {"cannot": "too hard"}


def babbles(question: Question) -> dict[str, object]:
    return {"sql": "SELECT nothing FROM nowhere"}


def measured(made: list[Question], replies: Replies, folder: Path) -> Measured:
    lines = [json.dumps({"id": one.id, **replies(one)}, ensure_ascii=False) for one in made]
    (folder / "made.jsonl").write_text("\n".join(lines), encoding="utf-8")
    tape = Replayed([folder / "made.jsonl"])
    return asyncio.run(measure(tape.endpoints[0], Roles(), SEED, lambda *_: None, tape))


def test_a_model_that_knows_the_truths_is_right(made: list[Question], tmp_path: Path) -> None:
    found = measured(made, knows, tmp_path).measure
    assert found.n == len(made)
    assert found.wrong == 0
    assert found.share >= 0.92


def test_a_model_that_guesses_is_wrong(made: list[Question], tmp_path: Path) -> None:
    found = measured(made, guesses, tmp_path)
    assert found.measure.wrong >= 0.5 * found.measure.n
    assert found.measure.share < 0.2
    assert len(found.wrongly) == found.measure.wrong


def test_a_model_that_declines_everything_is_right_only_where_it_should(made: list[Question], tmp_path: Path) -> None:
    found = measured(made, declines, tmp_path).measure
    assert (found.right, found.wrong) == (sum(one.expect != "answer" for one in made), 0)
    assert found.declined == found.n - found.right


def test_what_the_words_read_in_its_place_is_not_to_its_credit(made: list[Question], tmp_path: Path) -> None:
    found = measured(made, babbles, tmp_path).measure
    assert (found.right, found.wrong, found.declined) == (0, 0, found.n)


@pytest.mark.parametrize("behaviour", [hangs, sends(500, "out of memory")])
def test_a_server_that_gives_no_replies_has_no_measure(behaviour: Behaviour) -> None:
    async def ask() -> None:
        async with scripted(says(PROBED), behaviour) as server:
            roles = Roles(seconds=1, read=Role(seconds=0.5))
            await measure(server.endpoint(), roles, SEED, lambda *_: None)

    with pytest.raises(WorldError, match="gave no reply to 3 questions in a row"):
        asyncio.run(ask())


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def test_the_doctor_prints_the_measure_and_keeps_it(made: list[Question], state: Path) -> None:
    replies = {one.question: json.dumps(knows(one), ensure_ascii=False) for one in made}

    async def doctor() -> tuple[Scripted, str]:
        async with scripted(says(PROBED)) as server:
            server.replies["SqlReply"] = by_question(server, replies)
            options = ["--model", server.url, "--questions", "--seed", str(SEED)]
            done = await asyncio.to_thread(command, "doctor", *options)
            assert done.returncode == 0, done.stderr
            return server, done.stdout

    server, printed = asyncio.run(doctor())
    kept = find_measure(server.url, "")
    assert kept is not None
    assert kept.share >= 0.92
    assert f"{kept.n} made-up questions, --seed {SEED}" in printed
    assert f"{kept.right / kept.n:.2f}" in printed
    assert "answered if a second opinion agrees" in printed


def by_question(server: Scripted, replies: dict[str, str]) -> Behaviour:
    async def behave(writer: asyncio.StreamWriter) -> None:
        prompt = server.requests[-1]["messages"][0]["content"]
        asked = prompt.partition("Question: ")[2].split("\n")[0]
        await says(replies[asked])(writer)

    return behave
