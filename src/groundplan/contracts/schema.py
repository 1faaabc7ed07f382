"""The schema of a source, as returned by `describe`: names, kinds and keys, but no rows."""

from __future__ import annotations

import hashlib

from groundplan.contracts.columns import ColumnKind, Meaning, Role
from groundplan.contracts.contract import Contract, Name, Scalar, Text
from groundplan.contracts.knowledge import KnowledgeSchema


class ValueSynonyms(Contract):
    """A value and its synonyms."""

    value: Text
    words: tuple[Text, ...]


class Column(Contract):
    name: Name
    type: str  # the engine's type name, for display
    kind: ColumnKind
    role: Role
    description: Text = ""
    note: Text = ""  # what loading changed: the name, or how the values are written
    meaning: Meaning | None = None  # given by a person, or inferred
    synonyms: tuple[Text, ...] = ()  # other names, given by a person
    unit: str | None = None
    same_for_each: Name | None = None  # the column of a thing that has several rows, each of which repeats this value
    cardinality: int | None = None
    nulls: int | None = None
    least: Scalar = None  # the range of a number or a time
    greatest: Scalar = None
    verbs: tuple[Text, ...] = ()  # of a time: verbs for the event, such as `created`
    called: tuple[ValueSynonyms, ...] = ()  # synonyms of its values


class Table(Contract):
    name: Name
    columns: tuple[Column, ...]
    row_count: int | None = None
    keys: tuple[tuple[Name, ...], ...] = ()  # sets of columns that identify a row
    main_date: Name | None = None  # when the events of the rows happened, where no other date is named
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
    knowledge: KnowledgeSchema | None = None  # for a knowledge base

    def find(self, table: str) -> Table | None:
        return next((item for item in self.tables if item.name == table), None)

    @property
    def hash(self) -> str:
        """A hash of tables, columns, types, relations and intents. New rows or nodes do not change it."""
        shape = [(t.name, [(c.name, c.type) for c in t.columns]) for t in self.tables]
        described = self.knowledge.model_dump_json() if self.knowledge else ""
        return hashlib.sha256(repr((self.source, shape, described)).encode()).hexdigest()[:16]
