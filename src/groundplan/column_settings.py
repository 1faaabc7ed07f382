"""What a person says about columns: other names, and what a column means where the inference is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from groundplan.contracts.columns import ColumnKind, Meaning, Role
from groundplan.contracts.contract import Contract, Text
from groundplan.contracts.schema import Column, SourceSchema, Table
from groundplan.errors import UsageError

ALLOWED: Mapping[ColumnKind, tuple[Meaning, ...]] = {
    "number": ("amount", "count", "rate", "identifier", "year", "category"),
    "text": ("identifier", "category", "name", "text"),
}
"""The meanings that a person can choose between; dates and flags are what their values are."""
ROLES: Mapping[Meaning, Role] = {"amount": "measure", "count": "measure", "rate": "measure", "identifier": "id"}


class ColumnSettings(Contract):
    """A table [columns."COLUMN"] of groundplan.toml."""

    called: tuple[Text, ...] = ()  # other names that questions use
    meaning: Meaning | None = None
    description: Text = ""


def described(schemas: Mapping[str, SourceSchema], settings: Mapping[str, ColumnSettings]) -> dict[str, SourceSchema]:
    """The schemas with what a person says about their columns; all of the settings must concern one."""
    found = {name: corrected(schema, settings) for name, schema in schemas.items()}
    left = {*settings} - {key for schema in schemas.values() for key in _keys(schema, settings).values()}
    if left:
        missing = min(left)
        names = [column.name for schema in schemas.values() for table in schema.tables for column in table.columns]
        near = get_close_matches(missing.rpartition(".")[2], names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; columns: {', '.join(names[:12])}"
        raise UsageError(f"groundplan.toml: [columns.{missing!r}]: the data has no such column{hint}")
    return found


def corrected(schema: SourceSchema, settings: Mapping[str, ColumnSettings]) -> SourceSchema:
    """The schema with what a person says about columns that it has."""
    given = _keys(schema, settings)
    if not given:
        return schema

    def column_of(table: Table, column: Column) -> Column:
        key = given.get((table.name, column.name))
        return column if key is None else _column(column, key, settings[key])

    tables = tuple(
        table.model_copy(update={"columns": tuple(column_of(table, column) for column in table.columns)})
        for table in schema.tables
    )
    return schema.model_copy(update={"tables": tables})


def _keys(schema: SourceSchema, settings: Mapping[str, ColumnSettings]) -> dict[tuple[str, str], str]:
    """What the settings call each column; with its table's name they mean one column only."""
    return {
        (table.name, column.name): key
        for table in schema.tables
        for column in table.columns
        for key in (column.name, f"{table.name}.{column.name}")
        if key in settings
    }


def _column(column: Column, key: str, settings: ColumnSettings) -> Column:
    changes: dict[str, object] = {"synonyms": tuple(dict.fromkeys((*column.synonyms, *settings.called)))}
    if settings.description:
        changes["description"] = settings.description
    if settings.meaning is not None:
        allowed = ALLOWED.get(column.kind, ())
        if settings.meaning not in allowed:
            choices = f"choose {', '.join(allowed)}" if allowed else "its values decide what it means"
            problem = f"groundplan.toml: [columns.{key!r}]: a column of type {column.type} cannot be"
            raise UsageError(f"{problem} {settings.meaning!r}; {choices}")
        changes |= {"meaning": settings.meaning, "role": ROLES.get(settings.meaning, "dimension")}
    return column.model_copy(update=changes)
