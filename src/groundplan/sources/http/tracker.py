"""What is set up for a tracker. Its token is named here and never held; it is read when a client is made."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator

from groundplan.contracts.contract import Contract
from groundplan.errors import ToolError, UsageError

Project = Annotated[str, Field(pattern=r"^\w[\w./-]*$", max_length=128)]
EXAMPLE = "https://tracker.example.org"


class Tracker(Contract):
    """`requests` and `request_seconds` limit what one step costs the server."""

    url: str  # without the path of the interface
    token_env: str | None = None
    token_file: str | None = None
    projects: Annotated[tuple[Project, ...], Field(min_length=1)]  # the only ones that any plan reaches
    requests: Annotated[int, Field(ge=1, le=10_000)] = 200
    request_seconds: Annotated[float, Field(gt=0, le=600)] = 10

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"write an address such as {EXAMPLE}")
        if "@" in parts.netloc:
            raise ValueError("an address holds no user and no password; name the token by token_env or token_file")
        return url.rstrip("/")

    def chosen(self, asked: Sequence[str]) -> tuple[str, ...]:
        """The asked projects, or all of them where none is named."""
        strangers = [project for project in asked if project not in self.projects]
        if strangers:
            raise ToolError(f"{self.url}: {strangers[0]!r} is not set up; there are {', '.join(self.projects)}")
        return tuple(dict.fromkeys(asked)) or self.projects

    def read_token(self) -> str | None:
        """None where the server wants none."""
        if self.token_env and self.token_file:
            raise UsageError(f"{self.url}: give token_env or token_file, not both")
        if self.token_env:
            value, where = os.environ.get(self.token_env, ""), f"the environment variable {self.token_env}"
        elif self.token_file:
            path = Path(self.token_file).expanduser()
            value, where = path.read_text(encoding="utf-8") if path.is_file() else "", f"the file {self.token_file}"
        else:
            return None
        if not value.strip():
            raise UsageError(f"{where} holds no token; set it, or leave the setting out for a server without tokens")
        return value.strip()


def load_tracker(settings: Tracker | dict[str, Any], name: str) -> Tracker:
    """Checked settings; a fault names the key and never what was written there, which may be a token."""
    try:
        return Tracker.model_validate(settings)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    raise UsageError(
        f"{name}: {place}: {first['msg'].removeprefix('Value error, ')}; "
        f'it has url = "{EXAMPLE}", projects = ["…"] and token_env or token_file: where the token is kept'
    )
