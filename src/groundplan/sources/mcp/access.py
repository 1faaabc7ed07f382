"""The settings of an MCP server: a command or an address, the variables and token it gets, and its limits."""

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

PASSED_ON = ("PATH", "HOME")  # environment variables that every command needs
HAS = 'mcp = "command args…" or "https://…/mcp", and may have env, token_env or token_file, seconds and bytes'
LABEL: TypeAdapter[str] = TypeAdapter(Label)


class Access(Contract):
    """A table [sources.NAME] with the key `mcp`."""

    mcp: Annotated[str, Field(min_length=1)]
    env: tuple[str, ...] = ()  # names of variables that the command gets, besides PATH and HOME
    token_env: str | None = None
    token_file: str | None = None
    seconds: Annotated[float, Field(gt=0, le=600)] = 30  # for connecting, and for each call
    bytes: Annotated[int, Field(ge=1_000, le=32_000_000)] = 1_000_000  # the limit for one result

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
        """The program and its arguments; they are not passed through a shell."""
        return shlex.split(self.mcp)

    def environment(self) -> dict[str, str]:
        """The environment of the command: only the named variables."""
        missing = [name for name in self.env if name not in os.environ]
        if missing:
            raise UsageError(f"the environment variable {missing[0]} is not set; set it, or remove it from `env`")
        return {name: os.environ[name] for name in (*PASSED_ON, *self.env) if name in os.environ}

    def headers(self) -> dict[str, str]:
        """The headers of each request to the address; empty if no token is configured."""
        token = read_secret(self.token_env, self.token_file, "token", who=self.mcp)
        return {"Authorization": f"Bearer {token}"} if token else {}


def load_access(name: str, settings: Access | dict[str, Any]) -> Access:
    """Validate the settings; an error names the key but not the value, which may be a secret."""
    try:
        LABEL.validate_python(name)
    except ValidationError:
        raise UsageError(f"[sources.{name}]: write a name of lower-case letters, digits and _") from None
    try:
        access = Access.model_validate(settings)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        problem = f"[sources.{name}] {place}: {first['msg'].removeprefix('Value error, ')}"
        raise UsageError(f"{problem}; the settings are {HAS}") from None
    if access.address is None and (access.token_env or access.token_file):
        raise UsageError(f"[sources.{name}]: a command gets its token by `env`; a token is only sent to an address")
    if access.address and access.env:
        raise UsageError(f"[sources.{name}]: `env` is for a command; an address gets no environment variables")
    return access


def _checked(address: str) -> str:
    """Apply the rules for all server addresses: no password and no query string."""
    try:
        return tracker.Access(url=address).url
    except ValidationError as error:
        raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


def _is_address(mcp: str) -> bool:
    return mcp.startswith(("http://", "https://"))
