"""The rows that a SELECT reads: the names of their columns, and the joins that some of them need."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from groundplan.asking.tables.steps.step_list import first_free
from groundplan.contracts.expression import Column
from groundplan.contracts.join_paths import NoPath, Path, find_path, name_of
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Column as Described
from groundplan.contracts.schema import SourceSchema, Table

PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
RESERVED = frozenset(
    """
    all analyse analyze and anti any array as asc asof asymmetric at authorization between bigint binary bit boolean
    both by case cast char character check coalesce collate collation column columns concurrently constraint create
    cross current_date current_time current_timestamp dec decimal default deferrable desc describe distinct do else
    end except exists extract false fetch filter float for foreign freeze from full generated glob group grouping
    grouping_id having ilike in initially inner inout int integer intersect interval into is isnull join lambda lateral
    leading left like limit map national natural nchar none not notnull null nullif numeric offset on only or order out
    outer over overlaps overlay partition pivot pivot_longer pivot_wider placing position positional precision primary
    qualify real references returning right row rows select semi set setof show similar smallint some struct substring
    summarize symmetric table tablesample then time timestamp to trailing treat trim true try_cast union unique unpack
    unpivot using values varchar variadic verbose when where window with xmlattributes xmlconcat xmlelement xmlexists
    xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable
    """.split()  # noqa: SIM905
)
"""Words that DuckDB does not take as a bare name everywhere."""


class Unwritable(Exception):
    """No single SELECT says this reading; the text says why."""


def quoted(name: str) -> str:
    """`region` as it is, `Net sales` and `order` in quotes."""
    if PLAIN.fullmatch(name) and name not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


@dataclass
class Scope:
    """A table, or what a CTE selected, with the tables that its rows point at. A SELECT that joins names them all."""

    schema: SourceSchema
    table: Table
    alias: str
    qualified: bool
    taken: set[str]  # names of tables that are in use here and around it
    joins: dict[str, tuple[str, str]] = field(default_factory=dict)  # of each path: the alias, and the clause
    made_from: str | None = None  # of a CTE: the table whose rows it was made from

    @property
    def rows_of(self) -> str:
        """The table of the schema whose rows it speaks of."""
        return self.made_from or self.table.name

    @classmethod
    def of(cls, schema: SourceSchema, table: Table, taken: set[str], *, qualified: bool) -> Scope:
        return cls(schema, table, _free(table.name, taken), qualified, taken)

    def find(self, node: Column) -> Described:
        """The column as the schema describes it."""
        table = self.table if self._is_own(node) else self.schema.find(node.table or "")
        found = table.find(node.name) if table is not None else None
        if found is None:
            raise Unwritable(f"no column {node.name!r} in {node.table or self.table.name!r}")
        return found

    def column(self, node: Column) -> str:
        """Its name, with that of its table where several are read."""
        self.find(node)
        if self._is_own(node):
            return self.own(node.name)
        return f"{quoted(self._joined(self.path(self.table.name, node.table or '', node.via)))}.{quoted(node.name)}"

    def own(self, name: str) -> str:
        return f"{quoted(self.alias)}.{quoted(name)}" if self.qualified else quoted(name)

    def path(self, table: str, to_table: str, via: str | None) -> Path:
        try:
            return find_path(self.schema.relationships, table, to_table, via)
        except NoPath as error:
            raise Unwritable(f"no single way from {error.table!r} to {error.to_table!r}") from error

    def source(self) -> str:
        """The text after FROM."""
        return "\n".join([_named(self.table.name, self.alias), *(clause for _, clause in self.joins.values())])

    def _is_own(self, node: Column) -> bool:
        return node.via is None and node.table in (None, self.table.name)

    def _joined(self, path: Path) -> str:
        """The alias of the table at the end of the path."""
        before = self.alias
        for place, link in enumerate(path):
            key = name_of(path[: place + 1])
            if key not in self.joins:
                alias = _free(link.to_table, self.taken, link)
                clause = f"LEFT JOIN {_named(link.to_table, alias)} ON {_matching(link, before, alias)}"
                self.joins[key] = alias, clause
            before = self.joins[key][0]
        return before


def _matching(link: Relationship, alias: str, to_alias: str) -> str:
    pairs = zip(link.columns, link.to_columns, strict=True)
    return " AND ".join(f"{quoted(alias)}.{quoted(a)} = {quoted(to_alias)}.{quoted(b)}" for a, b in pairs)


def _named(table: str, alias: str) -> str:
    return quoted(table) if alias == table else f"{quoted(table)} AS {quoted(alias)}"


def _free(table: str, taken: set[str], link: Relationship | None = None) -> str:
    """The table's own name; where that is in use, with the name of the relationship or a number."""
    name = table if link is None or table.casefold() not in taken else f"{table}_{link.name}"
    alias = first_free(name.casefold(), taken, "_")
    taken.add(alias)
    return name if alias == name.casefold() else alias
