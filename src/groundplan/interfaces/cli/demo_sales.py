"""Sample data for `groundplan demo`: two years of a made-up shop, with a trend, seasons and four planted anomalies."""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

SEED = 2024
FIRST = date(2024, 1, 1)
DAYS = 731
COLUMNS = ("date", "region", "product_category", "channel", "units", "revenue", "cost")

REGIONS = {"North": 1.25, "South": 0.8, "East": 1.0, "West": 1.55, "Central": 0.6}
WEEKDAYS = (0.92, 0.9, 0.94, 1.0, 1.15, 1.3, 1.05)


@dataclass(frozen=True)
class Category:
    """What sells: units a day in an average region, prices, and how the year and the years move it."""

    daily_units: float
    price: float
    cost_share: float
    yearly_growth: float
    season: float  # how far the year swings it
    peak: int  # the day of the year on which it sells best


CATEGORIES = {
    "Electronics": Category(27, 180.0, 0.71, 1.12, 0.35, 345),
    "Furniture": Category(14, 260.0, 0.62, 1.05, 0.12, 120),
    "Clothing": Category(80, 38.0, 0.48, 1.08, 0.22, 300),
    "Groceries": Category(210, 9.5, 0.78, 1.06, 0.06, 355),
    "Garden": Category(40, 32.0, 0.55, 1.03, 0.75, 150),
    "Media": Category(90, 21.0, 0.58, 0.62, 0.15, 340),
}


@dataclass(frozen=True)
class Anomaly:
    """A day on which one series sold `factor` times what it should have."""

    day: date
    region: str
    product_category: str
    factor: float


PLANTED = (
    Anomaly(date(2024, 5, 14), "West", "Furniture", 6.0),
    Anomaly(date(2024, 9, 3), "North", "Groceries", 0.05),
    Anomaly(date(2025, 3, 19), "East", "Electronics", 5.0),
    Anomaly(date(2025, 10, 8), "South", "Groceries", 0.04),
)


def write_sales(path: Path) -> None:
    """The same bytes every time; `examples/sales.csv` is made by it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(sales())


def sales() -> Iterator[tuple[str, str, str, str, int, str, str]]:
    """One row for every day, region and category."""
    chance = random.Random(SEED)  # noqa: S311 - made-up data
    factors = {(item.day, item.region, item.product_category): item.factor for item in PLANTED}
    for offset in range(DAYS):
        day = FIRST + timedelta(days=offset)
        for region in REGIONS:
            for name, category in CATEGORIES.items():
                expected = expected_units(category, region, day) * chance.gauss(1.0, 0.08)
                units = max(1, round(expected * factors.get((day, region, name), 1.0)))
                price = category.price * chance.gauss(1.0, 0.03)
                revenue = units * price
                cost = revenue * category.cost_share * chance.gauss(1.0, 0.02)
                channel = chosen_channel(chance, offset)
                yield day.isoformat(), region, name, channel, units, f"{revenue:.2f}", f"{cost:.2f}"


def expected_units(category: Category, region: str, day: date) -> float:
    """Level of the region, growth over the years, season of the year, day of the week."""
    years = (day - FIRST).days / 365.25
    angle = 2 * math.pi * (day.timetuple().tm_yday - category.peak) / 365.25
    season = 1 + category.season * math.cos(angle)
    level = category.daily_units * REGIONS[region] * math.pow(category.yearly_growth, years)
    return level * season * WEEKDAYS[day.weekday()]


def chosen_channel(chance: random.Random, offset: int) -> str:
    """Online grows from a third of the rows to over a half, at the expense of the stores."""
    online = 0.34 + 0.22 * offset / DAYS
    return chance.choices(("online", "store", "partner"), (online, 0.88 - online, 0.12))[0]
