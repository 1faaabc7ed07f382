"""Tableau as a source: one published data source, read only through queries that code writes from checked steps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import JsonValue

from groundplan.contracts.answer import ShownTable
from groundplan.contracts.facts import Cited, StepFacts, TableRef
from groundplan.contracts.schema import SourceSchema
from groundplan.errors import ToolError, UsageError
from groundplan.sources.arrow_columns import with_columns
from groundplan.sources.http.listing import ENGINE, RunTables
from groundplan.sources.interface import Call, Result
from groundplan.sources.tableau.compile import Compiled, compiled
from groundplan.sources.tableau.site import NAME, Site, load_site

if TYPE_CHECKING:
    from groundplan.sources.tableau.datasource import KnownDatasource
    from groundplan.sources.tableau.query_client import QueryResult
    from groundplan.sources.tableau.service import Service

DESCRIBE_SECONDS = 60.0
VALUES_SECONDS = 30.0


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
        from groundplan.sources.tableau.datasource import defined_measures

        known = await self._service.known(self._service.budget(DESCRIBE_SECONDS))
        return SourceSchema(source=NAME, engine=ENGINE, tables=(known.table,), metrics=defined_measures(known.table))

    async def compiled(self, params: Mapping[str, JsonValue]) -> str:
        """The query of the VizQL Data Service; raises `ToolError` if one query cannot say it."""
        known = await self._service.known(self._service.budget(DESCRIBE_SECONDS))
        return _written(compiled(params, known.table))

    async def call(self, call: Call) -> Result:
        if call.tool.name != "tableau_query":
            raise UsageError(f"Tableau has no tool {call.tool.name!r}; see `groundplan catalog list`")
        budget = self._service.budget(call.seconds)
        known = await self._service.known(budget)
        if call.inputs.get("table") != Handle(known.table.name):
            raise ToolError(f"`table` is not the data source {known.table.name!r}; no other can be queried")
        asked = compiled(call.params, known.table)
        most = asked.row_limit or call.limits.rows + 1
        answer = await self._service.ask(known, asked.query, most, budget)
        if answer.table.num_rows > call.limits.rows:
            raise ToolError(f"there are more than {call.limits.rows} groups; group by less, or filter the rows")
        return self._result(call, known, asked, answer)

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

    def _result(self, call: Call, known: KnownDatasource, asked: Compiled, answer: QueryResult) -> Result:
        rows = with_columns(answer.table, answer.columns)
        facts = StepFacts(
            step=call.step,
            found=rows.num_rows > 0,
            rows=rows.num_rows,
            table=self._run_tables.keep(call, rows, answer.columns),
            sources=(Cited(id=known.luid, label=known.table.name),),
            sent=_written(asked),
        )
        return Result(facts, rows)


def _written(asked: Compiled) -> str:
    limit = {"rowLimit": asked.row_limit} if asked.row_limit else {}
    return json.dumps({**asked.query.wire(), **limit}, ensure_ascii=False)
