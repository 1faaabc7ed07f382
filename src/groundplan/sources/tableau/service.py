"""All that is ever sent to Tableau: the sign-in, the data source's fields and queries of them."""

from __future__ import annotations

import asyncio

from groundplan.contracts.query import Query
from groundplan.sources.http.client import Budget, Server
from groundplan.sources.tableau.datasource import Datasource, Known
from groundplan.sources.tableau.members import find_members
from groundplan.sources.tableau.querying import Answered, Querying
from groundplan.sources.tableau.rate_limit import Hour
from groundplan.sources.tableau.refusals import Declined, refused
from groundplan.sources.tableau.session import Session
from groundplan.sources.tableau.site import Site


class Service:
    def __init__(self, site: Site) -> None:
        self._server = Server(site, refused=refused)
        self._session = Session(site, self._server)
        self._datasource = Datasource(site, self._session)
        self._querying = Querying(self._session, Hour(site.queries_per_hour), site.zone)
        self._listing = asyncio.Lock()

    def budget(self, seconds: float) -> Budget:
        return self._server.budget(seconds)

    async def known(self, budget: Budget) -> Known:
        return await self._datasource.known(budget)

    async def ask(self, known: Known, query: Query, row_limit: int, budget: Budget) -> Answered:
        """A refusal that the fields have changed makes them be read again, by whoever asks next."""
        try:
            return await self._querying.ask(known, query, row_limit, budget)
        except Declined as error:
            if error.outdates:
                self._datasource.forget()
            raise

    async def members(self, known: Known, budget: Budget) -> dict[str, tuple[str, ...]]:
        async with self._listing:  # two questions at once would each spend the hour's queries on the same lists
            return await find_members(known, self._querying, budget)

    async def close(self) -> None:
        await self._session.close()
