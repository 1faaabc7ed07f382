"""A reading changed by hand means what its parts say: the answer equals SQL written from the parts."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from groundplan.asking.tables.accounting import word_fates
from groundplan.asking.tables.by_hand.change import changed, chips
from groundplan.blocking import Portal
from groundplan.contracts.answer import Answer, Refusal
from groundplan.contracts.editing import Change
from groundplan.contracts.plan import Proposal
from groundplan.contracts.reading import Filter, GroupBy, Metric, Rank, Reading, Time
from groundplan.contracts.verdict import Passed
from groundplan.errors import UsageError
from groundplan.project import AsyncProject
from groundplan.result import Planned
from tests.asking.tables.described import SALES

TODAY = date(2025, 6, 1)
QUESTIONS = (
    "total revenue by region",
    "monthly revenue in 2024 for the north region",
    "top 3 regions by average revenue",
    "number of rows by channel where units > 10",
    "revenue and cost by product category",
    "how many regions had revenue over 10000",
    "выручка по регионам",
)
FUNCTIONS = {
    "sum": "sum({})",
    "mean": "avg({})",
    "median": "median({})",
    "min": "min({})",
    "max": "max({})",
    "count_distinct": "count(distinct {})",
}


class Sync:
    """The project of the example, for tests that are not asynchronous."""

    def __init__(self, where: Path = SALES) -> None:
        self.portal = Portal("changes")
        self.project: AsyncProject = self.portal.call(AsyncProject.open(str(where)))

    def close(self) -> None:
        self.portal.call(self.project.close())
        self.portal.stop()

    def read(self, question: str) -> Reading:
        planned: Planned = self.portal.call(self.project.plan(question, today=TODAY))
        assert planned.reading is not None, planned.why
        return planned.reading

    def change(self, reading: Reading, *changes: Change) -> Planned:
        planned: Planned = self.portal.call(self.project.change(reading, changes, today=TODAY))
        return planned

    def suggest(self, reading: Reading, requirement: str | None = None, **options: Any) -> Any:
        return self.portal.call(self.project.suggest(reading, requirement, today=TODAY, **options))

    def run(self, planned: Planned) -> Answer | Refusal:
        assert planned.reading is not None
        assert planned.plan is not None
        proposal = Proposal(reading=planned.reading, plan=planned.plan)
        return self.portal.call(self.project.run(proposal))


@pytest.fixture(scope="module")
def sales() -> Iterator[Sync]:
    with closing(Sync()) as sync:
        yield sync


def sql_of(reading: Reading) -> str:
    """From the parts alone, without the planner, the gate or Ibis."""
    values = [r.value for r in reading.requirements]
    groups = [f"""date_trunc('{v.grain}', "{v.column}")""" for v in values if isinstance(v, Time)]
    groups += [f'"{v.column}"' for v in values if isinstance(v, GroupBy)]
    measures = [_measure(v) for v in values if isinstance(v, Metric)]
    where = " and ".join([_condition(v) for v in values if isinstance(v, Filter)]) or "true"
    text = f"select {', '.join([*groups, *measures])} from '{SALES}' where {where}"
    text += f" group by {', '.join(groups)}" if groups else ""
    rank = next((v for v in values if isinstance(v, Rank)), None)
    order = f"order by {measures[0]} {'desc' if rank and rank.direction == 'top' else 'asc'}"
    if rank is not None and rank.limit == 1:
        return text + f" qualify rank() over ({order}) = 1"  # all that share the first place
    return text + (f" {order} limit {rank.limit}" if rank is not None and rank.limit else "")


def _measure(metric: Metric) -> str:
    if metric.column is None:
        return "count(*)"
    return FUNCTIONS[metric.function or metric.usual or ""].format(f'"{metric.column}"')


def _condition(asked: Filter) -> str:
    column, values = f'"{asked.column}"', [repr(value) for value in asked.values]
    if asked.operator == "between":
        return f"{column} >= {values[0]} and {column} < {values[1]}"
    if asked.operator in ("in", "not in"):
        return f"{column} {asked.operator} ({', '.join(values)})"
    return f"{column} {asked.operator} {values[0]}"


def same(shown: Any, reading: Reading) -> bool:
    wanted = duckdb.sql(sql_of(reading)).fetchall()
    found = [tuple(row[: len(wanted[0])]) for row in shown.rows] if wanted else list(shown.rows)
    rank = next((r.value for r in reading.requirements if isinstance(r.value, Rank)), None)
    if rank is not None and (rank.limit or 0) > 1:  # of those that tie at the end, any may be there
        measures = sum(isinstance(r.value, Metric) for r in reading.requirements)
        found, wanted = ([row[-measures:] for row in rows] for rows in (found, wanted))
    return len(found) == len(wanted) and all(
        all(_close(x, y) for x, y in zip(one, other, strict=True))
        for one, other in zip(sorted(found, key=_key), sorted(wanted, key=_key), strict=True)
    )


def _key(row: Any) -> list[str]:
    return [_plain(value) if not isinstance(value, float) else f"{value:.4f}" for value in row]


def _plain(value: Any) -> str:
    return str(value)[:10] if isinstance(value, date) else str(value)


def _close(first: Any, second: Any) -> bool:
    if isinstance(first, int | float) and isinstance(second, int | float):
        return math.isclose(first, second, rel_tol=1e-9)
    return _plain(first)[:10] == _plain(second)[:10]


@pytest.mark.requirement("R78")
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_suggestion_is_refused_or_answered_as_it_says(sales: Sync, question: str) -> None:
    reading = sales.read(question)
    draw = random.Random(question)
    offered = [suggestion for chip in chips(reading) for suggestion in sales.suggest(reading, chip.requirement)]
    offered += [s for kind in ("metric", "group_by", "filter", "rank") for s in sales.suggest(reading, kind=kind)]
    answered = 0
    for suggestion in draw.sample(offered, min(15, len(offered))):
        planned = sales.change(reading, suggestion.change)
        assert planned.reading is not None
        if not isinstance(planned.verdict, Passed):
            assert planned.ended is not None, suggestion
            continue
        assert suggestion.label in {chip.label for chip in chips(planned.reading)}
        outcome = sales.run(planned)
        assert isinstance(outcome, Answer), (suggestion.label, outcome.text)
        assert same(outcome.tables[0], planned.reading), (suggestion.label, outcome.tables[0], sql_of(planned.reading))
        answered += 1
    assert answered >= 8


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_chip_that_may_be_removed_leaves_an_answer_or_a_refusal(sales: Sync, question: str) -> None:
    reading = sales.read(question)
    for chip in chips(reading):
        if not chip.removable:
            continue
        planned = sales.change(reading, Change(requirement=chip.requirement))
        if isinstance(planned.verdict, Passed):
            outcome = sales.run(planned)
            assert isinstance(outcome, Answer)
            assert planned.reading is not None
            assert same(outcome.tables[0], planned.reading), (chip.label, sql_of(planned.reading))
        else:
            assert planned.ended is not None


def test_words_of_a_removed_part_are_replaced_and_no_other_word_is_lost(sales: Sync) -> None:
    reading = sales.read("monthly revenue in 2024 for the north region")
    planned = sales.change(reading, Change(requirement="filter:region"))
    assert planned.reading is not None
    assert planned.tables is not None
    fates = {word.text: word.fate for word in word_fates(planned.reading, planned.tables)}
    assert fates["north"] == "replaced"
    assert "not understood" not in fates.values()
    assert planned.read_as == "Read as: total revenue by month (date), where date is in 2024. Assumed: total revenue."


def test_a_ranking_follows_its_measure(sales: Sync) -> None:
    reading = sales.read("top 3 regions by average revenue")
    cost = Metric(column="cost", function="sum")
    planned = sales.change(reading, Change(requirement="metric:revenue", to=cost))
    assert planned.read_as == "Read as: total cost by region, top 3."


def test_changes_are_made_in_order(sales: Sync) -> None:
    reading = sales.read("total revenue by region")
    channel = Change(requirement="group_by:region", to=GroupBy(column="channel"))
    only = Change(to=Filter(column="region", operator="=", values=("North",)))
    planned = sales.change(reading, channel, only)
    assert planned.read_as == "Read as: total revenue by channel, where region is North."
    assert planned.reading is not None
    assert [r.chosen for r in planned.reading.requirements[:3]] == [False, True, True]


def test_an_impossible_part_is_refused_by_the_gate(sales: Sync) -> None:
    reading = sales.read("total revenue by region")
    planned = sales.change(reading, Change(requirement="metric:revenue", to=Metric(column="channel", function="sum")))
    assert isinstance(planned.ended, Refusal)
    assert "channel" in planned.ended.text


def test_what_is_not_there_is_named(sales: Sync) -> None:
    reading = sales.read("total revenue by region")
    with pytest.raises(UsageError, match="no part 'group_by:planet'"):
        changed(reading, [Change(requirement="group_by:planet")])
    with pytest.raises(UsageError, match="at least one part"):
        changed(reading, [Change(requirement=r.id) for r in reading.requirements if not r.implied])


def test_suggestions_fit_the_meaning_and_the_search(sales: Sync) -> None:
    reading = sales.read("total revenue by region")
    labels = {s.label for s in sales.suggest(reading, "metric:revenue")}
    assert {"average revenue", "total cost", "number of sales"} <= labels
    assert not any("total region" in label or "total date" in label for label in labels)
    assert [s.label for s in sales.suggest(reading, kind="filter", search="nor")][:1] == ["region is North"]
    years = [s.label for s in sales.suggest(reading, kind="filter") if s.group == "period"]
    assert "date is in 2024" in years
    assert "date is in Q1 2025" in {s.label for s in sales.suggest(reading, kind="filter", search="Q1 2025")}
    assert "units is above 12" in {s.label for s in sales.suggest(reading, kind="filter", search="12")}
    assert not [s for text in ("nan", "inf") for s in sales.suggest(reading, kind="filter", search=text)]
    groups = [s.label for s in sales.suggest(reading, "group_by:region")]
    assert groups[0] == "product category"
    assert "region" not in groups


def test_an_order_of_weekdays_is_said_as_one(tmp_path: Path) -> None:
    rows = [f"{number},2025-03-{day:02},{'North' if day % 3 else 'South'}" for number, day in enumerate(range(1, 29))]
    (tmp_path / "ferries.csv").write_text("\n".join(["ferry_id,sailed,pier", *rows]))
    with closing(Sync(tmp_path / "ferries.csv")) as project:
        told = {chip.kind: chip.label for chip in chips(project.read("heatmap of ferries by weekday and pier"))}
    assert told["rank"] == "sorted by weekday of sailed, lowest first"


def test_an_average_can_become_a_total_unless_it_is_of_percents(tmp_path: Path) -> None:
    (tmp_path / "dives.csv").write_text("site,depth_m,air_used_percent\nReef,12.5,40%\nWreck,30.1,75%\nReef,9.0,35%\n")
    with closing(Sync(tmp_path / "dives.csv")) as project:
        for column, total in (("depth m", True), ("air used percent", False)):
            reading = project.read(f"average {column} by site")
            [chip] = [chip for chip in chips(reading) if chip.kind == "metric"]
            found = {one.label: one for one in project.suggest(reading, chip.requirement)}
            assert (f"total {column}" in found) is total
            assert not any("total air" in label for label in found)
            if total:
                changed = project.change(reading, found[f"total {column}"].change)
                assert isinstance(changed.verdict, Passed)


@pytest.mark.parametrize(
    "question", ["distribution of revenue", "anomalies in daily revenue", "correlation between units and revenue"]
)
def test_a_look_at_single_values_stays_one(sales: Sync, question: str) -> None:
    reading = sales.read(question)
    chip = next(chip for chip in chips(reading) if chip.kind == "metric")
    found = {s.change.to.column: s for s in sales.suggest(reading, chip.requirement)}
    assert "cost" in found
    assert isinstance(sales.change(reading, found["cost"].change).verdict, Passed)


def test_chips_of_a_look_at_single_values_name_no_function(sales: Sync) -> None:
    reading = sales.read("correlation between units and revenue")
    told = [chip for chip in chips(reading) if chip.kind == "metric"]
    assert [chip.label for chip in told] == ["units", "revenue"]
    assert "cost" in {suggestion.label for suggestion in sales.suggest(reading, told[0].requirement)}


def test_chips_say_the_parts_in_the_language_of_the_question(sales: Sync) -> None:
    told = [(chip.kind, chip.label, [w.text for w in chip.words]) for chip in chips(sales.read("выручка по регионам"))]
    assert told == [("metric", "сумма «revenue»", ["выручка"]), ("group_by", "«region»", ["по регионам"])]


def test_a_reading_about_something_else_has_no_chips() -> None:
    goal = {"id": "goal:a", "value": {"kind": "goal", "text": "book a flight"}, "evidence": {"text": "book a flight"}}
    assert chips(Reading.model_validate({"question": "book a flight", "requirements": [goal]})) == ()


def test_related_tables_lend_their_columns(tmp_path: Any) -> None:
    (tmp_path / "orders.csv").write_text("order_id,customer_id,amount\n1,1,10\n2,2,20\n3,1,5\n", encoding="utf-8")
    (tmp_path / "customers.csv").write_text("customer_id,country\n1,Chile\n2,Peru\n", encoding="utf-8")

    async def main() -> tuple[list[str], Planned]:
        project = await AsyncProject.open(str(tmp_path))
        reading = (await project.plan("total amount")).reading
        assert reading is not None
        found = await project.suggest(reading, kind="group_by")
        chosen = next(s for s in found if "country" in s.label)
        planned = await project.change(reading, [chosen.change])
        await project.close()
        return [s.label for s in found], planned

    labels, planned = asyncio.run(main())
    assert "country of customers" in labels
    assert planned.read_as == "Read as: total amount by country of customers, in orders and customers."
    assert isinstance(planned.verdict, Passed)


def test_the_ranking_goes_with_the_last_group(sales: Sync) -> None:
    reading = sales.read("average revenue by region and channel in 2024, top 3")
    one = sales.change(reading, Change(requirement="group_by:region", to=None))
    assert one.reading is not None
    assert any(isinstance(r.value, Rank) for r in one.reading.requirements), "channels can be ranked"
    none = sales.change(one.reading, Change(requirement="group_by:channel", to=None))
    assert none.reading is not None
    assert isinstance(none.verdict, Passed)
    assert not any(isinstance(r.value, Rank) for r in none.reading.requirements)
    assert "top 3" in " ".join(e.text for e in none.reading.replaced), "its words are accounted for"
    answer = sales.run(none)
    assert isinstance(answer, Answer)
    [[shown]] = answer.tables[0].rows
    assert shown == pytest.approx(duckdb.sql(sql_of(none.reading)).fetchall()[0][0])


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("number of sales by region", "number of sales"),
        ("сколько продаж по region", "число строк «sales»"),
        ("regions with more than 500 sales", "number of sales is above 500"),
    ],
)
def test_a_chip_says_what_is_counted(sales: Sync, question: str, label: str) -> None:
    assert label in {chip.label for chip in chips(sales.read(question))}
