"""A reading written as SQL and translated again means the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date
from typing import TypeVar

import pytest
from hypothesis import Phase, given, settings

from groundplan.asking.tables.sql.parse import Untranslatable, translate
from groundplan.asking.tables.sql.write import sql_of
from groundplan.asking.tables.sql.write_scope import Unwritable
from groundplan.contracts.contract import Contract
from groundplan.contracts.expression import Column, DateCut, Overall, level
from groundplan.contracts.meaning import Meaning, meaning_of
from groundplan.contracts.normal_form import mapped, normal_expression
from groundplan.contracts.reading import Reading
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Column as Described
from groundplan.contracts.schema import SourceSchema, Table
from tests.reference.comparing import ANY_SPEED
from tests.reference.executing import COLUMNS, SCHEMA
from tests.reference.generating import readings

DAYS = frozenset({name for name, type_ in COLUMNS.items() if type_ == "DATE"})
N = TypeVar("N", bound=Contract)


def _typed() -> SourceSchema:
    """The generated table with the types of the engine."""
    (table,) = SCHEMA.tables
    columns = tuple(column.model_copy(update={"type": COLUMNS[column.name]}) for column in table.columns)
    return SCHEMA.model_copy(update={"tables": (table.model_copy(update={"columns": columns}),)})


TYPED = _typed()


def outcome(asked: Reading) -> str:
    """`same`, or why it is written or translated no more; fails where it comes back with another meaning."""
    try:
        sql = sql_of(asked, TYPED)
    except Unwritable as error:
        return f"unwritable: {error}"
    try:
        back = translate(sql, TYPED, {}, today=date(2026, 1, 15), question="asked").reading
    except Untranslatable as error:
        return f"untranslatable: {error.construct}"
    assert _settled(meaning_of(back)) == _settled(meaning_of(asked)), sql
    return "same"


def _settled(meaning: Meaning) -> Meaning:
    """The day of a date is that date; where only overall values are asked for, no condition on rows matters."""
    by = [(_days(node), down) for node, down in meaning.sorting]
    made = replace(
        meaning,
        where=_days(meaning.where) if meaning.where else None,
        having=_days(meaning.having) if meaning.having else None,
        groups=frozenset(map(_days, meaning.groups)),
        measures=frozenset(map(_days, meaning.measures)),
        order=by[0] if by else None,
        then=tuple(by[1:]),
        within=frozenset(map(_days, meaning.within)),
        along=_days(meaning.along) if meaning.along else None,
    )
    whole = not made.groups and made.things is None and made.having is None
    if not whole or not made.measures or any(level(measure) != "row" for measure in made.measures):
        return made
    return replace(made, where=None, measures=frozenset(normal_expression(_of_rows(one)) for one in made.measures))


def _days(node: N) -> N:
    if isinstance(node, DateCut) and node.grain == "day" and isinstance(node.of, Column) and node.of.name in DAYS:
        return node.of  # type: ignore[return-value]
    return mapped(node, _days)  # type: ignore[type-var, return-value, arg-type]


def _of_rows(node: N) -> N:
    """Over all rows of the table, an overall value is the measure itself."""
    if isinstance(node, Overall):
        return node.of if node.table is None else node  # type: ignore[return-value]
    return mapped(node, _of_rows)  # type: ignore[type-var, return-value, arg-type]


def _outcomes(number: int) -> Counter[str]:
    found: Counter[str] = Counter()

    @settings(ANY_SPEED, max_examples=number, phases=[Phase.generate], database=None, derandomize=True)
    @given(asked=readings())
    def each(asked: Reading) -> None:
        found[outcome(asked)] += 1

    each()
    return found


def _assert_few_are_lost(found: Counter[str]) -> None:
    assert sum(found.values()) - found["same"] <= sum(found.values()) * 0.01, found


def test_readings_written_as_sql_and_translated_again_mean_the_same() -> None:
    _assert_few_are_lost(_outcomes(150))


@pytest.mark.slow
def test_thousands_of_readings_written_as_sql_and_translated_again_mean_the_same() -> None:
    _assert_few_are_lost(_outcomes(5_000))


def test_columns_of_two_tables_that_share_a_name_mean_two_things() -> None:
    names = (("k", "number"), ("p", "number"), ("x", "number"))
    columns = tuple(Described(name=name, type="BIGINT", kind=kind, role="dimension") for name, kind in names)
    tables = (Table(name="orders", columns=columns), Table(name="clients", columns=columns, keys=(("k",),)))
    link = Relationship(table="orders", columns=("p",), to_table="clients", to_columns=("k",))
    schema = SourceSchema(source="tables", engine="duckdb", tables=tables, relationships=(link,))
    join = "FROM orders LEFT JOIN clients ON clients.k = orders.p"
    means = [
        meaning_of(translate(f"SELECT AVG({of}) {join}", schema, {}, today=date(2026, 1, 15), question="?").reading)
        for of in ("orders.x", "clients.x")
    ]
    assert means[0] != means[1]
