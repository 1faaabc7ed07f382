"""Sends one query and returns its rows, typed. Every attempt counts towards the hourly limit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import pyarrow as pa

from groundplan.contracts.facts import TableColumn
from groundplan.sources.http.client import Budget, Request
from groundplan.sources.tableau.datasource import SERVICE, KnownDatasource
from groundplan.sources.tableau.models import Rows
from groundplan.sources.tableau.rate_limit import HourlyLimit
from groundplan.sources.tableau.refusals import refused
from groundplan.sources.tableau.rows import expected_columns, to_table
from groundplan.sources.tableau.session import Session, SignIn
from groundplan.sources.tableau.vizql import Query


@dataclass(frozen=True)
class QueryResult:
    table: pa.Table
    columns: tuple[TableColumn, ...]


class QueryClient:
    """Timestamps with an offset are converted to local time in `zone`."""

    def __init__(self, session: Session, limit: HourlyLimit, zone: ZoneInfo) -> None:
        self._session, self._limit, self._zone = session, limit, zone

    async def ask(self, known: KnownDatasource, query: Query, row_limit: int, budget: Budget) -> QueryResult:
        """At most `row_limit` rows; the caller has checked the captions."""
        content = _written(known, query, row_limit)

        def request(signed: SignIn) -> Request:
            path = f"{SERVICE}/query-datasource"
            return Request("POST", path, content=content, headers=signed.headers, before=self._limit.spend)

        reply = await self._session.ask(request, budget)
        rows = reply.read(Rows)
        if rows.error or rows.data is None:
            raise refused(reply)
        columns = expected_columns(query, known.table)
        table = to_table(rows.data[:row_limit], columns, self._zone)
        return QueryResult(table, tuple(item.column for item in columns))


def _written(known: KnownDatasource, query: Query, row_limit: int) -> bytes:
    """The body of the request; equal queries give equal bytes."""
    body = {
        "datasource": known.datasource,
        "query": query.wire(),
        "options": {"returnFormat": "OBJECTS", "rowLimit": row_limit},
    }
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
