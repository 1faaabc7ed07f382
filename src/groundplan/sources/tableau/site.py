"""The settings for Tableau: a server, a site, and the only data source that plans can query."""

from __future__ import annotations

from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, field_validator

from groundplan.contracts.contract import Name
from groundplan.errors import UsageError
from groundplan.settings import read_secret
from groundplan.sources.http.tracker import Access, load_access

NAME = "tableau"
HAS = (
    'url = "https://tableau.example.org", site, datasource (its luid or its name), and token_name with '
    "token_secret_env or token_secret_file, or jwt_env or jwt_file: where the secret is kept"
)


class Site(Access):
    """`queries_per_hour` is Tableau's limit for one user; `metadata_seconds` is how long fields are cached."""

    site: Annotated[str, Field(pattern=r"^[\w-]*$", max_length=128)] = ""  # its contentUrl; the default site has none
    datasource: Name
    api_version: Annotated[str, Field(pattern=r"^\d{1,2}\.\d{1,3}$")] = "3.27"
    token_name: Name | None = None
    token_secret_env: str | None = None
    token_secret_file: str | None = None
    jwt_env: str | None = None
    jwt_file: str | None = None
    timezone: str = "UTC"  # timestamps with an offset are converted to it
    requests: Annotated[int, Field(ge=1, le=10_000)] = 50
    request_seconds: Annotated[float, Field(gt=0, le=600)] = 60
    queries_per_hour: Annotated[int, Field(ge=1, le=100_000)] = 100
    metadata_seconds: Annotated[float, Field(gt=0, le=86_400)] = 3_600

    @field_validator("timezone")
    @classmethod
    def _is_a_time_zone(cls, timezone: str) -> str:
        try:
            ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("there is no such time zone; write one such as Europe/Berlin or UTC") from None
        return timezone

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    def read_credentials(self) -> dict[str, str]:
        """The credentials for a sign-in. Read each time, because a JWT is valid only for minutes."""
        secret = read_secret(self.token_secret_env, self.token_secret_file, "token_secret", who=self.url)
        jwt = read_secret(self.jwt_env, self.jwt_file, "jwt", who=self.url)
        if jwt and not (secret or self.token_name):
            return {"jwt": jwt}
        if secret and self.token_name and not jwt:
            return {"personalAccessTokenName": self.token_name, "personalAccessTokenSecret": secret}
        raise UsageError(f"{NAME}: give one way to sign in, a token with its name or a JWT; the settings are {HAS}")


def load_site(settings: Site | dict[str, Any]) -> Site:
    return load_access(Site, settings, NAME, HAS)
