"""The members of text fields that a question may name, read once for as long as the metadata is known."""

from __future__ import annotations

import asyncio

from groundplan.contracts.query import Query
from groundplan.sources.http.client import Budget
from groundplan.sources.tableau.datasource import Known
from groundplan.sources.tableau.querying import Querying
from groundplan.sources.tableau.refusals import Declined

FEW = 300  # members of a field that are read whole
MOST_FIELDS = 16  # whose members are read: each costs a query of the hour
AT_ONCE = 4


async def find_members(known: Known, querying: Querying, budget: Budget) -> dict[str, tuple[str, ...]]:
    """By text dimension: all members where they are few, none of the others."""
    texts = [column.name for column in known.table.columns if column.kind == "text" and column.role == "dimension"]
    missing = [name for name in texts[:MOST_FIELDS] if name not in known.members]
    turns = asyncio.Semaphore(AT_ONCE)

    async def read(name: str) -> None:
        async with turns:
            known.members[name] = await _members(known, name, querying, budget)

    failures = await asyncio.gather(*map(read, missing), return_exceptions=True)
    for failure in failures:
        if failure is not None:
            raise failure
    return {name: known.members.get(name, ()) for name in texts}


async def _members(known: Known, name: str, querying: Querying, budget: Budget) -> tuple[str, ...]:
    query = Query.model_validate({"fields": [{"fieldCaption": name}]})
    try:
        answer = await querying.ask(known, query, FEW + 1, budget)
    except Declined as error:
        if error.code.startswith("400"):  # a field that cannot be listed alone is no reason to refuse the question
            return ()
        raise
    members = {text for text in answer.table.column(0).to_pylist() if text}
    return tuple(sorted(members)) if answer.table.num_rows <= FEW else ()
