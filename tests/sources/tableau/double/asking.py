"""The double asked over HTTP, as plainly as can be."""

from __future__ import annotations

from typing import Any

import httpx
from tests.sources.tableau.double.rest import SITE
from tests.sources.tableau.double.tableau import Tableau

JSON = {"Accept": "application/json"}


def field(caption: str, function: str | None = None, **more: Any) -> dict[str, Any]:
    return {"fieldCaption": caption, **({"function": function} if function else {}), **more}


def sign_in(tableau: Tableau, **changed: Any) -> httpx.Response:
    token = {"personalAccessTokenName": tableau.token_name, "personalAccessTokenSecret": tableau.token_secret}
    credentials = {**(changed or token), "site": {"contentUrl": tableau.site}}
    return httpx.post(f"{tableau.url}/api/3.27/auth/signin", json={"credentials": credentials}, headers=JSON)


def signed(tableau: Tableau) -> dict[str, str]:
    """The headers of a call in an open session."""
    if not tableau.rest.sessions:
        sign_in(tableau)
    return {**JSON, "X-Tableau-Auth": next(iter(tableau.rest.sessions))}


def listed(tableau: Tableau, **query: str) -> httpx.Response:
    url = f"{tableau.url}/api/3.27/sites/{SITE}/datasources"
    return httpx.get(url, params=query, headers=signed(tableau))


def post(tableau: Tableau, fields: Any, filters: Any = (), parameters: Any = (), **options: Any) -> httpx.Response:
    query = {"fields": list(fields), "filters": list(filters), "parameters": list(parameters)}
    body = {"datasource": {"datasourceLuid": tableau.luid}, "query": query, "options": options}
    url = f"{tableau.url}/api/v1/vizql-data-service/query-datasource"
    return httpx.post(url, json=body, headers=signed(tableau))


def ask(tableau: Tableau, fields: Any, filters: Any = (), **options: Any) -> list[tuple[Any, ...]]:
    answered = post(tableau, fields, filters, returnFormat="ARRAYS", **options)
    assert answered.status_code == 200, answered.text
    return [tuple(row) for row in answered.json()["data"]]
