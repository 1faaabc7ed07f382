"""The tools that may serve one part of a task, in the words of that part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice

from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.queries import COMBINED, Queries, Query
from groundplan.catalog.search.shortlist import FOUND, Retriever

FEW = 12  # tools: with no more than that the words need not find one for it to be offered
REMEMBERED = 10_000
WIDER = 4  # times as many are looked through when too few of those found can be steps of a task


def search_parts(retriever: Retriever, catalog: Catalog) -> Callable[[str, int], Sequence[str]]:
    """The search for so many tools, the best first; in a small catalog those that no word finds follow."""

    @lru_cache(maxsize=1)
    def few() -> tuple[str, ...]:
        fitting = (name for name, tool in catalog.tools.items() if tool.is_action)
        listed = tuple(islice(fitting, FEW + 1))
        return listed if len(listed) <= FEW else ()

    @lru_cache(maxsize=REMEMBERED)
    def search(text: str, most: int) -> tuple[str, ...]:
        found = _found(retriever, catalog, text, most)
        if len(found) < most:
            found += [name for name in few() if name not in found]
        return tuple(found[:most])

    return search


def _found(retriever: Retriever, catalog: Catalog, text: str, most: int) -> list[str]:
    limit = max(FOUND, most)
    while True:
        hits = retriever.search(Queries(Query(COMBINED, text)), limit)
        fitting = [hit.tool for hit in hits if catalog.tools[hit.tool].is_action]
        if len(fitting) >= most or len(hits) < limit:
            return fitting
        limit *= WIDER
