"""What a person says about columns: other names, and what a column means where the inference is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

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
MOST_NAMES = 30
Place = tuple[str, str]
"""A table and its column."""


def _one_line(text: object) -> object:
    """White space as single spaces, and nothing that cannot be printed."""
    if not isinstance(text, str):
        return text
    spaced = "".join(" " if character.isspace() else character for character in text)
    return " ".join("".join(character for character in spaced if character.isprintable()).split())


def _has_letters(name: str) -> str:
    if not any(character.isalpha() for character in name):
        raise ValueError(f"{name!r} has no letters; write a word that questions use")
    return name


OtherName = Annotated[str, Field(max_length=80), BeforeValidator(_one_line), AfterValidator(_has_letters)]


class ColumnSettings(Contract):
    """A table [columns."COLUMN"] of groundplan.toml, or what somebody changed in the browser."""

    called: Annotated[tuple[OtherName, ...], Field(max_length=MOST_NAMES)] = ()  # other names that questions use
    meaning: Meaning | None = None
    description: Annotated[Text, BeforeValidator(_one_line)] = ""


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
    """The schema with what groundplan.toml says about columns that it has."""
    keys = _keys(schema, settings)
    for table, column in _columns(schema):
        key = keys.get((table.name, column.name))
        if key is not None and (problem := unfitting(column, settings[key])):
            raise UsageError(f"groundplan.toml: [columns.{key!r}]: {problem}")
    return _with(schema, {place: settings[key] for place, key in keys.items()})


def with_saved(schema: SourceSchema, saved: Mapping[Place, ColumnSettings]) -> SourceSchema:
    """The schema with settings from the browser, except for columns that have changed since and no longer fit."""
    fitting = {
        (table.name, column.name): saved[table.name, column.name]
        for table, column in _columns(schema)
        if (table.name, column.name) in saved and not unfitting(column, saved[table.name, column.name])
    }
    return _with(schema, fitting)


def unfitting(column: Column, settings: ColumnSettings) -> str:
    """Why the column cannot have this meaning; empty if it can."""
    allowed = ALLOWED.get(column.kind, ())
    if settings.meaning is None or settings.meaning in allowed:
        return ""
    choices = f"choose {', '.join(allowed)}" if allowed else "its values decide what it means"
    return f"a column of type {column.type} cannot be {settings.meaning!r}; {choices}"


def _keys(schema: SourceSchema, settings: Mapping[str, ColumnSettings]) -> dict[Place, str]:
    """What the settings call each column; with its table's name they mean one column only."""
    return {
        (table.name, column.name): key
        for table, column in _columns(schema)
        for key in (column.name, f"{table.name}.{column.name}")
        if key in settings
    }


def _columns(schema: SourceSchema) -> Iterator[tuple[Table, Column]]:
    return ((table, column) for table in schema.tables for column in table.columns)


def _with(schema: SourceSchema, given: Mapping[Place, ColumnSettings]) -> SourceSchema:
    if not given:
        return schema

    def column_of(table: Table, column: Column) -> Column:
        settings = given.get((table.name, column.name))
        return column if settings is None else _column(column, settings)

    tables = tuple(
        table.model_copy(update={"columns": tuple(column_of(table, column) for column in table.columns)})
        for table in schema.tables
    )
    return schema.model_copy(update={"tables": tables})


def _column(column: Column, settings: ColumnSettings) -> Column:
    changes: dict[str, object] = {"synonyms": tuple(dict.fromkeys((*column.synonyms, *settings.called)))}
    if settings.description:
        changes["description"] = settings.description
    if settings.meaning is not None:
        changes |= {"meaning": settings.meaning, "role": ROLES.get(settings.meaning, "dimension")}
    return column.model_copy(update=changes)
