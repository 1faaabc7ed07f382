"""A table of Postgres in which an identifier repeats is read like any other."""

from __future__ import annotations

import psycopg
import pytest
from tests.service.conftest import new_database

import groundplan
from groundplan.contracts.answer import Answer

MADE = """
create table moorings as
select 'M' || n % 120 as mooring_id, chr(65 + n % 3) as berth, n as fee, date '2025-01-01' + n % 200 as moored_on
from generate_series(0, 299) as n
"""


@pytest.mark.parametrize("rows", [40, 300])
def test_identifiers_that_repeat_are_looked_at(rows: int) -> None:
    with new_database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(MADE.replace("299", str(rows - 1)))
        with groundplan.open(url) as project:
            result = project.ask("total fee by berth")
            assert result.kind == "answer", result.text
            assert isinstance(result.outcome, Answer)
            assert sum(float(str(row[1])) for row in result.outcome.tables[0].rows) == rows * (rows - 1) / 2
