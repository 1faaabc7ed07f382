"""The settings of a server. They name where secrets are kept; the secrets are read only when needed."""

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
    """A list maps each project to itself: people use the server's name."""
    return {project: project for project in projects} if isinstance(projects, list | tuple) else projects


def _are_projects(projects: dict[str, str]) -> dict[str, str]:
    """The message does not show the value: it may be a token in the wrong place."""
    if not projects or not all(PROJECT.fullmatch(name) for pair in projects.items() for name in pair):
        raise ValueError("write one or more names, of letters, digits and . / -")
    return projects


Kind = TypeVar("Kind", bound="Access")
EXAMPLE = "https://tracker.example.org"


class Access(Contract):
    """`requests` and `request_seconds` limit the load of one step on the server."""

    url: str  # without the path of the API
    requests: Annotated[int, Field(ge=1, le=10_000)] = 200
    request_seconds: Annotated[float, Field(gt=0, le=600)] = 10

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"write an address such as {EXAMPLE}")
        if "@" in parts.netloc:
            raise ValueError("write the address with no user and no password; name where a token is kept")
        return url.rstrip("/")


class Tracker(Access):
    token_env: str | None = None
    token_file: str | None = None
    projects: Annotated[dict[str, str], BeforeValidator(_by_name), AfterValidator(_are_projects)]
    """The only projects that plans can read: the name that people use, mapped to the server's name."""

    @property
    def called(self) -> dict[str, tuple[str, ...]]:
        """The words for each project: its name, the server's name, and the last part of its path."""
        return {name: tuple({name: 0, own: 0, own.rpartition("/")[2]: 0}) for name, own in self.projects.items()}

    def chosen(self, names: Sequence[str]) -> dict[str, str]:
        """The named projects, or all if none is named, mapped to the server's names."""
        unknown = [project for project in names if project not in self.projects]
        if unknown:
            raise ToolError(f"{self.url}: {unknown[0]!r} is not configured; available: {', '.join(self.projects)}")
        return {project: self.projects[project] for project in names or self.projects}

    def token_header(self, name: str, scheme: str = "") -> dict[str, str]:
        """Empty if no token is configured."""
        token = read_secret(self.token_env, self.token_file, "token", who=self.url)
        return {name: scheme + token} if token else {}


def load_tracker(settings: Tracker | dict[str, Any], name: str) -> Tracker:
    has = f'url = "{EXAMPLE}", projects = ["…"] or {{name = "…"}}, and token_env or token_file: where the token is kept'
    return load_access(Tracker, settings, name, has)


def load_access(model: type[Kind], settings: Kind | dict[str, Any], name: str, has: str) -> Kind:
    """Validate the settings; an error names the key but not the value, which may be a token."""
    try:
        return model.model_validate(settings)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    raise UsageError(f"{name}: {place}: {first['msg'].removeprefix('Value error, ')}; the settings are {has}")
