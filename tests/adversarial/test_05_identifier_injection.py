"""A name or a value that holds SQL is an unknown name or a plain value, and the table stays as it was."""

from __future__ import annotations

import pytest

from groundplan.sources.tables.source import Tables
from tests.sources.tables.test_tools import where
from tests.sources.tables.tooling import made, rows


@pytest.mark.requirement("R38")
@pytest.mark.requirement("R45", part="tools")
@pytest.mark.parametrize("value", ["x' OR '1'='1", "\\'; DROP TABLE sales; --", '"; SELECT 1; --', "\u2028\x01", "%s"])
def test_a_hostile_value_is_only_a_value(source: Tables, value: str) -> None:
    assert rows(source, made(source, "filter_rows", where("product", "=", value))) == []
    assert rows(source, made(source, "filter_rows", where("product", "contains", value))) == []
