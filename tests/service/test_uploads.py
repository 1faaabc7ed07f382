"""Files uploaded over HTTP: asked about at once, replaced, deleted; refused when unreadable or too large."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pyarrow as pa
import pytest
from openpyxl import Workbook
from pyarrow import parquet

from groundplan.contracts.answer import Answer
from groundplan.errors import SourceError, UsageError
from groundplan.service.data import Data
from groundplan.service.loaded_files import place_of
from groundplan.service.projects import Projects
from groundplan.service.uploads import clean_name
from groundplan.state.database import SQLite
from groundplan.state.uploads import Unreadable, Uploads
from tests.asking.tables.described import SALES
from tests.service.conftest import OpenDatabase, new_database
from tests.service.processes import WAIT, ask, make_key, process, served

TARGETS = b"region,target\nNorth,10\nSouth,32\n"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("uploads")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDPLAN_STATE", str(folder / "state"))
        (folder / "groundplan.toml").write_text(
            "[service]\nupload_bytes = 3_000_000\nupload_files = 4\nupload_total_bytes = 4_000_000\n"
        )
        with served(folder, str(SALES)) as found:
            yield found


@pytest.fixture(autouse=True)
def empty(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "client" in request.fixturenames:
        found: httpx.Client = request.getfixturevalue("client")
        for file in found.get("/v1/uploads").json()["files"]:
            assert found.delete(f"/v1/uploads/{file['id']}").status_code == 204


def upload(client: httpx.Client, name: str, content: bytes) -> httpx.Response:
    return client.post("/v1/uploads", params={"name": name}, content=content)


def tables(client: httpx.Client) -> list[str]:
    return [table["name"] for source in client.get("/v1/sources").json() for table in source["tables"]]


def excel(sheets: dict[str, list[list[Any]]]) -> bytes:
    book, stream = Workbook(), io.BytesIO()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(stream)
    return stream.getvalue()


def parquet_of(columns: dict[str, list[Any]]) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("targets.csv", TARGETS),
        ("targets.tsv", TARGETS.replace(b",", b"\t")),
        ("targets.parquet", parquet_of({"region": ["North", "South"], "target": [10, 32]})),
        ("targets.xlsx", excel({"any": [["region", "target"], ["North", 10], ["South", 32]]})),
    ],
)
def test_an_uploaded_file_is_asked_about_and_deleted(client: httpx.Client, name: str, content: bytes) -> None:
    reply = upload(client, name, content)
    assert reply.status_code == 201, reply.text
    made = reply.json()
    assert (made["name"], made["bytes"], made["tables"]) == (name, len(content), ["targets"])
    assert client.get("/v1/uploads").json()["files"] == [made]
    assert "42" in ask(client, "total target")["outcome"]["text"]
    assert ask(client, "total revenue by region")["state"] == "succeeded"
    assert client.delete(f"/v1/uploads/{made['id']}").status_code == 204
    assert tables(client) == ["sales"]
    assert client.delete(f"/v1/uploads/{made['id']}").json()["code"] == "service/not-found"


def test_a_file_is_joined_with_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    orders = tmp_path / "orders.csv"
    orders.write_text("order_id,customer_id,amount\n1,7,10\n2,8,20\n3,8,12\n")
    with served(tmp_path, str(orders)) as client:
        upload(client, "customers.csv", b"customer_id,city\n7,Bonn\n8,Kiel\n")
        found = ask(client, "total amount by city")["outcome"]["tables"][0]["rows"]
        assert sorted(found) == [["Bonn", 10], ["Kiel", 32]]


def test_a_file_of_the_same_name_replaces_the_earlier_one(client: httpx.Client) -> None:
    first = upload(client, "targets.csv", TARGETS).json()
    assert "42" in ask(client, "total target")["outcome"]["text"]
    second = upload(client, "targets.csv", TARGETS.replace(b"32", b"33")).json()
    assert "43" in ask(client, "total target")["outcome"]["text"]
    assert [file["id"] for file in client.get("/v1/uploads").json()["files"]] == [second["id"]]
    assert (first["id"] != second["id"], second["tables"]) == (True, ["targets"])
    assert upload(client, "targets.csv", b"").status_code == 422
    assert "43" in ask(client, "total target")["outcome"]["text"], "a file that is refused replaces nothing"


def test_tables_keep_their_names(client: httpx.Client) -> None:
    made = upload(client, "Sales.csv", TARGETS).json()
    assert made["tables"] == ["sales_2"]
    rows = [["region", "target"], ["North", 1]]
    book = upload(client, "book.xlsx", excel({"Sales": rows, "Plan": rows})).json()
    assert book["tables"] == ["sales_3", "plan"]
    assert tables(client) == ["plan", "sales", "sales_2", "sales_3"]
    client.delete(f"/v1/uploads/{made['id']}")
    assert tables(client) == ["plan", "sales", "sales_3"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("notes.pdf", b"%PDF", "upload one of .csv"),
        ("noending", b"a,b\n1,2\n", "upload one of .csv"),
        ("data.duckdb", b"a,b\n1,2\n", "upload one of .csv"),
        ("empty.csv", b"", "empty.csv: is empty"),
        ("broken.parquet", b"PAR1 not a table PAR1", "broken.parquet: cannot be read"),
        ("broken.xlsx", b"PK\x03\x04 not a workbook", "broken.xlsx"),
        ("wide.csv", (",".join(f"c{place}" for place in range(3000)) + "\n").encode(), "2,000 columns"),
    ],
)
def test_what_cannot_be_read_is_refused_and_not_kept(
    client: httpx.Client, name: str, content: bytes, said: str
) -> None:
    reply = upload(client, name, content)
    assert (reply.status_code, reply.headers["content-type"]) == (422, "application/problem+json")
    assert reply.json()["code"] == "service/unreadable"
    assert said in reply.json()["detail"]
    assert "/" not in reply.json()["detail"].replace("CSV/", ""), "a path of the server"
    assert client.get("/v1/uploads").json()["files"] == []
    assert tables(client) == ["sales"]


def test_sizes_and_numbers_are_limited(client: httpx.Client) -> None:
    def pieces(count: int) -> Iterator[bytes]:
        yield b"a,b\n"
        for _ in range(count):
            yield b"1,2\n" * 25_000

    reply = upload(client, "large.csv", b"".join(pieces(40)))
    assert (reply.status_code, reply.json()["code"]) == (413, "service/too-large")
    assert "3,000,000 bytes" in reply.json()["detail"]
    streamed = client.post("/v1/uploads", params={"name": "large.csv"}, content=pieces(60))  # without a length
    assert streamed.status_code == 413
    assert client.post("/v1/runs", content=b"x" * 2_000_000).status_code == 413, "only a file may be large"
    half = b"".join(pieces(25))
    assert upload(client, "one.csv", half).status_code == 201
    full = upload(client, "two.csv", half)
    assert (full.status_code, full.json()["code"]) == (409, "service/no-room")
    assert upload(client, "one.csv", half).status_code == 201, "a file that is replaced takes no room"
    for name in ("b.csv", "c.csv", "d.csv"):
        assert upload(client, name, TARGETS).status_code == 201
    assert upload(client, "e.csv", TARGETS).json()["code"] == "service/no-room"
    assert upload(client, "d.csv", TARGETS).status_code == 201


def test_what_uploads_become_is_limited(client: httpx.Client) -> None:
    """A small file of texts that repeat themselves inside takes a hundred times its size in a database."""
    stream, line = io.BytesIO(), "".join(f"{number} of a long text " for number in range(300))
    parquet.write_table(
        pa.table({"note": [f"{number} {line}" for number in range(20_000)]}), stream, compression="zstd"
    )
    content = stream.getvalue()
    assert len(content) < 3_000_000
    full = upload(client, "grows.parquet", content)
    assert (full.status_code, full.json()["code"]) == (409, "service/no-room")
    assert "when loaded" in full.json()["detail"]
    assert upload(client, "small.csv", TARGETS).status_code == 201


@pytest.mark.slow
def test_uploads_survive_a_restart_and_other_data_has_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    with served(tmp_path, str(SALES)) as first:
        upload(first, "targets.csv", TARGETS)
    with served(tmp_path, str(SALES)) as second:
        assert "42" in ask(second, "total target")["outcome"]["text"]
    (tmp_path / "other.csv").write_text("city,people\nBonn,1\n")
    with served(tmp_path, str(tmp_path / "other.csv")) as other:
        assert other.get("/v1/uploads").json()["files"] == []
        assert tables(other) == ["other"]


def test_other_processes_see_uploads_at_the_next_question(own_postgres: str, tmp_path: Path) -> None:
    """Two servers and a worker, which all have the project open before the file comes."""
    key, other = make_key(own_postgres, "acme", "admin"), make_key(own_postgres, "globex")
    data = [str(SALES), "--database", own_postgres]
    with (
        process(tmp_path, "worker", *data),
        served(tmp_path, *data, key=key) as one,
        served(tmp_path, *data, key=key) as two,
    ):
        assert ask(one, "total revenue")["state"] == "succeeded"
        assert tables(two) == ["sales"]
        made = upload(one, "targets.csv", TARGETS).json()
        assert "42" in ask(two, "total target")["outcome"]["text"]
        assert tables(two) == ["sales", "targets"]
        assert upload(two, "targets.csv", TARGETS.replace(b"32", b"33")).status_code == 201
        assert "43" in ask(one, "total target")["outcome"]["text"]
        of_other = {"Authorization": f"Bearer {other}"}
        assert two.get("/v1/uploads", headers=of_other).json()["files"] == []
        asked = two.post("/v1/runs", json={"question": "total target"}, headers={**WAIT, **of_other}).json()
        assert asked["state"] != "succeeded", "it knows nothing called target"
        [source] = two.get("/v1/sources", headers=of_other).json()
        assert [table["name"] for table in source["tables"]] == ["sales"]
        assert one.delete(f"/v1/uploads/{made['id']}").status_code == 404
        [left] = one.get("/v1/uploads").json()["files"]
        assert one.delete(f"/v1/uploads/{left['id']}").status_code == 204
        assert ask(two, "total target")["state"] != "succeeded"
        entries = [(entry["action"], entry["about"]) for entry in one.get("/v1/audit").json()]
        second = f"{left['id']} targets.csv"
        assert ("upload.added", second) in entries
        assert ("upload.deleted", second) in entries
        assert ("upload.deleted", f"{made['id']} targets.csv") in entries, "replaced"


def test_files_beside_the_tables_of_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    with new_database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("create table visits (city text, visits integer)")
            connection.execute("insert into visits values ('Bonn', 3), ('Kiel', 4)")
        with served(tmp_path, url) as client:
            assert upload(client, "targets.csv", TARGETS).json()["tables"] == ["targets"]
            assert tables(client) == ["visits", "targets"]
            assert "42" in ask(client, "total target")["outcome"]["text"]
            assert "7" in ask(client, "total visits")["outcome"]["text"]
            assert "21" in ask(client, "average target")["outcome"]["text"]
            assert "Kiel" in ask(client, "which city has the most visits?")["outcome"]["text"]


def test_a_project_in_use_stays_open_until_nobody_uses_it(database: OpenDatabase, tmp_path: Path) -> None:
    async def work() -> None:
        file = tmp_path / "targets.csv"
        file.write_bytes(TARGETS)
        async with database() as opened:
            projects, tenant = Projects(opened, Data(str(SALES)).open), opened.tenant
            async with projects.of(tenant) as before:
                id_ = await Uploads(opened).add(file, file.name, {"targets": "targets"}, 1, 1000)
                async with projects.of(tenant) as after:
                    assert "42" in (await after.ask("total target")).text
                assert isinstance(await before.ask("total revenue"), Answer)
            with pytest.raises(UsageError, match="closed"):
                await before.ask("total revenue")
            assert place_of(tenant, id_).exists()
            await Uploads(opened).delete(id_)
            async with projects.of(tenant) as last:
                assert [table.name for table in last.schemas["tables"].tables] == ["sales"]
            assert not place_of(tenant, id_).exists(), "what was loaded is deleted"
            await projects.close()

    asyncio.run(work())


def test_stored_content_that_was_changed_is_not_used(tmp_path: Path) -> None:
    async def work() -> None:
        file, opened = tmp_path / "targets.csv", SQLite(tmp_path, "acme")
        file.write_bytes(TARGETS)
        await Uploads(opened).add(file, file.name, {"targets": "targets"}, 1, 1000)
        async with opened.transaction() as run:
            await run("update upload_pieces set content = ?", TARGETS.replace(b"32", b"99"))
        projects = Projects(opened, Data(str(SALES)).open)
        with pytest.raises(SourceError, match="delete the file and upload it again"):
            async with projects.of("acme"):
                pass

    asyncio.run(work())


@pytest.mark.parametrize(
    ("given", "cleaned"),
    [
        ("../../etc/passwd.csv", "passwd.csv"),
        ("C:\\data\\sales 2024.CSV", "sales 2024.csv"),
        ("a\x00b\nc\u202ed.csv", "ab cd.csv"),
        ("продажи.xlsx", "продажи.xlsx"),
        ("...csv", "table.csv"),
        ("*?[x]'\";.csv", "___x____.csv"),
        ("x" * 500 + ".csv", "x" * 96 + ".csv"),
        ("\U0001f4c8" * 90 + ".csv", "_" * 90 + ".csv"),
    ],
)
def test_names_are_cleaned(given: str, cleaned: str) -> None:
    assert clean_name(given) == cleaned


@pytest.mark.parametrize("name", ["csv", "", ".", "sales.csv/", "sales.exe"])
def test_names_without_a_known_ending_are_refused(name: str) -> None:
    with pytest.raises(Unreadable):
        clean_name(name)
