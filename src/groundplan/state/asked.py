"""The last questions asked on the command line or over stdio, with reading and plan, so that feedback can be given."""

from __future__ import annotations

from contextlib import suppress
from datetime import date

from groundplan.contracts.answer import Clarification, Outcome
from groundplan.errors import StateInvalid
from groundplan.state.database import SQLite

MOST = 200
ADD = """insert into asked (tenant, run, at, question, today, reading, plan) values (?, ?, {now}, ?, ?, ?, ?)
    on conflict (tenant, run) do update set question = excluded.question, reading = excluded.reading,
    plan = excluded.plan"""
OLD = """delete from asked where tenant = ? and run in
    (select run from asked where tenant = ? order by at desc, rowid desc limit -1 offset ?)"""


async def keep_asked(database: SQLite, run_id: str, question: str, outcome: Outcome, today: date | None = None) -> None:
    """Keep what was asked, and forget the oldest. Never a row of the answer; a state that cannot be written is left."""
    if isinstance(outcome, Clarification):
        return
    asked, planned = (part.model_dump_json() if part else None for part in (outcome.reading, outcome.plan))
    day = (today or date.today()).isoformat()
    with suppress(StateInvalid):
        async with database.transaction() as run:
            sql = ADD.replace("{now}", database.now)
            await run(sql, database.tenant, run_id, question, day, asked, planned)
            await run(OLD, database.tenant, database.tenant, MOST)


async def last_asked(database: SQLite) -> str | None:
    """The id of the newest question."""
    sql = "select run from asked where tenant = ? order by at desc, rowid desc limit 1"
    async with database.transaction(writes=False) as run:
        rows = await run(sql, database.tenant)
    return str(rows[0][0]) if rows else None
