"""Names and values of data do not break a chart."""

from __future__ import annotations

import re

import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import groundplan
from groundplan.charts.picture import png, svg, terminal
from groundplan.charts.text import RESERVED, quoted

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
        picture = drawn(frame, f"bar chart of revenue by {words}")
    except AssertionError as error:
        pytest.skip(f"the question is not understood: {error}")
    assert picture.count('aria-roledescription="bar"') == 2


@pytest.mark.parametrize("question", ["bar chart of revenue by region", "bar chart of revenue by channel and region"])
def test_values_that_every_object_has_are_drawn(question: str) -> None:
    names = [*sorted(RESERVED), "West"]
    channel = ["a" if place % 2 else "b" for place in range(len(names))]
    frame = pandas.DataFrame({"region": names, "channel": channel, "revenue": range(1, len(names) + 1)})
    picture = drawn(frame, question)
    assert picture.count('aria-roledescription="bar"') >= 8
    assert "constructor" in picture


@settings(max_examples=100)
@given(st.text())
def test_a_literal_cannot_be_left(text: str) -> None:
    literal = quoted(text)
    assert literal.isascii()
    assert re.fullmatch(r'"(?:[^"\\]|\\.)*"', literal)
