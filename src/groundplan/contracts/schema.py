"""What a source holds, as `describe` tells it: names, kinds and keys, never rows."""

from __future__ import annotations

import hashlib

from groundplan.contracts.columns import ColumnKind, Role
from groundplan.contracts.contract import Contract, Name, Scalar, Text
from groundplan.contracts.knowledge import KnowledgeSchema


class Called(Contract):
    """A value, and the words that people have for it."""

    value: Text
    words: tuple[Text, ...]


class Column(Contract):
    name: Name
    type: str  # the engine's own word, for people
    kind: ColumnKind
    role: Role
    description: Text = ""
    unit: str | None = None
    cardinality: int | None = None
    nulls: int | None = None
    least: Scalar = None  # the span of a number or a time
    greatest: Scalar = None
    verbs: tuple[Text, ...] = ()  # of a time: what happened then, as people say it
    called: tuple[Called, ...] = ()  # its values, where people have other words for them


class Table(Contract):
    name: Name
    columns: tuple[Column, ...]
    row_count: int | None = None
    keys: tuple[tuple[Name, ...], ...] = ()  # sets of columns that identify a row
    description: Text = ""

    def find(self, column: str) -> Column | None:
        return next((item for item in self.columns if item.name == column), None)


class Relationship(Contract):
    """`table.column` points at the key `to_table.to_column`."""

    table: Name
    column: Name
    to_table: Name
    to_column: Name


class SourceSchema(Contract):
    source: Name
    engine: str
    tables: tuple[Table, ...]
    relationships: tuple[Relationship, ...] = ()
    knowledge: KnowledgeSchema | None = None  # of a source that is a knowledge base

    def find(self, table: str) -> Table | None:
        return next((item for item in self.tables if item.name == table), None)

    @property
    def hash(self) -> str:
        """Changes when a table, a column or a type does, or a relation or an intent; new rows or nodes leave it."""
        shape = [(t.name, [(c.name, c.type) for c in t.columns]) for t in self.tables]
        described = self.knowledge.model_dump_json() if self.knowledge else ""
        return hashlib.sha256(repr((self.source, shape, described)).encode()).hexdigest()[:16]
