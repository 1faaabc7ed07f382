"""With the gate switched off the engine itself refuses, or nothing comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from groundplan.sources.tables.source import Tables
from tests.sources.tables.corpus import DUCKDB, EVERYWHERE, POSTGRES

pytestmark = pytest.mark.requirement("R45", part="read-only")

HARMLESS_ON_DUCKDB = {
    "recursion": "reads nothing",
    "pragma": "tells the file's own name",
    "call": "tells settings, which are locked",
    "settings": "tells settings, which are locked",
    "catalog": "lists the tables of this file, which are all open to read",
    "empty": "nothing to run",
    "no query": "reads nothing",
}
HARMLESS_ON_POSTGRES = {
    "recursion": "reads nothing",
    "catalog": "lists only what the role may see",
    "sleep": "bounded by the client's deadline",
    "take a belt off": "the belt was never what holds",
    "empty": "nothing to run",
    "no query": "reads nothing",
    "cast to a table": "a name is not a row",
    "kill": "ends only processes of the same role, and warns of any other number",
}
"""Statements that an engine runs and that do no harm, each with the reason."""


@pytest.fixture
def stolen() -> Iterator[list[Path]]:
    """The files that a successful attack would leave."""
    paths = [Path("/tmp/groundplan-stolen.csv"), Path("/tmp/groundplan-stolen.duckdb"), Path("/tmp/groundplan-stolen")]
    assert not any(path.exists() for path in paths)
    yield paths
    for path in paths:
        path.unlink(missing_ok=True)


@pytest.fixture
def attacked(tmp_path: Path) -> Tables:
    """A DuckDB file of its own, with a table that the source would not name."""
    path = tmp_path / "attacked.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE customers AS SELECT 1 AS customer_id, 'Ann' AS name, 'Rome' AS city, 11 AS id")
    return Tables.open(path)


@pytest.mark.parametrize("kind", EVERYWHERE | DUCKDB)
def test_duckdb_refuses_by_itself(attacked: Tables, stolen: list[Path], kind: str) -> None:
    connection = attacked._executor.engine.backend.con.cursor()
    before = connection.execute("SELECT md5(string_agg(c::text, ',')) FROM customers AS c").fetchone()
    refused = _refused(connection.execute, (EVERYWHERE | DUCKDB)[kind], duckdb.Error)
    assert refused == (kind not in HARMLESS_ON_DUCKDB)
    assert connection.execute("SELECT md5(string_agg(c::text, ',')) FROM customers AS c").fetchone() == before
    assert connection.execute("SELECT count(*) FROM duckdb_tables()").fetchone() == (1,)
    assert not any(path.exists() for path in stolen)


@pytest.mark.parametrize("option", ["enable_external_access", "lock_configuration"])
def test_the_locked_door_stays_locked(attacked: Tables, option: str) -> None:
    connection = attacked._executor.engine.backend.con.cursor()
    value = connection.execute(f"SELECT current_setting('{option}')").fetchone()
    assert value == (option == "lock_configuration",)
    with pytest.raises(duckdb.Error):
        connection.execute(f"RESET {option}")


@pytest.mark.parametrize("kind", EVERYWHERE | POSTGRES)
def test_the_select_only_role_can_do_no_harm(postgres_url: str, stolen: list[Path], kind: str) -> None:
    psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        assert connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() == (False,)
        before = _checksum(connection)
        refused = _refused(connection.execute, (EVERYWHERE | POSTGRES)[kind], psycopg.Error)
        assert refused == (kind not in HARMLESS_ON_POSTGRES)
        assert _checksum(connection) == before
        made = "SELECT count(*) FROM pg_class WHERE relname = 'made' OR relname LIKE 'pg_toast_temp%'"
        assert connection.execute(made).fetchone() == (0,)
    assert not any(path.exists() for path in stolen)


def test_the_role_sees_only_what_it_was_granted(postgres_source: Tables) -> None:
    assert postgres_source.names == ("customers", "sales")


def test_connections_wear_the_belts_too(postgres_source: Tables) -> None:
    engine = postgres_source._executor.engine
    connection = engine._connect().con  # type: ignore[attr-defined]
    assert connection.execute("SHOW default_transaction_read_only").fetchone() == ("on",)
    assert connection.execute("SHOW statement_timeout").fetchone() == ("610s",)
    connection.close()


def _refused(execute: Any, sql: str, error: type[Exception]) -> bool:
    try:
        result = execute(sql)
        if getattr(result, "description", None):
            result.fetchall()
    except error:
        return True
    return False


def _checksum(connection: Any) -> Any:
    return connection.execute(
        "SELECT md5(string_agg(c::text, ',' ORDER BY c.customer_id)) FROM customers AS c"
    ).fetchone()
