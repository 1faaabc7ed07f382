"""Made-up tables, and whether an outcome is what SQL gives over them, a refusal or a question back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal

TODAY = date(2026, 3, 1)
REFUSE, ASK, NO_ANSWER = "refuse", "ask", "refuse or ask"


def write_csv(folder: Path, statements: str, tables: Iterable[str]) -> None:
    """The tables that the statements make, one file for each."""
    with duckdb.connect() as connection:
        connection.execute(statements)
        for name in tables:
            connection.execute(f"COPY {name} TO '{folder / name}.csv'")


def assert_truth(outcome: Outcome, wanted: str, truth: duckdb.DuckDBPyConnection) -> None:
    """`wanted` is SQL whose columns come first in the answer, or the kind of outcome."""
    kinds: Mapping[str, type | tuple[type, ...]] = {
        REFUSE: Refusal,
        ASK: Clarification,
        NO_ANSWER: (Refusal, Clarification),
    }
    if wanted in kinds:
        assert isinstance(outcome, kinds[wanted]), outcome
        return
    assert isinstance(outcome, Answer), outcome
    rows = truth.execute(wanted).fetchall()
    width = len(rows[0])
    assert _sorted(row[:width] for row in outcome.tables[0].rows) == _sorted(rows)


def _sorted(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted((tuple(map(_plain, row)) for row in rows), key=repr)


def _plain(value: Any) -> Any:
    if isinstance(value, date | datetime):
        return value.isoformat()[:10]
    if isinstance(value, Decimal | float) and not isinstance(value, bool):
        return round(float(value), 4)
    if isinstance(value, str) and len(value) >= 10 and value[:4].isdigit() and value[4] == "-":
        return value[:10]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
