"""State that was edited, damaged or made to run code is refused, and nothing is imported or called for it."""

from __future__ import annotations

import asyncio
import json
import pickle
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

import groundplan
from groundplan.errors import QueryRefused, StateInvalid
from groundplan.sources.tables.source import Tables
from groundplan.state.database import FILE, SQLite
from groundplan.state.plans import PlanStore
from tests.sources.tables.test_sinks import BY_REGION
from tests.sources.tables.tooling import call
from tests.state.blocking import Blocking
from tests.state.test_plans import READING, TOTALS, key


@pytest.mark.requirement("R38")
@pytest.mark.requirement("R35")
def test_a_tampered_reference_is_refused(source: Tables) -> None:
    facts = call(source, "aggregate", BY_REGION).facts
    assert facts.table is not None
    forged = facts.table.model_copy(update={"query": "SELECT * FROM secrets"})
    with pytest.raises(QueryRefused, match="'secrets', which is not a table of this source"):
        source.restore(forged)
    with pytest.raises(QueryRefused):
        asyncio.run(source.fetch(forged, "a reader", 10, 10))


@pytest.mark.parametrize("column", ["plan", "reading"])
@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"strategy": "adapt"}', '{"steps": []}', "\x00", '"' + "x" * 9999, b"\xff"]
)
def test_what_is_no_plan_in_the_file_is_a_miss(text: str | bytes, column: str, tmp_path: Path) -> None:
    store = Blocking(PlanStore(SQLite(tmp_path)))
    store.keep(key(), "total revenue", READING, TOTALS)
    store.mark(store.entries()[0].id)
    with sqlite3.connect(tmp_path / FILE) as plans:
        plans.execute(f"update plans set {column} = ?", (text,))
    assert store.example(READING) is None
    kept = 0 if column == "plan" else 1
    assert [store.find(key())] == ([None], [TOTALS])[kept]
    assert len(store.entries()) == kept


FORGED = {
    "pickle": pickle.dumps({"a": 1}),
    "constructor": json.dumps(
        {"lc": 2, "type": "constructor", "id": ["os", "system"], "kwargs": {"command": "id"}}
    ).encode(),
    "cut": b"\x81",
    "text": b"not a checkpoint",
    "surrogate": b'{"a": "\\ud800"}',
    "empty": b"",
    "msgpack of a class": b"\xc7\x1a\x05\x94\xa2os\xa6system\x91\xa2id\xa0",
}
CODE = ("os.system", "subprocess.Popen", "pickle.find_class", "os.exec", "os.posix_spawn")
SEEN: list[str] = []
sys.addaudithook(lambda event, _, code=CODE, seen=SEEN: seen.append(event) if event in code else None)


@pytest.mark.requirement("R35")
@pytest.mark.parametrize("kind", FORGED)
def test_a_forged_checkpoint_runs_nothing(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    monkeypatch.setenv("GROUNDPLAN_STATE", str(state))
    sales = tmp_path / "sales.csv"
    sales.write_text("region,channel,revenue\nWest,Web,3\n")
    with groundplan.open(sales) as project:
        assert project.ask("total revenue by region", thread="t").kind == "answer"
    with closing(sqlite3.connect(state / "state.sqlite")) as kept, kept:
        for type_ in ("msgpack", "pickle", "json"):
            kept.execute("update checkpoints set checkpoint = ?, type = ?", (FORGED[kind], type_))
        kept.execute("update checkpoints set type = 'json' where ? = 'constructor'", (kind,))
        kept.execute("update checkpoints set type = 'msgpack' where ? != 'constructor'", (kind,))
    SEEN.clear()
    with groundplan.open(sales) as project:
        try:
            ended = project.ask("and by channel?", thread="t").kind
        except StateInvalid as error:
            ended = type(error).__name__
    assert SEEN == []
    assert ended != "answer", "the conversation before is gone, so `and by channel?` means nothing"
