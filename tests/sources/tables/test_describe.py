"""What a source tells of itself: roles, spans, keys and relationships; never rows."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from tests.sources.tables.data import ROWS

from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Column, SourceSchema
from groundplan.sources.tables.source import Tables

pytestmark = pytest.mark.requirement("R45", part="tools")


def schema(source: Tables) -> SourceSchema:
    return asyncio.run(source.describe())


def column(source: Tables, table: str, name: str) -> Column:
    found = schema(source).find(table)
    assert found is not None
    told = found.find(name)
    assert told is not None
    return told


@pytest.mark.parametrize(
    ("name", "kind", "role"),
    [
        ("id", "number", "id"),
        ("day", "time", "temporal"),
        ("moment", "time", "temporal"),
        ("region", "text", "dimension"),
        ("customer_id", "number", "id"),
        ("units", "number", "measure"),
        ("revenue", "number", "measure"),
        ("price", "number", "measure"),
        ("paid", "boolean", "dimension"),
        ("day_text", "text", "temporal"),
    ],
)
def test_each_column_has_a_kind_and_a_role(source: Tables, name: str, kind: str, role: str) -> None:
    told = column(source, "sales", name)
    assert (told.kind, told.role) == (kind, role)


def test_statistics_are_those_of_the_data(source: Tables) -> None:
    regions = [row[3] for row in ROWS["sales"]]
    region = column(source, "sales", "region")
    assert (region.cardinality, region.nulls) == (len(set(regions) - {None}), regions.count(None))
    revenues = [row[7] for row in ROWS["sales"] if row[7] is not None]
    revenue = column(source, "sales", "revenue")
    assert (revenue.least, revenue.greatest) == (min(revenues), max(revenues))
    day = column(source, "sales", "day")
    assert (day.least, day.greatest) == ("2024-01-01", "2025-02-03")
    assert (region.least, region.greatest) == (None, None), "a text's values never leave the engine"


def test_keys_identify_rows(source: Tables) -> None:
    sales = schema(source).find("sales")
    assert sales is not None
    assert (sales.row_count, ("id",) in sales.keys, ("day",) in sales.keys) == (600, True, False)


def test_a_relationship_is_found_by_name_and_held_by_the_data(source: Tables) -> None:
    assert schema(source).relationships == (
        Relationship(
            table="sales", columns=("customer_id",), to_table="customers", to_columns=("customer_id",), orphans=0
        ),
    )


def test_both_engines_describe_the_same(duckdb_source: Tables, postgres_source: Tables) -> None:
    def plain(source: Tables) -> object:
        told = schema(source)
        tables = [
            (table.name, table.row_count, table.keys, [item.model_copy(update={"type": ""}) for item in table.columns])
            for table in told.tables
        ]
        return tables, told.relationships

    assert plain(duckdb_source) == plain(postgres_source)


def test_a_pair_of_columns_is_a_key_where_no_single_one_is() -> None:
    pairs = [(shop, day) for shop in ("a", "b") for day in ("x", "y", "z")]
    frame = pa.table({"shop": [pair[0] for pair in pairs], "code": [pair[1] for pair in pairs], "n": [1.5] * 6})
    assert schema(Tables.open({"t": frame})).tables[0].keys == (("shop", "code"),)


def test_a_pointer_without_its_row_is_no_relationship() -> None:
    orders = pa.table({"order_id": [1, 2, 3], "customer_id": [1, 2, 9]})
    customers = pa.table({"id": [1, 2]})
    assert schema(Tables.open({"orders": orders, "customers": customers})).relationships == ()
    whole = pa.table({"order_id": [1, 2, 3], "customer_id": [1, 2, None]})
    assert schema(Tables.open({"orders": whole, "customers": customers})).relationships == (
        Relationship(table="orders", columns=("customer_id",), to_table="customers", to_columns=("id",), orphans=0),
    )


def test_a_code_of_the_same_name_points_at_the_table_whose_rows_it_tells() -> None:
    parts = pa.table({"part_id": [1, 2, 3], "ean": ["A1", "B2", "C3"], "name": ["cog", "cam", "rod"]})
    crates = pa.table({"crate": [1, 1, 2, 3], "ean": ["A1", "B2", "A1", "C3"], "name": ["cog", "cam", "cog", "rod"]})
    (link,) = schema(Tables.open({"parts": parts, "crates": crates})).relationships
    assert (link.text, link.known) == ("crates → parts by ean", "proposed")
    others = pa.table({"crate": [1, 1, 2], "ean": ["A9", "B9", "A9"]})
    assert schema(Tables.open({"parts": parts, "crates": others})).relationships == ()


def test_a_few_orphans_are_counted() -> None:
    orders = pa.table({"order_id": [*range(100)], "customer_id": [*range(99), 1000]})
    (link,) = schema(Tables.open({"orders": orders, "customers": pa.table({"id": [*range(99)]})})).relationships
    assert (link.known, link.orphans) == ("proposed", 1)


def test_a_column_points_at_the_table_that_is_called_like_it() -> None:
    frames = {
        "customers": pa.table({"customer_id": [1, 2]}),
        "customer_details": pa.table({"customer_id": [1, 2]}),
        "orders": pa.table({"order_id": [1, 2, 3], "customer_id": [1, 2, 2]}),
    }
    assert [link.text for link in schema(Tables.open(frames)).relationships] == [
        "customer_details → customers by customer_id",
        "customers → customer_details by customer_id",
        "orders → customers by customer_id",
    ]


def test_names_in_one_word_and_initials_are_understood() -> None:
    frames = {
        "painter": pa.table({"painterid": [1, 2], "birth": [1901, 1907]}),
        "gallery": pa.table({"gid": [7, 8]}),
        "gallery_visit": pa.table({"gid": [7, 8], "paid": [2, 1]}),
        "picture": pa.table({"pictureid": [1, 2, 3], "painterid": [1, 2, 2], "formerpainterid": [1, 1, 2]}),
        "hanging": pa.table({"pictureid": [1, 2, 3, 1], "gid": [7, 7, 8, 8]}),
    }
    found = schema(Tables.open(frames))
    assert {link.text for link in found.relationships} >= {
        "gallery_visit → gallery by gid",
        "picture → painter by painterid",
        "picture → painter by formerpainterid",
        "hanging → picture by pictureid",
        "hanging → gallery by gid",
    }
    assert not [
        link.text for link in found.relationships if link.to_table == "gallery_visit" and link.table == "hanging"
    ]
    roles = {column.name: column.role for table in found.tables for column in table.columns}
    assert (roles["painterid"], roles["paid"], roles["birth"]) == ("id", "measure", "measure")


FOREIGN_KEYS = """
    CREATE TABLE shops (country TEXT, code TEXT, PRIMARY KEY (country, code));
    CREATE TABLE people (id INT PRIMARY KEY, boss INT REFERENCES people (id));
    CREATE TABLE visits (
        id INT, country TEXT, code TEXT, guest INT REFERENCES people (id), host INT REFERENCES people (id),
        FOREIGN KEY (country, code) REFERENCES shops (country, code)
    );
"""


def assert_proven(found: SourceSchema) -> None:
    assert {(link.text, link.to_columns, link.known) for link in found.relationships} == {
        ("people → people by boss", ("id",), "proven"),
        ("visits → people by guest", ("id",), "proven"),
        ("visits → people by host", ("id",), "proven"),
        ("visits → shops by country, code", ("country", "code"), "proven"),
    }
    assert [found.find(name).keys for name in ("people", "shops")] == [(("id",),), (("country", "code"),)]  # type: ignore[union-attr]


@pytest.mark.requirement("R72")
def test_foreign_keys_are_proven_relationships(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "visits.duckdb")) as connection:
        connection.execute(FOREIGN_KEYS)
    assert_proven(schema(Tables.open(tmp_path / "visits.duckdb")))


def test_foreign_keys_of_postgres_are_proven_relationships(superuser: str) -> None:
    psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    name = f"keys_{os.getpid()}"
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}; SET search_path = {name}")
        try:
            connection.execute(FOREIGN_KEYS)
            assert_proven(schema(Tables.open(f"{superuser}/{name}")))
        finally:
            connection.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("active", [0, 1, 1], "dimension"),
        ("year", [2023, 2024, 2024], "dimension"),
        ("OrderNumber", [10, 11, 12], "id"),
        ("amount", [10, 11, 12], "measure"),
        ("ratio", [0.0, 1.0, 1.0], "measure"),
        ("sku_code", ["a1", "b2", "c3"], "id"),
        ("country_code", ["it", "it", "fr"], "dimension"),
        ("when", ["2024-01-01", None, "2024-01-03"], "temporal"),
    ],
)
def test_names_and_values_together_make_the_role(name: str, values: list[object], role: str) -> None:
    assert schema(Tables.open(pa.table({name: values}))).tables[0].columns[0].role == role


@pytest.mark.parametrize("odd", [None, "", " ", " c", "c ", "c\u00a0", "\u3000c"])
def test_texts_without_spaces_around_them_are_trimmed(odd: str | None) -> None:
    """As TRIM of the engine sees them, which is asked here."""
    values = ["a", "b c", "d\t", odd]
    told = schema(Tables.open(pa.table({"v": values}))).tables[0].columns[0]
    changed = duckdb.execute("SELECT count(*) FROM (SELECT unnest(?) AS v) WHERE trim(v) <> v OR v = ''", [values])
    assert told.trimmed == (changed.fetchall() == [(0,)])
    assert told.trimmed == (odd is None)


def test_an_empty_table_is_described() -> None:
    told = schema(Tables.open(pa.table({"v": pa.array([], pa.int64()), "s": pa.array([], pa.string())}))).tables[0]
    assert (told.row_count, told.keys, told.columns[0].least) == (0, (), None)


def test_a_table_that_cannot_be_read_says_why_and_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / "outside.csv").write_text("a\n1\n")
    with duckdb.connect(str(tmp_path / "views.duckdb")) as connection:
        connection.execute("CREATE TABLE inside AS SELECT 1 AS v")
        connection.execute(f"CREATE VIEW outside AS FROM read_csv('{tmp_path / 'outside.csv'}')")
    inside, outside = schema(Tables.open(tmp_path / "views.duckdb")).tables
    assert [column.name for column in inside.columns] == ["v"]
    assert outside.columns == ()
    assert "file system operations are disabled" in outside.description


def test_describing_twice_asks_once(duckdb_source: Tables) -> None:
    assert schema(duckdb_source) is schema(duckdb_source)
