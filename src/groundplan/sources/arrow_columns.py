"""What a source knows of its columns, kept with the rows that it hands to another source."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa

from groundplan.contracts.facts import TableColumn

KEY = b"groundplan.columns"


def with_columns(rows: pa.Table, columns: Sequence[TableColumn]) -> pa.Table:
    """The same rows, with the grain of their dates and which numbers add up."""
    told = json.dumps([column.model_dump(mode="json") for column in columns], ensure_ascii=False)
    return rows.replace_schema_metadata({KEY: told.encode()})


def columns_of(rows: pa.Table) -> list[TableColumn]:
    """What the source of the rows told of them; empty if it told nothing."""
    told = (rows.schema.metadata or {}).get(KEY, b"[]")
    return [TableColumn.model_validate(column) for column in json.loads(told)]
