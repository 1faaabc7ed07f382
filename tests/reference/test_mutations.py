"""The gate passes no plan that was made for something else: not another reading's, not its own with one change."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from ibis.common.exceptions import IbisError

from groundplan.asking.tables.plan import propose
from groundplan.checking.gate import check
from groundplan.contracts.expression import Constant, OneOf, walk
from groundplan.contracts.meaning import Meaning, meaning_of
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import ColumnsAsked, Rank, Reading
from groundplan.contracts.schema import Column, SourceSchema, Table
from groundplan.contracts.verdict import Passed
from groundplan.errors import GroundplanError
from groundplan.project import load_catalog
from tests.questions.notation import reading
from tests.reference.executing import COLUMNS, SCHEMA, Store, duckdb_store
from tests.reference.generating import TEXTS, readings
from tests.reference.mutating import mutations, reciting

QUESTIONS = Path(__file__).parents[1] / "questions"
WRITTEN: Mapping[str, Any] = yaml.safe_load((QUESTIONS / "readings.yaml").read_text(encoding="utf-8"))
SCHEMAS: Mapping[str, Mapping[str, Any]] = yaml.safe_load((QUESTIONS / "schemas.yaml").read_text(encoding="utf-8"))
CATALOG = load_catalog()
TYPES = {"number": "DOUBLE PRECISION", "text": "TEXT", "boolean": "BOOLEAN", "time": "TIMESTAMP"}
OTHERS = 20
Asked = tuple[str, Reading, SourceSchema]


def written() -> list[Asked]:
    """The readings of real questions."""
    found = []
    for id_, given_ in WRITTEN.items():
        name = id_.rsplit("-", 1)[0]
        if "inexpressible" not in given_:
            found.append((id_, reading(id_, name, given_), _schema(name, SCHEMAS[name])))
    return found


def generated(count: int) -> list[Asked]:
    found: list[Asked] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(readings())
    def collect(one: Reading) -> None:
        found.append((f"generated {len(found)}", one, SCHEMA))

    collect()
    return found


@pytest.mark.requirement("R69", part="normal form of expressions")
def test_no_plan_of_another_reading_or_with_one_change_passes() -> None:
    """A part of what the slow test proves."""
    some = random.Random(1).sample(written(), 12)
    assert_none_passes([*some, *generated(16)], random.Random(2), most=20)


@pytest.mark.slow
@pytest.mark.requirement("R69", part="normal form of expressions")
def test_none_of_many_passes() -> None:
    assert_none_passes([*written(), *generated(300)], random.Random(3), most=None)


def assert_none_passes(asked: Sequence[Asked], chance: random.Random, most: int | None) -> None:
    wrong: list[str] = []
    for name, one, schema in asked:
        same = [other for other in asked if other[2] == schema and other[0] != name]
        for other, theirs, _ in chance.sample(same, min(OTHERS, len(same))):
            plan = reciting(propose(theirs, schema), [r.id for r in one.requirements])
            if _passes(plan, one, schema) and not _serves(meaning_of(one), meaning_of(theirs)):
                wrong.append(f"{name}: the plan of {other}")
        wrong += [f"{name}: {what}" for what in _wrongly_passed(one, schema, chance, most)]
    assert wrong == []


def _wrongly_passed(one: Reading, schema: SourceSchema, chance: random.Random, most: int | None) -> Iterator[str]:
    """The changes that pass the gate and give other rows."""
    plan = propose(one, schema)
    changed = [*mutations(plan, schema.tables[0], CATALOG)]
    passed = [
        (what, other)
        for what, other in (changed if most is None else chance.sample(changed, min(most, len(changed))))
        if _passes(other, one, schema)
    ]
    if not passed:
        return
    store = _store(schema)
    in_order = any(isinstance(r.value, Rank) and not r.value.within for r in one.requirements)
    tables = [[*_rows(schema, one, chance, size)] for size in (200, 30, 5)]
    wanted = next((r.value.columns for r in one.requirements if isinstance(r.value, ColumnsAsked)), None)
    before = [_shown(store, plan, rows) for rows in tables]
    for what, other in passed:
        after = [_shown(store, other, rows) for rows in tables]
        if not all(_same(known, made, wanted, in_order) for known, made in zip(before, after, strict=True)):
            yield what


def _passes(plan: Plan, asked: Reading, schema: SourceSchema) -> bool:
    return isinstance(check(plan, asked, CATALOG, {"tables": schema}), Passed)


def _serves(asked: Meaning, done: Meaning) -> bool:
    """Whether they are the same but for what nobody asked: an order of what is all shown, and parts of measures."""
    known = {part for measure in asked.measures for part in walk(measure)}
    free = {"order": None, "then": (), "order_shown": True, "measures": frozenset()}
    return (
        {**vars(asked), **free} == {**vars(done), **free}
        and asked.sorting in ((), done.sorting[: len(asked.sorting)] if asked.limit is None else done.sorting)
        and asked.measures <= done.measures <= known | asked.measures
    )


def _shown(store: Store, plan: Plan, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | str:
    try:
        return store.run(plan, CATALOG, rows)
    except (GroundplanError, IbisError) as error:
        return str(error)


def _same(
    known: list[dict[str, Any]] | str, made: list[dict[str, Any]] | str, wanted: Sequence[str] | None, in_order: bool
) -> bool:
    """Whether the columns that were asked for are the same; parts of measures may be shown beside them.

    A plan that stops with an error shows nothing, so nothing wrong.
    """
    if isinstance(known, str) or isinstance(made, str):
        return isinstance(made, str)
    names = wanted or [name for name in (known[0] if known else ()) if not made or name in made[0]]
    rows = [[[_plain(row.get(name)) for name in names] for row in table] for table in (known, made)]
    first, second = rows if in_order else (sorted(table, key=repr) for table in rows)
    return first == second


def _plain(value: Any) -> Any:
    """Without what the order of rows adds to a double; NaN equals nothing, so it becomes None."""
    return (None if math.isnan(value) else round(value, 6)) if isinstance(value, float) else value


_STORES: dict[str, Store] = {}


def _store(schema: SourceSchema) -> Store:
    table = schema.tables[0]
    if table.name not in _STORES:
        types = COLUMNS if schema is SCHEMA else {column.name: TYPES[column.kind] for column in table.columns}
        _STORES[table.name] = duckdb_store(types)
    return _STORES[table.name]


def _schema(name: str, kinds: Mapping[str, Any]) -> SourceSchema:
    columns = tuple(Column(name=column, type=kind, kind=kind, role="dimension") for column, kind in kinds.items())
    return SourceSchema(source="tables", engine="duckdb", tables=(Table(name=name, columns=columns),))


def _rows(schema: SourceSchema, asked: Reading, chance: random.Random, size: int) -> Iterator[dict[str, Any]]:
    """Rows whose values are those that the reading speaks of, and their neighbours."""
    pools = _pools(asked)
    for _ in range(size):
        yield {
            column.name: None if chance.random() < 0.1 else chance.choice(pools[column.kind])
            for column in schema.tables[0].columns
        }


def _pools(asked: Reading) -> dict[str, list[Any]]:
    pools: dict[str, list[Any]] = {
        "text": [*TEXTS],
        "number": [0, 1, 2, 3.5, 10, 100],
        "boolean": [True, False],
        "time": [datetime(2024, 1, 1), datetime(2024, 2, 29, 13, 30), datetime(2025, 3, 1), datetime(2025, 6, 9, 8)],
    }
    for value in _constants(asked):
        if isinstance(value, bool):
            continue
        if isinstance(value, int | float):
            pools["number"] += [value - 1, value, value + 1]
            continue
        try:
            day = date.fromisoformat(value[:10])
            midnight = datetime(day.year, day.month, day.day)
            pools["time"] += [midnight, midnight - timedelta(hours=3), midnight + timedelta(hours=3)]
        except ValueError:
            pools["text"] += [value, f"{value}x"]
    return pools


def _constants(asked: Reading) -> Iterator[Any]:
    for requirement in asked.requirements:
        for node in _nodes(requirement.value):
            for part in walk(node):
                match part:
                    case Constant(value=value):
                        yield value
                    case OneOf(values=values):
                        yield from (value for value in values if value is not None)


def _nodes(value: Any) -> Iterator[Any]:
    yield from (measure.expression for measure in getattr(value, "measures", ()))
    yield from (one.by for one in getattr(value, "then", ()))
    for name in ("expression", "condition", "by"):
        if getattr(value, name, None) is not None:
            yield getattr(value, name)
