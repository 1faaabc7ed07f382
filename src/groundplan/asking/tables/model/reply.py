"""What a model replies when it reads a question: SQL, what is missing, or the readings it hesitates between."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from groundplan.contracts.contract import Contract

Sql = Annotated[str, Field(max_length=8_000)]
Line = Annotated[str, Field(max_length=500)]


class MeantSql(Contract):
    """One of several things that the question may mean; without SQL only the words for it."""

    means: Line
    sql: Sql = ""


class SqlReply(Contract):
    """A reading as one SELECT that nobody runs, or why there is none. Unknown labels are dropped."""

    sql: Sql = ""
    also: Annotated[tuple[Sql, ...], Field(max_length=3)] = ()  # further results that the question asks for
    assumes: Annotated[tuple[Line, ...], Field(max_length=8)] = ()  # choices that the question leaves open
    analyses: Annotated[tuple[str, ...], Field(max_length=4)] = ()  # of the first
    chart: str | None = None
    cannot: Line = ""  # what the tables lack
    ask: Annotated[tuple[MeantSql, ...], Field(max_length=4)] = ()
    look_up: Annotated[tuple[str, ...], Field(max_length=8)] = ()  # further tables to be shown
