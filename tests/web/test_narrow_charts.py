"""Charts in a place as narrow as a phone, laid out by the page's own code and Vega, without a browser."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.answering.drawings import drawn

WEB = Path(__file__).parents[2] / "web"
NODE = Path(sys.executable).with_name("node")
WIDTH = 332  # of the chart on a page of 380 pixels
BAKERIES = [f"{place} bakery" for place in ("Harbour Steps", "Mill", "Old Lock", "Reed Bay", "Castle Hill", "Quay")]
MONTHS = [f"{year}-{month:02}-01" for year in (2023, 2024) for month in range(1, 13)]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
SOLD: dict[str, Any] = {"bakery": "text", "sold": "number"}
CHARTS = {
    "bars": drawn("plot_bar", {"x": "bakery", "y": "sold"}, [{"bakery": b, "sold": 98_765} for b in BAKERIES], SOLD),
    "lines": drawn(
        "plot_line",
        {"x": "month", "y": "sold", "color": "bakery", "title": "How many loaves each of the bakeries sold by month"},
        [{"month": m, "bakery": b, "sold": len(b) * n} for n, m in enumerate(MONTHS) for b in BAKERIES],
        SOLD | {"month": "time"},
        "month",
    ),
    "panels": drawn(
        "plot_line",
        {"x": "month", "y": "sold", "facet": "bakery"},
        [{"month": m, "bakery": b, "sold": len(b) * n} for n, m in enumerate(MONTHS) for b in BAKERIES],
        SOLD | {"month": "time"},
        "month",
    ),
    "heatmap": drawn(
        "plot_heatmap",
        {"x": "day", "y": "bakery", "color": "sold"},
        [{"day": d, "bakery": b, "sold": len(b) * len(d)} for d in DAYS for b in BAKERIES],
        SOLD | {"day": "text"},
    ),
}


def laid_out(spec: dict[str, Any], width: int) -> dict[str, list[list[float]]]:
    """The boxes of the whole, the legends, the labels and the numbers beside bars, each as left, top, right, bottom."""
    command = [str(NODE), str(Path(__file__).with_name("fit.mjs")), str(WEB), str(width)]
    done = subprocess.run(command, input=json.dumps(spec), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[list[float]]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("kind", CHARTS)
def test_a_chart_fits_a_phone(kind: str) -> None:
    if not (WEB / "node_modules" / "vega").is_dir() or not NODE.is_file():
        pytest.skip("vega is not there: npm --prefix web ci")
    found = laid_out(CHARTS[kind], WIDTH)
    [(left, top, right, bottom)] = found["all"]
    assert right - left <= WIDTH + 4  # half a line at each edge
    for x, y, far, low in found["legend"]:
        assert (far - x) * (low - y) <= (right - left) * (bottom - top) / 4
    assert found["axis-label"]
    for role in ("axis-label", "value"):
        assert [pair for pair in combinations(found[role], 2) if _overlap(*pair)] == [], role


def _overlap(one: list[float], other: list[float]) -> bool:
    return min(one[2], other[2]) - max(one[0], other[0]) > 1 and min(one[3], other[3]) - max(one[1], other[1]) > 1


def test_the_title_of_a_wide_legend_is_not_cut() -> None:
    if not (WEB / "node_modules" / "vega").is_dir() or not NODE.is_file():
        pytest.skip("vega is not there: npm --prefix web ci")
    rows = [{"day": day, "bakery": b, "number of loaves sold": len(b)} for day in DAYS for b in BAKERIES]
    kinds: dict[str, Any] = {"day": "text", "bakery": "text", "number of loaves sold": "number"}
    heatmap = drawn("plot_heatmap", {"x": "day", "y": "bakery", "color": "number of loaves sold"}, rows, kinds)
    [(left, _, right, _)] = laid_out(heatmap, 770)["legend"][:1]
    assert right - left < 150  # what is kept for it


@pytest.mark.parametrize(("columns", "kind"), [(3, "few"), (12, "some"), (40, "many")])
def test_a_heatmap_fills_a_wide_place_and_keeps_its_legend(columns: int, kind: str) -> None:
    if not (WEB / "node_modules" / "vega").is_dir() or not NODE.is_file():
        pytest.skip("vega is not there: npm --prefix web ci")
    rows = [{"shelf": f"{kind} {n}", "bakery": b, "sold": n * len(b)} for n in range(columns) for b in BAKERIES]
    heatmap = drawn("plot_heatmap", {"x": "shelf", "y": "bakery", "color": "sold"}, rows, SOLD | {"shelf": "text"})
    found = laid_out(heatmap, 770)
    left, _, right, _ = found["all"][0]
    assert 0.7 * 770 < right - left <= 770
