"""One query over the wire and its rows back, typed. Every try counts as a query of the hour."""

from __future__ import annotations

import json
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import pyarrow as pa

from groundplan.contracts.facts import TableColumn
from groundplan.contracts.query import Query
from groundplan.sources.http.client import Budget, Request
from groundplan.sources.tableau.datasource import SERVICE, Known
from groundplan.sources.tableau.models import Rows
from groundplan.sources.tableau.rate_limit import Hour
from groundplan.sources.tableau.refusals import refused
from groundplan.sources.tableau.rows import promised, to_table
from groundplan.sources.tableau.session import Session, Signed


@dataclass(frozen=True)
class Answered:
    table: pa.Table
    columns: tuple[TableColumn, ...]


class Querying:
    """Moments with an offset are shown by the clock of the zone."""

    def __init__(self, session: Session, hour: Hour, zone: ZoneInfo) -> None:
        self._session, self._hour, self._zone = session, hour, zone

    async def ask(self, known: Known, query: Query, row_limit: int, budget: Budget) -> Answered:
        """At most so many rows; the query's captions are known to exist."""
        content = _written(known, query, row_limit)

        def request(signed: Signed) -> Request:
            path = f"{SERVICE}/query-datasource"
            return Request("POST", path, content=content, headers=signed.headers, before=self._hour.spend)

        reply = await self._session.ask(request, budget)
        came = reply.read(Rows)
        if came.error or came.data is None:
            raise refused(reply)
        columns = promised(query, known.table)
        table = to_table(came.data[:row_limit], columns, self._zone)
        return Answered(table, tuple(item.column for item in columns))


def _written(known: Known, query: Query, row_limit: int) -> bytes:
    """The body of the request, in one spelling only."""
    body = {
        "datasource": known.datasource,
        "query": query.wire(),
        "options": {"returnFormat": "OBJECTS", "rowLimit": row_limit},
    }
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
