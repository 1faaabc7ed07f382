"""A reading written as SQL: run by DuckDB over the same rows, it gives what the reading asks for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, time
from random import Random
from typing import Any

import duckdb
import ibis
import pytest
from hypothesis import Phase, given, reject, settings

import groundplan
from groundplan.asking.tables.sql.write import sql_of
from groundplan.asking.tables.sql.write_scope import RESERVED, Unwritable, quoted
from groundplan.contracts.answer import Answer
from groundplan.contracts.join_paths import NoPath
from groundplan.contracts.meaning import has_meaning
from groundplan.contracts.reading import Each, Rank, Reading
from groundplan.contracts.schema import Column, NamedMetric, SourceSchema, Table
from groundplan.project import Project
from tests.interfaces.test_cli import groundplan as command
from tests.questions.notation import reading
from tests.questions.test_language import CASES
from tests.questions.test_questions import ANSWERED, ROOT, alike, ask, independent, load, sortable
from tests.reference import test_joins, warehouse_sql
from tests.reference.comparing import ANY_SPEED, assert_rows
from tests.reference.executing import SCHEMA, Store, duckdb_store
from tests.reference.generating import TABLES, readings
from tests.reference.interpreter import answer
from tests.reference.warehouse import Asking, warehouse

SALES = f"CREATE VIEW sales AS FROM '{ROOT / 'examples/sales.csv'}'"


@pytest.fixture(scope="module")
def store() -> Store:
    return duckdb_store()


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with groundplan.open(ROOT / "examples/sales.csv") as opened:
        yield opened


@settings(ANY_SPEED, max_examples=80)
@given(asked=readings(), rows=TABLES)
def test_the_sql_of_a_reading_gives_its_rows(store: Store, asked: Reading, rows: list[dict[str, Any]]) -> None:
    assert_rows(asked, _selected(store, _written(asked), rows), answer(asked, rows))


@pytest.mark.slow
@settings(ANY_SPEED, max_examples=5_000, phases=[Phase.generate])
@given(asked=readings(), rows=TABLES)
def test_the_sql_of_thousands_of_readings_gives_their_rows(
    store: Store, asked: Reading, rows: list[dict[str, Any]]
) -> None:
    assert_rows(asked, _selected(store, _written(asked), rows), answer(asked, rows))


def _written(asked: Reading) -> str:
    try:
        return sql_of(asked, SCHEMA)
    except Unwritable as error:  # rare; no database takes it
        if "inside the definition of another" not in str(error):
            raise
        reject()


def _selected(store: Store, sql: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the SQL; a moment at midnight is the day of which DATE_TRUNC makes it."""
    store._fill(rows)
    store._connection.execute("SET TimeZone = 'UTC'")
    found = store._connection.execute(sql).to_arrow_table().to_pylist()
    return [{name: _day(value) for name, value in row.items()} for row in found]


def _day(value: Any) -> Any:
    return value.date() if isinstance(value, datetime) and value.time() == time(0) else value


def test_sql_over_several_tables_gives_what_subqueries_give() -> None:
    assert _over_warehouses(range(60)) > 250


@pytest.mark.slow
def test_thousands_over_several_tables_give_what_subqueries_give() -> None:
    assert _over_warehouses(range(5_000, 6_500)) > 6_000


def _over_warehouses(seeds: range) -> int:
    """How many were the same; those that do not say which join they mean are refused by both."""
    stores, same = test_joins.Stores(ibis.duckdb.connect(), "?"), 0
    for seed in seeds:
        random = Random(seed)
        made = warehouse(random)
        stores.fill(made)
        for _ in range(test_joins.READINGS):
            asked = Asking(random, made.schema).reading()
            try:
                wanted = warehouse_sql.sql_of(asked, made.schema.relationships)
            except NoPath:
                with pytest.raises(Unwritable):
                    sql_of(asked, made.schema)
                continue
            sql = sql_of(asked, made.schema)
            things = any(
                isinstance(r.value, Each) for r in asked.requirements
            )  # the reference shows their measure first
            assert _sorted(stores.query(sql), things) == _sorted(stores.query(wanted), things), (seed, sql)
            same += 1
    return same


def _sorted(rows: list[tuple[Any, ...]], any_order: bool) -> list[tuple[Any, ...]]:
    plain = [tuple(map(test_joins._plain, row)) for row in rows]
    return sorted((tuple(sorted(row, key=repr)) if any_order else row for row in plain), key=repr)


@pytest.mark.parametrize("name", CASES)
def test_each_construct_gives_what_independent_sql_gives(name: str, project: Project) -> None:
    written, sql = CASES[name]
    (schema,) = project.schemas.values()
    asked = reading(name, schema.tables[0].name, written)
    _, wanted = independent(f"WITH sales AS (FROM 'examples/sales.csv') SELECT * FROM ({sql})")
    found = _over_sales(sql_of(asked, schema))
    shown = [row[: len(found[0])] for row in wanted]
    pairs = zip(sorted(found, key=sortable), sorted(shown, key=sortable), strict=True)
    assert [pair for pair in pairs if not alike(*pair)] == []


@pytest.mark.requirement("R80", part="printed")
@pytest.mark.parametrize("slug", ANSWERED)
def test_the_sql_of_a_golden_question_gives_the_answers_rows(slug: str, project: Project) -> None:
    outcome = ask(project, slug)
    assert isinstance(outcome, Answer)
    assert outcome.reading is not None
    (schema,) = project.schemas.values()
    try:
        sql = sql_of(outcome.reading, schema)
    except Unwritable:
        assert not has_meaning(outcome.reading) or outcome.reading.intents[0].name == "periods"
        return
    with duckdb.connect() as engine:
        found = engine.execute(SALES).execute(sql)
        names, rows = [column[0] for column in found.description or ()], found.fetchall()
    table = outcome.tables[0]
    both = [name for name in names if name in table.columns]
    assert both == names, (names, table.columns)
    shown = [tuple(row[table.columns.index(name)] for name in both) for row in table.rows]
    made = [tuple(_text(value) for value in row) for row in rows]
    assert len(shown) == len(made)
    if not load(slug).ordered or not any(isinstance(r.value, Rank) for r in outcome.reading.requirements):
        shown, made = sorted(shown, key=sortable), sorted(made, key=sortable)
    assert [pair for pair in zip(shown, made, strict=True) if not alike(*pair)] == []


def _over_sales(sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as engine:
        found: list[tuple[Any, ...]] = engine.execute(SALES).execute(sql).fetchall()
    return [tuple(_text(value) for value in row) for row in found]


def _text(value: Any) -> Any:
    day = _day(value)
    return day.isoformat() if hasattr(day, "isoformat") else day


@pytest.mark.parametrize(
    ("written", "sql"),
    [
        (
            {"metric": {"sales": "sum(revenue)"}, "by": {"region": "region"}, "where": ["units > 5"], "top": 5},
            "SELECT region, SUM(revenue) AS sales\nFROM sales\nWHERE units > 5\nGROUP BY region\n"
            "ORDER BY sales DESC\nLIMIT 5",
        ),
        (
            {"metric": {"revenue": "sum(revenue)"}, "by": {"region": "region"}, "top": 1},
            "SELECT region, SUM(revenue) AS revenue\nFROM sales\nGROUP BY region\n"
            "QUALIFY RANK() OVER (ORDER BY SUM(revenue) DESC) = 1",
        ),
        (
            {"each": {"keys": ["date"], "measures": {"n": "rows()"}}, "metric": {"days": "rows()"}, "where": ["n > 3"]},
            "WITH things AS (\n  SELECT date, COUNT(*) AS n\n  FROM sales\n  GROUP BY date\n)\n"
            "SELECT COUNT(*) AS days\nFROM things\nWHERE n > 3",
        ),
        ({"metric": {"m": "named('average ticket')"}}, "SELECT SUM(revenue) / NULLIF(COUNT(*), 0) AS m\nFROM sales"),
    ],
)
def test_it_reads_as_a_person_would_write_it(written: dict[str, Any], sql: str, project: Project) -> None:
    (schema,) = project.schemas.values()
    (ticket,) = reading("asked", "sales", {"metric": {"m": "sum(revenue) / rows()"}}).requirements[:1]
    named = NamedMetric(name="average ticket", table="sales", expression=ticket.value.expression)  # type: ignore[union-attr]
    assert sql_of(reading("asked", "sales", written), schema.model_copy(update={"metrics": (named,)})) == sql


def test_names_and_texts_are_quoted() -> None:
    odd = 'x" FROM secrets; DROP TABLE t; --'
    column = Column(name=odd, type="VARCHAR", kind="text", role="dimension")
    schema = SourceSchema(source="s", engine="duckdb", tables=(Table(name="Order lines", columns=(column,)),))
    written = {"metric": {"order": "rows()"}, "where": [f'c[{odd!r}] == "it\'s; DROP TABLE t"']}
    sql = sql_of(reading("asked", "Order lines", written), schema)
    with duckdb.connect() as engine:
        engine.execute(f'CREATE TABLE "Order lines" ({quoted(odd)} VARCHAR)')
        engine.execute('INSERT INTO "Order lines" VALUES (?), (?)', ["it's; DROP TABLE t", "other"])
        assert engine.execute(sql).fetchall() == [(1,)]


def test_words_that_duckdb_reserves_are_quoted() -> None:
    with duckdb.connect() as engine:
        words = engine.execute("SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category <> 'unreserved'")
        assert {word for (word,) in words.fetchall()} <= RESERVED


def test_what_looks_at_single_values_is_not_one_select(project: Project) -> None:
    (schema,) = project.schemas.values()
    outcome = project.ask("distribution of revenue").outcome
    assert isinstance(outcome, Answer)
    assert outcome.reading is not None
    with pytest.raises(Unwritable, match="spread"):
        sql_of(outcome.reading, schema)


def test_an_answer_has_its_question_as_sql(project: Project) -> None:
    """Dates without a grain are cut as the run cut them."""
    outcome = project.ask("revenue over time in the West in 2025").outcome
    assert isinstance(outcome, Answer)
    assert outcome.sql.startswith("SELECT DATE_TRUNC('") or "CAST(date AS DATE)" in outcome.sql
    assert len(_over_sales(outcome.sql)) == outcome.tables[0].row_count


def test_the_command_shows_it_beside_the_engines_query() -> None:
    shown = command("ask", ROOT / "examples/sales.csv", "total revenue by region", "--query").stdout
    assert "-- as SQL\nSELECT region, SUM(revenue) AS revenue\nFROM sales\nGROUP BY region\n" in shown
    assert shown.count("SELECT") > 1
