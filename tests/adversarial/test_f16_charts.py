"""Names and values of data do not break a chart, and no chart takes the memory or the time of the process."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pandas
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import groundplan
from groundplan.charts import picture
from groundplan.charts.picture import png, svg, terminal
from groundplan.charts.text import RESERVED, quoted
from groundplan.errors import ToolError
from groundplan.interfaces import report
from tests.adversarial.limited import run

NAMES = [
    "re\\",
    "a.b[c]",
    "x'y\"z",
    "\\u0041",
    "${x}",
    "a\\'",
    "</script>",
    "constructor",
    "__proto__",
    "datum",
    "a\nb",
]


def drawn(frame: pandas.DataFrame, question: str) -> str:
    with groundplan.open({"data": frame}) as project:
        result = project.ask(question)
    assert result.kind == "answer", result.text
    (chart,) = result.charts
    terminal(chart.spec, 80, 20)
    png(chart.spec)
    return svg(chart.spec)


@pytest.mark.parametrize("name", NAMES)
def test_a_column_may_have_any_name(name: str) -> None:
    frame = pandas.DataFrame({name: ["a", "b"], "revenue": [1, 2]})
    with groundplan.open({"data": frame}) as project:
        columns = [column.name for column in project.schemas["tables"].tables[0].columns]
        assert columns[1] == "revenue"
    words = " ".join(re.findall(r"\w+", name))
    try:
        shown = drawn(frame, f"bar chart of revenue by {words}")
    except AssertionError as error:
        pytest.skip(f"the question is not understood: {error}")
    assert shown.count('aria-roledescription="bar"') == 2


@pytest.mark.parametrize("question", ["bar chart of revenue by region", "bar chart of revenue by channel and region"])
def test_values_that_every_object_has_are_drawn(question: str) -> None:
    names = [*sorted(RESERVED), "West"]
    channel = ["a" if place % 2 else "b" for place in range(len(names))]
    frame = pandas.DataFrame({"region": names, "channel": channel, "revenue": range(1, len(names) + 1)})
    shown = drawn(frame, question)
    assert shown.count('aria-roledescription="bar"') >= 8
    assert "constructor" in shown


LITERAL = r'"(?:[^"\\]|\\.)*"'


@settings(max_examples=100)
@given(st.text())
@example("constructor")  # the name of a property that every object has: put together from two literals
def test_a_literal_cannot_be_left(text: str) -> None:
    literal = quoted(text)
    assert literal.isascii()
    assert re.fullmatch(rf"{LITERAL}|\({LITERAL} \+ {LITERAL}\)", literal)


BARS = {"mark": "bar", "encoding": {"x": {"field": "x", "type": "nominal"}, "y": {"field": "y"}}}


def bars(rows: int, label: str = "b", **more: object) -> dict[str, object]:
    return {**BARS, **more, "data": {"values": [{"x": f"{label}{row}", "y": row} for row in range(rows)]}}


@pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux")
@pytest.mark.parametrize("render", ["png", pytest.param("svg", marks=pytest.mark.slow)])
def test_a_picture_that_needs_too_much_memory_ends_only_its_own_process(render: str) -> None:
    program = f"""
from groundplan.charts import picture
from groundplan.charts.picture import {render}
picture.MOST_SECONDS = 180  # memory ends it, on a busy machine too
from groundplan.errors import ToolError
spec = {bars(3)!r}
many = {{"sequence": {{"start": 0, "stop": 1e9, "as": "x"}}}}
for huge in ({{**spec, "width": 1e6, "height": 1e6}}, {{**spec, "data": many}}):
    try:
        print("DRAWN", len({render}(huge)))
    except ToolError as error:
        print("REFUSED", error)
print("AND THEN", len({render}(spec)) > 1_000)
"""
    done = run(program)
    assert done.code == 0, done.text
    assert "REFUSED the chart cannot be drawn as a picture: it needs more than" in done.text
    assert "AND THEN True" in done.text
    assert done.peak < 300


def test_a_picture_that_takes_too_long_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "MOST_SECONDS", 0.2)
    with pytest.raises(ToolError, match=r"it takes more than 0\.2 s"):
        png(bars(10_000))


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (bars(100_001), "it has 100,001 rows, and at most 100,000 can be drawn"),
        (bars(2, "b" * 1_000), "a label has 1,001 characters, and at most 1,000 can be drawn"),
        ({**bars(2), "title": {"text": "b" * 1_001}}, "a label has 1,001 characters, and at most 1,000 can be drawn"),
    ],
)
def test_a_chart_that_is_too_large_is_refused_before_it_is_drawn(
    spec: dict[str, object], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture, "run_module", None)
    for render in (png, svg):
        with pytest.raises(ToolError, match=f"the chart cannot be drawn as a picture: {why}"):
            render(spec)


def test_what_does_not_need_the_picture_is_written_without_it(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"region": ["a" * 1_001, "b"], "revenue": [1, 2]})
    with groundplan.open({"data": frame}) as project:
        result = project.ask("bar chart of revenue by region")
    with pytest.raises(ToolError, match="a label has 1,001 characters"):
        report.write(result.outcome, tmp_path)
    assert {"report.md", "answer.json"} <= {file.name for file in tmp_path.iterdir()}
