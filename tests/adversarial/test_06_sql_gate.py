"""The second gate refuses whatever the table tools do not make, on every dialect."""

from __future__ import annotations

import duckdb
import ibis
import pytest

from groundplan.errors import QueryRefused
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.sql_gate import approve
from groundplan.sources.tables.source import Tables
from tests.sources.tables.corpus import DUCKDB, EVERYWHERE, NESTED, POSTGRES, SPARK

pytestmark = pytest.mark.requirement("R45", part="read-only")

TABLES = ("customers", "sales")
CORPUS = [
    *(("duckdb", sql) for sql in (EVERYWHERE | DUCKDB).values()),
    *(("postgres", sql) for sql in (EVERYWHERE | POSTGRES).values()),
    *(("spark", sql) for sql in (EVERYWHERE | SPARK).values()),
]


@pytest.mark.parametrize(("dialect", "sql"), CORPUS)
def test_the_corpus_is_refused(dialect: str, sql: str) -> None:
    with pytest.raises(QueryRefused):
        approve(sql, dialect, TABLES)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
@pytest.mark.parametrize("kind", NESTED)
def test_what_would_exhaust_the_parser_is_refused(dialect: str, kind: str) -> None:
    with pytest.raises(QueryRefused):
        approve(NESTED[kind], dialect, TABLES)


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT * FROM "sales" AS "t0" WHERE "t0"."units" > 3 LIMIT 5',
        'SELECT "region", SUM("revenue") AS "total" FROM "sales" GROUP BY 1 ORDER BY 2 DESC',
        'WITH "t1" AS (SELECT * FROM "sales") SELECT * FROM "t1" UNION ALL SELECT * FROM "t1"',
        'WITH "t1" AS (SELECT * FROM "sales"), "t2" AS (SELECT * FROM "t1") SELECT * FROM "t2"',
        'SELECT * FROM (WITH "t1" AS (SELECT * FROM "sales") SELECT * FROM "t1") AS "t2"',
        'WITH "t1" AS (SELECT 1 AS "v") SELECT * FROM "sales" WHERE "units" IN (SELECT "v" FROM "t1")',
        'SELECT * FROM "sales" AS "a" INNER JOIN "customers" AS "b" ON "a"."customer_id" = "b"."customer_id"',
        'SELECT \'DROP TABLE sales; -- COPY\' AS "text" FROM "sales"',
    ],
)
@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_what_the_tools_make_is_approved(dialect: str, sql: str) -> None:
    approve(sql, dialect, TABLES)


def test_the_message_names_what_was_found() -> None:
    with pytest.raises(QueryRefused, match="'secrets', which is not a table of this source"):
        approve("SELECT * FROM secrets", "duckdb", TABLES)
    with pytest.raises(QueryRefused, match="uses 'pg_sleep', which is not allowed"):
        approve("SELECT pg_sleep(5)", "postgres", TABLES)
    with pytest.raises(QueryRefused, match="not exactly one SELECT"):
        approve("SELECT 1; SELECT 2", "duckdb", TABLES)


def test_a_part_of_a_query_never_hides_a_table_of_the_same_name() -> None:
    """Ibis calls the part that it reads twice t3, as one of the tables is called: its rows would be taken for the
    table's."""
    with duckdb.connect() as connection:
        for name in ("t2", "t3"):
            connection.execute(f"CREATE TABLE {name} AS SELECT i AS k, i % 3 AS p FROM range(5) s(i)")
        source = Tables.open(ibis.duckdb.from_connection(connection))
        kept = source.table("t2").table.filter(lambda table: table.k > 0).mutate(y=1)
        twice = kept.join(kept.group_by("p").aggregate(s=kept.y.sum()), "p")
        joined = twice.join(source.table("t3").table, "k", rname="other_{name}")
        with pytest.raises(QueryRefused, match=r"a part called 't3', and so is a table of this source"):
            source._executor.run(joined, 10, CancelScope())
        assert source._executor.run(twice, 10, CancelScope()).table.num_rows == 4
