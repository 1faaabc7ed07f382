"""Charts as Vega-Lite: what is fetched, what is drawn, and what the subtitle owns up to."""

from __future__ import annotations

import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import altair
import ibis
import pytest
from jsonschema import ValidationError
from tests.answering.drawings import KINDS, STORE, drawn, marks, of_kind, sales, svg
from tests.sources.tables.data import ROWS

from groundplan.charts.picture import with_data
from groundplan.charts.time import MONTHS
from groundplan.contracts.facts import PartialPeriod, TableColumn
from groundplan.errors import ToolError
from groundplan.sources.tables.tools.charts import chart, prepare

HOSTILE = ("'); alert(1)//", "</script><script>", "a\u2028b", '" + datum.constructor + "', "\\", "${1}", "{{x}}")
ODD_NAMES = ("a.b", "a[0]", "it's", 'say "x"', "back\\slash", "two words", "выручка", "</script>", "3rd", "a\u2028b")
CATEGORY_AND_VALUE = {"name": "text", "value": "number"}
NUMBER = TableColumn(name="calls", kind="number")


@pytest.mark.requirement("R53", part="vega-lite")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_valid_vega_lite(kind: str) -> None:
    spec = of_kind(kind)
    few = {"name": "table", "values": spec["data"]["values"][:3]}
    altair.Chart.from_dict({**spec, "data": few}, validate=True)


def test_the_schema_check_can_fail() -> None:
    with pytest.raises(ValidationError, match="pillar"):
        altair.Chart.from_dict({**of_kind("bar"), "mark": {"type": "pillar"}}, validate=True)


def test_a_spec_holds_no_rows() -> None:
    columns = (TableColumn(name="name", kind="text"), TableColumn(name="value", kind="number"))
    _, spec, reason = chart("plot_bar", {"x": "name", "y": "value"}, [{"name": "a", "value": 1}], columns, 1)
    assert spec["data"] == {"name": "table"}
    assert reason is None


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_does_not_change_the_spec(kind: str) -> None:
    tool, params, _ = KINDS[kind]
    rows = of_kind(kind)["data"]["values"]
    columns = tuple(TableColumn(name=name, kind=_kind(rows, name)) for name in rows[0])
    shuffled = random.Random(1).sample(rows, len(rows))
    first, second = (chart(tool, params, some, columns, len(rows)) for some in (rows, shuffled))
    assert json.dumps(first) == json.dumps(second)


def test_small_parts_are_folded_and_the_whole_stays_whole() -> None:
    bars = marks(svg(of_kind("bar with many parts")), "bar")
    shown = sales().execute("SELECT region, sum(revenue) FROM sales GROUP BY ALL").fetchall()
    for region, revenue in shown:
        parts = [float(bar["Revenue"].replace(",", "")) for bar in bars if bar["region"] == region]
        assert sum(parts) == pytest.approx(revenue, abs=0.1)  # the picture rounds to cents
    names = {bar["Store"] for bar in bars}
    assert "Other (81)" in names
    assert len(bars) == len({(bar["region"], bar["Store"]) for bar in bars})
    assert len(names) == 10


def test_the_largest_parts_keep_their_own_name() -> None:
    largest = sales().execute(f"SELECT {STORE} AS store FROM sales GROUP BY ALL ORDER BY sum(revenue) DESC LIMIT 9")
    wanted = [name for (name,) in largest.fetchall()]  # before the chart asks the same connection
    assert _domain(of_kind("bar with many parts"))[:9] == wanted


def test_of_many_lines_only_the_largest_are_drawn_and_it_is_said() -> None:
    rows = [{"year": year, "name": f"s{place:02}", "value": place} for year in (2023, 2024) for place in range(37)]
    columns = tuple(TableColumn(name=name, kind="text" if name == "name" else "number") for name in rows[0])
    title, spec, reason = chart("plot_line", {"x": "year", "y": "value", "color": "name"}, rows, columns, len(rows))
    assert title == "Value by year and name"
    assert reason == "Name: the largest 10 of 37"
    assert "the largest 10 of 37" in " ".join(spec["title"]["subtitle"])
    finished = {**spec, "data": {"name": "table", "values": rows}}
    assert {line["name"] for line in marks(svg(finished), "line mark")} == {f"s{place:02}" for place in range(27, 37)}


def test_panels_and_series_by_time_are_cut_too() -> None:
    months = [f"{2022 + place // 12}-{place % 12 + 1:02}-01" for place in range(30)]
    rows = [{"day": month, "name": "a", "value": 30 - place} for place, month in enumerate(months)]
    kinds = {"day": "time", "name": "text", "value": "number"}
    panels = drawn("plot_bar", {"x": "name", "y": "value", "facet": "day"}, rows, kinds, "month")
    assert len({bar["Day"] for bar in marks(svg(panels), "bar")}) == 12
    lines = drawn("plot_line", {"x": "name", "y": "value", "color": "day"}, rows, kinds, "month")
    assert _domain(lines) == [f"{name} 2022" for name in MONTHS["en"][:10]]


@pytest.mark.parametrize("tool", ["plot_heatmap", "plot_bar", "plot_box"])
def test_two_years_of_days_stay_on_the_page(tool: str) -> None:
    days = sales().execute("SELECT date, region, sum(revenue) AS revenue FROM sales GROUP BY ALL").fetchall()
    table = ibis.memtable([dict(zip(("date", "region", "revenue"), day, strict=True)) for day in days])
    params = {"x": "date", "y": "region" if tool == "plot_heatmap" else "revenue", "color": "revenue"}
    params |= {"color": "region"} if tool == "plot_bar" else {}
    rows = prepare(tool, table, params).to_pyarrow().to_pylist()
    kinds = {name: "time" if name == "date" else "text" if name == "region" else "number" for name in rows[0]}
    picture = ElementTree.fromstring(svg(drawn(tool, params, rows, kinds, "day")))
    assert float(picture.attrib["width"]) < 1000
    assert float(picture.attrib["height"]) < 800


def test_of_many_bars_forty_are_drawn_and_the_rest_counted() -> None:
    rows = [{"name": f"n{place:02}", "value": place} for place in range(97)]
    columns = tuple(TableColumn(name=name, kind=kind) for name, kind in (("name", "text"), ("value", "number")))
    _, spec, reason = chart("plot_bar", {"x": "name", "y": "value"}, rows, columns, len(rows))
    assert reason == "Name: the largest 40 of 97, … 57 more"
    assert reason in " ".join(spec["title"]["subtitle"])
    bars = marks(svg({**spec, "data": {"name": "table", "values": rows}}), "bar")
    assert {bar["name"] for bar in bars} == {f"n{place:02}" for place in range(57, 97)}


def test_rows_that_were_not_fetched_are_owned_up_to() -> None:
    columns = (TableColumn(name="name", kind="text"), TableColumn(name="value", kind="number"))
    _, spec, reason = chart("plot_bar", {"x": "name", "y": "value"}, [{"name": "a", "value": 1}], columns, 2_500)
    assert reason == "1 of 2,500 rows"
    assert spec["title"]["subtitle"] == ["Drawn from 1 of 2,500 rows"]


def test_rows_the_chart_cannot_tell_apart_become_their_mean_and_it_is_said() -> None:
    rows = [{"day": day, "value": value} for day in ("2024-01-01", "2024-01-02") for value in (1, 2, 6)]
    spec = drawn("plot_line", {"x": "day", "y": "value"}, rows, {"day": "time", "value": "number"})
    assert [point["value"] for point in marks(svg(spec), "point")] == ["3", "3"]
    assert "mean of up to 3 rows" in " ".join(spec["title"]["subtitle"])


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize("role", ["x", "y", "color", "facet"])
def test_odd_column_names_are_drawn(role: str, name: str) -> None:
    names = {"x": "when", "y": "value", "color": "kind", "facet": "place"} | {role: name}
    samples = {"x": ["p", "q"], "color": ["k", "l"], "facet": ["u", "v"]}
    rows = [
        {names["x"]: x, names["color"]: colour, names["facet"]: facet, names["y"]: 7}
        for x in samples["x"]
        for colour in samples["color"]
        for facet in samples["facet"]
    ]
    kinds = {column: "number" if column == names["y"] else "text" for column in rows[0]}
    picture = svg(drawn("plot_bar", names, rows, kinds))
    bars = re.findall(r'<path aria-label="([^"]*)"', picture)
    assert len(bars) == 8
    assert all(": 7" in bar and "undefined" not in bar for bar in bars)


@pytest.mark.parametrize("name", ["a.b", "it's [x]"])
def test_odd_names_of_time_columns_are_drawn(name: str) -> None:
    rows = [{name: "2024-01-01", "value": 1}, {name: "2024-02-01", "value": 2}]
    spec = drawn("plot_line", {"x": name, "y": "value"}, rows, {name: "time", "value": "number"}, "month")
    assert ">Feb 2024<" in svg(spec)
    assert len(marks(svg(spec), "point")) == 2


@pytest.mark.parametrize("role", ["x", "color", "facet"])
def test_hostile_text_in_data_is_drawn_as_text(role: str) -> None:
    values = [*HOSTILE, *(f"v{place}" for place in range(40))]
    names = {"x": "day", "y": "value", "color": "kind", "facet": "place"}
    plain = {"day": "one", "kind": "one", "place": "one"}
    rows = [{**plain, names[role]: text, "value": 100 - place} for place, text in enumerate(values)]
    kinds = {column: "number" if column == "value" else "text" for column in rows[0]}
    spec = drawn("plot_bar", {**names, "stack": "stacked"}, rows, kinds)
    for expression in _expressions(spec):
        assert expression.isascii()
        assert "</script>" not in expression
    shown = "".join(ElementTree.fromstring(svg(spec)).itertext())
    assert "'); alert(1)//" in shown
    assert "</script><script>" in shown


def test_text_from_data_stays_inside_its_literal() -> None:
    rows = [{"name": f"{text}{place}", "value": 1} for place in range(12) for text in HOSTILE]
    spec = drawn("plot_bar", {"x": "name", "y": "value"}, rows, CATEGORY_AND_VALUE)
    outside = [re.sub(r'"(?:[^"\\]|\\.)*"', '""', expression) for expression in _expressions(spec)]
    assert outside == ["indexof([" + ", ".join(['""'] * 40) + '], datum[""]) >= 0']


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Tokyo"])
def test_dates_do_not_move_with_the_zone_of_the_machine(zone: str) -> None:
    code = (
        "from tests.answering.drawings import of_kind, svg\nprint(svg(of_kind('line')), svg(of_kind('bar over time')))"
    )
    root = Path(__file__).parents[3]
    there, here = (
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "TZ": name}, cwd=root, capture_output=True, check=True
        )
        for name in (zone, "UTC")
    )
    assert there.stdout == here.stdout
    assert b">Jan 2024<" in there.stdout


@pytest.mark.parametrize(
    ("grain", "days", "label"),
    [
        ("day", ["2024-03-04", "2024-03-05"], "4 Mar 2024"),
        ("week", ["2024-03-04", "2024-03-11"], "4 Mar 2024"),
        ("month", ["2024-03-01", "2024-04-01"], "Mar 2024"),
        ("quarter", ["2024-04-01", "2024-07-01"], "Q2 2024"),
        ("year", ["2023-01-01", "2024-01-01"], "2023"),
        ("hour", ["2024-03-04T05:00:00", "2024-03-04T06:00:00"], "4 Mar 2024 05:00"),
    ],
)
@pytest.mark.parametrize("tool", ["plot_line", "plot_bar"])
def test_time_is_written_by_grain(tool: str, grain: str, days: list[str], label: str) -> None:
    rows = [{"day": day, "value": 1} for day in days]
    spec = drawn(tool, {"x": "day", "y": "value"}, rows, {"day": "time", "value": "number"}, grain)
    assert f">{label}<" in svg(spec)


def test_a_month_without_rows_leaves_a_hole() -> None:
    rows = [{"day": day, "value": 1} for day in ("2024-01-01", "2024-04-01")]
    spec = drawn("plot_bar", {"x": "day", "y": "value"}, rows, {"day": "time", "value": "number"}, "month")
    assert spec["encoding"]["x"]["scale"]["domain"] == ["Jan 2024", "Feb 2024", "Mar 2024", "Apr 2024"]


@pytest.mark.parametrize(("tool", "paths"), [("plot_line", 2), ("plot_area", 1)])
def test_no_line_runs_through_months_without_rows(tool: str, paths: int) -> None:
    """A line is broken; an area, whose rows add up, is at zero."""
    rows = [{"month": f"2024-{month:02}-01", "calls": month} for month in (1, 2, 5, 6)]
    spec = drawn(tool, {"x": "month", "y": "calls"}, rows, {"month": "time", "calls": "number"}, "month")
    [path] = _paths(svg(spec), tool.removeprefix("plot_"))
    assert path["d"].count("M") == paths
    assert spec["title"]["subtitle"] == ["Jan 2024 to Jun 2024 · No rows: Mar 2024 to Apr 2024"]
    if tool == "plot_area":
        assert _heights(path["d"])[2:4] == [360, 360]  # the axis


def test_an_area_of_averages_is_broken_and_one_of_parts_lies_on_the_axis() -> None:
    columns = [TableColumn(name="month", kind="time", grain="month"), NUMBER.model_copy(update={"adds_up": False})]
    rows: list[dict[str, Any]] = [{"month": f"2024-{month:02}-01", "calls": 20 + month} for month in (1, 2, 5, 6)]
    _, spec, _ = chart("plot_area", {"x": "month", "y": "calls"}, rows, tuple(columns), 4)
    [path] = _paths(svg(with_data(spec, ["month", "calls"], [list(row.values()) for row in rows])), "area")
    assert path["d"].count("M") == 2
    parts = [{"month": m, "calls": 5, "desk": d} for m, d in (("2024-01-01", "a"), ("2024-01-01", "b"))]
    parts += [{"month": "2024-02-01", "calls": 5, "desk": "b"}, {"month": "2024-03-01", "calls": 5, "desk": "a"}]
    kinds: dict[str, Any] = {"month": "time", "calls": "number", "desk": "text"}
    spec = drawn("plot_area", {"x": "month", "y": "calls", "color": "desk"}, parts, kinds, "month")
    orders = [path["d"].split("L") for path in _paths(svg(spec), "area")]
    assert [path[1].split(",")[1] for path in orders] == ["360", "180"], "a has none in February, and b all"


def test_hours_without_rows_keep_their_place() -> None:
    columns = (TableColumn(name="hour", kind="number", grain="hour"), TableColumn(name="calls", kind="number"))
    rows = [{"hour": hour, "calls": 5} for hour in (7, 8, 11)]
    _, spec, _ = chart("plot_bar", {"x": "hour", "y": "calls"}, rows, columns, 3)
    assert spec["encoding"]["x"]["scale"]["domain"] == [7, 8, 9, 10, 11]
    picture = svg(with_data(spec, ["hour", "calls"], [list(row.values()) for row in rows]))
    assert all(f">{hour:02}:00<" in picture for hour in range(7, 12))


def _until(last: str, tool: str = "plot_line", **more: str) -> dict[str, Any]:
    """Calls in four months, of which the last ends on this day."""
    partial = (PartialPeriod(period="2024-04-01", edge="ends", at=last),)
    names = {"month": TableColumn(name="month", kind="time", grain="month", partial=partial)}
    names |= {"calls": TableColumn(name="calls", kind="number"), "desk": TableColumn(name="desk", kind="text")}
    rows = [[f"2024-{month:02}-01", 40 - 9 * month, desk] for month in (1, 2, 3, 4) for desk in ("a", "b")]
    kept = rows if more else [row for row in rows if row[2] == "a"]
    cells = [dict(zip(names, row, strict=True)) for row in kept]
    _, spec, _ = chart(tool, {"x": "month", "y": "calls", **more}, cells, tuple(names.values()), len(kept))
    return with_data(spec, list(names), kept)


@pytest.mark.parametrize("more", [{}, {"color": "desk"}])
def test_a_partial_month_is_reached_by_dashes(more: dict[str, str]) -> None:
    paths = _paths(svg(_until("2024-04-11", **more)), "line")
    solid = [path["d"] for path in paths if "stroke-dasharray" not in path]
    dashed = [path["d"] for path in paths if "stroke-dasharray" in path]
    assert len(solid) == len(dashed) == len(more) + 1
    assert {len(_heights(path)) for path in solid} == {3}
    assert {len(_heights(path)) for path in dashed} == {2}
    assert {_heights(path)[-1] for path in solid} == {_heights(path)[0] for path in dashed}


def test_a_partial_month_has_a_word() -> None:
    assert ">partial<" in svg(_until("2024-04-11"))


def test_two_partial_months_are_not_joined_by_dashes() -> None:
    periods = (("2023-01-01", "starts", "2023-01-20"), ("2023-05-01", "ends", "2023-05-09"))
    partial = tuple(PartialPeriod(period=period, edge=edge, at=at) for period, edge, at in periods)  # type: ignore[arg-type]
    columns = (TableColumn(name="month", kind="time", grain="month", partial=partial), NUMBER)
    rows: list[dict[str, Any]] = [{"month": f"2023-{month:02}-01", "calls": 10 + month} for month in range(1, 6)]
    _, spec, _ = chart("plot_line", {"x": "month", "y": "calls"}, rows, columns, 5)
    paths = _paths(svg(with_data(spec, ["month", "calls"], [list(row.values()) for row in rows])), "line")
    assert sorted(len(_heights(path["d"])) for path in paths) == [2, 2, 3]
    assert [path["d"].count("M") for path in paths] == [1, 1, 1]
    solid, *dashed = (path["d"] for path in paths)
    ends = {_heights(solid)[0], _heights(solid)[-1]}
    assert all(len(ends & {*_heights(path)}) == 1 for path in dashed)


def test_the_last_part_of_an_area_is_faint_where_the_month_is_partial() -> None:
    areas = _paths(svg(_until("2024-04-11", "plot_area", color="desk")), "area")
    assert sorted(path["opacity"] for path in areas) == ["0.4", "0.4", "0.9", "0.9"]


@pytest.mark.parametrize("names", [("north", "south"), tuple(f"a rather long name, number {n}" for n in range(9))])
def test_few_bars_carry_their_numbers(names: tuple[str, ...]) -> None:
    rows = [{"name": name, "value": 12_345.25 - place} for place, name in enumerate(names)]
    rows[-1]["value"] = -400.0
    spec = drawn("plot_bar", {"x": "name", "y": "value"}, rows, CATEGORY_AND_VALUE)
    picture = svg(spec)
    assert all(f">{row['value']:,.0f}<".replace("-", "\u2212") in picture for row in rows)


def test_many_bars_carry_none() -> None:
    rows = [{"name": f"n{place}", "value": 1_000.0 + place} for place in range(30)]
    picture = svg(drawn("plot_bar", {"x": "name", "y": "value"}, rows, CATEGORY_AND_VALUE))
    assert ">1,017<" not in picture


def _paths(picture: str, mark: str) -> list[dict[str, str]]:
    found = re.findall(rf'<path [^>]*aria-roledescription="{mark} mark"[^>]*>', picture)
    return [dict(re.findall(r'([\w-]+)="([^"]*)"', path)) for path in found]


def _heights(path: str) -> list[float]:
    return [float(height) for height in re.findall(r"[ML]-?[\d.]+,(-?[\d.]+)", path)]


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["small", "large", "middle"], ["large", "middle", "small"]),
        (["Sun", "Mon", "Wed"], ["Mon", "Wed", "Sun"]),
        (["March", "January"], ["January", "March"]),
    ],
)
def test_bars_stand_by_size_unless_their_order_means_something(values: list[str], order: list[str]) -> None:
    sizes = {"small": 1, "middle": 2, "large": 3}
    rows = [{"name": value, "value": sizes.get(value, len(value))} for value in values]
    spec = drawn("plot_bar", {"x": "name", "y": "value"}, rows, CATEGORY_AND_VALUE)
    assert spec["encoding"]["x"]["scale"]["domain"] == order
    assert spec["encoding"]["y"]["scale"]["zero"] is True


def test_bins_stand_in_their_order() -> None:
    rows = [{"bin": f"{start} to {start + 5}", "bin_start": start, "count": 20 - start} for start in (10, 5, 0)]
    kinds = {"bin": "text", "bin_start": "number", "count": "number"}
    spec = drawn("plot_bar", {"x": "bin", "y": "count"}, rows, kinds)
    assert spec["encoding"]["x"]["scale"]["domain"] == ["0 to 5", "5 to 10", "10 to 15"]


def test_text_with_numbers_is_ordered_as_it_is_read() -> None:
    rows = [{"name": f"Stage {place}", "value": 1} for place in (10, 2, 1)]
    spec = drawn("plot_line", {"x": "name", "y": "value"}, rows, CATEGORY_AND_VALUE)
    assert spec["encoding"]["x"]["scale"]["domain"] == ["Stage 1", "Stage 2", "Stage 10"]


def test_long_labels_lay_the_bars_down() -> None:
    assert "domain" in of_kind("bar of many")["encoding"]["y"]["scale"]
    assert "domain" in of_kind("bar")["encoding"]["x"]["scale"]


def test_what_has_no_category_is_named_and_what_has_no_date_is_counted() -> None:
    rows = [{"day": None, "name": "a", "value": 1}, {"day": "2024-01-01", "name": None, "value": 2}]
    kinds = {"day": "time", "name": "text", "value": "number"}
    spec = drawn("plot_line", {"x": "day", "y": "value", "color": "name"}, rows, kinds)
    assert "Not drawn: 1 without day" in " ".join(spec["title"]["subtitle"])
    assert [point["name"] for point in marks(svg(spec), "point")] == ["(none)"]


def test_a_scatter_is_not_forced_to_zero_and_a_shape_far_from_zero_is_seen() -> None:
    assert of_kind("scatter")["encoding"]["x"]["scale"]["zero"] is False
    rows = [{"year": 2023, "value": 1000}, {"year": 2024, "value": 1010}]
    spec = drawn("plot_line", {"x": "year", "y": "value"}, rows, {"year": "number", "value": "number"})
    assert spec["encoding"]["y"]["scale"]["zero"] is False


def test_units_and_large_numbers_are_written_for_people() -> None:
    columns = (TableColumn(name="region", kind="text"), TableColumn(name="net_revenue", kind="number", unit="EUR"))
    rows = [{"region": "North", "net_revenue": 3.1e9}]
    _, spec, _ = chart("plot_bar", {"x": "region", "y": "net_revenue"}, rows, columns, 1)
    picture = svg({**spec, "data": {"name": "table", "values": rows}})
    assert "Net revenue (EUR)" in picture
    assert ">3B<" in picture


def test_a_narrow_table_is_fetched_as_it_is() -> None:
    table = ibis.duckdb.from_connection(sales()).table("sales")
    assert prepare("plot_line", table, {"x": "date", "y": "revenue"}) is table
    scattered = prepare("plot_scatter", table, {"x": "units", "y": "cost", "color": "region"})
    assert scattered.columns == ("region", "units", "cost")


def test_a_column_named_like_one_the_chart_makes_is_refused() -> None:
    table = ibis.table({"value": "float64", "count": "int64"}, name="t")
    with pytest.raises(ToolError, match="'count'"):
        prepare("plot_histogram", table, {"x": "value", "color": "count"})


@pytest.fixture(params=["duckdb", "postgres"])
def engine(request: pytest.FixtureRequest) -> ibis.BaseBackend:
    if request.param == "duckdb":
        return ibis.duckdb.from_connection(request.getfixturevalue("plain"))
    return ibis.connect(request.getfixturevalue("postgres_url"))


@pytest.mark.requirement("R45", part="tools")
@pytest.mark.parametrize(("column", "place"), [("revenue", 7), ("units", 6), ("price", 8)])
def test_the_engine_counts_in_nice_bins(engine: ibis.BaseBackend, column: str, place: int) -> None:
    values = [float(row[place]) for row in ROWS["sales"] if row[place] is not None]
    bins = prepare("plot_histogram", engine.table("sales"), {"x": column, "bins": 20}).to_pyarrow().to_pylist()
    width = bins[0]["bin_end"] - bins[0]["bin_start"]
    assert width in {10.0**power * times for power in range(-2, 4) for times in (1, 2, 5)}
    assert (max(values) - min(values)) / 20 <= width
    expected = {math.floor(value / width): 0 for value in values}
    for value in values:
        expected[math.floor(value / width)] += 1
    assert {round(item["bin_start"] / width): item["count"] for item in bins} == expected


@pytest.mark.requirement("R45", part="tools")
def test_the_engine_counts_by_series_with_missing_ones(engine: ibis.BaseBackend) -> None:
    params = {"x": "revenue", "bins": 10, "color": "region"}
    bins = prepare("plot_histogram", engine.table("sales"), params).to_pyarrow().to_pylist()
    for region in ("North", "South", "East", None):
        expected = sum(row[3] == region and row[7] is not None for row in ROWS["sales"])
        assert sum(item["count"] for item in bins if item["region"] == region) == expected


@pytest.mark.requirement("R45", part="tools")
def test_the_engine_finds_quartiles_and_whiskers(engine: ibis.BaseBackend) -> None:
    boxes = prepare("plot_box", engine.table("sales"), {"x": "region", "y": "revenue"}).to_pyarrow().to_pylist()
    assert {box["region"] for box in boxes} == {"North", "South", "East", None}
    for box in boxes:
        values = sorted(row[7] for row in ROWS["sales"] if row[3] == box["region"] and row[7] is not None)
        q1, median, q3 = statistics.quantiles(values, method="inclusive")
        assert (box["q1"], box["median"], box["q3"]) == pytest.approx((q1, median, q3))
        assert box["low"] == pytest.approx(max(values[0], q1 - 1.5 * (q3 - q1)))
        assert box["high"] == pytest.approx(min(values[-1], q3 + 1.5 * (q3 - q1)))
        assert (box["count"], box["least"], box["greatest"]) == (len(values), values[0], values[-1])


def test_a_column_with_one_value_is_one_bin() -> None:
    table = ibis.memtable({"value": [4.0, 4.0, float("nan"), float("inf")]})
    assert prepare("plot_histogram", table, {"x": "value"}).to_pyarrow().to_pylist() == [
        {"bin_start": 4.0, "bin_end": 5.0, "count": 2}
    ]


def _expressions(spec: Any) -> Iterator[str]:
    """Every text that Vega reads as an expression."""
    if isinstance(spec, dict):
        for key, value in spec.items():
            if key in ("calculate", "filter", "labelExpr", "test", "expr"):
                yield value
            elif key not in ("data", "usermeta"):
                yield from _expressions(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from _expressions(value)


def _domain(spec: dict[str, Any]) -> list[Any]:
    domain: list[Any] = spec["encoding"]["color"]["scale"]["domain"]
    return domain


def _kind(rows: list[dict[str, Any]], name: str) -> Any:
    if name == "date":
        return "time"
    return "text" if any(isinstance(row[name], str) for row in rows) else "number"
