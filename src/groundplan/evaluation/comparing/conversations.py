"""Conversations with the expected rows of each turn, loaded from YAML files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Self

import duckdb
import yaml
from pydantic import Field, ValidationError, model_validator

from groundplan.contracts.contract import Contract, Name, Scalar, Text
from groundplan.contracts.matching_rows import Rows
from groundplan.errors import UsageError
from groundplan.text.plain_yaml import load_yaml

Truth = Callable[[str], Rows]
"""Runs a check query, independently of how the answer was computed."""

SHAPE = (
    "conversations: [{id: …, turns: [{ask: …, sql: …}]}], with rows: [[…]] in the place of sql where those are known"
)


class Turn(Contract):
    """One question, with its expected rows as `sql` or `rows`; dates are text."""

    ask: Text
    sql: str | None = None
    rows: tuple[tuple[Scalar, ...], ...] | None = None

    @model_validator(mode="after")
    def _has_one_truth(self) -> Self:
        if (self.sql is None) == (self.rows is None):
            raise ValueError("a turn has either `sql` or `rows`")
        return self

    def expected(self, truth: Truth) -> Rows:
        return truth(self.sql) if self.sql is not None else self.rows or ()


class Conversation(Contract):
    """A conversation; a single question is a conversation of one turn."""

    id: Name
    turns: Annotated[tuple[Turn, ...], Field(min_length=1)]


class Written(Contract):
    """A file of conversations."""

    conversations: Annotated[tuple[Conversation, ...], Field(min_length=1)]


def load_conversations(folder: Path) -> tuple[Conversation, ...]:
    """The conversations of every YAML file in the folder, ordered by file name."""
    files = sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])
    if not files:
        raise UsageError(f"{folder} contains no YAML file; write one with {SHAPE}")
    found = [conversation for file in files for conversation in _load(file)]
    twice = [name for name, often in Counter(conversation.id for conversation in found).items() if often > 1]
    if twice:
        raise UsageError(f"{folder}: several conversations have the id {twice[0]!r}; give each its own")
    return tuple(found)


def _load(file: Path) -> tuple[Conversation, ...]:
    try:
        return Written.model_validate(load_yaml(file.read_text(encoding="utf-8"))).conversations
    except yaml.YAMLError as error:
        raise UsageError(f"{file}: not YAML: {error}") from error
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise UsageError(f"{file}: {place}: {fault['msg']}; write {SHAPE}") from error


def sql_over(folder: Path) -> Truth:
    """Run DuckDB SELECTs over files of the folder: `SELECT … FROM 'sales.csv'`. Other statements are refused."""

    def truth(sql: str) -> Rows:
        with duckdb.connect() as engine:
            engine.execute("SET autoinstall_known_extensions = false")
            engine.execute("SET file_search_path = ?", [str(folder.resolve())])
            try:
                statements = engine.extract_statements(sql)
                if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
                    raise UsageError(f"{folder}: {sql!r} is not a single SELECT; a check query may only read")
                return engine.execute(sql).fetchall()
            except duckdb.Error as error:
                raise UsageError(f"{folder}: the check query {sql!r} fails: {error}") from error

    return truth
