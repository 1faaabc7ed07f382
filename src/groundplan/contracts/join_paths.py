"""Join paths: how the rows of one table reach the one row of another, by relationships."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from groundplan.contracts.contract import Contract
from groundplan.contracts.expression import Alike, Column, Found, FoundGroup, Overall, Related, parts
from groundplan.contracts.normal_form import looked_in, mapped
from groundplan.contracts.reading import Reading
from groundplan.contracts.relationship import Relationship

Path = tuple[Relationship, ...]
C = TypeVar("C", bound=Contract)
LONGEST = 6
SEPARATOR = " > "


@dataclass
class NoPath(Exception):
    """No path leads from one table to the other, or several do and `via` names none of them."""

    table: str
    to_table: str
    paths: tuple[Path, ...] = ()


def name_of(path: Path) -> str:
    return SEPARATOR.join(link.name for link in path)


def paths_between(links: Sequence[Relationship], table: str, to_table: str) -> tuple[Path, ...]:
    """Every path from many rows to one that enters no table twice; those that are known for sure, if there are any."""
    found = tuple(_paths(links, table, to_table, ()))
    sure = tuple(path for path in found if all(link.known != "proposed" for link in path))
    return sure or found


def _paths(links: Sequence[Relationship], table: str, to_table: str, before: Path) -> Iterator[Path]:
    entered = {table, *(link.table for link in before)}
    for link in links if len(before) < LONGEST else ():
        if link.table != table or (link.to_table in entered and link.to_table != to_table):
            continue
        if before and _is_back(before[-1], link):
            continue
        if link.to_table == to_table:
            yield (*before, link)
        else:
            yield from _paths(links, link.to_table, to_table, (*before, link))


def _is_back(link: Relationship, other: Relationship) -> bool:
    """Whether the other goes back to the same row, where two tables have one row each for the other's."""
    ends = (link.to_table, link.to_columns, link.table, link.columns)
    return (other.table, other.columns, other.to_table, other.to_columns) == ends


def find_path(links: Sequence[Relationship], table: str, to_table: str, via: str | None) -> Path:
    """The path that `via` names, or the only one; raises NoPath."""
    if via is not None:
        named = [path for path in _paths(links, table, to_table, ()) if name_of(path) == via]
        if len(named) == 1:
            return named[0]
    found = paths_between(links, table, to_table)
    if len(found) != 1 or via is not None:
        raise NoPath(table, to_table, found)
    return found[0]


def rooted(node: C, table: str, links: Sequence[Relationship]) -> C:
    """The same as seen from the rows of `table`: columns of other tables name the path to them; raises NoPath."""

    def inner(part: C) -> C:
        return rooted(part, table, links)

    match node:
        case Column(table=other, via=via) if other is not None:
            if other == table and via is None:
                return Column(name=node.name)  # type: ignore[return-value]
            path = find_path(links, table, other, via)
            return node.model_copy(update={"via": name_of(path)})
        case Related(table=other, via=via, of=of):
            path = find_path(links, other, table, via)
            return node.model_copy(update={"via": name_of(path), "of": rooted(of, other, links)})
        case Found(of=of, table=other) | FoundGroup(of=of, table=other):
            groups = mapped(looked_in(node), lambda part: rooted(part, other, links))
            return groups.model_copy(update={"of": inner(of)})  # type: ignore[arg-type, return-value]
        case Overall(of=of, where=where):
            owner = node.table or table
            update = {"table": None if owner == table else owner, "of": rooted(of, owner, links)}
            return node.model_copy(update={**update, "where": rooted(where, owner, links) if where else None})
    return mapped(node, inner)  # type: ignore[type-var, arg-type]


def rooted_reading(reading: Reading, links: Sequence[Relationship]) -> Reading:
    """With the join path of everything that it says of other tables; raises NoPath."""
    if not reading.tables or not is_joined(reading):
        return reading
    requirements = tuple(
        r.model_copy(update={"value": rooted(r.value, reading.tables[0], links)}) for r in reading.requirements
    )
    return reading.model_copy(update={"requirements": requirements})


def shortly_rooted(reading: Reading, links: Sequence[Relationship]) -> Reading:
    """Without the join paths that are the only ones: `town of members`, not `town of members by member_id`.

    Overall values of the table's own rows do not name it.
    """
    table = reading.tables[0]
    requirements = tuple(r.model_copy(update={"value": _short(r.value, table, links)}) for r in reading.requirements)
    return reading.model_copy(update={"requirements": requirements})


def _short(node: C, table: str, links: Sequence[Relationship]) -> C:
    match node:
        case Column(table=str() as other, via=str() as via) if other != table:
            return node.model_copy(update={"via": None}) if _is_only(via, links, table, other) else node
        case Related(table=other, via=str() as via) if other != table:
            return node.model_copy(update={"via": None}) if _is_only(via, links, other, table) else node
        case Overall(table=other) if other == table:
            return node.model_copy(update={"table": None})
        case Related() | Found() | FoundGroup() | Overall():
            return node
    return mapped(node, lambda part: _short(part, table, links))  # type: ignore[type-var]


def _is_only(via: str, links: Sequence[Relationship], table: str, to_table: str) -> bool:
    return [*map(name_of, paths_between(links, table, to_table))] == [via]


def is_joined(reading: Reading) -> bool:
    """Whether it says something of the rows of other tables."""
    return any(
        True for r in reading.requirements for _ in foreign(r.value, reading.tables[0] if reading.tables else "")
    )


def foreign(node: Contract, table: str) -> Iterator[Column | Related | Overall | Alike | Found | FoundGroup]:
    """All that it is made of and that the rows of the table do not hold themselves: columns and measures of rows of
    other tables, overall values, measures of rows that are alike, and what is looked for in another table."""
    match node:
        case Column(table=other, via=via) if other is not None and (other != table or via is not None):
            yield node
        case Related() | Overall():
            yield node
        case Found(of=of) | FoundGroup(of=of):
            yield from foreign(of, table)
            yield node
        case Alike():
            for part in parts(node):
                yield from foreign(part, table)
            yield node
        case _:
            for part in parts(node):
                yield from foreign(part, table)
