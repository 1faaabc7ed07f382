"""The example data: made by its generator, with anomalies where it says."""

from __future__ import annotations

import csv
import statistics
from collections import defaultdict
from pathlib import Path

from groundplan.interfaces.cli.demo_sales import COLUMNS, PLANTED, sales

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_file_is_what_the_generator_makes() -> None:
    with (EXAMPLES / "sales.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert tuple(header) == COLUMNS
    assert rows == [[str(cell) for cell in row] for row in sales()]


def test_the_planted_days_stand_out_most_from_their_series() -> None:
    series: defaultdict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for day, region, category, _, _, revenue, _ in sales():
        series[region, category][day] = float(revenue)
    scores = {}
    for key, days in series.items():
        middle = statistics.median(days.values())
        spread = 1.4826 * statistics.median(abs(value - middle) for value in days.values())
        scores |= {(day, *key): abs(value - middle) / spread for day, value in days.items()}
    furthest = sorted(scores, key=lambda key: -scores[key])[: len(PLANTED)]
    planted = {(item.day.isoformat(), item.region, item.product_category) for item in PLANTED}
    assert set(furthest) == planted
