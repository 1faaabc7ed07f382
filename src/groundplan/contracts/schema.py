"""The schema of a source, as returned by `describe`: names, kinds and keys, but no rows."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from groundplan.contracts.columns import ColumnKind, Function, Meaning, Role
from groundplan.contracts.contract import Contract, Name, Scalar, Text
from groundplan.contracts.defaults import DEFAULTS, Default
from groundplan.contracts.expression import Expression
from groundplan.contracts.knowledge import KnowledgeSchema
from groundplan.contracts.relationship import Relationship


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
    synonyms: tuple[Text, ...] = ()  # other names, from settings or a model file
    unit: str | None = None
    same_for_each: Name | None = None  # the column of a thing that has several rows, each of which repeats this value
    one_for_each: Name | None = None  # the column of ids that it names one to one: a driver's name, by the driver's id
    sampled: bool = False  # of a large table: the next four are estimates from a sample, if they are known at all
    cardinality: int | None = None
    nulls: int | None = None
    trimmed: bool = False  # of a text: no value is empty, or has spaces around it
    least: Scalar = None  # the range of a number or a time
    greatest: Scalar = None
    verbs: tuple[Text, ...] = ()  # of a time: verbs for the event, such as `created`
    called: tuple[ValueSynonyms, ...] = ()  # synonyms of its values
    usual: Function | None = None  # what its publisher takes of it, where a question does not say
    formula: Text = ""  # of a calculated field, in the language of its source: data, never run here
    aggregated: bool = False  # its formula aggregates rows: it has a value for a group, and none for a row

    def holds_only(self, values: Collection[str]) -> bool:
        """True if these are all of its different values."""
        return not self.sampled and self.cardinality == len(values)


class Table(Contract):
    name: Name
    columns: tuple[Column, ...]
    row_count: int | None = None
    keys: tuple[tuple[Name, ...], ...] = ()  # sets of columns that identify a row
    main_date: Name | None = None  # when the events of the rows happened, where no other date is named
    description: Text = ""
    synonyms: tuple[Text, ...] = ()  # of its name, from a model file
    unreadable: Text = ""  # why it has no columns here: it could not be read
    assume: tuple[Default, ...] = DEFAULTS  # what is taken to be meant where a question does not say it

    def find(self, column: str) -> Column | None:
        return next((item for item in self.columns if item.name == column), None)


class NamedMetric(Contract):
    """A measure that a model file defines, over the rows of a table."""

    name: Name
    table: Name
    expression: Expression
    synonyms: tuple[Text, ...] = ()


class SourceSchema(Contract):
    source: Name
    engine: str
    tables: tuple[Table, ...]
    relationships: tuple[Relationship, ...] = ()
    metrics: tuple[NamedMetric, ...] = ()
    lacks: tuple[Text, ...] = ()  # what its engine cannot compute, as `needs` names it
    knowledge: KnowledgeSchema | None = None  # for a knowledge base

    def find(self, table: str) -> Table | None:
        return next((item for item in self.tables if item.name == table), None)

    def joined(self, links: tuple[Relationship, ...]) -> SourceSchema:
        """The schema with these relationships, too."""
        known = tuple(dict.fromkeys((*self.relationships, *links)))
        return self.model_copy(update={"relationships": known}) if links else self

    @property
    def hash(self) -> str:
        """A hash of tables, columns, types, relationships and intents. New rows or nodes do not change it."""
        shape = [(t.name, [(c.name, c.type) for c in t.columns]) for t in self.tables]
        described = self.knowledge.model_dump_json() if self.knowledge else ""
        described += "".join(link.model_dump_json(exclude={"orphans"}) for link in self.relationships)
        described += "".join(metric.model_dump_json() for metric in self.metrics)
        return hashlib.sha256(repr((self.source, shape, described)).encode()).hexdigest()[:16]
