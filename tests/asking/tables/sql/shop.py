"""A shop of three tables: customers, their orders, and the lines of each order."""

from __future__ import annotations

from pathlib import Path

import duckdb

TABLES = {
    "customers": """SELECT i AS id, 'customer ' || i AS name, (['Berlin', 'Paris', 'Rome'])[i % 3 + 1] AS city,
        i * 10 AS credit FROM range(1, 31) AS numbers(i)""",
    "orders": """SELECT i AS id, i % 30 + 1 AS customer_id, DATE '2025-01-01' + (i % 300)::INT AS ordered_on,
        i * 7 % 90 + 10.5 AS total, CASE WHEN i % 5 = 0 THEN 'refunded' ELSE 'paid' END AS status
        FROM range(1, 201) AS numbers(i)""",
    "lines": """SELECT i AS id, i % 200 + 1 AS order_id, i % 9 + 1 AS quantity, i * 3 % 40 + 1.25 AS price
        FROM range(1, 601) AS numbers(i)""",
}


def write_shop(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    with duckdb.connect() as engine:
        for name, sql in TABLES.items():
            engine.execute(f"COPY ({sql}) TO '{folder / name}.csv'")
    return folder


def shop_engine() -> duckdb.DuckDBPyConnection:
    engine = duckdb.connect()
    for name, sql in TABLES.items():
        engine.execute(f"CREATE TABLE {name} AS {sql}")
    return engine
