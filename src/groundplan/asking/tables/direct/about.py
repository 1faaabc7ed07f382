"""What is known about a table, as one line of quoted data for a prompt.

Anybody may have written these texts: they are cut, kept on one line and quoted. Whatever they say, a builder can only
choose what the question asks for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from groundplan.contracts.metadata import Metadata
from groundplan.contracts.reading import Filter, GroupBy, Metric, Reading, Time
from groundplan.contracts.schema import Column, Table
from groundplan.text.printable import one_line

LONGEST_NAME, LONGEST_TEXT = 40, 120  # characters
MOST_TAGS, MOST_COLUMNS, MOST_SYNONYMS = 6, 6, 3


def about(table: Table, reading: Reading, published: Metadata | None = None) -> str:
    """A JSON object with what is set; empty if nothing is."""
    told = {**(_published(published) if published else {}), **_described(table, reading)}
    known = {name: value for name, value in told.items() if value}
    return json.dumps(known, ensure_ascii=False) if known else ""


def _published(told: Metadata) -> dict[str, object]:
    return {
        "name": one_line(told.name, LONGEST_NAME),
        "project": one_line(told.project, LONGEST_NAME),
        "tags": _texts(told.tags[:MOST_TAGS]),
        "certified": told.certified,
        "certification note": one_line(told.certification_note, LONGEST_TEXT),
        "description": one_line(told.description, LONGEST_TEXT),
    }


def _described(table: Table, reading: Reading) -> dict[str, object]:
    """From a model file or from settings: the table, and the columns that the question asks for."""
    asked = [r.value.column for r in reading.requirements if isinstance(r.value, Metric | GroupBy | Time | Filter)]
    columns = [column for name in dict.fromkeys(asked) if (column := table.find(name or ""))]
    told = {column.name: said for column in columns[:MOST_COLUMNS] if (said := _said_of(column))}
    return {"table": one_line(table.description, LONGEST_TEXT), "columns": told}


def _said_of(column: Column) -> dict[str, object]:
    said = {
        "description": one_line(column.description, LONGEST_TEXT),
        "also called": _texts(column.synonyms[:MOST_SYNONYMS]),
        "unit": one_line(column.unit or "", LONGEST_NAME),
    }
    return {name: value for name, value in said.items() if value}


def _texts(texts: Iterable[str]) -> list[str]:
    return [text for one in texts if (text := one_line(one, LONGEST_NAME))]
