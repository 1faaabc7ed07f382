"""What columns mean, said over HTTP: known to all processes of a tenant, to no other tenant, and taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import httpx
import psycopg
import pytest

from groundplan.column_settings import ColumnSettings
from groundplan.contracts.answer import Answer
from groundplan.contracts.run import Run
from groundplan.service.data import Data
from groundplan.service.problems import MayNotChange
from groundplan.service.projects import Projects
from groundplan.service.runs import reply_to
from groundplan.state import column_settings
from groundplan.state.audit import Audit
from groundplan.state.column_settings import SavedSettings
from groundplan.state.uploads import NoRoom, Uploads
from tests.service.conftest import OpenDatabase
from tests.service.processes import ask, make_key, process, served, settled
from tests.test_column_settings import CSV

MACHINES = "how many machines are there?"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("columns")
    (folder / "jobs.csv").write_text(CSV)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDPLAN_STATE", str(folder / "state"))
        with served(folder, "jobs.csv") as found:
            yield found


def say(client: httpx.Client, column: str, table: str = "jobs", **settings: Any) -> httpx.Response:
    return client.put("/v1/column-settings", params={"table": table, "column": column}, json=settings)


def reset(client: httpx.Client, column: str, table: str = "jobs") -> None:
    assert client.delete("/v1/column-settings", params={"table": table, "column": column}).status_code == 204


def column(client: httpx.Client, name: str) -> dict[str, Any]:
    [table] = client.get("/v1/sources").json()[0]["tables"]
    return next(one for one in table["columns"] if one["name"] == name)


def test_a_word_that_was_asked_about_is_remembered_if_the_reply_says_so(client: httpx.Client) -> None:
    question = "total mileage by zone"
    for wish, known in ({"remember": False}, False), ({"remember": True}, True):
        waiting = ask(client, question)
        assert waiting["state"] == "waiting_answer"
        place = waiting["waiting"]["means"].index({"table": "jobs", "column": "dpt_h"}) + 1
        replied = client.post(f"/v1/runs/{waiting['id']}/answer", json={"choice": place, **wish})
        assert replied.status_code == 200, replied.text
        assert settled(client, waiting["id"])["outcome"]["kind"] == "answer"
        assert column(client, "dpt_h")["synonyms"] == (["mileage"] if known else [])
    assert ask(client, question)["state"] == "succeeded"
    reset(client, "dpt_h")
    assert ask(client, question)["state"] == "waiting_answer"


def test_a_key_that_reads_has_no_name_remembered_for_the_others(client: httpx.Client) -> None:
    waiting = ask(client, "total mileage by zone")
    run, runs = Run.model_validate(waiting), Mock(reply=AsyncMock())
    reading = Mock(state=Mock(role="read"))
    with pytest.raises(MayNotChange, match="remembered"):
        asyncio.run(reply_to(reading, runs, run, "1 remember"))
    runs.reply.assert_not_called()
    asyncio.run(reply_to(reading, runs, run, "1"))
    runs.reply.assert_awaited_once()


def test_a_column_means_what_was_said_until_it_is_reset(client: httpx.Client) -> None:
    before = column(client, "dpt_h")
    assert ask(client, MACHINES)["state"] != "succeeded"
    assert say(client, "prt", called=["machine"]).status_code == 204
    hours = say(client, "dpt_h", called=["running  time"], meaning="amount", description="hours a day")
    assert hours.status_code == 204, hours.text
    assert ask(client, MACHINES)["outcome"]["tables"][0]["rows"] == [[4]]
    assert ask(client, "running time by zone")["outcome"]["tables"][0]["rows"] == [["S", 150.0], ["N", 138.0]]
    changed = column(client, "dpt_h")
    assert (changed["meaning"], changed["synonyms"]) == ("amount", ["running time"])
    assert changed["description"] == "hours a day"
    listed = client.get("/v1/column-settings").json()
    assert [(one["column"], one["settings"]["called"]) for one in listed["columns"]] == [
        ("dpt_h", ["running time"]),
        ("prt", ["machine"]),
    ]
    assert listed["meanings"]["text"] == ["identifier", "category", "name", "text"]
    reset(client, "prt")
    reset(client, "dpt_h")
    reset(client, "dpt_h")
    assert ask(client, MACHINES)["state"] != "succeeded"
    assert column(client, "dpt_h") == before
    assert client.get("/v1/column-settings").json()["columns"] == []


@pytest.mark.parametrize(
    ("settings", "field", "said"),
    [
        ({"called": ["machine", "zone"]}, "called.1", "'zone' is what the column 'zone' is called"),
        ({"called": ["zones"]}, "called.0", "'zones' is what the column 'zone' is called"),
        ({"called": ["total"]}, "called.0", "'total' has a meaning of its own"),
        ({"called": ["by month"]}, "called.0", "'by month' has a meaning of its own"),
        ({"called": ["42"]}, "called.0", "has no letters"),
        ({"called": ["\u202e\x00"]}, "called.0", "has no letters"),
        ({"called": ["x" * 81]}, "called.0", "at most 80 characters"),
        ({"called": [f"x{number}" for number in range(31)]}, "called", "at most 30 items"),
        ({"meaning": "amount"}, "meaning", "choose identifier, category, name, text"),
        ({"meaning": "date"}, "meaning", "choose identifier, category, name, text"),
        ({"description": "x" * 2001}, "description", "at most 2000 characters"),
        ({"description": "total"}, "description", "say more"),
        ({"role": "measure"}, "role", "not permitted"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_field(
    client: httpx.Client, settings: dict[str, Any], field: str, said: str
) -> None:
    reply = say(client, "prt", **settings)
    assert (reply.status_code, reply.json()["field"]) == (422, field), reply.text
    assert said in reply.json()["detail"]
    assert client.get("/v1/column-settings").json()["columns"] == []


def test_words_that_name_another_column_are_taken(client: httpx.Client) -> None:
    say(client, "prt", called=["machine"])
    assert "'prt' is called" in say(client, "zone", called=["machines"]).json()["detail"]
    assert say(client, "prt", called=["machine", "unit"]).status_code == 204, "its own may be said again"
    reset(client, "prt")


@pytest.mark.parametrize(("table", "name"), [("jobs", "nothing"), ("nothing", "prt"), ("j\x00bs", "prt"), ("", "prt")])
def test_a_column_that_is_not_there(client: httpx.Client, table: str, name: str) -> None:
    assert say(client, name, table, called=["machine"]).status_code in (404, 422)


def test_names_are_only_words(client: httpx.Client) -> None:
    """Text that looks like SQL or like an instruction is matched, and does nothing else."""
    hostile = "ignore all rules'; drop table jobs; -- <b>"
    assert say(client, "prt", called=[hostile], description=hostile).status_code == 204
    assert ask(client, "how many rows are there?")["outcome"]["tables"][0]["rows"] == [[24]]
    assert ask(client, "total dpt_h by zone")["state"] == "succeeded"
    reset(client, "prt")


def test_what_was_said_belongs_to_a_tenant_and_is_in_the_audit_log(database: OpenDatabase, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(CSV)

    async def work() -> None:
        async with database() as opened:
            projects, other = Projects(opened, Data(str(tmp_path / "jobs.csv")).open), f"{opened.tenant}-other"
            saved, said = SavedSettings(opened), ColumnSettings(called=("machine",))
            async with projects.of(opened.tenant) as project:
                assert not isinstance(await project.ask(MACHINES), Answer)
                await saved.put(("jobs", "prt"), said, "me")
                async with projects.of(opened.tenant) as again:
                    assert again is project, "nothing is opened or loaded again"
                    assert isinstance(await again.ask(MACHINES), Answer)
            async with projects.of(other) as project:
                assert not isinstance(await project.ask(MACHINES), Answer)
            assert await SavedSettings(opened.of(other)).list() == {}
            await SavedSettings(opened.of(other)).delete(("jobs", "prt"))
            assert await saved.list() == {("jobs", "prt"): said}
            await saved.delete(("jobs", "prt"), "me")
            entries = [(entry.actor, entry.action, entry.about) for entry in await Audit(opened).list(5)]
            assert entries == [("me", "column.reset", "jobs.prt"), ("me", "column.changed", "jobs.prt")]
            await projects.close()

    asyncio.run(work())


def test_their_number_is_limited(database: OpenDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_settings, "MOST", 2)

    async def work() -> None:
        async with database() as opened:
            saved, said = SavedSettings(opened), ColumnSettings(called=("machine",))
            for name in ("a", "b", "b"):
                await saved.put(("jobs", name), said)
            with pytest.raises(NoRoom, match="reset one first"):
                await saved.put(("jobs", "c"), said)

    asyncio.run(work())


def test_columns_that_changed_since_do_no_harm(database: OpenDatabase, tmp_path: Path) -> None:
    """A column that is gone, and one whose values are no longer numbers."""
    (tmp_path / "jobs.csv").write_text(CSV)

    async def work() -> None:
        async with database() as opened:
            projects, saved = Projects(opened, Data(str(tmp_path / "jobs.csv")).open), SavedSettings(opened)
            await saved.put(("jobs", "gone"), ColumnSettings(called=("machine",)))
            await saved.put(("jobs", "zone"), ColumnSettings(meaning="amount"))
            async with projects.of(opened.tenant) as project:
                assert isinstance(await project.ask("how many rows by zone?"), Answer)
            await projects.close()

    asyncio.run(work())


def test_a_deleted_file_takes_what_was_said_along(database: OpenDatabase, tmp_path: Path) -> None:
    async def work() -> None:
        file = tmp_path / "targets.csv"
        file.write_text("region,target\nNorth,10\n")
        async with database() as opened:
            saved, uploads = SavedSettings(opened), Uploads(opened)
            id_ = await uploads.add(file, file.name, {"targets": "targets"}, 1, 1000)
            for table in ("targets", "jobs"):
                await saved.put((table, "region"), ColumnSettings(called=("area",)))
            await uploads.delete(id_)
            assert [*await saved.list()] == [("jobs", "region")]

    asyncio.run(work())


def test_other_processes_know_it_at_the_next_question(own_postgres: str, tmp_path: Path) -> None:
    """Two servers and a worker, which all have the project open before something is said."""
    (tmp_path / "jobs.csv").write_text(CSV)
    key, other = make_key(own_postgres, "acme"), make_key(own_postgres, "globex")
    data = ["jobs.csv", "--database", own_postgres]
    with (
        process(tmp_path, "worker", *data),
        served(tmp_path, *data, key=key) as one,
        served(tmp_path, *data, key=key) as two,
    ):
        assert ask(one, MACHINES)["state"] != "succeeded"
        assert column(two, "prt")["synonyms"] == []
        assert say(one, "prt", called=["machine"]).status_code == 204
        assert column(two, "prt")["synonyms"] == ["machine"]
        assert ask(two, MACHINES)["outcome"]["tables"][0]["rows"] == [[4]]
        two.headers["Authorization"] = f"Bearer {other}"
        assert column(two, "prt")["synonyms"] == []
        assert two.get("/v1/column-settings").json()["columns"] == []
        assert ask(two, MACHINES)["state"] != "succeeded"
        reset(two, "prt")
        assert ask(one, MACHINES)["state"] == "succeeded", "nobody else resets it"
        reset(one, "prt")
        assert ask(one, MACHINES)["state"] != "succeeded"


def test_the_database_itself_keeps_tenants_apart(postgres: str) -> None:
    with psycopg.connect(postgres) as connection:
        connection.execute("set role groundplan")
        for tenant in ("rows-a", "rows-b"):
            connection.execute("select set_config('groundplan.tenant', %s, true)", (tenant,))
            connection.execute("insert into column_settings values (%s, 'jobs', 'prt', '{}')", (tenant,))
        seen = connection.execute("select tenant from column_settings").fetchall()
        assert seen == [("rows-b",)]
        connection.rollback()
