"""Tableau's REST API as far as we ask it: sessions and published data sources, in JSON or, by default, in XML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from xml.etree import ElementTree

from tests.sources.tableau.double.serving import Reply, Request

SITE, USER, PROJECT = "5f1a1c1e-0000-4000-8000-000000000001", "5f1a1c1e-0000-4000-8000-000000000002", "Samples"
NAMESPACE = "http://tableau.com/api"
PATH = re.compile(r"^/api/(?P<version>[^/]+)/(?P<rest>.+)$")
Attributes = dict[str, Any]


class Denied(Exception):
    """What the REST API says no with."""

    def __init__(self, code: str, summary: str, detail: str) -> None:
        super().__init__(code)
        self.code, self.summary, self.detail = code, summary, detail


@dataclass
class Rest:
    datasources: list[Attributes]
    token_name: str
    token_secret: str
    jwt: str
    content_url: str
    sessions: dict[str, str] = field(default_factory=dict)  # the token of a session: how it was opened
    issued: count[int] = field(default_factory=lambda: count(1))

    def signed_in(self, token: str | None) -> bool:
        return token in self.sessions

    def __call__(self, request: Request) -> Reply:
        try:
            return self._answer(request)
        except Denied as said:
            return _denied(request, said)

    def _answer(self, request: Request) -> Reply:
        found = PATH.match(request.path)
        rest = found["rest"] if found else ""
        if rest.lower() == "serverinfo":
            return _said(request, 200, _server_info())
        if rest == "auth/signin":
            return _said(request, 200, self._sign_in(_credentials(request)))
        token = request.headers.get("x-tableau-auth")
        if token is None:
            raise Denied("401000", "Unauthorized Access", "No authentication credentials were provided.")
        if not self.signed_in(token):
            raise Denied("401002", "Unauthorized Access", "Invalid authentication credentials were provided.")
        if rest == "auth/signout":
            del self.sessions[token]
            return Reply(204, b"")
        return self._published(request, rest)

    def _sign_in(self, given: dict[str, str | None]) -> Attributes:
        """Signing in again with the same access token ends the session before it; a JWT may open many."""
        if given["site"] != self.content_url:
            raise _login_error()
        if given["jwt"] is not None:
            how = "jwt" if given["jwt"] == self.jwt else ""
        else:
            how = "pat" if (given["name"], given["secret"]) == (self.token_name, self.token_secret) else ""
        if not how:
            raise _login_error()
        if how == "pat":
            self.sessions = {token: opened for token, opened in self.sessions.items() if opened != "pat"}
        token = f"session-{next(self.issued)}|CANARY|{SITE}"
        self.sessions[token] = how
        site = {"id": SITE, "contentUrl": self.content_url}
        return {"credentials": {"token": token, "site": site, "user": {"id": USER}}}

    def _published(self, request: Request, rest: str) -> Reply:
        prefix = f"sites/{SITE}/datasources"
        if rest == prefix:
            return _said(request, 200, self._page(request))
        if rest.startswith(f"{prefix}/"):
            wanted = [source for source in self.datasources if source["id"] == rest.removeprefix(f"{prefix}/")]
            if not wanted:
                raise Denied("404004", "Resource Not Found", "Datasource could not be found.")
            return _said(request, 200, {"datasource": wanted[0]})
        raise Denied("404000", "Resource Not Found", "Unknown resource.")

    def _page(self, request: Request) -> Attributes:
        size, page = _whole(request, "pageSize", 100, "400007"), _whole(request, "pageNumber", 1, "400006")
        if size > 1000:
            raise Denied("400007", "Bad Request", "The page size must be from 1 to 1000.")
        kept = [source for source in self.datasources if _filter(request)(source)]
        shown = kept[(page - 1) * size : page * size]
        if page > 1 and not shown:
            raise Denied("400006", "Bad Request", "The page number is past the last page.")
        pagination = {"pageNumber": str(page), "pageSize": str(size), "totalAvailable": str(len(kept))}
        return {"pagination": pagination, "datasources": {"datasource": shown} if shown else {}}


def _filter(request: Request) -> Callable[[Attributes], bool]:
    asked = request.one("filter")
    if asked is None:
        return lambda _: True
    name, _, value = asked.partition(":eq:")
    if name not in ("name", "contentUrl"):
        raise Denied("400008", "Bad Request", "The filter is not known.")
    return lambda source: bool(source[name] == value)


def _whole(request: Request, name: str, default: int, code: str) -> int:
    given = request.one(name)
    if given is None:
        return default
    if not given.isdecimal() or int(given) < 1:
        raise Denied(code, "Bad Request", f"{name} must be a whole number from 1.")
    return int(given)


def _credentials(request: Request) -> dict[str, str | None]:
    try:
        if "json" in request.headers.get("content-type", ""):
            told = json.loads(request.body)["credentials"]
            site = told["site"]["contentUrl"]
        else:
            element = ElementTree.fromstring(request.body).find("{*}credentials")
            told, site = element.attrib, element.find("{*}site").attrib["contentUrl"]  # type: ignore[union-attr]
        names = {"name": "personalAccessTokenName", "secret": "personalAccessTokenSecret", "jwt": "jwt"}
        return {"site": site, **{ours: told.get(theirs) for ours, theirs in names.items()}}
    except (ValueError, KeyError, TypeError, AttributeError, ElementTree.ParseError):
        raise Denied("400000", "Bad Request", "The request has no credentials.") from None


def _login_error() -> Denied:
    return Denied("401001", "Signin Error", "Error signing in to Tableau Server")


def _server_info() -> Attributes:
    return {
        "serverInfo": {"productVersion": {"build": "20261.26.0101.0000", "value": "2026.1.0"}, "restApiVersion": "3.27"}
    }


def _denied(request: Request, said: Denied) -> Reply:
    error = {"code": said.code, "summary": said.summary, "detail": said.detail}
    return _said(request, int(said.code[:3]), {"error": error})


def _said(request: Request, status: int, body: Attributes) -> Reply:
    if "json" in request.headers.get("accept", ""):
        return Reply(status, json.dumps(body).encode())
    return Reply(status, _xml(body), "application/xml;charset=utf-8")


def _xml(body: Attributes) -> bytes:
    root = ElementTree.Element("tsResponse", xmlns=NAMESPACE)
    for name, value in body.items():
        _put(root, name, value)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


TEXTS = ("summary", "detail", "restApiVersion", "value")  # what XML says in an element, not in an attribute


def _put(parent: ElementTree.Element, name: str, value: Any) -> None:
    if isinstance(value, list):
        for item in value:
            _put(parent, name, item)
    elif isinstance(value, dict):
        child = ElementTree.SubElement(parent, name)
        for key, inner in value.items():
            _put(child, key, inner)
    elif name == "value":
        parent.text = str(value)
    elif name in TEXTS:
        ElementTree.SubElement(parent, name).text = str(value)
    else:
        parent.set(name, str(value).lower() if isinstance(value, bool) else str(value))
