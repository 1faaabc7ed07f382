"""SQLite, MariaDB and Spark: opened by address or by an Ibis connection, read-only, and stopped in time."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import ibis
import ibis.expr.types as ir
import pyarrow as pa
import pytest
from tests.patience import HANGS, SOON
from tests.sail import Sail, sail
from tests.sources.tables.data import ROWS
from tests.sources.tables.tooling import call, rows

import groundplan
from groundplan.contracts.answer import Answer, Refusal
from groundplan.errors import DeadlineExceeded, GroundplanError, SourceError, ToolError, TransientError, UsageError
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.engines import open_backend, open_url
from groundplan.sources.tables.engine.interface import Query
from groundplan.sources.tables.engine.other_engine import Other
from groundplan.sources.tables.engine.spark_engine import Spark
from groundplan.sources.tables.engine.sqlite_engine import SQLite
from groundplan.sources.tables.source import Tables


def totals(where: object) -> dict[str, float]:
    with groundplan.open(where) as project:
        outcome = project.ask("total units by region").outcome
    assert isinstance(outcome, Answer), outcome
    return {str(row[0]): float(str(row[1])) for row in outcome.tables[0].rows}


def wanted() -> dict[str, float]:
    found: dict[str, float] = {}
    for row in ROWS["sales"]:
        found[str(row[3])] = found.get(str(row[3]), 0) + row[6]
    return found


@pytest.mark.requirement("R86", part="address")
@pytest.mark.requirement("R45", part="url")
@pytest.mark.parametrize("how", ["file", "address", "ibis", "connection"])
def test_a_sqlite_file_is_asked_however_it_is_named(how: str, sqlite_file: Path) -> None:
    shared = sqlite3.connect(sqlite_file, check_same_thread=False)
    with closing(shared):
        where = {
            "file": str(sqlite_file),
            "address": f"sqlite://{sqlite_file}",
            "ibis": ibis.sqlite.connect(sqlite_file),
            "connection": ibis.sqlite.from_connection(shared),
        }[how]
        assert totals(where) == wanted()


def test_the_address_may_stand_in_the_settings(sqlite_file: Path, tmp_path: Path) -> None:
    (tmp_path / "groundplan.toml").write_text(f'source = "sqlite://{sqlite_file}"')
    settings = groundplan.settings.load_settings(tmp_path)
    assert totals(settings.source) == wanted()


def test_a_sqlite_database_in_memory_is_read_if_other_threads_may(tmp_path: Path) -> None:
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as shared:
        shared.execute("CREATE TABLE sales (region TEXT, units INTEGER)")
        shared.execute("INSERT INTO sales VALUES ('North', 2), ('South', 3)")
        assert totals(ibis.sqlite.from_connection(shared)) == {"North": 2, "South": 3}
    own = ibis.sqlite.connect()
    own.con.execute("CREATE TABLE sales (region TEXT, units INTEGER)")
    with pytest.raises(UsageError, match="check_same_thread=False"):
        groundplan.open(own)


@pytest.mark.requirement("R45", part="read-only")
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO sales (id) VALUES (1)",
        "CREATE TABLE planted (x)",
        "CREATE TEMP TABLE planted (x)",
        "ATTACH ':memory:' AS other",
        "PRAGMA writable_schema = ON; DROP TABLE sales",
    ],
)
def test_a_sqlite_file_is_not_written_and_no_other_is_read(statement: str, sqlite_file: Path) -> None:
    before = sqlite_file.read_bytes()
    engine = open_url(f"sqlite://{sqlite_file}")
    try:
        with pytest.raises(sqlite3.Error):
            engine.backend.con.execute(statement)
    finally:
        engine.close()
    assert sqlite_file.read_bytes() == before


def test_types_are_those_of_the_values(tmp_path: Path) -> None:
    """SQLite lets a column of one type hold anything."""
    with closing(sqlite3.connect(tmp_path / "loose.db")) as connection, connection:
        connection.execute("CREATE TABLE loose (n INTEGER, day DATE, at TIMESTAMP, epoch DATE, untyped, flag BOOLEAN)")
        connection.execute("INSERT INTO loose VALUES (1, '2024-01-01', '2024-01-01 10:00:00', 1700000000, 2.5, 1)")
        connection.execute("INSERT INTO loose VALUES ('x', '2024-01-02', '2024-01-02 10:00:00', 1700000001, 3, 0)")
    source = Tables.open(tmp_path / "loose.db")
    kinds = {column.name: column.kind for column in source.table("loose").columns}
    assert kinds == {
        "n": "text",
        "day": "time",
        "at": "time",
        "epoch": "number",
        "untyped": "number",
        "flag": "boolean",
    }
    assert rows(source, source.table("loose"))[1] == {
        "n": "x",
        "day": "2024-01-02",
        "at": "2024-01-02T10:00:00",
        "epoch": 1700000001,
        "untyped": 3.0,
        "flag": False,
    }


def test_a_value_that_breaks_its_type_later_is_an_error(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "late.db")) as connection, connection:
        connection.execute("CREATE TABLE late (n INTEGER)")
        connection.executemany("INSERT INTO late VALUES (?)", [(n,) for n in range(10_000)])
        connection.execute("INSERT INTO late VALUES ('not a number')")
    source = Tables.open(tmp_path / "late.db")
    with pytest.raises(ToolError, match="not of the type of its column"):
        rows(source, source.table("late"), order_by=["n"], descending=True)


@pytest.mark.requirement("R86", part="parity")
@pytest.mark.parametrize("depth", [5, 12, 40])
def test_sqlite_runs_queries_that_are_nested_deeply(depth: int, tmp_path: Path) -> None:
    """Each adds one to the lowest of the rows of the one inside; the parser of SQLite 3.40 gives up at about twelve."""
    with closing(sqlite3.connect(tmp_path / "deep.db")) as connection, connection:
        connection.execute("CREATE TABLE steps (n INTEGER)")
        connection.executemany("INSERT INTO steps VALUES (?)", [(n,) for n in range(100)])
    source = Tables.open(tmp_path / "deep.db")
    table = source.table("steps").table
    for number in range(depth):
        table = table.mutate(n=table.n + 1).order_by("n").limit(99 - number)
    found = source._executor.run(table, 1_000, CancelScope(HANGS)).table
    assert sorted(found["n"].to_pylist()) == list(range(depth, 100))


def test_declared_keys_of_sqlite_are_found(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "keys.db")) as connection, connection:
        connection.execute("CREATE TABLE makers (code TEXT PRIMARY KEY, name TEXT)")
        connection.execute("CREATE TABLE goods (id INTEGER PRIMARY KEY, made_by TEXT REFERENCES makers)")
        connection.executemany("INSERT INTO makers VALUES (?, ?)", [("a", "Ann"), ("b", "Bob")])
        connection.executemany("INSERT INTO goods VALUES (?, ?)", [(1, "a"), (2, "b"), (3, "a")])
    with groundplan.open(tmp_path / "keys.db") as project:
        schema = project.schemas["tables"]
    assert [link.text for link in schema.relationships] == ["goods → makers by made_by"]
    assert schema.relationships[0].known == "proposed", "SQLite does not enforce it; the values confirm it"


def test_a_runaway_query_of_sqlite_is_interrupted(sqlite_file: Path) -> None:
    engine = open_url(f"sqlite://{sqlite_file}")
    sql = "SELECT SUM(a.id * b.id * c.id * d.id) AS n FROM sales AS a, sales AS b, sales AS c, sales AS d"
    query = Query(ibis.table({"n": "int64"}, name="sales"), sql)
    _is_stopped(engine, query)
    engine.close()


def test_a_runaway_query_of_mariadb_is_killed(mariadb_url: str) -> None:
    engine = open_url(mariadb_url)
    query = Query(ibis.table({"n": "int64"}, name="sales"), "SELECT SLEEP(60) AS n FROM sales")
    _is_stopped(engine, query)
    engine.close()


def _is_stopped(engine: object, query: Query) -> None:
    begun = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        engine.run(query, CancelScope(0.5))  # type: ignore[attr-defined]
    assert time.monotonic() - begun < SOON
    after = Query(query.table, "SELECT COUNT(*) AS n FROM sales")
    assert engine.run(after, CancelScope(SOON)).to_pylist() == [{"n": 600}]  # type: ignore[attr-defined]


@pytest.mark.requirement("R45", part="read-only")
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO sales (id) VALUES (1)",
        "CREATE TABLE planted (x int)",
        "SELECT * FROM mysql.user",
        "SET GLOBAL x = 1",
    ],
)
def test_mariadb_is_not_written(statement: str, mariadb_url: str) -> None:
    import MySQLdb

    engine = open_url(mariadb_url)
    with pytest.raises(MySQLdb.Error), closing(engine.backend.con.cursor()) as cursor:
        cursor.execute(statement)
    engine.close()


@pytest.mark.requirement("R86", part="connection")
def test_mariadb_is_asked_by_address_and_by_connection(mariadb_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert totals(mariadb_url) == wanted()
    assert totals(ibis.connect(mariadb_url)) == wanted()
    monkeypatch.setenv("MYSQL_PWD", "word-of-reader")
    assert totals(mariadb_url.replace(":word-of-reader", "")) == wanted()


@pytest.mark.requirement("R86", part="spark")
@pytest.mark.requirement("R45", part="spark")
def test_spark_is_asked_by_connection(spark_source: Tables) -> None:
    found = call(spark_source, "aggregate", {"metrics": [{"function": "count", "as": "n"}]})
    assert found.facts.table is not None
    assert totals(spark_source._executor.engine.backend) == wanted()


def with_hauls(server: Sail) -> Spark:
    """Each session has a table, as a catalogue that outlives the server has it."""
    engine = open_url(server.address)
    assert isinstance(engine, Spark)
    connect = engine._connect
    assert connect is not None

    def with_rows(session: Any) -> Any:
        session.createDataFrame(pa.table({"weight": [1, 2, 3]})).createOrReplaceTempView("hauls")
        return session

    engine._connect = lambda: with_rows(connect())
    with_rows(engine._session)
    return engine


def counting(server: Sail) -> Callable[[], object]:
    source = Tables(with_hauls(server))
    hauls = source.table("hauls").table
    return lambda: source._executor.run(hauls.aggregate(n=hauls.count()), 1, CancelScope(HANGS)).table.to_pylist()


@pytest.mark.requirement("R45", part="spark")
def test_a_session_that_did_nothing_for_long_is_opened_again() -> None:
    with sail(kept=1) as server:
        count = counting(server)
        assert count() == [{"n": 3}]
        time.sleep(5)
        assert count() == [{"n": 3}]


@pytest.mark.requirement("R45", part="spark")
def test_a_spark_server_that_was_killed_is_a_typed_error_and_asked_again_when_it_is_back() -> None:
    with sail() as server:
        count = counting(server)
        assert count() == [{"n": 3}]
        server.kill()
        began = time.monotonic()
        for _ in range(2):
            with pytest.raises(TransientError, match="Spark: its server does not answer"):
                count()
        assert time.monotonic() - began < HANGS / 2
        server.start()
        assert count() == [{"n": 3}]


@pytest.mark.requirement("R45", part="spark")
def test_a_session_that_was_lost_is_not_asked_again_although_the_server_takes_its_id() -> None:
    with sail() as server:
        engine = with_hauls(server)
        source = Tables(engine)
        hauls = source.table("hauls").table

        def count() -> object:
            return source._executor.run(hauls.count().as_table(), 1, CancelScope(HANGS)).table.num_rows

        lost = engine._session
        server.kill()
        with pytest.raises(TransientError, match="its server does not answer"):
            count()
        server.start()
        for _ in range(2):
            with pytest.raises(Exception, match=r"operation not found|Table not found"):
                lost.sql("SELECT * FROM hauls").toArrow()
        assert count() == 1


def test_a_session_that_closes_leaves_the_threads_of_others_alone(spark_address: str) -> None:
    from pyspark.sql.connect.client.reattach import ExecutePlanResponseReattachableIterator as Replies

    one, other = open_url(spark_address), open_url(spark_address)
    asked = [engine.schema("SELECT 1 AS a", CancelScope()).names for engine in (one, other)]
    answered = threading.Event()
    waiting = Replies._get_or_create_release_thread_pool().submit(answered.wait, HANGS)  # as for a dead server
    try:
        one.close()
        assert not waiting.done()
        assert other.schema("SELECT 1 AS b", CancelScope()).names == ("b",)
        assert Replies._release_thread_pool_instance is not None
    finally:
        answered.set()
        other.close()
    assert asked == [("a",), ("a",)]


@pytest.mark.requirement("R45", part="spark")
def test_a_question_to_a_spark_server_that_was_killed_is_refused_and_the_next_one_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with sail() as server:
        engine = with_hauls(server)
        monkeypatch.setattr("groundplan.sources.tables.source.open_engine", lambda _: engine)
        with groundplan.open(server.address) as project:
            assert isinstance(project.ask("how many hauls").outcome, Answer)
            server.kill()
            refused = project.ask("total weight of hauls").outcome
            assert isinstance(refused, Refusal)
            assert "its server does not answer" in refused.text
            server.start()
            outcome = project.ask("total weight of hauls").outcome
            assert isinstance(outcome, Answer), outcome.text
            assert outcome.tables[0].rows == ((6,),)


def test_percentiles_and_correlations_of_groups_need_no_aggregate_of_the_engine() -> None:
    backend = ibis.duckdb.connect()
    backend.con.execute("CREATE TABLE v AS SELECT i % 3 AS g, i * i AS x, i + 0.5 AS y FROM range(50) AS r(i)")
    asked = ibis._.x.quantile(0.9), ibis._.x.median(where=ibis._.y > 9), ibis._.x.corr(ibis._.y, how="pop")

    def rows(table: ir.Table) -> list[tuple[float, ...]]:
        made = table.group_by("g").aggregate(q=asked[0], m=asked[1], c=asked[2], n=ibis._.count()).order_by("g")
        return [tuple(row.values()) for row in made.to_pyarrow().to_pylist()]

    native = rows(backend.table("v"))
    other = Other(backend)
    made = rows(other.table("v", CancelScope()))
    assert [pytest.approx(row) for row in native] == made
    sql = str(backend.compile(other.table("v", CancelScope()).x.median().name("middle").as_table()))
    assert "MEDIAN" not in sql.upper()


def test_a_spark_without_tables_says_so(spark_address: str) -> None:
    with pytest.raises(SourceError, match="contains no tables"):
        groundplan.open(spark_address)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("mysql://me:hunter22@127.0.0.1:9/shop", "cannot be opened"),
        ("mysql://me:hunter22@127.0.0.1:9", "name the database"),
        ("spark://127.0.0.1:9/?token=hunter22", "cannot be opened"),
        ("trino://me:hunter22@127.0.0.1:9/shop", "pip install 'groundplan.trino.'"),
        ("snowflake://me:hunter22@account/shop", "pip install 'groundplan.snowflake.'"),
        ("bigquery://project/shop", "pip install 'groundplan.bigquery.'"),
        ("clickhouse://me:hunter22@127.0.0.1:9/shop", "pip install 'groundplan.clickhouse.'"),
        ("oracle://me:hunter22@127.0.0.1:9/shop", "not supported"),
        ("sqlite:///nowhere/shop.sqlite", "no such file"),
    ],
)
def test_what_cannot_be_opened_says_what_to_do_and_no_password(address: str, says: str) -> None:
    scheme = address.partition("://")[0]
    if scheme in ("mysql", "spark"):
        pytest.importorskip({"mysql": "MySQLdb", "spark": "pyspark"}[scheme])
    with pytest.raises(GroundplanError, match=says) as caught:
        open_url(address)
    assert "hunter22" not in repr(caught.value)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 500)
    with pytest.raises(SourceError, match="cannot be opened"):
        groundplan.open(tmp_path / "x.sqlite")


def test_the_engine_of_an_ibis_connection_has_connections_of_its_own(sqlite_file: Path) -> None:
    engine = open_backend(ibis.sqlite.connect(sqlite_file))
    assert isinstance(engine, SQLite)
    engine.close()
