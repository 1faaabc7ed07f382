"""Every request to Tableau: the sign-in, the metadata of the data source, and queries."""

from __future__ import annotations

import asyncio

from groundplan.sources.http.client import Budget, Server
from groundplan.sources.tableau.datasource import Datasource, KnownDatasource
from groundplan.sources.tableau.members import find_members
from groundplan.sources.tableau.query_client import QueryClient, QueryResult
from groundplan.sources.tableau.rate_limit import HourlyLimit
from groundplan.sources.tableau.refusals import TableauError, refused
from groundplan.sources.tableau.session import Session
from groundplan.sources.tableau.site import Site
from groundplan.sources.tableau.vizql import Query


class Service:
    def __init__(self, site: Site) -> None:
        self._server = Server(site, refused=refused)
        self._session = Session(site, self._server)
        self._datasource = Datasource(site, self._session)
        self._client = QueryClient(self._session, HourlyLimit(site.queries_per_hour), site.zone)
        self._listing = asyncio.Lock()

    def budget(self, seconds: float) -> Budget:
        return self._server.budget(seconds)

    async def known(self, budget: Budget) -> KnownDatasource:
        return await self._datasource.known(budget)

    async def ask(self, known: KnownDatasource, query: Query, row_limit: int, budget: Budget) -> QueryResult:
        """Run the query. If the error means that the fields have changed, the next caller reads them again."""
        try:
            return await self._client.ask(known, query, row_limit, budget)
        except TableauError as error:
            if error.is_outdated:
                self._datasource.forget()
            raise

    async def members(self, known: KnownDatasource, budget: Budget) -> dict[str, tuple[str, ...]]:
        async with self._listing:  # two concurrent questions would both spend queries on the same members
            return await find_members(known, self._client, budget)

    async def close(self) -> None:
        await self._session.close()
