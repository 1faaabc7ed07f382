"""Facts without a model: four styles, complete up to the limit, then how many more."""

from __future__ import annotations

import pytest

from groundplan.answering.writing.render import markdown, render
from groundplan.contracts.answer import ShownTable
from groundplan.contracts.facts import Facts, Failure, Group, Item, Stale, TableColumn, Truncated
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Limits
from tests.answering.asking import of_items

ITEMS = (
    Item(kind="achievement", title="Cut costs", value=12.5, unit="%", text="in one year"),
    Item(kind="achievement", title="Launched the shop", text="with three people (confidence: 0.9) [1]"),
    Item(kind="technology", title="DuckDB"),
)


def of(*items: Item) -> Facts:
    return Facts(run="r", found=True, items=items)


def many(count: int) -> tuple[Item, ...]:
    return tuple(Item(kind="technology", title=f"Tool {place}") for place in range(count))


@pytest.mark.requirement("R49")
def test_bullets() -> None:
    assert render(of(*ITEMS), {}, "BULLETS", Limits(), "en") == (
        "- Cut costs: 12.50% (in one year)\n- Launched the shop: with three people\n- DuckDB"
    )


@pytest.mark.requirement("R49")
def test_short() -> None:
    assert (
        render(of(*ITEMS[:1], *ITEMS[2:]), {}, "SHORT", Limits(), "ru") == "Cut costs: 12,50 % (in one year). DuckDB."
    )


@pytest.mark.requirement("R49")
def test_grouped_bullets() -> None:
    groups = (Group(title="Alor", items=ITEMS[:1]), Group(title="Shop", items=ITEMS[1:]))
    assert render(Facts(run="r", found=True, groups=groups), {}, "GROUPED_BULLETS", Limits(), "en") == (
        "Alor:\n- Cut costs: 12.50% (in one year)\nShop:\n- Launched the shop: with three people\n- DuckDB"
    )


@pytest.mark.requirement("R49")
def test_a_table() -> None:
    table = ShownTable(
        columns=("month", "region", "revenue"),
        rows=(("2024-01-01", "North|East", 1234.5), ("2024-02-01", None, None), ("2024-03-01", "[x](http://y)", 3)),
        row_count=5,
    )
    columns = (
        TableColumn(name="month", kind="time", grain="month"),
        TableColumn(name="region", kind="text"),
        TableColumn(name="revenue", kind="number"),
    )
    assert markdown(table, columns, 3, "en") == (
        "| month | region | revenue |\n| --- | --- | ---: |\n"
        "| January 2024 | North\\|East | 1,234.50 |\n| February 2024 |  |  |\n| March 2024 | `[x](http://y)` | 3 |\n\n"
        "…and 2 more."
    )


@pytest.mark.requirement("R49")
@pytest.mark.parametrize(
    ("count", "lines", "last"), [(7, 7, "- Tool 6"), (8, 8, "…and 1 more."), (400, 8, "…and 393 more.")]
)
def test_lists_are_complete_up_to_the_limit_then_say_how_many_more(count: int, lines: int, last: str) -> None:
    rendered = render(of(*many(count)), {}, "BULLETS", Limits(items=7), "en").splitlines()
    assert len(rendered) == lines
    assert rendered[:7] == [f"- Tool {place}" for place in range(7)]
    assert rendered[-1] == last


@pytest.mark.requirement("R49")
def test_groups_have_their_own_limit() -> None:
    groups = tuple(Group(title=f"Project {place}", items=ITEMS[2:]) for place in range(5))
    rendered = render(Facts(run="r", found=True, groups=groups), {}, "GROUPED_BULLETS", Limits(groups=2), "ru")
    assert rendered == "Project 0:\n- DuckDB\nProject 1:\n- DuckDB\n…и ещё 3."


@pytest.mark.requirement("R49")
def test_the_same_fact_is_said_once() -> None:
    twice = (ITEMS[0], ITEMS[2], ITEMS[2], Item(kind="other", title="duckdb [2]"))
    assert render(of(*twice), {}, "BULLETS", Limits(items=2), "en").splitlines()[1:] == ["- DuckDB"]


@pytest.mark.requirement("R50")
def test_ids_confidences_and_references_never_reach_the_text() -> None:
    told = of(
        Item(kind="project", title="Alor (project:alor)", text="[1] – A broker [2, 3].", source="project:alor"),
        Item(kind="project", title="project:ghost"),
        Item(kind="person", title="Анна", text="ведёт проект (уверенность: 0,7)"),
    )
    assert render(told, {}, "BULLETS", Limits(), "ru") == "- Alor: A broker.\n- Анна: ведёт проект"


@pytest.mark.requirement("R44", "R51")
def test_an_answer_from_items_says_what_is_cut_old_or_missing() -> None:
    issue = Issue(code="run/failed", problem="the tracker did not answer")
    facts = Facts(
        run="r",
        found=True,
        items=many(3),
        state=Truncated(reason="3 of 9 documents were read"),
        failures=(Failure(step="a", status="failed", issue=issue),),
    )
    assert of_items(facts, "SHORT").answer().text == (
        "Tool 0. Tool 1. Tool 2. Not everything is shown: 3 of 9 documents were read. "
        "Not done: the tracker did not answer."
    )
    old = facts.model_copy(update={"state": Stale(age_seconds=9_000), "failures": ()})
    assert of_items(old, "SHORT").text().endswith("The data is 2.5 hours old.")
    assert of_items(old, "SHORT").text("ru").endswith("Возраст данных: 2,5 ч.")


@pytest.mark.requirement("R49")
def test_items_as_a_table() -> None:
    assert render(of(*ITEMS), {}, "TABLE", Limits(), "en").splitlines() == [
        "| Name | Details |",
        "| --- | --- |",
        "| Cut costs | 12.50% (in one year) |",
        "| Launched the shop | with three people |",
        "| DuckDB | |",
    ]
    names = (Item(kind="technology", title="A|B"), *many(2))
    run = of_items(of(*names), "TABLE", Limits(items=2))
    assert run.text("ru").splitlines() == ["| Название |", "| --- |", "| A\\|B |", "| Tool 0 |", "…и ещё 1."]


def test_a_sentence_has_one_full_stop() -> None:
    told = of(Item(kind="achievement", title="Costs fell by 3%."), Item(kind="technology", title="DuckDB"))
    assert of_items(told, "SHORT").text() == "Costs fell by 3%. DuckDB."


@pytest.mark.requirement("R49", "R52")
@pytest.mark.parametrize("style", ["SHORT", "BULLETS", "GROUPED_BULLETS", "TABLE"])
def test_rendered_items_hold_and_altered_ones_do_not(style: str) -> None:
    run = of_items(of(*ITEMS, *many(9)), style, Limits(items=5))  # type: ignore[arg-type]
    answer = run.answer()
    assert not answer.issues
    assert answer.text.endswith("…and 7 more.")
    for wrong in (("12.50", "12.51"), ("%", "kg"), ("7 more", "8 more"), ("DuckDB", "Spark"), ("costs", "jobs")):
        assert run.faults(answer.text.replace(*wrong), answer.citations), wrong


def test_nothing_found() -> None:
    assert of_items(Facts(run="r", found=False)).text() == "Nothing was found."
    assert of_items(Facts(run="r", found=False)).text("ru") == "Ничего не найдено."


@pytest.mark.requirement("R52")
@pytest.mark.parametrize("text", ["That was all: there are no more.", "Это всё: больше ничего нет."])
def test_that_there_are_no_more_is_said_only_of_a_list_that_goes_on(text: str) -> None:
    for facts in (of(*ITEMS), Facts(run="r", found=True), Facts(run="r", found=False)):
        assert of_items(facts).faults(text, ())
