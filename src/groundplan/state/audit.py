"""Who signed in, made or revoked keys, approved plans, changed files, columns or variants. Entries are only added."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from groundplan.state.database import Database, Transaction

Action = Literal[
    "key.created",
    "key.revoked",
    "session.started",
    "session.ended",
    "plan.approved",
    "plan.declined",
    "run.resumed",
    "upload.added",
    "upload.deleted",
    "column.changed",
    "column.reset",
    "feedback.reviewed",
    "rollout.started",
    "rollout.stepped",
    "rollout.stopped",
    "rollout.promoted",
]
OPERATOR = "operator"  # who uses the command line with the database's URL
ONE_PERSON = "local"  # who uses a service without keys


@dataclass(frozen=True)
class Entry:
    at: datetime
    actor: str  # the id of a key, `oidc:SUBJECT`, `operator` or `local`
    action: Action
    about: str  # the id of a key or session, of a run with its plan's fingerprint, of an upload; or TABLE.COLUMN


class Audit:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, run: Transaction, tenant: str, actor: str, action: Action, about: str) -> None:
        """Add an entry in the transaction that does what it tells."""
        sql = f"insert into audit (tenant, at, actor, action, about) values (?, {self._database.now}, ?, ?, ?)"  # noqa: S608 - ours
        await run(sql, tenant, actor, action, about)

    async def list(self, limit: int) -> list[Entry]:
        """The newest entries of the tenant first."""
        sql = "select at, actor, action, about from audit where tenant = ? order by at desc limit ?"
        async with self._database.transaction(writes=False) as run:
            rows = await run(sql, self._database.tenant, limit)
        return [Entry(datetime.fromtimestamp(at, UTC), *rest) for at, *rest in rows]
