"""Conversations with Tableau: each turn goes on from the one before, and is right by SQL on the same table."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from groundplan.contracts.contract import thaw
from groundplan.project import Project
from tests.sources.tableau.double.tableau import Tableau
from tests.tableau.asking import answered, ask, sent, shown, truth

FILE = Path(__file__).with_name("conversations.yaml")
CONVERSATIONS: list[list[dict[str, Any]]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
Shop = tuple[Tableau, Project]


@pytest.mark.requirement("R46", "R55")
@pytest.mark.parametrize("turns", CONVERSATIONS, ids=[turns[0]["say"][:60] for turns in CONVERSATIONS])
def test_every_turn_gives_the_rows_of_all_that_was_said(shop: Shop, turns: list[dict[str, Any]]) -> None:
    tableau, project = shop
    thread = uuid4().hex
    for turn in turns:
        answer = answered(ask(project, turn["say"], thread=thread))
        assert shown(answer) == truth(tableau, turn["sql"]), turn["say"]
        assert answer.reading is not None
        assert answer.reading.follow_up == (turn is not turns[0])
        if "draws" in turn:
            charts: Any = thaw(answer.charts)
            assert [chart["usermeta"]["groundplan"]["kind"] for chart in charts] == [turn["draws"]]


def test_there_are_ten_of_two_to_four_turns() -> None:
    assert len(CONVERSATIONS) >= 10
    assert {len(turns) for turns in CONVERSATIONS} == {2, 3, 4}


@pytest.mark.requirement("R25", "R46")
def test_the_same_question_again_brings_its_query_back_through_the_gate(shop: Shop) -> None:
    tableau, project = shop
    thread = uuid4().hex
    first = answered(ask(project, "sales by category in the West", thread=thread))
    tableau.requests.clear()
    again = answered(ask(project, "in the West, the sales by category", thread=thread))
    assert [entry.thought for entry in again.trace if entry.stage == "plan"] == ["reuse"]
    assert again.trace[3].stage == "check"
    assert (shown(again), again.plan.fingerprint) == (shown(first), first.plan.fingerprint)
    assert len(sent(tableau)) == 1, "rows are read anew"


@pytest.mark.requirement("R25")
def test_a_question_that_only_resembles_an_earlier_one_gets_a_query_of_its_own(shop: Shop) -> None:
    tableau, project = shop
    thread = uuid4().hex
    answered(ask(project, "total sales by category in the West in 2023 by order date", thread=thread))
    again = answered(ask(project, "total sales by category in the West in 2024 by order date", thread=thread))
    assert "reuse" not in [entry.thought for entry in again.trace if entry.stage == "plan"]
    assert shown(again) == truth(
        tableau,
        """SELECT "Category", sum("Sales") FROM superstore WHERE "Region" = 'West' AND year("Order Date") = 2024
        GROUP BY 1 ORDER BY 2 DESC""",
    )
