"""Generated schemas of several tables with their rows, and readings over them.

Tables `table0`, `table1`, … point only at later ones, so that every shape occurs: stars, snowflakes, chains, two
relationships between the same tables, tables between two others (many to many). Keys have one or two columns;
pointers are missing or point at no row now and then.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Any, get_args

from groundplan.contracts import expression as e
from groundplan.contracts.join_paths import Path, name_of, paths_between
from groundplan.contracts.reading import (
    ColumnsAsked,
    Each,
    EachMeasure,
    Evidence,
    Filter,
    GroupBy,
    Metric,
    OutputAsked,
    Reading,
    Requirement,
)
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Column, SourceSchema, Table

TYPES = {"g": "TEXT", "x": "BIGINT", "d": "DATE"}
KINDS: dict[str, Any] = {"g": "text", "x": "number", "d": "time"}
DAYS = [date(2024, 1, 31), date(2024, 2, 1), date(2025, 2, 1)]
TEXTS = ["a", "b", "c", None]


@dataclass(frozen=True)
class Warehouse:
    schema: SourceSchema
    types: dict[str, dict[str, str]]  # of the columns of each table
    rows: dict[str, list[tuple[Any, ...]]]


def warehouse(random: Random) -> Warehouse:
    size = random.randint(2, 5)
    wide = [random.random() < 0.25 for _ in range(size)]  # keys of two columns
    links = [link for place in range(size) for link in _links(random, place, size, wide)]
    types = {f"table{place}": _types(place, wide[place], links) for place in range(size)}
    counts = [random.choice((0, 3, 5, 12)) if place else random.choice((0, 8, 25)) for place in range(size)]
    keys = {f"table{place}": _keys(counts[place], wide[place]) for place in range(size)}
    rows = {table: [_row(random, table, key, types[table], links, keys) for key in keys[table]] for table in types}
    tables = tuple(_table(name, columns, wide[place]) for place, (name, columns) in enumerate(types.items()))
    schema = SourceSchema(source="tables", engine="duckdb", tables=tables, relationships=tuple(links))
    return Warehouse(schema, types, rows)


def _links(random: Random, place: int, size: int, wide: list[bool]) -> list[Relationship]:
    later = [random.randint(place + 1, size - 1) for _ in range(random.randint(1, 3))] if place < size - 1 else []
    return [
        Relationship(
            table=f"table{place}",
            columns=(f"p{number}a", f"p{number}b") if wide[to] else (f"p{number}",),
            to_table=f"table{to}",
            to_columns=("k", "l") if wide[to] else ("k",),
            known="declared",
        )
        for number, to in enumerate(later)
    ]


def _types(place: int, wide: bool, links: list[Relationship]) -> dict[str, str]:
    keys = {"k": "BIGINT", **({"l": "TEXT"} if wide else {})}
    pointers: dict[str, str] = {}
    for link in links:
        if link.table == f"table{place}":
            pointers |= dict(zip(link.columns, ("BIGINT", "TEXT"), strict=False))
    return {**keys, **pointers, **TYPES}


def _keys(count: int, wide: bool) -> list[tuple[Any, ...]]:
    return [(number // 2, "uv"[number % 2]) if wide else (number,) for number in range(count)]


def _row(
    random: Random,
    table: str,
    key: tuple[Any, ...],
    types: dict[str, str],
    links: list[Relationship],
    keys: dict[str, list[tuple[Any, ...]]],
) -> tuple[Any, ...]:
    row: dict[str, Any] = dict(zip(("k", "l"), key, strict=False))
    for link in (link for link in links if link.table == table):
        known = keys[link.to_table]
        missing = random.random() < 0.1
        orphan = random.random() < 0.1 or not known
        to = (999, "u") if orphan else random.choice(known)
        row |= dict.fromkeys(link.columns) if missing else dict(zip(link.columns, to, strict=False))
    row |= {
        "g": random.choice(TEXTS),
        "x": random.choice((None, *range(-3, 9))),
        "d": random.choice((None, *DAYS)),
    }
    return tuple(row[name] for name in types)


def _table(name: str, types: dict[str, str], wide: bool) -> Table:
    kinds = {"BIGINT": "number", "TEXT": "text", "DATE": "time"}
    columns = tuple(
        Column.model_validate({"name": column, "type": type_, "kind": kinds[type_], "role": "dimension"})
        for column, type_ in types.items()
    )
    return Table(name=name, columns=columns, keys=(("k", "l") if wide else ("k",),))


@dataclass
class Asking:
    """Readings over one warehouse; now and then one does not say which of several paths it means."""

    random: Random
    schema: SourceSchema

    def reading(self) -> Reading:
        table = self.random.choice(self.schema.tables).name
        found: list[tuple[str, Any]] = []
        if self.random.random() < 0.2:
            names = ["k", "g"]
            values = dict.fromkeys(self.value(table) for _ in range(self.random.randint(1, 2)))
            shown = [EachMeasure(name=f"c{n}", expression=value) for n, value in enumerate(values)]
            asked = ColumnsAsked(columns=(*names, *(one.name for one in shown)), computed=tuple(shown))
            found.append(("columns:shown", asked))
        elif self.random.random() < 0.15:
            keys = tuple(EachMeasure(name=f"key {n}", expression=self.group(table)) for n in range(2))
            own = (EachMeasure(name="own", expression=self.measure(table, 1)),)
            found.append(("each:thing", Each(keys=("key 0", "key 1"), measures=own, computed=keys)))
            function = self.random.choice(("sum", "mean", "max", "count"))
            measure = e.Aggregate(function=function, of=e.Column(name="own"))
            if self.random.random() < 0.5:
                found.append(("group_by:0", GroupBy(column="key 0")))
            found.append(("metric:0", Metric(name="measure 0", expression=measure)))
        else:
            groups = dict.fromkeys(self.group(table) for _ in range(self.random.randint(0, 2)))
            found += [(f"group_by:{n}", GroupBy(column=f"group {n}", expression=g)) for n, g in enumerate(groups)]
            measures = dict.fromkeys(self.measure(table, 2) for _ in range(self.random.randint(1, 2)))
            pointing = self.pointing(table)
            if len(pointing) > 1 and self.random.random() < 0.3:  # measures of two tables side by side
                measures = {self.side(*pair): None for pair in self.random.sample(pointing, 2)}
            if self.random.random() < 0.2:
                first = self.measure(table, 1) if self.random.random() < 0.7 else self.overall()
                measures[e.Arithmetic(operator="/", left=first, right=self.overall())] = None
            found += [(f"metric:{n}", Metric(name=f"measure {n}", expression=m)) for n, m in enumerate(measures)]
        found += [(f"filter:{n}", Filter(condition=self.condition(table, 2))) for n in range(self.random.randint(0, 2))]
        found.append(("output:table", OutputAsked(label="table")))
        made = tuple(Requirement(id=id_, value=value, evidence=Evidence(text="asked")) for id_, value in found)
        tables = (table, *(other.name for other in self.schema.tables if other.name != table))
        return Reading(question="asked", tables=tables, requirements=made)

    def column(self, table: str, name: str) -> e.Column:
        """Of the table itself, or of one that it points at."""
        reached = [
            (other.name, paths)
            for other in self.schema.tables
            if (paths := paths_between(self.schema.relationships, table, other.name))
        ]
        if not reached or self.random.random() < 0.4:
            return e.Column(name=name)
        other, paths = self.random.choice(reached)
        unsaid = len(paths) == 1 or self.random.random() < 0.03
        return e.Column(table=other, name=name, via=None if unsaid else name_of(self.random.choice(paths)))

    def value(self, table: str) -> e.Expression:
        return self.number(table) if self.random.random() < 0.5 else self.column(table, self.random.choice("gd"))

    def overall(self) -> e.Overall:
        """Of the rows of any table."""
        other = self.random.choice(self.schema.tables).name
        where = self.condition(other, 0) if self.random.random() < 0.5 else None
        return e.Overall(table=other, of=self.measure(other, 0), where=where)

    def number(self, table: str, deep: int = 1) -> e.Expression:
        if deep and self.random.random() < 0.1:
            return e.Arithmetic(operator="-", left=self.column(table, "x"), right=self.overall())
        pointing = self.pointing(table)
        if not pointing or not deep or self.random.random() < 0.6:
            return self.column(table, "x")
        other, paths = self.random.choice(pointing)
        via = None if len(paths) == 1 else name_of(self.random.choice(paths))
        return e.Related(table=other, via=via, of=self.measure(other, deep - 1))

    def pointing(self, table: str) -> list[tuple[str, tuple[Path, ...]]]:
        """The tables whose rows point at rows of this one, with the paths."""
        return [
            (other.name, paths)
            for other in self.schema.tables
            if (paths := paths_between(self.schema.relationships, other.name, table))
        ]

    def side(self, other: str, paths: tuple[Path, ...]) -> e.Expression:
        """The rows of a table, or the sum of their own numbers, over those that point at a row."""
        measure: e.Expression = e.Rows()
        if self.random.random() < 0.5:
            measure = e.Aggregate(function="sum", of=e.Column(name="x"))
        via = None if len(paths) == 1 else name_of(self.random.choice(paths))
        return e.Aggregate(function="sum", of=e.Related(table=other, via=via, of=measure))

    def group(self, table: str) -> e.Expression:
        if self.random.random() < 0.3:
            return e.DateCut(of=self.column(table, "d"), grain=self.random.choice(("month", "year")))
        return self.column(table, "g")

    def measure(self, table: str, deep: int) -> e.Expression:
        where = self.condition(table, deep - 1) if self.random.random() < 0.2 else None
        if self.random.random() < 0.3:
            return e.Rows(where=where)
        function = self.random.choice(("sum", "mean", "min", "max", "count", "count_distinct"))
        return e.Aggregate(function=function, of=self.number(table, min(deep, 1)), where=where)

    def found_group(self, table: str, other: str, name: str, where: e.Condition | None) -> e.Condition:
        """Groups of the rows of another table by a column of their own or of a table that they point at."""
        keys = (self.column(other, name), *([e.Column(name="d")] if self.random.random() < 0.3 else []))
        least = e.Compare(left=self.measure(other, 0), operator=">", right=e.Constant(value=1))
        order: tuple[e.Sort, ...] = ()
        limit, ties = self.random.choice((None, 1, 2)), "cut"
        if limit is not None:
            first = self.random.choice((e.Rows(), e.Aggregate(function="max", of=e.Column(name="x"))))
            ties = self.random.choice(("cut", *get_args(e.Ties)))
            by = (first, *(keys if limit > 1 and ties == "cut" else ()))
            order = tuple(e.Sort(by=one, direction=self.random.choice(("top", "bottom"))) for one in by)
        having = least if limit is None or self.random.random() < 0.3 else None
        of = self.column(table, name)
        chosen = {"having": having, "order": order, "limit": limit, "ties": ties}
        return e.FoundGroup(of=of, table=other, keys=keys, where=where, **chosen)

    def condition(self, table: str, deep: int) -> e.Condition:
        match self.random.randint(0, 6):
            case 6 if deep > 0:
                other, name = self.random.choice(self.schema.tables).name, self.random.choice("gx")
                where = self.condition(other, 0) if self.random.random() < 0.5 else None
                if self.random.random() < 0.5:
                    return self.found_group(table, other, name, where)
                return e.Found(of=self.column(table, name), table=other, column=name, where=where)
            case 0:
                return e.Missing(of=self.column(table, "g"))
            case 1:
                return e.OneOf(of=self.column(table, "g"), values=("a", "b"))
            case 2:
                return e.Compare(
                    left=self.column(table, "d"), operator=">=", right=e.Constant(value=DAYS[1].isoformat())
                )
            case 3 if deep > 0:
                parts = (self.condition(table, deep - 1), self.condition(table, deep - 1))
                return self.random.choice((e.All, e.AnyOf))(parts=parts)
            case 4 if deep > 0:
                return e.Not(part=self.condition(table, deep - 1))
            case _:
                operator = self.random.choice(("=", ">", "<="))
                return e.Compare(
                    left=self.number(table, max(deep, 0) and 1), operator=operator, right=e.Constant(value=1)
                )
