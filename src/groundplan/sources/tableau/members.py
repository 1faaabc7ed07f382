"""Reads the members of text fields that a question may name; they are cached with the metadata."""

from __future__ import annotations

import asyncio

from groundplan.sources.http.client import Budget
from groundplan.sources.tableau.datasource import KnownDatasource
from groundplan.sources.tableau.query_client import QueryClient
from groundplan.sources.tableau.refusals import TableauError
from groundplan.sources.tableau.vizql import Query

FEW = 300  # a field with more members is skipped
MOST_FIELDS = 16  # each field costs one query of the hourly limit
AT_ONCE = 4


async def find_members(known: KnownDatasource, client: QueryClient, budget: Budget) -> dict[str, tuple[str, ...]]:
    """The members of each text dimension; empty if there are too many."""
    texts = [column.name for column in known.table.columns if column.kind == "text" and column.role == "dimension"]
    missing = [name for name in texts[:MOST_FIELDS] if name not in known.members]
    turns = asyncio.Semaphore(AT_ONCE)

    async def read(name: str) -> None:
        async with turns:
            known.members[name] = await _members(known, name, client, budget)

    failures = await asyncio.gather(*map(read, missing), return_exceptions=True)
    for failure in failures:
        if failure is not None:
            raise failure
    return {name: known.members.get(name, ()) for name in texts}


async def _members(known: KnownDatasource, name: str, client: QueryClient, budget: Budget) -> tuple[str, ...]:
    query = Query.model_validate({"fields": [{"fieldCaption": name}]})
    try:
        answer = await client.ask(known, query, FEW + 1, budget)
    except TableauError as error:
        if error.code.startswith("400"):  # a field that cannot be queried alone must not fail the question
            return ()
        raise
    members = {text for text in answer.table.column(0).to_pylist() if text}
    return tuple(sorted(members)) if answer.table.num_rows <= FEW else ()
