"""The text of each kind of reading, written by hand in the language of readings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

import groundplan
from groundplan.asking.tables.plan import propose
from groundplan.contracts.answer import Answer, Refusal
from groundplan.project import Project
from groundplan.result import VEGA_LITE, Result
from tests.questions.notation import reading

DAYS = [f"2024-{month:02}-{day:02}" for month in (1, 2, 3, 4) for day in range(1, 29)]
MARKUP = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Two orders a day from 12 January to 10 April: 10 in the North, 20 in the South; each tenth is refunded."""
    file: Path = tmp_path_factory.mktemp("kinds") / "orders.csv"
    days = [day for day in DAYS if "2024-01-12" <= day <= "2024-04-10"]
    rows = [f"{day},North,Pen,10,{'refunded' if place % 10 == 0 else 'paid'}" for place, day in enumerate(days)]
    rows += [f"{day},South,{'Ink' if place % 2 else MARKUP},20,paid" for place, day in enumerate(days)]
    file.write_text("\n".join(["date,region,item,revenue,status", *rows]))
    with groundplan.open(file) as project:
        yield project


def answered(project: Project, written: Mapping[str, Any], language: Literal["en", "ru"] = "en") -> Answer:
    (schema,) = project.schemas.values()
    asked = reading("question", schema.tables[0].name, written).model_copy(update={"language": language})
    proposal = {"plan": propose(asked, schema).model_dump(mode="json"), "reading": asked.model_dump(mode="json")}
    outcome = project.run(json.dumps(proposal)).outcome
    assert isinstance(outcome, Answer), outcome.text
    assert not outcome.issues, outcome.issues
    return outcome


RATE = {"metric": {"refund rate": "rows(status == 'refunded') / rows()"}}


def test_a_rate_is_told_with_its_part_and_whole(shop: Project) -> None:
    answer = answered(shop, RATE)
    rate, part, whole = answer.tables[0].rows[0]
    assert answer.text == f"Refund rate is {rate:.1%} ({part} of {whole})."  # type: ignore[str-format]
    russian = answered(shop, RATE, "ru").text
    assert russian.endswith(f"({part} из {whole}).")


def test_rates_of_groups_name_the_highest_the_lowest_and_all(shop: Project) -> None:
    text = answered(shop, {**RATE, "by": {"region": "region"}}).text
    assert text.startswith("Overall refund rate is 5.")
    assert "North has the highest refund rate (10." in text
    assert "South the lowest (0%, 0 of 83)." in text


def test_a_change_is_told_with_its_base(shop: Project) -> None:
    written = {"metric": {"growth": "growth(sum(revenue))"}, "by": {"month": "cut(date, 'month')"}}
    text = answered(shop, written).text
    assert text.startswith("Revenue stayed the same: 840 (February 2024) and 840 (March 2024).")
    grown = {**written, "where": ["date < '2024-02-15' or date > '2024-02-20'"]}
    assert "Revenue rose from 660 (February 2024) to 840 (March 2024): +27.3%." in answered(shop, grown).text
    assert "рост с 660 (февраль 2024) до 840 (март 2024): +27,3\u00a0%." in answered(shop, grown, "ru").text


def test_a_partial_period_is_named_and_not_compared(shop: Project) -> None:
    text = answered(shop, {"metric": {"sales": "sum(revenue)"}, "by": {"month": "cut(date, 'month')"}}).text
    assert "From February 2024 to March 2024" in text
    assert "The data for January 2024 is partial: it starts on 12 January 2024." in text
    assert "The data for April 2024 is partial: it ends on 10 April 2024." in text


def test_the_best_row_is_told_by_name_and_value(shop: Project) -> None:
    written = {"columns": ["region", "revenue"], "order": "revenue", "top": 1}
    assert answered(shop, written).text.startswith("83 share the highest revenue, 20:\n- South\n")
    assert answered(shop, written, "ru").text.startswith("Revenue: больше всего")
    written = {"metric": {"sales": "sum(revenue)"}, "by": {"region": "region"}, "order": "sum(revenue)", "top": 1}
    assert answered(shop, written).text.startswith("South has the highest")


def test_ranks_within_groups_are_told_by_group(shop: Project) -> None:
    written = {"metric": {"sales": "sum(revenue)"}, "by": {"region": "region", "item": "item"}, "within": ["region"]}
    one = answered(shop, {**written, "top": 1}).text
    assert one.startswith("The highest sales in each region:\n- North: Pen, 830\n- South: ")
    several = answered(shop, {**written, "top": 2}).text
    assert several.startswith("Top 2 by sales within each region:\nNorth:\n1. Pen: 830\nSouth:\n1. ")


def test_conditions_of_every_kind_are_stated(shop: Project) -> None:
    written = {
        "metric": {"orders": "rows()"},
        "by": {"region": "region"},
        "where": ["revenue * 2 > 30 or missing(status)", "date >= '2024-03-04' and date < '2024-03-05'", "rows() > 0"],
    }
    text = answered(shop, written).text
    kept = "Only rows where (revenue × 2 is above 30 or status is missing) and date is on 4 March 2024 are counted."
    assert kept in text
    assert text.endswith("Only regions with more than 0 orders are shown.")
    russian = answered(shop, written, "ru").text
    assert "где («revenue» × 2 больше 30 или «status» не заполнено) и «date» — 4 марта 2024." in russian


def test_rows_and_things_are_counted_in_words(shop: Project) -> None:
    assert answered(shop, {"metric": {"orders": "rows()"}}).text == "There are 166 orders."
    assert shop.ask("how many rows").text == "There are 166 orders."


def test_equal_groups_are_said_to_be_equal(shop: Project) -> None:
    written = {"metric": {"sales": "rows()"}, "by": {"region": "region"}}
    assert answered(shop, written).text == "All 2 groups have the same sales: 83."


def test_a_chart_of_averages_is_grouped(shop: Project) -> None:
    spec = shop.ask("average revenue by region and status as a bar chart").outcome.charts[0]  # type: ignore[union-attr]
    assert spec["encoding"]["y"]["stack"] is None
    assert "xOffset" in spec["encoding"]


@pytest.mark.requirement("R71", part="charts")
def test_a_russian_chart_has_russian_labels(shop: Project) -> None:
    spec = shop.ask("сумма revenue по месяцам график").outcome.charts[0]  # type: ignore[union-attr]
    assert spec["title"]["text"] == ("Revenue по месяцам",)
    assert "неполный период" in " ".join(spec["title"]["subtitle"])
    assert spec["config"]["locale"]["time"]["shortMonths"][0] == "янв"


def test_two_periods_are_drawn_side_by_side(shop: Project) -> None:
    answer = shop.ask("compare total revenue by region between february 2024 and march 2024 as a chart").outcome
    assert isinstance(answer, Answer)
    assert {row["period"] for row in answer.charts[0]["data"]["values"]} == {"2024-02", "2024-03"}


def test_anomalies_are_marked_on_their_chart(shop: Project) -> None:
    answer = shop.ask("anomalies in revenue by day as a line chart").outcome
    assert isinstance(answer, Answer)
    marks = [layer["mark"] for layer in answer.charts[0]["layer"]]
    assert {"point"} <= {mark["type"] for mark in marks}


def test_a_russian_question_is_refused_in_russian(shop: Project) -> None:
    refusal = shop.ask("выручка по продавцам")
    assert refusal.kind == "refusal"
    assert refusal.text == (
        "В данных нет ничего с названием «продавцам». Спросите, например: сумма «revenue» по «region». "
        'Слову учит called = ["продавцам"] под [columns."COLUMN"] в groundplan.toml.'
    )
    assert isinstance(refusal.outcome, Refusal)
    assert refusal.outcome.unknown is not None
    assert refusal.outcome.unknown.word == "продавцам"
    assert refusal.text.replace(refusal.outcome.unknown.setting, "").endswith("сумма «revenue» по «region».")


def test_a_notebook_shows_text_chart_and_table_with_cells_escaped(shop: Project) -> None:
    result = shop.ask("revenue by item as a bar chart")
    bundle = result._repr_mimebundle_()
    read_as = "Read as: total revenue by item, as a bar chart. Assumed: total revenue."
    assert bundle["text/plain"] == f"{read_as}\n{result.text}"
    assert bundle[VEGA_LITE]["$schema"].endswith("v6.json")
    assert MARKUP not in bundle["text/html"]
    assert "&lt;script&gt;" in bundle["text/html"]
    assert "data:image/png;base64," in bundle["text/html"]


def test_the_query_behind_each_table_is_there(shop: Project) -> None:
    result: Result = shop.ask("revenue by region")
    assert "GROUP BY" in result.queries["table"]
