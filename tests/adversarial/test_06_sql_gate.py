"""The second gate refuses whatever the table tools do not make, on every dialect."""

from __future__ import annotations

import pytest

from groundplan.errors import QueryRefused
from groundplan.sources.tables.engine.sql_gate import approve
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
