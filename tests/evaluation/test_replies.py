"""Recorded replies in place of a model: served by question, sent again, and recorded from a server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from groundplan.contracts.contract import Contract
from groundplan.errors import UsageError
from groundplan.evaluation.replies import Recorder, Replayed, load_replies, recording
from groundplan.llm.client import Model
from groundplan.llm.reply import ModelError, Reply, UnusableReply
from tests.interfaces.test_cli import groundplan as command
from tests.llm.scripted import PROBED, says, scripted

ASKED = ("1", 'how many "boats"?')
SQL = "SELECT count(*) FROM boats"


class Told(Contract):
    sql: str | None
    cannot: str | None


def reply(**told: str) -> str:
    return json.dumps({"sql": None, "cannot": None} | told)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "large.jsonl").write_text(f'{{"id": "1", "cannot": null, "sql": "{SQL}"}}\n', encoding="utf-8")
    return tmp_path / "large.jsonl"


async def asked(tape: Replayed, prompt: str) -> Reply[Told] | UnusableReply:
    async with Model.open(tape.endpoints[0], tape) as model:
        return await model.ask(prompt, Told)


def test_the_reply_to_the_question_is_given_each_time_it_is_asked(file: Path) -> None:
    tape = Replayed([file])
    tape.asks(*ASKED)
    for prompt in ('The question: how many "boats"?', 'Sent back. The question: "how many \\"boats\\"?"'):
        found = asyncio.run(asked(tape, prompt))
        assert isinstance(found, Reply)
        assert (found.value, found.model) == (Told(sql=SQL, cannot=None), "large")


@pytest.mark.parametrize(
    ("id", "prompt", "says"),
    [("1", "a prompt about something else", "does not hold the question"), ("2", ASKED[1], "no reply to '2'")],
)
def test_a_prompt_without_the_question_gets_no_reply(file: Path, id: str, prompt: str, says: str) -> None:
    """A prompt that loses the question would else go unnoticed: the reply would be right all the same."""
    tape = Replayed([file])
    tape.asks(id, ASKED[1])
    with pytest.raises(ModelError, match=says):
        asyncio.run(asked(tape, prompt))


@pytest.mark.parametrize("line", ["{", "[]", '{"sql": "SELECT 1"}', '{"id": "1"}'])
def test_a_line_that_is_no_reply_is_told_with_its_number(tmp_path: Path, line: str) -> None:
    (tmp_path / "r.jsonl").write_text(f'{{"id": "0", "ask": "which?"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"r\.jsonl:2: not a reply"):
        load_replies(tmp_path / "r.jsonl")


def test_the_last_reply_to_a_question_is_recorded_and_no_second_opinion(tmp_path: Path) -> None:
    async def record() -> None:
        replies = [reply(sql="SELEC"), reply(sql=SQL), reply(sql="SELECT 2"), "no JSON", reply(cannot="no such data")]
        async with (
            scripted(*map(says, [PROBED, *replies])) as server,
            recording(tmp_path / "r.jsonl") as tape,
            Model.open(server.endpoint(), tape) as model,
        ):
            tape.asks(*ASKED)
            await model.ask("how many?", Told)
            await model.ask("how many?\n\nSELEC is no SQL", Told)
            await model.ask("the tables in another order. how many?", Told)
            tape.asks("2", "why?")
            await model.ask("why?", Told)
            await model.ask("why?\n\nReply in JSON", Told)

    asyncio.run(record())
    assert load_replies(tmp_path / "r.jsonl") == {"1": {"sql": SQL}, "2": {"cannot": "no such data"}}


def test_replies_before_an_interruption_are_kept(tmp_path: Path) -> None:
    async def interrupted() -> None:
        async with recording(tmp_path / "r.jsonl") as tape:
            tape.kept["1"] = {"sql": SQL}
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(interrupted())
    assert load_replies(tmp_path / "r.jsonl") == {"1": {"sql": SQL}}


def test_a_connection_outlives_the_models_that_use_it() -> None:
    async def twice() -> list[str]:
        recorder = Recorder()
        async with scripted(says(PROBED), says(reply(sql="A")), says(PROBED), says(reply(sql="B"))) as server:
            for id in ("1", "2"):
                recorder.asks(id, "?")
                async with Model.open(server.endpoint(), recorder) as model:
                    await model.ask("?", Told)
        await recorder.close()
        return [str(one["sql"]) for one in recorder.kept.values()]

    assert asyncio.run(twice()) == ["A", "B"]


@pytest.mark.parametrize(
    ("suite", "options", "says"),
    [
        ("questions", ["--replies", "r.jsonl", "--model", "http://127.0.0.1:1/v1"], "omit --model"),
        ("questions", ["--record", "r.jsonl"], "--record needs a model"),
        ("sql", ["--replies", "r.jsonl"], "r.jsonl cannot be read"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path: Path, suite: str, options: list[str], says: str) -> None:
    done = command("eval", suite, tmp_path, *options)
    assert done.returncode == 2
    assert says in done.stderr
