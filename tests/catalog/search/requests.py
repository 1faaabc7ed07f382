"""A request in plain words as queries."""

from __future__ import annotations

from groundplan.catalog.search.queries import COMBINED, Queries, Query, _clauses_of


def for_text(text: str) -> Queries:
    """The whole text, with its clauses as the parts."""
    return Queries(Query(COMBINED, text), tuple(_clauses_of(text)))
