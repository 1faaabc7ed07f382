"""Searches the tools that may serve one part of a task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice

from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.queries import COMBINED, Queries, Query
from groundplan.catalog.search.shortlist import FOUND, Retriever

FEW = 12  # a catalog with at most this many tools offers all of them, even those that the search does not find
CACHED_SEARCHES = 10_000
WIDER = 4  # the factor by which the limit grows if too few results can be steps of a task


def search_parts(retriever: Retriever, catalog: Catalog) -> Callable[[str, int], Sequence[str]]:
    """A function that finds up to `most` tools, best first; in a small catalog the remaining tools follow."""

    @lru_cache(maxsize=1)
    def few() -> tuple[str, ...]:
        fitting = (name for name, tool in catalog.tools.items() if tool.is_action)
        listed = tuple(islice(fitting, FEW + 1))
        return listed if len(listed) <= FEW else ()

    @lru_cache(maxsize=CACHED_SEARCHES)
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
