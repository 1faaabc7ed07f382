"""What is stored for one question, schema, catalog, date or locale is never found for another."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings

import groundplan
from groundplan.state.database import SQLite
from groundplan.state.plans import PlanStore, key_of, signature
from tests.asking.tables.described import SALES
from tests.checking.asked import SCHEMA
from tests.state.blocking import Blocking
from tests.state.test_plans import CATALOG, READING, TOTALS, asks, key, store, worded, wordings  # noqa: F401


@pytest.mark.requirement("R29")
@settings(deadline=None)
@given(first=asks(), second=asks(), how=wordings)
def test_another_thing_asked_in_the_same_words_has_another_signature(
    first: dict[str, Any], second: dict[str, Any], how: dict[str, Any]
) -> None:
    assume(first != second)
    assert signature(worded(first, how)) != signature(worded(second, how))


@pytest.mark.requirement("R29")
def test_another_schema_or_catalog_is_another_key(store: Blocking) -> None:
    store.keep(key(), "total revenue", READING, TOTALS)
    fewer = SCHEMA.model_copy(update={"tables": SCHEMA.tables[:1]})
    assert store.find(key_of(READING, fewer, CATALOG.version)) is None
    assert store.find(key_of(READING, SCHEMA, type(CATALOG).of([CATALOG.tools["aggregate"]]).version)) is None
    assert store.find(key()) == TOTALS


def test_the_same_words_on_another_day_are_another_question() -> None:
    with groundplan.open(SALES) as project:
        plans = [project.plan("total revenue last week", today=day) for day in (date(2025, 7, 20), date(2025, 7, 21))]
    keys = [key_of(plan.reading, project.schemas["tables"], project.catalog.version) for plan in plans if plan.reading]
    assert len(set(keys)) == 2


def test_a_plan_of_another_tenant_is_not_found(tmp_path: Path) -> None:
    Blocking(PlanStore(SQLite(tmp_path, "one"))).keep(key(), "total revenue", READING, TOTALS)
    assert Blocking(PlanStore(SQLite(tmp_path, "one"))).find(key()) == TOTALS
    other = Blocking(PlanStore(SQLite(tmp_path, "two")))
    assert other.find(key()) is None
    assert other.entries() == ()
