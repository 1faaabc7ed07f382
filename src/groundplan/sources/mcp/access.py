"""What is set up for an MCP server: a command or an address, what it may be told, and its limits."""

from __future__ import annotations

import os
import shlex
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError, field_validator

from groundplan.contracts.contract import Contract
from groundplan.contracts.tool import Label
from groundplan.errors import UsageError
from groundplan.settings import read_secret
from groundplan.sources.http import tracker

PASSED_ON = ("PATH", "HOME")  # what a command needs to be found and to start
HAS = 'mcp = "command args…" or "https://…/mcp", and may have env, token_env or token_file, seconds and bytes'
LABEL: TypeAdapter[str] = TypeAdapter(Label)


class Access(Contract):
    """A table [sources.NAME] with the key `mcp`."""

    mcp: Annotated[str, Field(min_length=1)]
    env: tuple[str, ...] = ()  # names of variables that the command gets, beside PATH and HOME
    token_env: str | None = None
    token_file: str | None = None
    seconds: Annotated[float, Field(gt=0, le=600)] = 30  # for connecting, and for each call
    bytes: Annotated[int, Field(ge=1_000, le=32_000_000)] = 1_000_000  # of one result

    @field_validator("mcp")
    @classmethod
    def _can_be_reached(cls, mcp: str) -> str:
        if _is_address(mcp):
            return _checked(mcp)
        if not shlex.split(mcp):
            raise ValueError("write a command, or an address such as http://127.0.0.1:8000/mcp")
        return mcp

    @property
    def address(self) -> str | None:
        return self.mcp if _is_address(self.mcp) else None

    @property
    def command(self) -> list[str]:
        """The program and its arguments; no shell ever sees them."""
        return shlex.split(self.mcp)

    def environment(self) -> dict[str, str]:
        """What the command sees of our environment: nothing that is not named."""
        missing = [name for name in self.env if name not in os.environ]
        if missing:
            raise UsageError(f"the environment variable {missing[0]} is not set; set it, or take it out of `env`")
        return {name: os.environ[name] for name in (*PASSED_ON, *self.env) if name in os.environ}

    def headers(self) -> dict[str, str]:
        """Of each request to the address; empty where the server wants no token."""
        token = read_secret(self.token_env, self.token_file, "token", who=self.mcp)
        return {"Authorization": f"Bearer {token}"} if token else {}


def load_access(name: str, settings: Access | dict[str, Any]) -> Access:
    """Checked settings; a fault names the key and never what was written there, which may be a secret."""
    try:
        LABEL.validate_python(name)
    except ValidationError:
        raise UsageError(f"[sources.{name}]: a name is of lower-case letters, digits and _") from None
    try:
        access = Access.model_validate(settings)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        problem = f"[sources.{name}] {place}: {first['msg'].removeprefix('Value error, ')}"
        raise UsageError(f"{problem}; it has {HAS}") from None
    if access.address is None and (access.token_env or access.token_file):
        raise UsageError(f"[sources.{name}]: a command gets its token by `env`; a token is sent to an address only")
    if access.address and access.env:
        raise UsageError(f"[sources.{name}]: `env` is for a command; an address gets nothing of our environment")
    return access


def _checked(address: str) -> str:
    """By the rules for every server: no password in it, no query behind it."""
    try:
        return tracker.Access(url=address).url
    except ValidationError as error:
        raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


def _is_address(mcp: str) -> bool:
    return mcp.startswith(("http://", "https://"))
