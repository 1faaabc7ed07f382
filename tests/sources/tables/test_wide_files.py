"""A wide table is read by as many queries as a narrow one, and understood as its columns are alone."""

from __future__ import annotations

from datetime import date
from typing import Any
from unittest.mock import patch

import duckdb
import ibis
import pyarrow as pa
import pytest

from groundplan.asking.tables.grammar import read
from groundplan.contracts.schema import Column, Table
from groundplan.sources.tables.engine.handle import handle_on
from groundplan.sources.tables.files.text_values import convert_text
from groundplan.sources.tables.schema.statistics import statistics

KINDS: dict[str, list[str | None]] = {
    "money": ["€1,234.50", "n/a", "-€2.50", None],
    "weight": ["1.2 kg", "10 kg", "-", "3kg"],
    "either": ["1,234", "2,345", "3,456", "4,567"],
    "mixed": ["€ 1.50", "$ 2.50", "1.50", "7%"],
    "phone": ["601 234 567", "602 234 567", "603 234 567", "604 234 567"],
    "dotted": ["31.12.2025", "1.2.2025 10:30", "?", "3.4.2025"],
    "american": ["12/31/2025", "1/2/2025", None, "3/4/2025"],
    "unclear": ["01/02/2025", "02/03/2025", "03/04/2025", "04/05/2025"],
    "named": ["Jan 5, 2020", "5 января 2020", "", "Feb 30, 2020"],
    "marks": ["West", "N/A", "-", "East"],
    "only marks": ["N/A", "N/A", "-", "-"],
    "spellings": ["north", "North", "north ", "north"],
    "nothing": [None, None, None, None],
    "text": ["x" * 100, "", "a,b", 'a"b'],
}


class Counting:
    """A connection that counts its statements."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self.connection, self.statements = duckdb.connect(), 0
        self.connection.register("given", pa.table({name: pa.array(of, pa.string()) for name, of in columns.items()}))
        self.connection.execute("CREATE TABLE t AS FROM given")

    def execute(self, sql: str) -> Any:
        self.statements += 1
        return self.connection.execute(sql)

    def converted(self) -> dict[str, tuple[str, str | None, list[Any]]]:
        """The type, the note and the values of each column."""
        notes: dict[str, str] = convert_text(self, "t")  # type: ignore[arg-type]
        types = {name: type_ for name, type_, *_ in self.connection.execute("DESCRIBE t").fetchall()}
        values = zip(*self.connection.execute("FROM t").fetchall(), strict=True)
        return {name: (types[name], notes.get(name), [*of]) for name, of in zip(types, values, strict=True)}


def test_columns_beside_each_other_are_read_as_each_of_them_alone() -> None:
    alone = {kind: Counting({kind: values}).converted()[kind] for kind, values in KINDS.items() if kind != "either"}
    beside = Counting({f"{kind} {number}": values for number in range(150) for kind, values in KINDS.items()})
    for name, found in beside.converted().items():
        kind = name.rpartition(" ")[0]
        if kind != "either":  # which is read as the others of the table are
            assert found == alone[kind], name


@pytest.mark.parametrize("kind", KINDS)
def test_a_wide_table_takes_no_more_statements_than_a_narrow_one(kind: str) -> None:
    few, many = ({f"a{n}": KINDS[kind] for n in range(size)} for size in (1, 1_998))
    narrow, wide = Counting(few), Counting(many)
    narrow.converted()
    wide.converted()
    assert wide.statements <= narrow.statements


def test_a_name_may_look_like_what_is_made_on_the_way() -> None:
    columns = dict.fromkeys(("list 0", "List 1", "place", "v", "is_mark", "is_missing"), KINDS["weight"])
    assert [type_ for type_, _, _ in Counting(columns).converted().values()] == ["DOUBLE"] * len(columns)


@pytest.mark.parametrize("rows", [0, 1, 30])
def test_statistics_of_a_wide_table_are_those_of_its_columns_in_few_queries(rows: int) -> None:
    kinds = {
        "text": "CASE WHEN n % 3 = 0 THEN ' a' WHEN n % 3 = 1 THEN '2024-01-0' || n % 7 END",
        "whole": "n % 5",
        "small": "(n % 5)::TINYINT",
        "real": "CASE n % 4 WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN 'inf'::DOUBLE WHEN 2 THEN -0.0 END",
        "day": "DATE '2024-01-01' + n::INTEGER",
        "moment": "TIMESTAMP '2024-01-01 10:30:00' + to_hours(n)",
        "zoned": "TIMESTAMPTZ '2024-01-01 10:30:00' + to_hours(n)",
        "flag": "n % 2 = 0",
        "money": "(n * 1.5)::DECIMAL(9, 2)",
        "list": "[n]",
    }
    connection = ibis.duckdb.connect()
    made = {f"{kind} {number}": sql for number in range(12) for kind, sql in kinds.items()}
    listed = ", ".join(f'{sql} AS "{name}"' for name, sql in made.items())
    connection.raw_sql(f"CREATE TABLE t AS SELECT {listed} FROM range({rows}) AS given(n)")
    asked: list[ibis.Table] = []

    def ask(table: ibis.Table) -> list[dict[str, Any]]:
        asked.append(table)
        found: list[dict[str, Any]] = table.to_pyarrow().to_pylist()
        return found

    table = connection.table("t")
    wide = statistics(handle_on(table), rows, ask)
    assert len(asked) <= 12
    alone: dict[str, Any] = {}
    for name in made:
        alone |= statistics(handle_on(table.select(name)), 1, ask) if rows else {}
    assert {name: repr(wide[name]) for name in alone} == {name: repr(found) for name, found in alone.items()}
    if not rows:
        assert wide["day 3"] == {"values": 0, "distinct": 0, "least": None, "greatest": None}


def test_a_question_is_read_by_few_of_a_thousand_dates() -> None:
    columns = tuple(
        Column(name=f"c{n}", type="date", kind="time", role="temporal", cardinality=20, nulls=0) for n in range(1_000)
    )
    with patch.object(read, "senses_of", wraps=read.senses_of) as senses:
        found = read.derive("how many rows", Table(name="t", columns=columns, row_count=20), {}, today=date(2026, 1, 1))
    assert found.reading is not None
    assert senses.call_count <= 50
