"""Charts and analyses that a question describes by their columns: what is drawn, against what, in which groups."""

from __future__ import annotations

from datetime import date

import pytest

from groundplan.asking.tables.route import founded, read_plain
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.expression import Bins
from groundplan.contracts.reading import AnalysisAsked, GroupBy, Metric, OutputAsked, Reading, Time
from tests.asking.tables.described import Known

TODAY = date(2026, 1, 15)
LOOKS = ("anomaly", "correlation", "distribution", "summary")


def asked(question: str, known: Known) -> Reading | Clarification | Refusal:
    found = read_plain(question, *known, today=TODAY).answer
    return founded(found, *known, today=TODAY, timezone="UTC", meaning=None)


def drawn(reading: Reading) -> tuple[list[str], list[str], list[str], str | None]:
    """Measured columns, groups, analyses of single values, and the kind of chart that was named."""
    values = [requirement.value for requirement in reading.requirements]
    said = [r.value for r in reading.requirements if not r.implied]
    return (
        [value.column or "rows" for value in values if isinstance(value, Metric)],
        sorted(value.column for value in values if isinstance(value, GroupBy | Time)),
        [value.label for value in values if isinstance(value, AnalysisAsked) and value.label in LOOKS],
        next((value.chart for value in said if isinstance(value, OutputAsked)), None),
    )


@pytest.mark.requirement("R4", "R5")
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("scatter plot of revenue against cost, colored by region", "revenue cost / region / correlation / scatter"),
        (
            "separate scatter plots of units and cost for each channel",
            "units cost / channel / correlation / scatter",
        ),
        ("scatter plot of revenue and cost, with revenue on the x axis", "revenue cost / - / correlation / scatter"),
        ("scatter plot X = units Y = revenue", "units revenue / - / correlation / scatter"),
        ("точечная диаграмма выручки и затрат с цветом по регионам", "revenue cost / region / correlation / scatter"),
        ("distribution of revenue against cost", "revenue cost / - / correlation / -"),
        ("revenue by cost", "revenue cost / - / correlation / -"),
        ("how does revenue vary with cost by different regions", "revenue cost / region / correlation / -"),
        ("count by revenue bins", "revenue / - / distribution / -"),
        (
            "bar graph: revenue on the x axis, number of sales on the y axis",
            "revenue / - / distribution / histogram",
        ),
        ("box plot of units by channel", "units / channel / distribution / box"),
        ("summarize cost and units", "cost units / - / summary / -"),
        ("сводка по затратам", "cost / - / summary / -"),
        ("line chart of date and total revenue", "revenue / date / - / line"),
        ("multiple line charts of monthly revenue by region", "revenue / date region / - / line"),
        ("stacked bar of revenue by region and channel, colored by channel", "revenue / channel region / - / bar"),
        ("bar chart of revenue by different channels", "revenue / channel / - / bar"),
        ("total revenue by region, with separate charts for each channel", "revenue / channel region / - / -"),
        ("heatmap of revenue by region and channel", "revenue / channel region / - / heatmap"),
        ("frequency of sales by channel", "rows / channel / - / -"),
        ("regions by count", "rows / region / - / -"),
    ],
)
def test_a_chart_is_described_by_its_columns(question: str, expected: str, sales: Known) -> None:
    reading = asked(question, sales)
    assert isinstance(reading, Reading), reading.text
    measured, groups, looks, chart = drawn(reading)
    told = (" ".join(measured), " ".join(groups), " ".join(looks), chart or "")
    assert " / ".join(part or "-" for part in told) == expected


@pytest.mark.requirement("R5")
@pytest.mark.parametrize(
    "question", ["histogram of revenue with a bin size of 5000", "гистограмма выручки с шагом 5000"]
)
def test_bins_have_the_width_that_was_said(question: str, sales: Known) -> None:
    reading = asked(question, sales)
    assert isinstance(reading, Reading), reading.text
    [group] = [r.value for r in reading.requirements if isinstance(r.value, GroupBy)]
    assert isinstance(group.expression, Bins)
    assert (group.column, group.expression.width) == ("revenue", 5000)


def test_two_charts_are_two_things_asked_for(sales: Known) -> None:
    reading = asked("histogram of revenue and box plot of revenue by region", sales)
    assert isinstance(reading, Reading), reading.text
    assert [drawn(one) for one in (reading, *reading.also)] == [
        (["revenue"], [], ["distribution"], "histogram"),
        (["revenue"], ["region"], ["distribution"], "box"),
    ]


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(
    "question",
    [
        "scatter plot of revenue and frobs by region",
        "histogram of zorblat revenue",
        "scatter plot of revenue against cost, colored by zorblat",
        "box plot of revenue by region and mood",
        "гистограмма зубрильной выручки",
        "bar chart of revenue and the number of sales",
        "revenue by cost range",
        "revenue by count",
        "histogram of revenue with 12 bins",
        "pie chart of revenue by region",
    ],
)
def test_what_is_not_understood_is_not_drawn_without_it(question: str, sales: Known) -> None:
    assert isinstance(asked(question, sales), Clarification | Refusal)
