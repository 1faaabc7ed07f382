"""A shop's order lines, the same on every machine, for the double of Tableau and for independent SQL beside it."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random
from typing import Any

import duckdb
import pyarrow as pa

TABLE = "superstore"
FIRST_DAY, DAYS = date(2021, 1, 1), 4 * 365 + 1
LINES = 5000
STATES = {
    "East": {"New York": ["New York City", "Yonkers"], "Ohio": ["Columbus"], "Pennsylvania": ["Philadelphia"]},
    "West": {"California": ["Los Angeles", "San Francisco"], "Oregon": ["Portland"], "Washington": ["Seattle"]},
    "Central": {"Texas": ["Houston", "Dallas"], "Illinois": ["Chicago"], "Michigan": ["Detroit"]},
    "South": {"Florida": ["Miami"], "Georgia": ["Atlanta"], "Virginia": ["Richmond"]},
}
CATEGORIES = {
    "Furniture": {"Bookcases": 180, "Chairs": 120, "Furnishings": 45, "Tables": 260},
    "Office Supplies": {"Art": 14, "Binders": 22, "Labels": 8, "Paper": 18, "Storage": 70},
    "Technology": {"Accessories": 60, "Copiers": 900, "Machines": 640, "Phones": 210},
}
SEGMENTS = ("Consumer", "Corporate", "Home Office")
FIRST_NAMES = ("Ada", "Boris", "Clara", "Dmitri", "Elena", "Farid", "Grace", "Hugo", "Irina", "Jonas")
LAST_NAMES = ("Alvarez", "Brown", "Chen", "Dubois", "Evans", "Fischer", "Garcia", "O'Neil", "Petrov", "Sato")
MAKERS = ("Acme", "Bold", "Crest", "Delta")


def connect() -> duckdb.DuckDBPyConnection:
    """A database in memory that holds the table; each cursor of it may be used by its own thread."""
    connection = duckdb.connect(config={"threads": 1})  # threads would add floats in another order each time
    lines = pa.Table.from_pylist(rows())
    connection.register("generated", lines)
    connection.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM generated")
    connection.unregister("generated")
    return connection


def rows() -> list[dict[str, Any]]:
    random = Random(20210101)
    made: list[dict[str, Any]] = []
    while len(made) < LINES:
        order = _order(random, number=len(made))
        made += [order | _line(random, order["Region"]) for _ in range(random.randint(1, 4))]
    return [{"Row ID": number} | _with_gaps(random, row) for number, row in enumerate(made[:LINES], start=1)]


def _order(random: Random, number: int) -> dict[str, Any]:
    ordered = FIRST_DAY + timedelta(days=min(int(random.betavariate(1.6, 1.1) * DAYS), DAYS - 1))
    region = random.choices(list(STATES), weights=(28, 32, 23, 17))[0]
    state = random.choice(list(STATES[region]))
    return {
        "Order ID": f"US-{ordered.year}-{number:05d}",
        "Order Date": ordered,
        "Ship Date": ordered + timedelta(days=random.randint(0, 7)),
        "Region": region,
        "State": state,
        "City": random.choice(STATES[region][state]),
        "Segment": random.choices(SEGMENTS, weights=(52, 30, 18))[0],
        "Customer Name": f"{random.choice(FIRST_NAMES)} {random.choice(LAST_NAMES)}",
        "Returned": random.random() < 0.06,
    }


def _line(random: Random, region: str) -> dict[str, Any]:
    category = random.choices(list(CATEGORIES), weights=(21, 60, 19))[0]
    kind = random.choice(list(CATEGORIES[category]))
    quantity = random.randint(1, 9)
    discount = random.choices((0.0, 0.1, 0.2, 0.3, 0.5), weights=(48, 8, 34, 5, 5))[0]
    sales = round(CATEGORIES[category][kind] * quantity * random.uniform(0.6, 1.6) * (1 - discount), 2)
    margin = random.uniform(0.05, 0.45) - 0.9 * discount - (0.08 if region == "Central" else 0)
    return {
        "Category": category,
        "Sub-Category": kind,
        "Product Name": f"{random.choice(MAKERS)} {kind} {random.randint(1, 6)}",
        "Sales": sales,
        "Profit": round(sales * margin, 2),
        "Quantity": quantity,
        "Discount": discount,
    }


def _with_gaps(random: Random, row: dict[str, Any]) -> dict[str, Any]:
    """Nulls as real data has them: what is not shipped, not known, not entered."""
    gaps = {"Ship Date": 0.02, "State": 0.01, "Customer Name": 0.01, "Profit": 0.02, "Discount": 0.03}
    return row | {caption: None for caption, share in gaps.items() if random.random() < share}
