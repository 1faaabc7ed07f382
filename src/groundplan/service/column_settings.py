"""What columns mean, over HTTP: what people said about them, say it, or take it back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fastapi import FastAPI, Query, Request
from pydantic import AfterValidator, BaseModel, Field

from groundplan.asking.tables.grammar.lexicon import load, stems_of
from groundplan.column_settings import ALLOWED, MOST_NAMES, ColumnSettings, unfitting
from groundplan.contracts.columns import ColumnKind, Meaning
from groundplan.contracts.contract import Contract
from groundplan.contracts.run import storable
from groundplan.contracts.schema import Column, Table
from groundplan.project import AsyncProject
from groundplan.service.access import COLUMNS
from groundplan.service.runs import project_of
from groundplan.state.column_settings import NoSuchColumn, SavedSettings, UnfitSetting
from groundplan.text.names import split_name
from groundplan.text.stems import stem
from groundplan.text.words import words_of

JOINING = frozenset({"by", "within", "per", "and", "or", "versus", "where", "than", "which", "who", "between", "until"})
STEERING = JOINING | {
    *("function", "superlative", "judged", "compare", "count", "distinct", "times", "negation", "missing"),
    *("grain", "unit", "share_word", "change", "list", "chart", "table"),
}
"""Categories of the lexicon by which questions are read. Its other words, such as sales or unit, may name a column."""

TableName = Annotated[str, Query(alias="table", min_length=1, max_length=128), AfterValidator(storable)]
ColumnName = Annotated[str, Query(alias="column", min_length=1, max_length=128), AfterValidator(storable)]


class SavedColumn(Contract):
    table: str
    column: str
    settings: ColumnSettings


class SavedColumns(BaseModel):
    columns: list[SavedColumn] = Field(description="The columns about which something was said.")
    meanings: dict[ColumnKind, tuple[Meaning, ...]] = Field(
        description="What columns of a kind can mean; those of other kinds are what their values are."
    )
    most_names: int = Field(description="How many other names a column may have.")


def add_column_settings(app: FastAPI) -> None:
    @app.get(COLUMNS)
    async def list_column_settings(request: Request) -> SavedColumns:
        """What people of this tenant said about columns. `/v1/sources` has the columns as they are then."""
        saved = await _store(request).list()
        columns = [SavedColumn(table=table, column=column, settings=one) for (table, column), one in saved.items()]
        return SavedColumns(columns=columns, meanings={**ALLOWED}, most_names=MOST_NAMES)

    @app.put(COLUMNS, status_code=204)
    async def put_column_settings(
        body: ColumnSettings, request: Request, of_table: TableName, of_column: ColumnName
    ) -> None:
        """Say what a column means and what else it is called. Later questions of this tenant know it."""
        async with project_of(request) as project:
            table, column = _found(project, of_table, of_column)
        _refuse_unfit(body, table, column)
        await _store(request).put((of_table, of_column), body, request.state.actor)

    @app.delete(COLUMNS, status_code=204)
    async def delete_column_settings(request: Request, of_table: TableName, of_column: ColumnName) -> None:
        """Forget what was said about a column: it means again what was found."""
        await _store(request).delete((of_table, of_column), request.state.actor)


def _store(request: Request) -> SavedSettings:
    return SavedSettings(request.app.state.projects.database.of(request.state.tenant))


def _found(project: AsyncProject, table: str, column: str) -> tuple[Table, Column]:
    for schema in project.schemas.values():
        if (known := schema.find(table)) and (found := known.find(column)):
            return known, found
    raise NoSuchColumn("the data has no such column in such a table; /v1/sources lists them")


def _refuse_unfit(settings: ColumnSettings, table: Table, column: Column) -> None:
    if problem := unfitting(column, settings):
        raise UnfitSetting("meaning", problem)
    taken = {name: other.name for other in table.columns if other.name != column.name for name in _names(other)}
    for place, name in enumerate(settings.called):
        if stems_of(name) in taken:
            raise UnfitSetting(f"called.{place}", f"{name!r} is what the column {taken[stems_of(name)]!r} is called")
        if _is_grammar(name):
            raise UnfitSetting(
                f"called.{place}", f"{name!r} has a meaning of its own in questions; choose another word"
            )
    if settings.description and _is_grammar(settings.description):  # it is matched as a name, too
        raise UnfitSetting("description", "these words have a meaning of their own in questions; say more")


def _names(column: Column) -> Iterator[tuple[str, ...]]:
    yield tuple(map(stem, split_name(column.name)))
    yield from map(stems_of, column.synonyms)


def _is_grammar(name: str) -> bool:
    """Whether this is a phrase by which questions are read, such as `total`, or begins like one: by month."""
    lexicon, words = load(), words_of(name)
    whole = {category for category, _ in lexicon.find(words, 0, len(words))}
    first = {category for category, _ in lexicon.find(words, 0, 1)}
    return bool(whole & STEERING or first & JOINING) or name.lower() in lexicon.structure
