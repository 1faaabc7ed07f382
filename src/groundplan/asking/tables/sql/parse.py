"""SQL into the typed reading: one SELECT in DuckDB's dialect over the cleaned tables, which nobody runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from pydantic import ValidationError

from groundplan.asking.tables.sql.conditions import read_condition
from groundplan.asking.tables.sql.requirements import reading_of
from groundplan.asking.tables.sql.scope import Session
from groundplan.asking.tables.sql.select import read_query
from groundplan.asking.tables.sql.statement import parse_statement
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.asking.tables.sql.values import read_value
from groundplan.asking.tables.values import Values
from groundplan.contracts.join_paths import shortly_rooted
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema

__all__ = ["Translated", "Untranslatable", "translate"]


@dataclass(frozen=True)
class Translated:
    """The reading of a statement, and remarks for a person.

    `reading.joins` are relationships that only the statement names, each by a key; planner and gate use them.
    """

    reading: Reading
    notes: tuple[str, ...] = ()


def translate(
    sql: str, schema: SourceSchema, values: Mapping[str, Values], *, today: date, question: str
) -> Translated:
    """The reading that gives the statement's own rows; raises Untranslatable. Nothing is executed."""
    session = Session(schema, values, today, read_value, read_condition, read_query)
    try:
        reading = reading_of(read_query(parse_statement(sql), session, {}), question)
    except (ValidationError, RecursionError) as error:
        raise Untranslatable("a part of this size", str(error).partition("\n")[0]) from error
    reading = shortly_rooted(reading.model_copy(update={"joins": tuple(session.joins)}), session.links)
    return Translated(reading, tuple(session.notes))
