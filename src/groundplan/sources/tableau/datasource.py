"""Finds the published data source by name or luid, and caches its fields, which every query needs."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from groundplan.contracts.columns import ColumnKind, Function, Role
from groundplan.contracts.expression import Aggregate
from groundplan.contracts.expression import Column as Expressed
from groundplan.contracts.schema import Column, NamedMetric, Table
from groundplan.errors import SourceError, UsageError
from groundplan.sources.http.client import Budget, Request
from groundplan.sources.tableau.models import FieldMetadata, Fields, One, Page, Published
from groundplan.sources.tableau.session import Session, SignIn
from groundplan.sources.tableau.site import NAME, Site
from groundplan.text.names import IDENTIFYING

SERVICE = "/api/v1/vizql-data-service"
PER_PAGE = 1_000  # Tableau's maximum
LONGEST = 128  # of a name
DESCRIBED = 300  # characters of a description or a formula
AGGREGATED = "AGG"  # the default aggregation of a field whose formula aggregates
USUAL: Mapping[str, Function] = {"SUM": "sum", "AVG": "mean", "MEDIAN": "median", "MIN": "min", "MAX": "max"}
KINDS: Mapping[str, ColumnKind] = {
    "INTEGER": "number",
    "REAL": "number",
    "STRING": "text",
    "DATE": "time",
    "DATETIME": "time",
    "BOOLEAN": "boolean",
}


@dataclass(frozen=True)
class KnownDatasource:
    """A data source and its fields at one moment; `members` are added as they are read."""

    luid: str
    table: Table
    until: float  # on the monotonic clock
    members: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def datasource(self) -> dict[str, str]:
        """The data source as requests name it."""
        return {"datasourceLuid": self.luid}


class Datasource:
    """Reads the fields again when the cache expires or the server reports a change; one read at a time."""

    def __init__(self, site: Site, session: Session) -> None:
        self._site, self._session = site, session
        self._known: KnownDatasource | None = None
        self._reading = asyncio.Lock()

    async def known(self, budget: Budget) -> KnownDatasource:
        async with self._reading:
            if self._known is None or self._known.until <= time.monotonic():
                self._known = None  # so that expired fields are not used even if reading fails
                self._known = await self._read(budget)
            return self._known

    def forget(self) -> None:
        self._known = None

    async def _read(self, budget: Budget) -> KnownDatasource:
        found = await self._find(budget)
        body = json.dumps({"datasource": {"datasourceLuid": found.id}}).encode()
        reply = await self._session.ask(
            lambda signed: Request("POST", f"{SERVICE}/read-metadata", content=body, headers=signed.headers), budget
        )
        columns = _columns(reply.read(Fields).data)
        if not columns:
            raise SourceError(f"{reply.who}: the data source has no usable field; check what it publishes")
        until = time.monotonic() + self._site.metadata_seconds
        return KnownDatasource(found.id, _table(found, columns), until)

    async def _find(self, budget: Budget) -> Published:
        wanted = self._site.datasource
        if _is_luid(wanted):
            reply = await self._session.ask(lambda signed: _details(signed, wanted), budget)
            return reply.read(One).datasource
        named = [published for published in await self._published(budget) if published.name == wanted]
        if len(named) == 1:
            return named[0]
        how_many = "several data sources have" if named else "no data source visible to this sign-in has"
        raise UsageError(f"{NAME}: {how_many} the name {wanted!r}; set `datasource` to its luid, or check `site`")

    async def _published(self, budget: Budget) -> list[Published]:
        """The data sources on all pages."""
        found: list[Published] = []
        page = 1
        while True:
            reply = await self._session.ask(lambda signed, page=page: _listing(signed, page), budget)  # type: ignore[misc]
            listed = reply.read(Page)
            found += listed.datasources.datasource
            if len(found) >= int(listed.pagination.total):
                return found
            if not listed.datasources.datasource:
                raise SourceError(f"{reply.who}: page {page} is empty although more was announced; ask again")
            page += 1


def _listing(signed: SignIn, page: int) -> Request:
    return Request(
        "GET", f"{signed.rest}/datasources", {"pageSize": PER_PAGE, "pageNumber": page}, headers=signed.headers
    )


def _details(signed: SignIn, luid: str) -> Request:
    return Request("GET", f"{signed.rest}/datasources/{luid}", headers=signed.headers)


def _is_luid(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False


def _table(found: Published, columns: tuple[Column, ...]) -> Table:
    return Table(name=found.name[:LONGEST], columns=columns, description=_line(found.description))


def _columns(fields: Sequence[FieldMetadata]) -> tuple[Column, ...]:
    """The usable fields: not hidden, with a unique caption, and with a value that does not depend on other rows."""
    often = Counter(described.caption for described in fields)
    return tuple(
        Column(
            name=name,
            type=described.type,
            kind=_kind(described),
            role=_role(described),
            description=_line(described.description),
            formula=_line(described.formula) if described.class_ == "CALCULATION" else "",
            usual=USUAL.get(described.aggregation) if _kind(described) == "number" else None,
            aggregated=described.aggregation == AGGREGATED,
        )
        for described in fields
        if _is_usable(described) and often[name := described.caption] == 1 and _is_name(name)
    )


def _is_usable(described: FieldMetadata) -> bool:
    """An aggregated field is usable if it is a number; a table calculation depends on the query around it."""
    answerable = described.aggregation != AGGREGATED or _kind(described) == "number"
    return not described.hidden and answerable and described.class_ != "TABLE_CALCULATION"


def defined_measures(table: Table) -> tuple[NamedMetric, ...]:
    """The aggregated fields, as measures that questions name."""
    return tuple(
        NamedMetric(
            name=column.name,
            table=table.name,
            expression=Aggregate(function="defined", of=Expressed(name=column.name)),
        )
        for column in table.columns
        if column.aggregated
    )


def _line(text: str) -> str:
    """Text of a publisher in one short line: it is shown, never followed."""
    return " ".join(text.split())[:DESCRIBED]


def _is_name(caption: str) -> bool:
    return bool(caption.strip()) and len(caption) <= LONGEST and caption.isprintable()


def _kind(described: FieldMetadata) -> ColumnKind:
    return KINDS.get(described.type, "other")


def _role(described: FieldMetadata) -> Role:
    """The role set by the publisher; a number with an identifying name is an id."""
    identifies = (re.findall(r"\w+", described.caption.lower()) or [""])[-1] in IDENTIFYING
    match _kind(described):
        case "time":
            return "temporal"
        case "number" | "text" if identifies and described.role != "MEASURE":
            return "id"
        case "number" if described.role != "DIMENSION":
            return "measure"
        case _:
            return "dimension"
