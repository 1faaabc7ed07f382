"""What is set up for a server. Secrets are named here and never held; they are read when they are needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, field_validator

from groundplan.contracts.contract import Contract
from groundplan.errors import ToolError, UsageError
from groundplan.settings import read_secret

PROJECT = re.compile(r"\w[\w./-]{0,127}")


def _by_name(projects: object) -> object:
    """A list names each project as the server does."""
    return {project: project for project in projects} if isinstance(projects, list | tuple) else projects


def _are_projects(projects: dict[str, str]) -> dict[str, str]:
    """What is wrong is not shown: it may be a token in the wrong place."""
    if not projects or not all(PROJECT.fullmatch(name) for pair in projects.items() for name in pair):
        raise ValueError("write one name or more, of letters, digits and . / -")
    return projects


Kind = TypeVar("Kind", bound="Access")
EXAMPLE = "https://tracker.example.org"


class Access(Contract):
    """`requests` and `request_seconds` limit what one step costs the server."""

    url: str  # without the path of the interface
    requests: Annotated[int, Field(ge=1, le=10_000)] = 200
    request_seconds: Annotated[float, Field(gt=0, le=600)] = 10

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"write an address such as {EXAMPLE}")
        if "@" in parts.netloc:
            raise ValueError("an address holds no user and no password; name where a token is kept")
        return url.rstrip("/")


class Tracker(Access):
    token_env: str | None = None
    token_file: str | None = None
    projects: Annotated[dict[str, str], BeforeValidator(_by_name), AfterValidator(_are_projects)]
    """The only ones that any plan reaches: the server's name of each, by the name that people use."""

    @property
    def called(self) -> dict[str, tuple[str, ...]]:
        """What people call each project: its name, the server's, and the last part of a path."""
        return {name: tuple({name: 0, own: 0, own.rpartition("/")[2]: 0}) for name, own in self.projects.items()}

    def chosen(self, asked: Sequence[str]) -> dict[str, str]:
        """The asked projects, or all of them where none is named; the server's name by ours."""
        strangers = [project for project in asked if project not in self.projects]
        if strangers:
            raise ToolError(f"{self.url}: {strangers[0]!r} is not set up; there are {', '.join(self.projects)}")
        return {project: self.projects[project] for project in asked or self.projects}

    def token_header(self, name: str, scheme: str = "") -> dict[str, str]:
        """Empty where the server wants no token."""
        token = read_secret(self.token_env, self.token_file, "token", who=self.url)
        return {name: scheme + token} if token else {}


def load_tracker(settings: Tracker | dict[str, Any], name: str) -> Tracker:
    has = f'url = "{EXAMPLE}", projects = ["…"] or {{name = "…"}}, and token_env or token_file: where the token is kept'
    return load_access(Tracker, settings, name, has)


def load_access(model: type[Kind], settings: Kind | dict[str, Any], name: str, has: str) -> Kind:
    """Checked settings; a fault names the key and never what was written there, which may be a token."""
    try:
        return model.model_validate(settings)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    raise UsageError(f"{name}: {place}: {first['msg'].removeprefix('Value error, ')}; it has {has}")
