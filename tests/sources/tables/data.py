"""The data set: small, deterministic, with the things that go wrong (missing values, ties, zeros)."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

COLUMNS = {
    "sales": (
        "id bigint, day date, moment timestamp, region text, product text, customer_id bigint, units bigint, "
        "revenue double precision, price decimal(10, 2), paid boolean, day_text text"
    ),
    "customers": "customer_id bigint, name text, city text, id bigint",
}
START = date(2024, 1, 1)
DAYS = 400
SPIKES = (57, 211, 333)
"""Ids of the rows whose revenue was multiplied."""


def _sales() -> list[tuple[Any, ...]]:
    chance = random.Random(20240101)
    rows: list[tuple[Any, ...]] = []
    for number in range(600):
        day = START + timedelta(days=number * DAYS // 600)
        region = chance.choice(["North", "South", "East", None])
        product = chance.choice(["tea", "coffee", "Кофе", "50% off_mug"])
        units = chance.randrange(0, 12)
        revenue = round(units * chance.uniform(4, 6) + 20, 2)
        revenue = revenue * 12 if number in SPIKES else revenue
        rows.append(
            (
                number,
                day,
                datetime.combine(day, datetime.min.time()) + timedelta(minutes=chance.randrange(1440)),
                region,
                product,
                chance.choice([1, 2, 3, 4, None]),
                units,
                None if number % 41 == 0 else revenue,
                Decimal(chance.randrange(100, 5000)) / 100,
                chance.random() < 0.7,
                day.isoformat(),
            )
        )
    return rows


ROWS: dict[str, list[tuple[Any, ...]]] = {
    "sales": _sales(),
    "customers": [(1, "Ann", "Rome", 11), (2, "Bob", "Paris", 12), (3, "Cid", "Rome", 13), (4, "Dan", None, 14)],
}
