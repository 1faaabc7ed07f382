"""Cells arrive as their field's type or not at all."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from groundplan.contracts.schema import Column, Table
from groundplan.errors import SourceError
from groundplan.sources.tableau.rows import expected_columns, to_table
from groundplan.sources.tableau.vizql import Query

UTC, BERLIN = ZoneInfo("UTC"), ZoneInfo("Europe/Berlin")
TYPES = {"n": "INTEGER", "x": "REAL", "s": "STRING", "b": "BOOLEAN", "d": "DATE", "t": "DATETIME", "o": "SPATIAL"}
TABLE = Table(
    name="things",
    columns=tuple(Column(name=name, type=type_, kind="other", role="dimension") for name, type_ in TYPES.items()),
)


def read(caption: str, *values: Any, zone: ZoneInfo = UTC) -> list[Any]:
    query = Query.model_validate({"fields": [{"fieldCaption": caption}]})
    return list(
        to_table([{caption: value} for value in values], expected_columns(query, TABLE), zone)[caption].to_pylist()
    )


@pytest.mark.requirement("R46")
@pytest.mark.parametrize(
    ("caption", "sent", "read_as"),
    [
        ("n", 7, 7),
        ("n", 7.0, 7),
        ("n", 2**53 + 1, 2**53 + 1),
        ("x", 7, 7.0),
        ("x", 7.25, 7.25),
        ("x", float("nan"), None),
        ("s", "ä", "ä"),
        ("b", False, False),
        ("d", "2024-02-29", date(2024, 2, 29)),
        ("d", "2024-02-29T00:00:00Z", date(2024, 2, 29)),
        ("t", "2024-02-29T13:14:15", datetime(2024, 2, 29, 13, 14, 15)),
        ("t", "2024-02-29", datetime(2024, 2, 29)),
        ("o", {"type": "Point"}, '{"type": "Point"}'),
    ],
)
def test_a_value_becomes_its_fields_type(caption: str, sent: Any, read_as: Any) -> None:
    assert read(caption, sent, None) == [read_as, None]


@pytest.mark.parametrize(
    ("caption", "sent"),
    [
        ("n", "7"),
        ("n", True),
        ("n", 7.5),
        ("n", 2**63),
        ("n", float("inf")),
        ("x", "7"),
        ("x", False),
        ("x", 10**400),
        ("s", 7),
        ("b", 1),
        ("b", "true"),
        ("d", "29.02.2024"),
        ("d", 1_709_164_800),
        ("d", "2024-02-29T13:14:15"),
        ("t", "yesterday"),
    ],
)
def test_a_value_of_another_type_is_refused_and_not_repeated(caption: str, sent: Any) -> None:
    with pytest.raises(SourceError, match=f"a value in '{caption}' that is not a") as caught:
        read(caption, sent)
    assert str(sent) not in str(caught.value).replace(f"'{caption}'", "")


def test_a_moment_with_an_offset_is_shown_by_the_clock_of_the_zone() -> None:
    assert read("t", "2024-07-01T22:30:00Z", zone=BERLIN) == [datetime(2024, 7, 2, 0, 30)]
    assert read("t", "2024-07-01T22:30:00+02:00", zone=BERLIN) == [datetime(2024, 7, 1, 22, 30)]


@pytest.mark.parametrize(
    "row",
    [{}, {"s": "a"}, {"s": "a", "total": 1, "more": 2}, {"s": "a", "SUM(x)": 1}],
    ids=["none", "one too few", "one too many", "another name"],
)
def test_other_columns_than_asked_for_are_refused(row: dict[str, Any]) -> None:
    total = {"fieldCaption": "x", "function": "SUM", "fieldAlias": "total"}
    query = Query.model_validate({"fields": [{"fieldCaption": "s"}, total]})
    with pytest.raises(SourceError, match="other columns than the query asked for"):
        to_table([row], expected_columns(query, TABLE), UTC)


def test_rows_that_differ_in_their_columns_are_refused() -> None:
    query = Query.model_validate({"fields": [{"fieldCaption": "s"}]})
    with pytest.raises(SourceError, match="other columns"):
        to_table([{"s": "a"}, {"t": "b"}], expected_columns(query, TABLE), UTC)
