"""API keys. A key is shown once, when it is made; its hash is stored."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from groundplan.errors import UsageError
from groundplan.state.audit import OPERATOR, Audit
from groundplan.state.database import EVERY_TENANT, Database

TENANT = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
PREFIX = "gp_"  # so that scanners for leaked secrets recognise a key
COLUMNS = "substr(hash, 1, 12), tenant, name, role, created"

Role = Literal["ask", "read", "admin", "metrics"]  # `read` asks and approves nothing
"""`ask` may do all but administer; `admin` also makes and revokes keys of its tenant; `metrics` only reads /metrics."""


@dataclass(frozen=True)
class Key:
    id: str  # the beginning of the hash
    tenant: str
    name: str
    role: Role
    created: datetime


class Keys:
    """The keys of one tenant, or of all."""

    def __init__(self, database: Database, tenant: str = EVERY_TENANT) -> None:
        self._database, self._tenant = database.of(tenant), tenant
        self._audit = Audit(self._database)

    async def make(self, tenant: str, name: str = "", role: Role = "ask", actor: str = OPERATOR) -> str:
        """A new key of this tenant."""
        if not TENANT.fullmatch(tenant):
            raise UsageError(f"{tenant!r} is not a name for a tenant; use a-z, 0-9 and hyphens, at most 63 characters")
        key = PREFIX + secrets.token_urlsafe(32)
        add = f"insert into keys (hash, tenant, name, role, created) values (?, ?, ?, ?, {self._database.now})"  # noqa: S608 - ours
        async with self._database.transaction() as run:
            await run(add, _hash(key), tenant, name, role)
            await self._audit.add(run, tenant, actor, "key.created", id_of(key))
        return key

    async def find(self, key: str) -> Key | None:
        """What is known of a key; None if there is no such key."""
        if not key.startswith(PREFIX):
            return None
        sql = f"select {COLUMNS} from keys where hash = ?"  # noqa: S608 - our own names
        async with self._database.transaction(writes=False) as run:
            rows = await run(sql, _hash(key))
        return _key(*rows[0]) if rows else None

    async def list(self) -> list[Key]:
        sql = f"select {COLUMNS} from keys where tenant = ? or ? = '*' order by tenant, created"  # noqa: S608 - our own names
        async with self._database.transaction(writes=False) as run:
            return [_key(*row) for row in await run(sql, self._tenant, self._tenant)]

    async def revoke(self, id_: str, actor: str = OPERATOR) -> None:
        """Requests with this key are refused from now on."""
        sql = "delete from keys where substr(hash, 1, 12) = ? and (tenant = ? or ? = '*') returning tenant"
        async with self._database.transaction() as run:
            rows = await run(sql, id_, self._tenant, self._tenant)
            if not rows:
                raise NoSuchKey(f"there is no key {id_!r}; see the list of keys")
            await self._audit.add(run, rows[0][0], actor, "key.revoked", id_)


class NoSuchKey(UsageError):
    """There is no key with this id, or it belongs to another tenant."""


def id_of(key: str) -> str:
    return _hash(key)[:12]


def _key(id_: str, tenant: str, name: str, role: Role, created: float) -> Key:
    return Key(id_, tenant, name, role, datetime.fromtimestamp(created, UTC))


def _hash(key: str) -> str:
    """Keys are long and random, so a plain hash is enough."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
