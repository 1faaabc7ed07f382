"""Text and numbers read as dates, and the grain that is chosen when none is named."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from tests.questions.notation import value
from tests.sources.tables.tooling import call, made, rows

from groundplan.errors import ToolError
from groundplan.sources.tables.engine.handle import Handle
from groundplan.sources.tables.source import Tables

pytestmark = pytest.mark.requirement("R45", part="tools")


def frame(values: list[Any]) -> Tables:
    return Tables.open({"given": pa.table({"when": values, "value": list(range(len(values)))})})


def read(values: list[Any], format_: str = "auto") -> list[Any]:
    source = frame(values)
    parsed = made(source, "parse_datetime", {"column": "when", "format": format_}, "given")
    assert parsed.kind("when") == "time"
    return [row["when"] for row in rows(source, parsed, order_by=["value"])]


@pytest.mark.parametrize(
    ("values", "format_", "wanted"),
    [
        (["2024-02-29", None, " 2024-03-01"], "auto", ["2024-02-29", None, "2024-03-01"]),
        (["2024-02-29T10:15:00", "2024-02-29"], "auto", ["2024-02-29T10:15:00", "2024-02-29T00:00:00"]),
        (["2024-02-29T10:15:00+03:00", "2024-01-01T00:00:00Z"], "auto", ["2024-02-29T07:15:00", "2024-01-01T00:00:00"]),
        (["2024-02", "2023-12"], "auto", ["2024-02-01", "2023-12-01"]),
        (["31.12.2024", "01.02.2024"], "auto", ["2024-12-31", "2024-02-01"]),
        (["12/31/2024", "01/02/2024"], "auto", ["2024-12-31", "2024-01-02"]),
        (["31/12/2024", "01/02/2024"], "auto", ["2024-12-31", "2024-02-01"]),
        (["01/02/2024"], "MM/DD/YYYY", ["2024-01-02"]),
        ([20240131, 20231231], "auto", ["2024-01-31", "2023-12-31"]),
        ([2023, 2024], "auto", ["2023-01-01", "2024-01-01"]),
        ([1704067200, 1704070800], "auto", ["2024-01-01T00:00:00", "2024-01-01T01:00:00"]),
        ([1704067200000], "unix_milliseconds", ["2024-01-01T00:00:00"]),
    ],
)
def test_dates_are_read_in_the_form_they_have(values: list[Any], format_: str, wanted: list[Any]) -> None:
    assert read(values, format_) == wanted


def test_the_same_text_is_read_on_every_engine(source: Tables) -> None:
    parsed = rows(source, made(source, "parse_datetime", {"column": "day_text"}))
    assert all(row["day_text"] == row["day"] for row in parsed)


@pytest.mark.parametrize(
    ("written", "form", "first"),
    [
        ("joined(day_text, ' 10:15:00')", "auto", "2024-01-01T10:15:00"),
        ("joined(day_text, 'T10:15:00+03:00')", "auto", "2024-01-01T07:15:00"),
        ("joined(day_text, 'T10:15:00-05:30')", "auto", "2024-01-01T15:45:00"),
        ("joined(day_text, 'T10:15:00.5Z')", "auto", "2024-01-01T10:15:00.500000"),
        ("joined('29.', '02.', '2024')", "auto", "2024-02-29"),
        ("joined('02/29/', '2024')", "auto", "2024-02-29"),
        ("joined('01/02/', '2024')", "DD/MM/YYYY", "2024-02-01"),
        ("joined('2024', '-02')", "auto", "2024-02-01"),
        ("20240229 + id * 0", "auto", "2024-02-29"),
        ("2024 + id * 0", "auto", "2024-01-01"),
        ("1704067200 + id", "auto", "2024-01-01T00:00:00"),
        ("1704067200123 + id * 1000", "auto", "2024-01-01T00:00:00.123000"),
    ],
)
def test_every_form_is_read_on_every_engine(source: Tables, written: str, form: str, first: str) -> None:
    expression = value(written).model_dump(mode="json")
    derived = made(source, "derive_column", {"expression": expression, "as": "given"})
    parsed = made(source, "parse_datetime", {"column": "given", "format": form}, derived)
    found = rows(source, made(source, "select_columns", {"columns": ["id", "given"]}, parsed), order_by=["id"])
    assert found[0]["given"] == first
    assert all(row["given"] is not None for row in found)
    if "+ id" in written and "* 0" not in written:
        begin = datetime.fromisoformat(first)
        assert [row["given"] for row in found] == [(begin + timedelta(seconds=n)).isoformat() for n in range(600)]


def test_day_or_month_first_is_asked_and_never_guessed() -> None:
    with pytest.raises(ToolError, match="give the format: DD/MM/YYYY or MM/DD/YYYY"):
        read(["01/02/2024", "03/04/2024"])


def test_text_that_is_no_date_is_counted_as_a_fact() -> None:
    source = frame(["2024-01-01", "soon", "2024-13-01", None])
    result = call(source, "parse_datetime", {"column": "when"}, "given")
    assert [(item.kind, item.value) for item in result.facts.items] == [("unread", 2)]


def test_a_column_without_a_single_date_is_refused() -> None:
    for values in (["soon", "later"], ["2024-01-01T10:15+03:00"], ["2024-01-01T10:15:00+0300"]):
        with pytest.raises(ToolError, match="have no known date format"):
            read(values)
    with pytest.raises(ToolError, match=r"no value of column 'when' is written as DD\.MM\.YYYY"):
        read(["2024-01-01"], "DD.MM.YYYY")


def every(days: int, step: int = 1) -> list[date]:
    return [date(2024, 1, 1) + timedelta(days=number) for number in range(0, days + 1, step)]


@pytest.mark.requirement("R26")
@pytest.mark.parametrize(
    ("values", "grain"),
    [
        (every(89), "day"),
        (every(90), "week"),
        (every(365), "week"),
        (every(366), "month"),
        (every(730, step=30), "day"),  # 25 points: few enough to read as they are
        (every(9 * 365, step=7), "quarter"),
        (every(30 * 365, step=30), "year"),
        ([datetime(2024, 1, 1) + timedelta(minutes=30 * number) for number in range(97)], "hour"),
        ([datetime(2024, 1, 1) + timedelta(hours=number) for number in range(24 * 5)], "day"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)} points",
)
def test_the_span_and_the_density_choose_the_grain(values: list[Any], grain: str) -> None:
    source = frame(values)
    params = {"group_by": ["when"], "grain": "auto", "metrics": [{"function": "count", "as": "n"}]}
    result = call(source, "aggregate", params, "given")
    assert isinstance(result.handle, Handle)
    assert result.handle.columns[0].grain == grain
    assert [(item.kind, item.title, item.value) for item in result.facts.items] == [("grain", "time grain", grain)]
    assert sum(row["n"] for row in rows(source, result.handle)) == len(values)


@pytest.mark.requirement("R26")
def test_the_chosen_grain_says_why(source: Tables) -> None:
    params = {"group_by": ["day"], "grain": "auto", "metrics": [{"function": "count", "as": "n"}]}
    told = call(source, "aggregate", params).facts.items[0]
    assert (told.value, told.text) == ("month", "400 days from 2024-01-01 to 2025-02-03")


@pytest.mark.requirement("R26")
def test_a_named_grain_is_taken_and_nothing_is_asked(duckdb_source: Tables) -> None:
    params = {"group_by": ["day"], "grain": "year", "metrics": [{"function": "count", "as": "n"}]}
    result = call(duckdb_source, "aggregate", params)
    assert result.facts.items == ()
    assert result.facts.table is not None
    assert result.facts.table.columns[0].grain == "year"
