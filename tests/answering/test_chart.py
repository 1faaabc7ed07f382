"""A finished chart as PNG, SVG and characters."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from groundplan.charts import picture_aside
from groundplan.charts.picture import pictures, png, svg, terminal, with_data
from groundplan.charts.terminal_text import cells, compact, fitted
from groundplan.contracts.facts import Chart, PartialPeriod, TableColumn, TableRef
from groundplan.errors import ToolError
from groundplan.sources.tables.tools.charts import chart
from tests.answering import drawings
from tests.answering.drawings import KINDS, drawn, of_kind

COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.requirement("R53", part="png")
@pytest.mark.requirement("R53", part="svg")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_png_and_an_svg(kind: str) -> None:
    picture = drawings.png(of_kind(kind))
    assert picture.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", picture[16:24])
    assert width > 800
    assert height > 200
    assert len(picture) > 8_000  # an empty frame of this size has less
    drawing = ElementTree.fromstring(drawings.svg(of_kind(kind)))
    assert len(drawing.findall(".//*[@aria-roledescription]")) > 3


def test_the_child_process_draws_the_same() -> None:
    spec = of_kind("line of many series")
    assert pictures(spec, ["png", "svg"]) == {"png": drawings.png(spec), "svg": drawings.svg(spec).encode()}


def test_the_scale_makes_a_larger_picture() -> None:
    small, large = png(of_kind("bar"), scale=1), png(of_kind("bar"), scale=2)
    assert struct.unpack(">I", large[16:20])[0] == 2 * struct.unpack(">I", small[16:20])[0]


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/rows.csv", "/etc/hostname", "data:text/csv,a%0A1"])
@pytest.mark.parametrize("render", [png, svg])
def test_nothing_is_fetched_while_drawing(render: Callable[[dict[str, Any]], object], url: str) -> None:
    spec = {"data": {"url": url}, "mark": "bar", "encoding": {"x": {"field": "a"}}}
    with pytest.raises(ToolError, match=r"cannot be drawn as a picture$"):
        render(spec)
    with pytest.raises(ValueError, match="not allowed"):
        picture_aside.drawn(spec, render.__name__, 2)


def test_a_file_of_the_machine_is_not_read_while_drawing(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a\nkestrel\n", encoding="utf-8")
    spec = {"mark": "bar", "encoding": {"x": {"field": "a", "type": "nominal"}}}
    assert "kestrel" in svg({**spec, "data": {"values": [{"a": "kestrel"}]}})
    assert "kestrel" not in svg({**spec, "data": {"url": (tmp_path / "rows.csv").as_uri()}})


def test_rows_go_into_the_frozen_spec_of_a_contract() -> None:
    table = TableRef(source="s", engine="duckdb", query="SELECT 1", columns=())
    spec = {key: value for key, value in of_kind("bar").items() if key != "data"}
    frozen = Chart(title="t", spec={**spec, "data": {"name": "table"}}, table=table).spec
    finished = with_data(frozen, ["region", "revenue"], [("North", 1.5)])
    assert finished["data"] == {"name": "table", "values": [{"region": "North", "revenue": 1.5}]}
    assert png(finished).startswith(b"\x89PNG")
    assert frozen["data"] == {"name": "table"}


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        with_data({}, ["a", "b"], [(1,)])


def test_drawing_libraries_are_loaded_only_to_draw() -> None:
    code = (
        "import sys, groundplan.charts.picture\n"
        "print([name for name in ('vl_convert', 'plotext', 'ibis', 'groundplan.sources') if name in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


@pytest.mark.requirement("R53", part="terminal")
@pytest.mark.parametrize("width", [40, 80, 132])
@pytest.mark.parametrize("kind", KINDS)
def test_a_terminal_is_never_overrun(kind: str, width: int) -> None:
    for colour in (True, False):
        text = terminal(of_kind(kind), width, 20, colour=colour)
        assert max(cells(line) for line in COLOURS.sub("", text).splitlines()) <= width
        assert len(text.splitlines()) <= 20 + 6  # title and subtitle, wrapped


@pytest.mark.parametrize("kind", KINDS)
def test_colour_and_unicode_can_be_left_out(kind: str) -> None:
    assert "\x1b" not in terminal(of_kind(kind), 80, 20, colour=False)
    assert terminal(of_kind(kind), 80, 20, colour=False, ascii_only=True).isascii()


def test_lines_are_coloured_when_asked() -> None:
    assert "\x1b[" in terminal(of_kind("line of many series"), 80, 20)


def test_bars_in_a_terminal_are_in_proportion_and_in_order() -> None:
    rows = [{"city": "Rome", "people": 20}, {"city": "Oslo", "people": 40}]
    spec = drawn("plot_bar", {"x": "city", "y": "people"}, rows, {"city": "text", "people": "number"})
    lines = terminal(spec, 60, 10, colour=False).splitlines()[-2:]
    assert [line.split()[0] for line in lines] == ["Oslo", "Rome"]
    assert abs(lines[0].count("█") - 2 * lines[1].count("█")) <= 1


TIDES = TableColumn(name="hour", kind="number", grain="hour")
BOATS = TableColumn(name="boats", kind="number")


@pytest.mark.parametrize("tool", ["plot_bar", "plot_heatmap"])
def test_hours_without_rows_have_their_place_in_a_terminal(tool: str) -> None:
    rows = [{"hour": hour, "boats": 10 * hour, "pier": pier} for hour in (6, 7, 9) for pier in ("north", "south")]
    pier = TableColumn(name="pier", kind="text")
    params = {"plot_bar": {"x": "hour", "y": "boats"}, "plot_heatmap": {"x": "hour", "y": "pier", "color": "boats"}}
    _, spec, _ = chart(tool, params[tool], rows, (TIDES, BOATS, pier), len(rows))
    lines = terminal(with_data(spec, ["hour", "boats", "pier"], [[*row.values()] for row in rows]), 60, 20).splitlines()
    if tool == "plot_bar":
        assert [line.split()[0] for line in lines[-4:]] == ["06:00", "07:00", "08:00", "09:00"]
        assert lines[-2] == "08:00"
    else:
        assert [line[7:11].index(" ") for line in lines[-3:-1]] == [2, 2]
        assert lines[-1].startswith("06:00 to 09:00")


def test_no_line_leads_to_a_period_that_the_data_covers_in_part() -> None:
    partial = PartialPeriod(period="2026-03-01", edge="ends", at="2026-03-04")
    month = TableColumn(name="month", kind="time", grain="month", partial=(partial,))
    rows = [{"month": f"2026-0{at}-01", "boats": boats} for at, boats in ((1, 900), (2, 950), (3, 100))]
    _, spec, _ = chart("plot_line", {"x": "month", "y": "boats"}, rows, (month, BOATS), len(rows))
    text = terminal(with_data(spec, ["month", "boats"], [[*row.values()] for row in rows]), 60, 14, colour=False)
    drawn = [line.partition("┤")[2] or line.partition("│")[2] for line in text.splitlines()[3:-2]]
    assert [line.strip(" │") for line in drawn if "○" in line] == ["○"]
    assert all(line.strip(" │") == "" for line in drawn[len(drawn) // 2 : -1])


def test_small_series_are_summed_in_a_terminal_too() -> None:
    rows = [{"year": 2024, "name": f"s{place:02}", "value": place} for place in range(1, 21)]
    params = {"x": "year", "y": "value", "color": "name"}
    kinds = {"year": "number", "name": "text", "value": "number"}
    text = terminal(drawn("plot_bar", params, rows, kinds), 60, 20, colour=False)
    assert next(line for line in text.splitlines() if "Other (11)" in line).endswith(f" {sum(range(1, 12))}")


def test_what_a_terminal_leaves_out_is_said() -> None:
    assert terminal(of_kind("bar of many"), 80, 12, colour=False).splitlines()[-1] == "… 29 more"


def test_control_characters_in_data_do_not_reach_the_terminal() -> None:
    rows = [{"name": "a\x1b[2Jb\rc\x07\u202e", "value": 1}, {"name": "plain", "value": 2}]
    spec = drawn("plot_bar", {"x": "name", "y": "value"}, rows, {"name": "text", "value": "number"})
    text = terminal(spec, 60, 10, colour=False)
    assert not set("\x1b\r\x07\u202e") & set(text)
    assert "a [2Jb c" in text


def test_a_chart_without_rows_says_so() -> None:
    spec = drawn("plot_line", {"x": "day", "y": "value"}, [], {"day": "time", "value": "number"})
    assert "(no rows)" in terminal(spec, 60, 10)
    assert png(spec).startswith(b"\x89PNG")


def test_a_chart_from_elsewhere_is_not_guessed_at() -> None:
    assert "save it as a picture" in terminal({"mark": "bar", "data": {"values": []}}, 60, 10)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (999.9, "1k"), (-1234567, "-1.23M"), (999_700, "1M"), (0.25, "0.25"), (2e9, "2B")]
)
def test_numbers_are_kept_short(value: float, text: str) -> None:
    assert compact(value) == text


@pytest.mark.parametrize(
    ("text", "width", "result"), [("Москва", 4, "Мос…"), ("日本語", 5, "日本…"), ("ab", 4, "ab  ")]
)
def test_text_is_cut_to_columns_of_the_screen(text: str, width: int, result: str) -> None:
    assert fitted(text, width) == result
