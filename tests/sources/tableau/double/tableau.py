"""A whole Tableau on loopback: REST, Metadata API and VizQL Data Service over one published data source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb
from tests.sources.tableau.double import graphql, vds
from tests.sources.tableau.double.rest import PROJECT, USER, Rest
from tests.sources.tableau.double.serving import Fault, Reply, Request, Served, serving
from tests.sources.tableau.double.vds import DataService

NAME, LUID = "Superstore Datasource", "2bac64a3-e216-4d8f-891c-905f9ce33ac3"
TOKEN_NAME, TOKEN_SECRET, JWT, SITE = "groundplan", "CANARY-pat-secret==", "CANARY.jwt.token", "shop"
DESCRIBED = {
    "description": "Order lines of a shop, one row for each product of an order",
    "tags": {"tag": [{"label": "orders"}, {"label": "retail"}]},
    "isCertified": True,
    "certificationNote": "Compared with the ledger each month",
}
OTHERS = 129  # so that the list has a second page, and the data source is on it


@dataclass(kw_only=True)
class Tableau(Served):
    """What a test holds: `url`, `luid`, `fault(...)`, `requests`, and the table itself for SQL of its own."""

    database: duckdb.DuckDBPyConnection
    luid: str = LUID
    name: str = NAME
    site: str = SITE
    token_name: str = TOKEN_NAME
    token_secret: str = TOKEN_SECRET
    jwt: str = JWT
    rest: Rest = field(init=False)
    service: DataService = field(init=False)

    def __post_init__(self) -> None:
        self.rest = Rest(published(), self.token_name, self.token_secret, self.jwt, self.site)
        self.service = DataService(self.database, self.luid, self.rest.signed_in)

    def answer(self, request: Request) -> Reply:
        if request.path.startswith(vds.ROOT):
            return self.service(request)
        if request.path.rstrip("/") == graphql.PATH:
            return graphql.answer(request, self.rest)
        return self.rest(request)

    def strike(self, fault: Fault) -> None:
        if fault == "expired token":
            self.expire()
        elif fault == "vanished data source":
            self.vanish()

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """The truth by another route: SQL on the table `superstore`, whose columns are the captions."""
        return self.database.cursor().execute(statement).fetchall()

    @property
    def published(self) -> dict[str, Any]:
        """The data source as the REST API has it; a test may change it."""
        return next(source for source in self.rest.datasources if source["id"] == self.luid)

    def expire(self) -> None:
        """Every session ends, as after the hours that a token lives."""
        self.rest.sessions.clear()

    def vanish(self) -> None:
        """The data source is deleted."""
        self.service.gone = True
        self.rest.datasources = [source for source in self.rest.datasources if source["id"] != self.luid]


@contextmanager
def running(database: duckdb.DuckDBPyConnection) -> Iterator[Tableau]:
    tableau = Tableau(database=database)
    with serving(tableau):
        yield tableau


def published() -> list[dict[str, Any]]:
    """Two of them share a name, in different projects."""
    names = [f"Archive {number:03d}" for number in range(1, OTHERS - 1)] + ["Returns", "Returns", NAME]
    luids = [f"00000000-0000-4000-8000-{number:012d}" for number in range(1, OTHERS + 1)] + [LUID]
    projects = [PROJECT] * (OTHERS - 1) + ["Finance", PROJECT]
    return [
        {
            "id": luid,
            "name": name,
            "contentUrl": f"{name.replace(' ', '')}{luid[-3:]}",
            "description": "",
            "project": {"id": f"project-{project}", "name": project},
            "owner": {"id": USER},
            "tags": {},
            "isCertified": False,
        }
        | (DESCRIBED if name == NAME else {})
        for luid, name, project in zip(luids, names, projects, strict=True)
    ]
