"""Joins: which table's rows a FROM is about, and how each of them reaches the other tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.names import find_table, normal
from groundplan.asking.tables.sql.scope import MANY, Scope, Session, TableSource, conjuncts, find_column
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import Column, Condition, Missing, Not
from groundplan.contracts.join_paths import Path, name_of
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Table

Pair = tuple[tuple[str, str], tuple[str, str]]
"""Two columns that are equal, each with its alias."""


@dataclass
class Joined:
    """A FROM that was understood: its scope, the rows that inner joins drop, and what is left of WHERE and ON."""

    scope: Scope
    conditions: list[Condition]
    rest: list[Any]
    many: dict[str, Many] = field(default_factory=dict)


@dataclass(frozen=True)
class Many:
    """The many side of a LEFT JOIN: its table, the path to the root's row, and the conditions of its ON."""

    table: Table
    path: Path
    on: tuple[Any, ...]


@dataclass
class _From:
    session: Session
    tables: dict[str, Table]
    optional: dict[str, bool]
    on: dict[str, list[Any]]  # what else the ON of an alias says
    pairs: dict[frozenset[str], list[Pair]]
    using: set[str]
    where: list[Any]
    links: dict[tuple[str, str], Relationship] = field(default_factory=dict)


def read_joins(node: Any, session: Session, ctes: Mapping[str, Any]) -> Joined:
    """The tables of a FROM without subqueries; raises Untranslatable."""
    found = _gather(node, session)
    for pair in [*found.pairs]:
        _link(found, pair)
    if len(found.links) and len(found.tables) == 1:
        raise Untranslatable("a join of a table with itself", shown(node))
    root = _root(found)
    reached = _reach(found, root)
    heads = _heads(found, root, reached)
    sources = {alias: _source(found, alias, reached, heads) for alias in found.tables}
    table = found.tables[root]
    scope = Scope(session, table, sources, using=frozenset(found.using), ctes=ctes)
    rest = [*found.where]
    many: dict[str, Many] = {}
    for alias, path in heads.items():
        many[alias] = Many(found.tables[alias], path, tuple(found.on.get(alias, ())))
    for alias, conditions in found.on.items():
        if alias in heads:
            continue
        if conditions and found.optional[alias]:
            raise Untranslatable("a condition in the ON of a LEFT JOIN", shown(conditions[0]))
        rest.extend(conditions)
    return Joined(scope, _partners(found, root, reached), rest, many)


def _gather(node: Any, session: Session) -> _From:
    first, joins = node.args["from_"].this, node.args.get("joins") or []
    where = [*conjuncts(node.args["where"].this)] if node.args.get("where") else []
    found = _From(session, {}, {}, {}, {}, set(), where)
    _add(found, first, False)
    for join in joins:
        side, kind = (join.side or "").upper(), (join.kind or "").upper()
        if side in ("RIGHT", "FULL") or kind not in ("", "INNER", "OUTER", "CROSS") or join.args.get("method"):
            raise Untranslatable(f"{' '.join(filter(None, (join.args.get('method'), side, kind)))} JOIN", shown(join))
        alias = _add(found, join.this, side == "LEFT")
        _on(found, alias, join)
    if len(found.tables) > 1:
        _equalities_of_where(found)
        for alias in found.tables:
            if found.optional[alias] and any(_rejects(part, alias, found) for part in found.where):
                found.optional[alias] = False
                found.where.extend(found.on.pop(alias, ()))
    return found


def _add(found: _From, node: Any, optional: bool) -> str:
    if not isinstance(node, exp.Table):
        raise Untranslatable("a join with a subquery", shown(node))
    if node.args.get("joins") or node.args.get("pivots") or node.args.get("sample"):
        raise Untranslatable("this FROM", shown(node))
    alias = normal(node.alias or node.name)
    if alias in found.tables:
        raise Untranslatable("two tables of one name", f"give {node.name} an alias")
    found.tables[alias] = find_table(node, found.session.schema)
    found.optional[alias] = optional
    return alias


def _on(found: _From, alias: str, join: Any) -> None:
    for name in join.args.get("using") or ():
        others = [one for one, table in found.tables.items() if one != alias and find_column(table, name.name)]
        if not others or not find_column(found.tables[alias], name.name):
            raise Untranslatable(f"USING ({name.name})", "both tables need that column")
        found.using.add(normal(name.name))
        _pair(found, (others[0], name.name), (alias, name.name))
    rest = []
    for part in conjuncts(join.args.get("on")):
        pair = _equal_columns(part, found)
        if pair and alias in (pair[0][0], pair[1][0]):
            _pair(found, *pair)
        else:
            rest.append(part)
    found.on[alias] = rest


def _pair(found: _From, first: tuple[str, str], second: tuple[str, str]) -> None:
    sides = [(alias, _real(found.tables[alias], name)) for alias, name in (first, second)]
    found.pairs.setdefault(frozenset((first[0], second[0])), []).append((sides[0], sides[1]))


def _real(table: Table, name: str) -> str:
    column = find_column(table, name)
    if column is None:
        raise Untranslatable(f"the column {name}", f"{table.name} has no such column")
    return column.name


def _equal_columns(node: Any, found: _From) -> Pair | None:
    """Columns of two tables that are equal."""
    if isinstance(node, exp.Paren):
        return _equal_columns(node.this, found)
    if not isinstance(node, exp.EQ):
        return None
    sides = [_owner(side, found) for side in (node.this, node.expression)]
    if sides[0] is None or sides[1] is None or sides[0][0] == sides[1][0]:
        return None
    return sides[0], sides[1]


def _owner(node: Any, found: _From) -> tuple[str, str] | None:
    if not isinstance(node, exp.Column):
        return None
    if node.table:
        alias = normal(node.table)
        return (alias, node.name) if alias in found.tables and find_column(found.tables[alias], node.name) else None
    having = [alias for alias, table in found.tables.items() if find_column(table, node.name)]
    return (having[0], node.name) if len(having) == 1 else None


def _equalities_of_where(found: _From) -> None:
    """`FROM a, b WHERE a.id = b.a_id` joins as ON does."""
    rest = []
    for part in found.where:
        pair = _equal_columns(part, found)
        joined = pair and frozenset((pair[0][0], pair[1][0])) not in found.pairs
        if pair and joined and not any(found.optional[alias] for alias, _ in pair):
            _pair(found, *pair)
        else:
            rest.append(part)
    found.where = rest


def _rejects(node: Any, alias: str, found: _From) -> bool:
    """Whether no row without a partner in that table meets the condition."""
    if isinstance(node, exp.Not) and isinstance(node.this, exp.Is) and isinstance(node.this.expression, exp.Null):
        owner = _owner(node.this.this, found)
        return owner is not None and owner[0] == alias
    if isinstance(
        node, exp.EQ | exp.NEQ | exp.LT | exp.LTE | exp.GT | exp.GTE | exp.Like | exp.ILike | exp.Between | exp.In
    ):
        sides = (node.this, node.expression) if not isinstance(node, exp.Between | exp.In) else (node.this,)
        return any((owner := _owner(side, found)) is not None and owner[0] == alias for side in sides)
    return False


def _link(found: _From, pair: frozenset[str]) -> None:
    """The relationships that equal columns of two tables are; where there is none, one by a unique key."""
    first, second = sorted(pair)
    made = False
    for many, one in ((first, second), (second, first)):
        equal = {_sided(each, many, one) for each in found.pairs[pair]}
        link = _known_link(found, many, one, equal)
        if link is not None:
            found.links[many, one] = link
            made = True
    if not made:
        _adopt(found, first, second, pair)
    for many, one in ((first, second), (second, first)):
        link = found.links.get((many, one))
        if link is not None:
            used = {*zip(link.columns, link.to_columns, strict=True)}
            if any(_sided(each, many, one) not in used for each in found.pairs[pair]):
                raise Untranslatable("a join by more columns than the relationship", link.text)
            return


def _sided(pair: Pair, many: str, one: str) -> tuple[str, str]:
    names = dict(pair)
    return names[many], names[one]


def _known_link(found: _From, many: str, one: str, equal: set[tuple[str, str]]) -> Relationship | None:
    tables = found.tables[many].name, found.tables[one].name
    for link in found.session.links:
        if (link.table, link.to_table) == tables and {*zip(link.columns, link.to_columns, strict=True)} <= equal:
            return link
    return None


def _adopt(found: _From, first: str, second: str, pair: frozenset[str]) -> None:
    for many, one in ((first, second), (second, first)):
        equal = [_sided(each, many, one) for each in found.pairs[pair]]
        key = next((key for key in found.tables[one].keys if {*key} == {name for _, name in equal}), None)
        if key is not None:
            own = {name: column for column, name in equal}
            link = adopted(
                found.session,
                found.tables[many].name,
                tuple(own[name] for name in key),
                found.tables[one].name,
                tuple(key),
            )
            found.links[many, one] = link
            return
    raise Untranslatable(
        "a join that is by no key",
        f"{found.tables[first].name} and {found.tables[second].name}: rows would be repeated on both sides",
    )


def adopted(
    session: Session, table: str, columns: tuple[str, ...], to_table: str, to_columns: tuple[str, ...]
) -> Relationship:
    """A relationship that only the statement names; whether the values are contained is checked by the caller."""
    link = Relationship(table=table, columns=columns, to_table=to_table, to_columns=to_columns, known="proposed")
    if link not in session.joins:
        session.joins.append(link)
        session.note(
            f"the join {link.text} is not in the schema; {to_table} has one row for each {', '.join(to_columns)}"
        )
    return link


def _reach(found: _From, start: str) -> dict[str, Path]:
    reached: dict[str, Path] = {start: ()}
    waiting = [start]
    while waiting:
        alias = waiting.pop(0)
        for (many, one), link in found.links.items():
            if many == alias and one not in reached:
                reached[one] = (*reached[alias], link)
                waiting.append(one)
    return reached


def _root(found: _From) -> str:
    """The table from whose rows all others are reached, one row each; else the first that is not optional."""
    if len(found.tables) > 1 and len(found.pairs) < len(found.tables) - 1:
        raise Untranslatable("a join without equal columns", ", ".join(table.name for table in found.tables.values()))
    firm = [alias for alias in found.tables if not found.optional[alias]]
    for alias in firm:
        if len(_reach(found, alias)) == len(found.tables):
            return alias
    for alias in firm:
        reached = _reach(found, alias)
        if all(found.optional[other] for other in found.tables if other not in reached):
            return alias
    names = " and ".join(table.name for table in found.tables.values())
    raise Untranslatable("a join that repeats rows on both sides", f"{names}; group one of them first")


def _heads(found: _From, root: str, reached: Mapping[str, Path]) -> dict[str, Path]:
    """Optional tables with many rows for one of the root, each with the path to it."""
    missing = [alias for alias in found.tables if alias not in reached]
    heads: dict[str, Path] = {}
    for alias in missing:
        path = _reach(found, alias).get(root)
        if path is not None and (alias, root) in found.links:
            heads[alias] = path
    for alias in missing:
        if alias not in heads and not any(alias in _reach(found, head) for head in heads):
            raise Untranslatable("a join that repeats rows on both sides", found.tables[alias].name)
    return heads


def _source(found: _From, alias: str, reached: Mapping[str, Path], heads: Mapping[str, Path]) -> TableSource:
    table = found.tables[alias]
    if alias in reached:
        return TableSource(table, reached[alias], found.optional[alias])
    if alias in heads:
        return TableSource(table, (), True, alias)
    head = next(head for head in heads if alias in _reach(found, head))
    return TableSource(table, _reach(found, head)[alias], True, head)


def _partners(found: _From, root: str, reached: Mapping[str, Path]) -> list[Condition]:
    """Inner joins drop rows without a partner."""
    conditions: list[Condition] = []
    for alias, path in reached.items():
        if alias == root or found.optional[alias]:
            continue
        link = path[-1]
        holder = next(one for one in found.tables if found.links.get((one, alias)) is link and one in reached)
        always = link.orphans == 0 or link.known == "proven"
        complete = all((column := found.tables[holder].find(name)) and column.nulls == 0 for name in link.columns)
        if always and complete and not found.optional[holder]:
            continue
        partner = Column(table=found.tables[alias].name, name=link.to_columns[0], via=name_of(path))
        conditions.append(Not(part=Missing(of=partner)))
    return conditions


def is_many(column: Column) -> str | None:
    """The alias on the many side that the column is of."""
    via = column.via or ""
    return via[len(MANY) :].split(" > ")[0] if via.startswith(MANY) else None


def sources_of(node: Any) -> Sequence[Any]:
    return [node.args["from_"].this, *(join.this for join in node.args.get("joins") or ())]
