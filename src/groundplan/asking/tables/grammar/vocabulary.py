"""What tables and columns are called: worked out once for all the ways in which one question is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from groundplan.asking.tables.grammar.meanings import Meanings, meanings_of
from groundplan.asking.tables.grammar.names import Names
from groundplan.asking.tables.grammar.wide import Values, Wide, widened
from groundplan.contracts.schema import NamedMetric, SourceSchema, Table

Key = tuple[object, ...]


@dataclass
class Vocabulary:
    """Of one schema and the values that one question may name."""

    _wide: dict[str, Wide | None] = field(default_factory=dict)
    _names: dict[Key, tuple[Meanings, Names]] = field(default_factory=dict)

    def wide(self, table: Table, schema: SourceSchema, values: Mapping[str, Values]) -> Wide | None:
        if table.name not in self._wide:
            self._wide[table.name] = widened(table, schema, values)
        return self._wide[table.name]

    def of(
        self,
        table: Table,
        values: Values,
        pointers: frozenset[str],
        wide: Wide | None,
        metrics: Sequence[NamedMetric],
        changes: Mapping[str, Any],
    ) -> tuple[Meanings, Names]:
        """The table, or the wide one, as the grammar sees it with these changes, and its names."""
        key = (table.name, id(wide), pointers, *sorted(changes.items()))
        if key not in self._names:
            known = meanings_of(table, values, pointers, wide.joined if wide else None, metrics)
            meanings = replace(known, **changes)
            self._names[key] = meanings, Names(meanings)
        return self._names[key]
