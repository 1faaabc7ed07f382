"""What is compiled for servers that no test can reach passes the gate of their dialect: their SQL, without a server."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import ibis
import pytest
from hypothesis import Phase, given, settings

from groundplan.asking.tables.plan import propose
from groundplan.contracts.reading import Reading
from groundplan.sources.tables.engine.by_place import with_places
from groundplan.sources.tables.engine.handle import handle_on
from groundplan.sources.tables.engine.sql_gate import approve
from tests.reference.comparing import ANY_SPEED, CATALOG
from tests.reference.executing import COLUMNS, SCHEMA, Store
from tests.reference.generating import readings

TYPES = {
    "BIGINT": "int64",
    "TEXT": "string",
    "DOUBLE PRECISION": "float64",
    "DECIMAL(12, 2)": "decimal(12, 2)",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMPTZ": "timestamp('UTC')",
}


class Compiled(Store):
    """Compiles and approves each query, and answers it with no value."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._compiler = with_places(import_module(f"ibis.backends.sql.compilers.{dialect}").compiler)
        self._start = handle_on(ibis.table({name: TYPES[type_] for name, type_ in COLUMNS.items()}, name="data"))
        self.approved = 0

    def _fill(self, rows: Any) -> None:
        """There is no engine."""

    def _fetch(self, table: Any) -> list[dict[str, Any]]:
        approve(self._compiler.to_sqlglot(table).sql(self._dialect), self._dialect, ["data"])
        self.approved += 1
        return [dict.fromkeys(table.columns, 0)]


@pytest.mark.parametrize("dialect", ["bigquery", "clickhouse", "snowflake", "trino"])
def test_what_is_compiled_passes_the_gate(dialect: str) -> None:
    store = Compiled(dialect)

    @settings(ANY_SPEED, max_examples=20, phases=[Phase.generate], database=None, derandomize=True)
    @given(reading=readings())
    def passes(reading: Reading) -> None:
        store.run(propose(reading, SCHEMA), CATALOG, [])

    passes()
    assert store.approved >= 20
