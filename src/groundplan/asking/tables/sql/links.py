"""The relationship behind equal columns of two tables: one that is known, or one that a key makes."""

from __future__ import annotations

from collections.abc import Collection

from groundplan.asking.tables.sql.scope import Session
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Table

Equal = Collection[tuple[str, str]]
"""Columns of the table that points, each with the column of the other table that it equals."""


def known_link(session: Session, table: str, to: Table, equal: Equal, *, whole: bool = False) -> Relationship | None:
    """The schema's, or one that the statement named before; `whole`: by all of these columns, not by some."""
    for link in session.links:
        ends = {*zip(link.columns, link.to_columns, strict=True)}
        if (link.table, link.to_table) == (table, to.name) and ends <= {*equal} and not (whole and ends != {*equal}):
            return link
    return None


def link_by_key(table: str, to: Table, equal: Equal, *, whole: bool = False) -> Relationship | None:
    """By the columns that equal a key of the other table, and `whole` by those beside it too."""
    own = {there: here for here, there in equal}
    key = next((key for key in to.keys if {*key} <= {*own}), None)
    if key is None:
        return None
    ends = tuple(own) if whole else key
    return Relationship(table=table, columns=tuple(own[name] for name in ends), to_table=to.name, to_columns=ends)


def whole_link(session: Session, table: str, to: Table, equal: Equal) -> Relationship | None:
    """By all of these columns, and known from now on."""
    link = known_link(session, table, to, equal, whole=True) or link_by_key(table, to, equal, whole=True)
    return session.adopt(link) if link is not None else None
