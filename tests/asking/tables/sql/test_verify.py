"""Queries that others wrote: what they ask in words, joins that repeat rows, names and values that do not exist."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import ibis
import pytest

import groundplan
from groundplan.asking.tables.sql.verify import verify
from groundplan.contracts.schema import Relationship
from groundplan.contracts.verification import Verification
from groundplan.errors import UsageError
from groundplan.project import AsyncProject, Project
from groundplan.sources.tables.engine.duckdb_engine import DuckDB
from tests.asking.tables.sql.shop import shop_engine, write_shop
from tests.interfaces.test_cli import groundplan as command
from tests.reference.test_joins import Stores
from tests.reference.warehouse import Warehouse, warehouse

TODAY = date(2026, 1, 15)
REPEATS = "verify/join-repeats-rows"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shop(tmp_path_factory.mktemp("data") / "shop")


@pytest.fixture(scope="module")
def project(shop: Path) -> Iterator[Project]:
    with groundplan.open(shop) as opened:
        yield opened


def codes(found: Verification, severity: str = "error") -> list[str]:
    return [finding.code for finding in found.findings if finding.severity == severity]


REPEATED: Mapping[str, tuple[str, str]] = {
    "a sum over lines": (
        "SELECT SUM(o.total) FROM orders o JOIN lines l ON l.order_id = o.id",
        "SELECT SUM(total) FROM orders WHERE id IN (SELECT order_id FROM lines)",
    ),
    "an average behind two joins": (
        "SELECT AVG(c.credit) FROM customers c JOIN orders o ON o.customer_id = c.id JOIN lines l ON l.order_id = o.id "
        "WHERE o.total > 80",
        "SELECT AVG(credit) FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE total > 80)",
    ),
    "a count of customers": (
        "SELECT COUNT(c.id) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id",
        "SELECT COUNT(*) FROM customers",
    ),
    "a comma for a join": ("SELECT SUM(total) FROM orders, customers", "SELECT SUM(total) FROM orders"),
    "inside a CTE": (
        "WITH sold AS (SELECT o.id, total FROM orders o JOIN lines l ON l.order_id = o.id) SELECT SUM(total) FROM sold",
        "SELECT SUM(total) FROM orders WHERE id IN (SELECT order_id FROM lines)",
    ),
    "under a condition": (
        "SELECT SUM(CASE WHEN l.quantity > 2 THEN o.total ELSE 0 END) FROM orders AS o INNER JOIN lines AS l "
        "ON o.id = l.order_id",
        "SELECT SUM(total) FROM orders WHERE id IN (SELECT order_id FROM lines WHERE quantity > 2)",
    ),
    "with USING": (
        "WITH o AS (SELECT id AS order_id, total FROM orders) SELECT SUM(o.total) FROM o JOIN lines USING (order_id)",
        "SELECT SUM(total) FROM orders WHERE id IN (SELECT order_id FROM lines)",
    ),
    "two branches": (
        "SELECT SUM(l.price) FROM customers c JOIN orders o ON o.customer_id = c.id JOIN lines l ON l.order_id = c.id",
        "SELECT SUM(price) FROM lines WHERE order_id <= 30",
    ),
}
SOUND = (
    "SELECT c.city, SUM(o.total) FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.city",
    "SELECT city, SUM(total) FROM customers, orders WHERE customers.id = orders.customer_id GROUP BY 1",
    "SELECT SUM(l.quantity * l.price) FROM orders o JOIN lines l ON l.order_id = o.id WHERE o.status = 'paid'",
    "SELECT COUNT(DISTINCT c.id) FROM customers c JOIN orders o ON o.customer_id = c.id",
    "SELECT MAX(c.credit) FROM customers c JOIN orders o ON o.customer_id = c.id",
    "SELECT SUM(t.spent) FROM customers c JOIN (SELECT customer_id, SUM(total) AS spent FROM orders GROUP BY 1) t "
    "ON t.customer_id = c.id",
    "SELECT SUM(total) FROM orders WHERE EXISTS (SELECT 1 FROM lines WHERE lines.order_id = orders.id)",
    "SELECT SUM(o.total) FROM orders o CROSS JOIN (SELECT MAX(credit) AS most FROM customers) m WHERE o.total < m.most",
    "SELECT o.id, AVG(o.total), SUM(l.quantity) FROM orders o JOIN lines l ON l.order_id = o.id GROUP BY o.id",
)


@pytest.mark.parametrize("name", REPEATED)
def test_a_join_that_repeats_rows_is_named(name: str, project: Project) -> None:
    sql, right = REPEATED[name]
    with shop_engine() as engine:
        assert engine.execute(sql).fetchall() != engine.execute(right).fetchall()
    found = project.verify("the number", sql)
    assert found.result == "faulty"
    assert REPEATS in codes(found)


@pytest.mark.parametrize("sql", SOUND)
def test_a_join_that_repeats_nothing_measured_is_sound(sql: str, project: Project) -> None:
    found = project.verify("the number", sql)
    assert REPEATS not in codes(found) + codes(found, "warning")


def test_what_is_looked_up_is_only_a_warning(project: Project) -> None:
    found = project.verify("average", "SELECT AVG(c.credit) FROM orders o JOIN customers c ON c.id = o.customer_id")
    assert (codes(found), codes(found, "warning")) == ([], [REPEATS])


def test_the_finding_says_which_join_and_what_to_do(project: Project) -> None:
    [finding] = project.verify("the number", REPEATED["a sum over lines"][0]).findings
    assert finding.problem == "SUM(o.total) takes rows of orders once for each matching row of lines"
    assert finding.where == "JOIN lines AS l ON l.order_id = o.id"
    assert "before the join" in finding.hint


@pytest.mark.parametrize(
    ("sql", "code", "near"),
    [
        ("SELECT SUM(total) FROM ordrs", "verify/unknown-table", "'orders'"),
        ("SELECT SUM(totl) FROM orders", "verify/unknown-column", "'total'"),
        ("SELECT c.town FROM customers c", "verify/unknown-column", "city"),
        ("SELECT COUNT(*) FROM orders WHERE NOT EXISTS (SELECT 1 FROM lines WHERE lines.ordr_id = orders.id)",
         "verify/unknown-column", "'order_id'"),
        ("WITH t AS (SELECT total AS paid FROM orders) SELECT SUM(total) FROM t", "verify/unknown-column", "paid"),
        ("SELECT COUNT(*) FROM orders WHERE status = 'Refunded'", "verify/unknown-value", "'refunded'"),
        ("SELECT COUNT(*) FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.city IN ('Rome', 'Parris')",
         "verify/unknown-value", "'Paris'"),
        ("DELETE FROM orders", "verify/not-a-select", "SELECT"),
        ("SELECT 1; DROP TABLE orders", "verify/not-a-select", "SELECT"),
        ("SELEC total FRM orders", "verify/not-a-select", "SELECT"),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_named_with_what_is_nearest(sql: str, code: str, near: str, project: Project) -> None:
    found = project.verify("the number", sql)
    assert (found.result, codes(found)) == ("faulty", [code])
    assert near in found.findings[0].hint


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM orders WHERE LOWER(status) = 'refunded'",
        "SELECT city AS town, COUNT(*) AS n FROM customers GROUP BY town ORDER BY n DESC",
        "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY total DESC) AS place FROM orders) WHERE place <= 3",
        'SELECT "City" FROM Customers',
    ],
)
def test_names_that_exist_in_another_way_are_no_findings(sql: str, project: Project) -> None:
    assert [code for code in codes(project.verify("the number", sql)) if code.startswith("verify/")] == []


def test_it_says_what_the_query_asks_and_what_contradicts_the_question(project: Project) -> None:
    sql = "SELECT city, SUM(credit) AS credit FROM customers GROUP BY city ORDER BY credit DESC LIMIT 3"
    found = project.verify("top 2 cities by credit", sql, today=TODAY)
    assert found.read_as.startswith("Read as: total credit by city")
    assert "limit/other" in codes(found)
    assert project.verify("top 3 cities by credit", sql, today=TODAY).result == "sound"
    assert "Понято" in project.verify("топ 3 города по кредиту", sql).read_as


def test_what_cannot_be_read_is_named_and_not_called_sound(project: Project) -> None:
    found = project.verify("ids", "SELECT id FROM orders UNION SELECT id FROM lines")
    assert (found.result, found.findings) == ("unverified", ())
    assert found.unverified[0].startswith("UNION")


HOSTILE = (
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM 'secret.csv'",
    "SELECT getenv('HOME')",
    "COPY (SELECT 1) TO 'written.csv'",
    "ATTACH 'other.duckdb'",
    "INSTALL httpfs",
    "CREATE TABLE made AS SELECT 1",
    "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
    "SELECT 1 FROM orders WHERE " + " OR ".join(["id = 1"] * 20_000),
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT SUM(n) FROM t",
    "SELECT " + "-" * 3_000 + "1",
    "\x00\x1b[31m",
    "",
)


@pytest.mark.parametrize("sql", HOSTILE)
def test_a_hostile_query_does_nothing(
    sql: str, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert project.verify("the number", sql).result in ("faulty", "unverified")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.requirement("R80", part="never run")
def test_no_part_of_the_query_reaches_the_engine(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    run = DuckDB.run

    def recorded(self: DuckDB, query: Any, scope: Any) -> Any:
        ran.append(query.sql)
        return run(self, query, scope)

    monkeypatch.setattr(DuckDB, "run", recorded)
    sql = "SELECT SUM(o.total) AS planted FROM orders o JOIN lines l ON l.order_id = o.id WHERE o.status = 'mislaid'"
    assert project.verify("planted", sql).result == "faulty"
    assert [text for text in ran if "planted" in text or "mislaid" in text or "JOIN" in text.upper()] == []


def test_async_gives_the_same(shop: Path, project: Project) -> None:
    sql = SOUND[0]

    async def asked() -> Verification:
        opened = await AsyncProject.open(shop)
        try:
            return await opened.verify("total by city", sql, today=TODAY)
        finally:
            await opened.close()

    assert asyncio.run(asked()) == project.verify("total by city", sql, today=TODAY)


def test_a_query_is_text(project: Project) -> None:
    with pytest.raises(UsageError, match="a query is text"):
        project.verify("total", 5)  # type: ignore[arg-type]


def test_the_command_reads_a_file_standard_input_or_the_query_itself(shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "query.sql"
    file.write_text(REPEATED["a sum over lines"][0])
    from_file = command("verify", shop, "total of orders", file)
    assert (from_file.returncode, REPEATS in from_file.stdout) == (1, True)
    assert command("verify", shop, "total of orders", "-", stdin=file.read_text()).stdout == from_file.stdout
    written = command("verify", shop, "total by city", SOUND[0], "--json")
    assert written.returncode == 0
    assert json.loads(written.stdout)["result"] == "sound"
    assert command("verify", shop, "ids", "SELECT id FROM orders UNION SELECT id FROM lines").returncode == 3
    assert command("verify", shop, "ids", tmp_path / "none.sql").returncode == 2


def test_no_repeated_row_goes_unseen() -> None:
    """Joins of generated tables: where a row that is summed comes twice, there is a finding."""
    stores, seen = Stores(ibis.duckdb.connect(), "?"), Counter[str]()
    for seed in range(50):
        random = Random(seed)
        made = warehouse(random)
        stores.fill(made)
        for _ in range(4):
            seen[_compared(random, made, stores)] += 1
    assert seen["repeated"] > 20
    assert seen["missed"] == 0
    assert seen["once"] > 20


def _compared(random: Random, made: Warehouse, stores: Stores) -> str:
    """Whether a join of two or three tables repeats rows of one of them in the data, and whether that is found."""
    tables, joins = _joined(random, list(made.schema.relationships))
    if len(tables) < 2:
        return "none"
    alias = random.choice([*tables])
    text = f"FROM {next(iter(tables.values()))} AS a0 {' '.join(joins)}"
    table = made.schema.find(tables[alias])
    assert table is not None
    key = ", ".join(f"{alias}.{name}" for name in table.keys[0])
    most = stores.query(f"SELECT MAX(n) FROM (SELECT COUNT(*) AS n {text} WHERE {alias}.k IS NOT NULL GROUP BY {key})")
    found = verify("the sum", f"SELECT SUM({alias}.x) {text}", made.schema, {}, today=TODAY)
    warned = any(finding.code == REPEATS for finding in found.findings)
    if (most[0][0] or 0) > 1:
        return "repeated" if warned else "missed"
    return "suspected" if warned else "once"


def _joined(random: Random, links: list[Relationship]) -> tuple[dict[str, str], list[str]]:
    """Aliases with their tables, and joins along relationships in either direction."""
    tables: dict[str, Any] = {}
    joins: list[str] = []
    for link in random.sample(links, min(len(links), random.randint(1, 3))):
        tables = tables or {"a0": random.choice((link.table, link.to_table))}
        near = [alias for alias, table in tables.items() if table in (link.table, link.to_table)]
        if not near:
            continue
        old, new = random.choice(near), f"a{len(tables)}"
        forwards = tables[old] == link.table
        tables[new] = link.to_table if forwards else link.table
        own, other = (link.columns, link.to_columns) if forwards else (link.to_columns, link.columns)
        same = " AND ".join(f"{old}.{a} = {new}.{b}" for a, b in zip(own, other, strict=True))
        joins.append(f"{random.choice(('', 'LEFT '))}JOIN {tables[new]} AS {new} ON {same}")
    return tables, joins
