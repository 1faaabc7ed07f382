"""The groundplan.toml that `groundplan init` writes: the data, and what its columns were taken to mean."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from groundplan.asking.tables.accounting import example_question
from groundplan.column_settings import ALLOWED
from groundplan.contracts.schema import Column, Table
from groundplan.interfaces.cli.show import span
from groundplan.project import Project
from groundplan.settings import ADDRESS

MOST_COLUMNS = 60
ANY_DATA = "how many rows are there?"
IN_QUOTES = re.compile(r"[^\"$`\\!]+")  # what a shell leaves as it is between double quotes


def settings_text(source: str, project: Project) -> str:
    tables = [table for schema in project.describe().values() for table in schema.tables]
    lines = [f"source = {_quoted(source)}", 'timezone = "UTC"', "", *_model(), "", *_columns(tables)]
    return "\n".join(lines) + "\n"


def first_question(project: Project) -> str:
    """A question that this data answers."""
    for schema in project.schemas.values():
        asked = example_question(schema)
        if asked and IN_QUOTES.fullmatch(asked) and project.plan(asked).ended is None:
            return asked
    return ANY_DATA


def _model() -> Iterator[str]:
    yield "# With a model, more wordings are understood; `groundplan doctor` says how to measure one:"
    yield f"# model = {_quoted(ADDRESS)}"


def _columns(tables: Sequence[Table]) -> Iterator[str]:
    """Each column as a comment; one whose name several tables have is named with its table."""
    found = [(table, column) for table in tables for column in table.columns]
    named = Counter(column.name for _, column in found)
    yield "# What each column was taken to mean. Remove the # to correct it, or to say what people call it."
    yield f"# A number is one of {', '.join(ALLOWED['number'])}; a text one of {', '.join(ALLOWED['text'])}."
    for table, column in found[:MOST_COLUMNS]:
        place = column.name if named[column.name] == 1 else f"{table.name}.{column.name}"
        yield from ("#", f"# [columns.{_quoted(place)}]{_told(column)}", "# called = []")
        if column.meaning in ALLOWED.get(column.kind, ()):
            yield f'# meaning = "{column.meaning}"'
    if len(found) > MOST_COLUMNS:
        yield f"# … and {len(found) - MOST_COLUMNS:,} more: groundplan catalog tables"


def _told(column: Column) -> str:
    told = "".join(sign for sign in span(column) if sign.isprintable())
    return f"  # {told}" if told else ""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
