"""Messages for Tableau's error codes. The server's own text is not quoted: it may contain anything."""

from __future__ import annotations

import re

from pydantic import BaseModel, Field, ValidationError

from groundplan.errors import GroundplanError, SourceError, Unavailable
from groundplan.sources.http.client import Reply, busy, failed

EXPIRED = "401002"
OUTDATED = ("400803", "404")
"""Codes with these prefixes mean that the cached metadata is outdated."""

ABOUT_QUERY = ("400", "404934", "404935", "500")
"""Codes with these prefixes may be mended by another query."""

TRANSIENT = frozenset({"408000", "429000", "503800", "503801", "504000"})
BY_STATUS = {401: EXPIRED, 408: "408000", 429: "429000", 503: "503800", 504: "504000"}
MEANING = {
    "400000": "could not read the request as JSON; is the url right?",
    "400800": "cannot compute a formula of the query; ask without the calculated field",
    "400802": "does not know this form of query; check api_version and the server's version",
    "400803": "does not allow this query on these fields; ask for other functions or fewer filters",
    "400804": "found more than it can send at once; ask for fewer rows or columns",
    "401001": "refused the sign-in; set token_name and token_secret_*, or jwt_*, to valid ones, and check site",
    "401002": "no longer accepts the sign-in; is the same token in use elsewhere? Signing in there ends it here",
    "403157": "has the VizQL Data Service disabled; ask its administrator to enable it",
    "403800": "forbids this; ask the owner of the data source for the capability `API Access`",
    "404934": "does not know a field of the query; the data source has changed, so ask again",
    "404935": "knows two fields with the same caption; ask the owner to rename one of them",
    "404950": "has no VizQL Data Service at this address; check url and the server's version",
    "408000": "took too long over the query; ask for less",
    "409000": "is changing the data source right now; ask again later",
    "429000": "has had too many queries in this hour",
    "500810": "has an empty table behind the query; check the data source in Tableau",
    "500811": "lacks a table behind the query; check the data source in Tableau",
    "501000": "does not support this yet; check the server's version",
    "503800": "has its query engine down",
    "503801": "cannot find its query engine",
    "504000": "got no answer from its query engine in time",
}


class TableauError(SourceError):
    """Tableau answered with an error."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code

    @property
    def is_outdated(self) -> bool:
        return self.code.startswith(OUTDATED)


class NoAccess(TableauError, Unavailable):
    """The error is not about the query: no other query would help."""


class Inner(BaseModel):
    code: str = ""
    error_code: str = Field(default="", alias="errorCode")


class ErrorBody(Inner):
    """One of three shapes: from the query service, from the REST API, or inside a response."""

    error: Inner = Inner()

    @property
    def found(self) -> str:
        code = self.error_code or self.error.code or self.error.error_code
        return code if re.fullmatch(r"[0-9]{6}", code) else ""


def refused(reply: Reply) -> GroundplanError:
    """The error for a failed request, by its error code or, without one, by its status."""
    code = _code(reply.content) or BY_STATUS.get(reply.status, "")
    if not code:
        return failed(reply)
    message = f"{reply.who} {_meaning(code)} (error {code})"
    if code in TRANSIENT:
        return busy(reply, message)
    return TableauError(message, code) if code.startswith(ABOUT_QUERY) else NoAccess(message, code)


def _meaning(code: str) -> str:
    if code in MEANING:
        return MEANING[code]
    if code.startswith("404"):
        return "was not found, or the sign-in has no access; check site and datasource"
    return "refused the request; see the server's own log"


def _code(content: bytes) -> str:
    try:
        return ErrorBody.model_validate_json(content).found
    except ValidationError:
        return ""
