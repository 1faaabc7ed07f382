"""Keys and the audit log over HTTP, for keys that may administer; each sees its own tenant only."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import FastAPI, Path, Query, Request
from pydantic import BaseModel, Field

from groundplan.contracts.contract import Contract
from groundplan.contracts.run import Said
from groundplan.state.audit import Audit
from groundplan.state.keys import Keys, id_of


class NewKey(Contract):
    name: Annotated[Said, Field(max_length=100)]
    role: Literal["ask", "read", "admin"] = "ask"


class KeyEntry(BaseModel):
    id: str
    name: str
    role: Literal["ask", "read", "admin", "metrics"]
    created: datetime


class MadeKey(BaseModel):
    id: str
    key: str = Field(description="The key itself. It is shown only now.")


class AuditEntry(BaseModel):
    at: datetime
    actor: str = Field(
        description="The id of the key that did it, `oidc:` and the subject of a token or sign-in, or `operator`."
    )
    action: str
    about: str


def add_administration(app: FastAPI) -> None:
    def keys(request: Request) -> Keys:
        return Keys(request.app.state.projects.database, request.state.tenant)

    @app.get("/v1/keys")
    async def list_keys(request: Request) -> list[KeyEntry]:
        """The keys of this tenant, without the keys themselves."""
        found = await keys(request).list()
        return [KeyEntry(id=key.id, name=key.name, role=key.role, created=key.created) for key in found]

    @app.post("/v1/keys", status_code=201)
    async def post_key(body: NewKey, request: Request) -> MadeKey:
        """Make a key of this tenant."""
        made = await keys(request).make(request.state.tenant, body.name, body.role, request.state.actor)
        return MadeKey(id=id_of(made), key=made)

    @app.delete("/v1/keys/{key}", status_code=204)
    async def delete_key(key: Annotated[str, Path(pattern=r"^[0-9a-f]{12}$")], request: Request) -> None:
        """Revoke a key of this tenant. Requests with it are refused from now on."""
        await keys(request).revoke(key, request.state.actor)

    @app.get("/v1/audit")
    async def list_audit(request: Request, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> list[AuditEntry]:
        """Who signed in or out, made or revoked keys, approved or declined plans, and changed files; newest first."""
        found = await Audit(request.app.state.projects.database.of(request.state.tenant)).list(limit)
        return [AuditEntry(at=one.at, actor=one.actor, action=one.action, about=one.about) for one in found]
