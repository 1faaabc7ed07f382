"""Who is signed in in a browser. The browser holds a random token; its hash is stored, for all servers."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass

from groundplan.state.audit import Audit
from groundplan.state.database import EVERY_TENANT, Database, Transaction
from groundplan.state.keys import Role

TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
HOUR = 3600.0  # seconds
COLUMNS = "tenant, role, actor, name"


@dataclass(frozen=True)
class Session:
    tenant: str
    role: Role
    actor: str  # as the audit log names the person
    name: str  # as the page shows it


class Sessions:
    """The sessions of all tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database.of(EVERY_TENANT)
        self._audit = Audit(self._database)

    async def start(self, session: Session, hours: float, replaced: str = "") -> str:
        """The token of a new session. The session of the token `replaced` ends; expired ones are deleted."""
        token, now = secrets.token_urlsafe(32), self._database.now
        add = f"insert into sessions (hash, {COLUMNS}, expires) values (?, ?, ?, ?, ?, {now} + ?)"  # noqa: S608 - ours
        async with self._database.transaction() as run:
            await run(f"delete from sessions where expires < {now}")  # noqa: S608 - ours
            await self._end(run, replaced)
            await run(add, _hash(token), session.tenant, session.role, session.actor, session.name, hours * HOUR)
            await self._audit.add(run, session.tenant, session.actor, "session.started", _hash(token)[:12])
        return token

    async def find(self, token: str) -> Session | None:
        """Whose token it is; None if there is no such session, or it has expired."""
        if not TOKEN.fullmatch(token):
            return None
        sql = f"select {COLUMNS} from sessions where hash = ? and expires >= {self._database.now}"  # noqa: S608 - ours
        async with self._database.transaction(writes=False) as run:
            rows = await run(sql, _hash(token))
        return Session(*rows[0]) if rows else None

    async def end(self, token: str) -> None:
        """Requests with this token are refused from now on, by every server."""
        async with self._database.transaction() as run:
            await self._end(run, token)

    async def _end(self, run: Transaction, token: str) -> None:
        if not TOKEN.fullmatch(token):
            return
        for tenant, actor in await run("delete from sessions where hash = ? returning tenant, actor", _hash(token)):
            await self._audit.add(run, tenant, actor, "session.ended", _hash(token)[:12])


def _hash(token: str) -> str:
    """Tokens are long and random, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()
