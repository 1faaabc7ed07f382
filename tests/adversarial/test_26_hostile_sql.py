"""A model's SQL is untrusted text: it is refused, quickly and by name, wherever it is not one plain SELECT."""

from __future__ import annotations

import time
from datetime import date

import pytest

from groundplan.asking.tables.sql.parse import Untranslatable, translate
from groundplan.contracts.schema import Column, SourceSchema, Table

SCHEMA = SourceSchema(
    source="tables",
    engine="duckdb",
    tables=(
        Table(
            name="sales",
            columns=(
                Column(name="region", type="TEXT", kind="text", role="dimension"),
                Column(name="amount", type="DOUBLE", kind="number", role="measure"),
            ),
        ),
    ),
)
HOSTILE = {
    "ten megabytes": "SELECT region FROM sales WHERE amount IN (" + "1," * 5_000_000 + "1)",
    "nested queries": "SELECT * FROM (" * 100 + "SELECT region FROM sales" + ")" * 100,
    "nested brackets": "SELECT " + "(" * 2_000 + "amount" + ")" * 2_000 + " FROM sales",
    "a long sum": "SELECT SUM(amount" + "+1" * 9_000 + ") FROM sales",
    "a long disjunction": "SELECT region FROM sales WHERE " + " OR ".join(["amount = 1"] * 1_500),
    "nested negations": "SELECT region FROM sales WHERE " + "NOT " * 3_000 + "amount = 1",
    "nested cases": "SELECT " + "CASE WHEN amount > 1 THEN " * 300 + "1" + " END" * 300 + " FROM sales",
    "names that double": "WITH a0 AS (SELECT amount AS x FROM sales), "
    + ", ".join(f"a{n} AS (SELECT x + x AS x FROM a{n - 1})" for n in range(1, 40))
    + " SELECT SUM(x) FROM a39",
    "a comment that ends the statement": "SELECT region FROM sales; -- done\nDROP TABLE sales",
    "several statements": "SELECT region FROM sales; SELECT amount FROM sales",
    "no statement": "-- nothing",
    "insert": "INSERT INTO sales VALUES ('x', 1)",
    "delete": "DELETE FROM sales",
    "copy": "COPY sales TO '/tmp/stolen.csv'",
    "attach": "ATTACH '/etc/passwd' AS other",
    "pragma": "PRAGMA database_list",
    "set": "SET enable_external_access = true",
    "install": "INSTALL httpfs",
    "create": "CREATE TABLE stolen AS SELECT * FROM sales",
    "into": "SELECT region INTO stolen FROM sales",
    "a file as a table": "SELECT * FROM read_csv('/etc/passwd')",
    "a file by its name": "SELECT * FROM '/etc/passwd'",
    "a file of text": "SELECT * FROM read_text('/etc/passwd')",
    "a file inside": "SELECT region FROM sales WHERE region IN (SELECT content FROM read_text('/etc/passwd'))",
    "the environment": "SELECT getenv('HOME'), region FROM sales",
    "a setting": "SELECT current_setting('access_mode') FROM sales",
    "a made-up function": "SELECT sleep(100) FROM sales",
    "another table": "SELECT * FROM secrets",
    "the catalog": "SELECT * FROM information_schema.tables",
    "another database": "SELECT * FROM other.main.sales",
    "recursion": "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
    "a macro": "SELECT list_transform([1], x -> x) FROM sales",
    "a parameter": "SELECT region FROM sales WHERE amount = $1",
    "a lateral join": "SELECT * FROM sales, LATERAL (SELECT 1)",
    "a series": "SELECT * FROM generate_series(1, 1000000000)",
    "a cross join": "SELECT COUNT(*) FROM sales a, sales b, sales c, sales d",
    "garbage": "\x00\ud800 SELECT",
    "an unclosed text": "SELECT 'a FROM sales",
}


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    translate("SELECT region, SUM(amount) FROM sales GROUP BY 1", SCHEMA, {}, today=date(2026, 1, 15), question="?")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_statement_is_refused_by_name_and_at_once(name: str) -> None:
    seconds = []
    for _ in range(3):  # what is slow is slow each time
        began = time.process_time()
        with pytest.raises(Untranslatable) as refused:
            translate(HOSTILE[name], SCHEMA, {}, today=date(2026, 1, 15), question="?")
        seconds.append(time.process_time() - began)
    assert min(seconds) < 0.2
    assert refused.value.construct
    assert len(str(refused.value)) < 500
