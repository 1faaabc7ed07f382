"""What is stored for one question, schema, catalog, date or locale is never found for another."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given

from groundplan.state.plans import key_of, signature
from tests.checking.asked import SCHEMA
from tests.state.blocking import Blocking
from tests.state.test_plans import CATALOG, READING, TOTALS, asks, key, store, worded, wordings  # noqa: F401


@pytest.mark.requirement("R29")
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
