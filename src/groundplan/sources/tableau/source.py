"""Tableau as a source: one published data source, read only through checked queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from groundplan.contracts.answer import ShownTable
from groundplan.contracts.facts import Cited, Complete, StepFacts, TableRef, Truncated
from groundplan.contracts.metadata import Metadata
from groundplan.contracts.schema import SourceSchema
from groundplan.errors import ToolError, UsageError
from groundplan.sources.http.listing import ENGINE, RunTables
from groundplan.sources.interface import Call, Result
from groundplan.sources.tableau.query_checks import read_query, refuse_unknown
from groundplan.sources.tableau.site import NAME, Site, load_site

if TYPE_CHECKING:
    from groundplan.sources.tableau.datasource import KnownDatasource
    from groundplan.sources.tableau.query_client import QueryResult
    from groundplan.sources.tableau.service import Service

DESCRIBE_SECONDS = 60.0
VALUES_SECONDS = 30.0
METADATA_SECONDS = 30.0


@dataclass(frozen=True)
class Handle:
    """The data source as the input of a step; its rows stay in Tableau."""

    name: str


class Tableau:
    """Opened with `Tableau.open`; no request is sent before the first call."""

    name = NAME

    def __init__(self, service: Service) -> None:
        self._service = service
        self._run_tables = RunTables(NAME)

    @classmethod
    def open(cls, where: Site | dict[str, Any], name: str = NAME) -> Self:
        """The settings have url, site, datasource, and where a token with its name, or a JWT, is kept."""
        from groundplan.sources.tableau.service import Service

        site = load_site(where)
        site.read_credentials()  # report missing credentials now, not during a question
        return cls(Service(site))

    @staticmethod
    def tools() -> Sequence[Path]:
        return [Path(__file__).with_name("tools.yaml")]

    async def describe(self) -> SourceSchema:
        known = await self._service.known(self._service.budget(DESCRIBE_SECONDS))
        return SourceSchema(source=NAME, engine=ENGINE, tables=(known.table,))

    async def metadata(self) -> Metadata:
        return await self._service.metadata(self._service.budget(METADATA_SECONDS))

    async def call(self, call: Call) -> Result:
        if call.tool.name != "tableau_query":
            raise UsageError(f"Tableau has no tool {call.tool.name!r}; see `groundplan catalog list`")
        query = read_query(call.params.get("query"))
        budget = self._service.budget(call.seconds)
        known = await self._service.known(budget)
        if call.inputs.get("datasource") != Handle(known.table.name):
            raise ToolError(f"`datasource` is not the data source {known.table.name!r}; no other can be queried")
        refuse_unknown(query, known.table)
        answer = await self._service.ask(known, query, _row_limit(call), budget)
        return self._result(call, known, answer)

    def table(self, name: str) -> Handle:
        return Handle(name)

    def restore(self, ref: TableRef, run: str) -> object:
        return self._run_tables.handle(ref, run)

    async def fetch(self, ref: TableRef, run: str, rows: int, seconds: float) -> ShownTable:
        return self._run_tables.show(ref, run, rows)

    async def values(self, question: str) -> dict[str, dict[str, tuple[str, ...]]]:
        budget = self._service.budget(VALUES_SECONDS)
        known = await self._service.known(budget)
        return {known.table.name: await self._service.members(known, budget)}

    async def close(self) -> None:
        self._run_tables.clear()
        await self._service.close()

    def _result(self, call: Call, known: KnownDatasource, answer: QueryResult) -> Result:
        most = call.limits.rows
        table = answer.table.slice(0, most)
        more = answer.table.num_rows > most
        facts = StepFacts(
            step=call.step,
            found=table.num_rows > 0,
            rows=table.num_rows,
            table=self._run_tables.keep(call, table, answer.columns),
            sources=(Cited(id=known.luid, label=known.table.name),),
            state=Truncated(reason=f"the limit is {most} rows, and there are more") if more else Complete(),
        )
        return Result(facts, table)


def _row_limit(call: Call) -> int:
    """The planned limit; otherwise one more than allowed, to find out whether there are more rows."""
    planned = call.params.get("rowLimit")
    most = call.limits.rows
    return planned if isinstance(planned, int) and planned <= most else most + 1
