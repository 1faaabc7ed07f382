"""What the names of one SELECT stand for, and what is known of the values behind them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from groundplan.asking.tables.sql.names import normal
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.asking.tables.values import Values
from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.expression import (
    Aggregate,
    Alike,
    Arithmetic,
    Cases,
    Change,
    Column,
    Condition,
    Constant,
    Correlation,
    Expression,
    Filled,
    Holds,
    Moving,
    Overall,
    Related,
    Rows,
    Running,
    Share,
    is_count,
    kind_of,
    parts,
)
from groundplan.contracts.join_paths import SEPARATOR, Path, name_of
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Column as Described
from groundplan.contracts.schema import SourceSchema, Table

if TYPE_CHECKING:
    from groundplan.asking.tables.sql.query import Query

MOST_STEPS = 10_000  # expressions read for one statement: names that stand for others could double at each level
MOMENT = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?")
MANY = "@"  # begins the path of a column on the many side of a LEFT JOIN, until its measure is related


@dataclass
class Session:
    """One statement's translation: what is known before it, and what it gathers."""

    schema: SourceSchema
    values: Mapping[str, Values]
    today: date
    value: Callable[[Any, Scope], Expression]
    condition: Callable[[Any, Scope], Condition]
    query: Callable[[Any, Session, Mapping[str, Any]], Query]
    notes: list[str] = field(default_factory=list)
    joins: list[Relationship] = field(default_factory=list)
    along: list[Expression] = field(default_factory=list)  # the groups that series were ordered by
    kept: list[Condition] = field(default_factory=list)  # every condition on rows so far
    steps: int = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Untranslatable("a statement this large", "ask for less in one SELECT")

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    @property
    def links(self) -> tuple[Relationship, ...]:
        return (*self.schema.relationships, *self.joins)

    def adopt(self, link: Relationship) -> Relationship:
        """A relationship that only the statement names; whether the values are contained is checked by the caller."""
        if link not in self.links:
            self.joins.append(link)
            to = f"{link.to_table} has one row for each {', '.join(link.to_columns)}"
            self.note(f"the join {link.text} is not in the schema; {to}")
        return link


@dataclass(frozen=True)
class Output:
    """A column of a SELECT: its expression in SQL with the scope that explains it, or the column of a thing."""

    name: str
    node: Any = None
    scope: Scope | None = None
    expression: Expression | None = None


@dataclass(frozen=True)
class TableSource:
    """A table, reached from the root's rows by `path`; `many`: by the alias on the many side of a LEFT JOIN."""

    table: Table
    path: Path = ()
    optional: bool = False
    many: str | None = None


@dataclass(frozen=True)
class SelectSource:
    """A subquery whose columns are read in its own scope."""

    outputs: Mapping[str, Output]


@dataclass(frozen=True)
class Fact:
    """A value's kind, its column's type in the engine, and whether it may be missing."""

    kind: ColumnKind
    type: str = ""
    nullable: bool = True


@dataclass
class Scope:
    session: Session
    root: Table
    sources: Mapping[str, TableSource | SelectSource]
    own: Mapping[str, Fact] = field(default_factory=dict)  # the measures of things
    using: frozenset[str] = frozenset()
    aliases: Mapping[str, Output] = field(default_factory=dict)
    groups: tuple[Expression, ...] | None = None
    ctes: Mapping[str, Any] = field(default_factory=dict)
    alone: Any = None  # the query that a SELECT without FROM is about: that of a subquery
    kept: tuple[Condition, ...] | None = None  # what its WHERE keeps, where its rows are plain rows of the root

    def value(self, node: Any) -> Expression:
        self.session.step()
        return self.session.value(node, self)

    def condition(self, node: Any) -> Condition:
        self.session.step()
        return self.session.condition(node, self)

    def resolve(self, column: Any) -> Expression | Output:
        """The expression that a column's name stands for; raises Untranslatable."""
        table, name = normal(column.table), normal(column.name)
        if table:
            source = self.sources.get(table)
            if source is None:
                raise Untranslatable("a name from outside the subquery", shown(column))
            found = self._in(table, source, name)
            if found is None:
                raise Untranslatable(f"the column {column.table}.{column.name}", self._near(name))
            return found
        hits = [hit for alias, source in self.sources.items() if (hit := self._in(alias, source, name)) is not None]
        if len(hits) > 1 and name not in self.using:
            raise Untranslatable(f"the column {column.name} without its table", "several tables have it")
        if hits:
            return hits[0]
        if name in self.aliases:
            return self.aliases[name]
        raise Untranslatable(f"the column {column.name}", self._near(name))

    def _near(self, name: str) -> str:
        names = [one.name for source in self.sources.values() if isinstance(source, TableSource)
                 for one in source.table.columns]  # fmt: skip
        names += [one.name for source in self.sources.values() if isinstance(source, SelectSource)
                  for one in source.outputs.values()]  # fmt: skip
        return f"no such column; there are {', '.join(names[:40])}"

    def _in(self, alias: str, source: TableSource | SelectSource, name: str) -> Expression | Output | None:
        if isinstance(source, SelectSource):
            return source.outputs.get(name)
        column = find_column(source.table, name)
        return self._of_table(alias, source, column.name) if column else None

    def _of_table(self, alias: str, source: TableSource, name: str) -> Expression:
        if source.many is not None:
            path = SEPARATOR.join((f"{MANY}{source.many}", *(link.name for link in source.path)))
            return Column(table=source.table.name, name=name, via=path)
        if not source.path:
            return Column(name=name)
        link = source.path[-1]
        if name in link.to_columns and not source.optional:
            own = link.columns[link.to_columns.index(name)]
            before = TableSource(self._table(link.table), source.path[:-1])
            return self._of_table(alias, before, own)
        return Column(table=source.table.name, name=name, via=name_of(source.path))

    def _table(self, name: str) -> Table:
        table = self.session.schema.find(name)
        if table is None:
            raise Untranslatable(f"the table {name}")
        return table

    def described(self, column: Column) -> Described | None:
        """The schema's column; None for a measure of things."""
        if column.table is None:
            return None if column.name in self.own else self.root.find(column.name)
        return self._table(column.table).find(column.name)

    def fact(self, node: Expression) -> Fact:
        """Kind and type of the expression's values."""
        match node:
            case Column(name=name, table=None) if name in self.own:
                return self.own[name]
            case Column():
                column = self.described(node)
                if column is None:
                    return Fact("other")
                optional = node.via is not None and self._is_optional(node.via)
                return Fact(column.kind, column.type.upper(), column.nulls != 0 or optional)
            case Aggregate(function="min" | "max", of=of):
                inner = self.fact(of)
                return Fact(inner.kind, inner.type, self.nullable(node))
            case Filled(of=of):
                inner = self.fact(of)
                return Fact(inner.kind, inner.type, self.nullable(node))
            case Overall(of=of, table=table):
                inner = Scope(self.session, self._table(table or self.root.name), {}).fact(of)
                return Fact(inner.kind, inner.type, not is_count(of))
            case Alike(of=of):
                inner = self.fact(of)
                return Fact(inner.kind, inner.type, not is_count(of))
            case Related(of=of, table=table):
                within = Scope(self.session, self._table(table), {})
                inner = within.fact(of)
                return Fact(inner.kind, inner.type, not is_count(of))
            case _:
                return Fact(kind_of(node, {}), "", self.nullable(node))

    def _is_optional(self, via: str) -> bool:
        if via.startswith(MANY):
            return True
        known = (one for one in self.sources.values() if isinstance(one, TableSource))
        return next((one.optional for one in known if one.path and name_of(one.path) == via), True)

    def nullable(self, node: Expression) -> bool:
        match node:
            case Column():
                return self.fact(node).nullable
            case Constant() | Rows() | Holds():
                return False
            case Aggregate() if is_count(node):
                return False
            case Aggregate(where=None, of=of):
                return not self.groups or self.nullable(of)
            case Share() | Change() | Running() | Moving():
                return True  # a series begins with nothing before it
            case Aggregate() | Correlation() | Related() | Alike() | Overall() | Arithmetic(operator="/"):
                return True
            case Cases(otherwise=otherwise):
                return otherwise is None
            case Filled(otherwise=other):
                return self.nullable(other)
            case _:
                return any(map(self.nullable, parts(node)))  # type: ignore[arg-type]

    def kind(self, node: Expression) -> ColumnKind:
        """The kind of its values; a date as a constant is a text until it meets a date."""
        return self.fact(node).kind

    def is_moment(self, node: Expression) -> bool:
        """Whether it is a date or a time, or a constant that can be one."""
        if isinstance(node, Constant):
            return isinstance(node.value, str) and MOMENT.fullmatch(node.value) is not None
        return self.kind(node) == "time"

    def has_clock(self, node: Expression) -> bool:
        """Whether it is a timestamp, not a day."""
        if isinstance(node, Constant):
            return len(str(node.value)) > len("2025-12-31")
        return "TIMESTAMP" in self.fact(node).type

    def domain(self, node: Expression) -> tuple[str, ...] | None:
        """Every text that the column holds, where all of them are known."""
        if not isinstance(node, Column) or (node.via or "").startswith(MANY):
            return None
        column = self.described(node)
        if column is None or column.kind != "text":
            return None
        listed = self.session.values.get(node.table or self.root.name, {}).get(column.name)
        return listed if listed and column.holds_only(listed) else None

    def is_trimmed(self, node: Expression) -> bool:
        """Whether the column holds no empty text and none with spaces around it."""
        column = self.described(node) if isinstance(node, Column) else None
        return column is not None and column.trimmed


def find_column(table: Table, name: str) -> Described | None:
    """By its normal name; the exact one where several differ only in case."""
    alike = [column for column in table.columns if normal(column.name) == normal(name)]
    exact = [column for column in alike if column.name == name]
    return next(iter((*exact, *alike)), None)


def peeled(node: Any, scope: Scope) -> tuple[Any, Scope]:
    """The expression behind brackets and names of other SELECTs, with the scope that explains it."""
    while True:
        scope.session.step()
        if isinstance(node, exp.Paren | exp.Alias):
            node = node.this
        elif isinstance(node, exp.Column) and isinstance(found := scope.resolve(node), Output) and found.scope:
            node, scope = found.node, found.scope
        else:
            return node, scope


def conjuncts(node: Any) -> Iterator[Any]:
    """The parts that must all hold."""
    if isinstance(node, exp.Paren) and isinstance(node.this, exp.And | exp.Paren):
        yield from conjuncts(node.this)
    elif isinstance(node, exp.And):
        yield from conjuncts(node.this)
        yield from conjuncts(node.expression)
    elif node is not None:
        yield node
