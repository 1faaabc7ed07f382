"""Joins: which table's rows a FROM is about, and how each of them reaches the other tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql import derived
from groundplan.asking.tables.sql.correlated import beside_alike
from groundplan.asking.tables.sql.links import known_link, link_by_key
from groundplan.asking.tables.sql.names import find_table, normal
from groundplan.asking.tables.sql.query import Query
from groundplan.asking.tables.sql.scope import MANY, Scope, SelectSource, Session, TableSource, conjuncts, find_column
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import Column, Condition, Missing, Not, level
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
    """The many side of a LEFT JOIN: its table, the path to the root's row, and the conditions of its ON.

    `above` are the many sides that stand between: in `clients, their orders, their items` the orders above the items.
    """

    table: Table
    path: Path
    on: tuple[Any, ...]
    above: tuple[str, ...] = ()


@dataclass
class _From:
    session: Session
    ctes: Mapping[str, Any]
    tables: dict[str, Table]
    optional: dict[str, bool]
    on: dict[str, list[Any]]  # what else the ON of an alias says
    pairs: dict[frozenset[str], list[Pair]]
    using: set[str]
    where: list[Any]
    links: dict[tuple[str, str], Relationship] = field(default_factory=dict)
    keyed: dict[tuple[str, str], Relationship] = field(default_factory=dict)  # that equal keys could be
    views: dict[str, Query] = field(default_factory=dict)  # subqueries that only choose rows and columns
    grouped: dict[str, Query] = field(default_factory=dict)

    @property
    def aliases(self) -> tuple[str, ...]:
        return tuple(self.optional)

    def has(self, alias: str, name: str) -> str | None:
        """The table's own name for the column; of a subquery, its name for it."""
        query = self.views.get(alias) or self.grouped.get(alias)
        if query is None:
            column = find_column(self.tables[alias], name)
            return column.name if column else None
        output = next((one for one in query.outputs if normal(one.name) == normal(name)), None)
        if output is None or alias in self.grouped:
            return output.name if output else None
        value = derived.value_of(output)
        return value.name if isinstance(value, Column) and value.table is None else None


def read_joins(node: Any, session: Session, ctes: Mapping[str, Any]) -> Joined:
    """The tables of a FROM, and subqueries beside them; raises Untranslatable."""
    found = _gather(node, session, ctes)
    for pair in [*found.pairs]:
        if not {*found.grouped} & pair:
            _link(found, pair)
    root = _root(found)
    reached = _reach(found, root)
    heads = _heads(found, root, reached)
    for path in (*reached.values(), *heads.values()):
        for link in path:
            session.adopt(link)
    rest = [*found.where, *_unused(found, root, reached, heads)]
    sources: dict[str, TableSource | SelectSource] = {}
    scope = Scope(session, found.tables[root], sources, using=frozenset(found.using), ctes=ctes)
    conditions = _partners(found, root, reached)
    for alias in found.aliases:
        if alias in found.grouped:
            measured = _measures(found, alias, root)
            sources[alias] = SelectSource(measured.outputs)
            conditions += measured.conditions
            continue
        source = _source(found, alias, reached, heads)
        sources[alias] = source
        if alias in found.views:
            view = derived.seen_from(found.views[alias], source, found.optional[alias])
            sources[alias] = SelectSource(view.outputs)
            conditions += view.conditions
    many: dict[str, Many] = {}
    for alias, path in heads.items():
        above = _above(found, alias, root, heads)
        many[alias] = Many(found.tables[alias], path, tuple(found.on.get(alias, ())), above)
    for alias, others in found.on.items():
        if alias in heads:
            continue
        if others and found.optional[alias]:
            raise Untranslatable("a condition in the ON of a LEFT JOIN", shown(others[0]))
        rest.extend(others)
    return Joined(scope, conditions, rest, many)


def _measures(found: _From, alias: str, root: str) -> derived.Seen:
    """A grouped subquery that is joined by its groups to the root's key."""
    pairs = [pair for pair in found.pairs if alias in pair]
    if len(pairs) != 1 or root not in pairs[0]:
        raise Untranslatable("a join with this subquery", "join it by its groups to the key of the main table")
    equal = [_sided(each, alias, root) for each in found.pairs[pairs[0]] if not _equals_measure(found, each)]
    query, table, optional = found.grouped[alias], found.tables[root], found.optional[alias]
    groups = {normal(one.name): derived.value_of(one) for one in query.outputs}
    by = tuple(Column(name=own) for _, own in equal)
    if query.scope.root == table and tuple(groups.get(normal(name)) for name, _ in equal) == by:
        return beside_alike(query, by, optional)
    return derived.measured(query, equal, table, optional, found.session)


def _equals_measure(found: _From, pair: Pair) -> bool:
    """`f.last = t.started`: a condition on a measure of the groups, not what they are joined by."""
    queries = ((found.grouped.get(alias), name) for alias, name in pair)
    return any(
        level(derived.value_of(one)) != "row"
        for query, name in queries
        for one in (query.outputs if query else ())
        if normal(one.name) == normal(name)
    )


def _unused(found: _From, root: str, reached: Mapping[str, Path], heads: Mapping[str, Path]) -> list[Any]:
    """Equal columns that are not on the way to a table: they are conditions like any others."""
    used: set[tuple[str, str, str, str]] = set()
    for start in (root, *heads):
        paths = _reach(found, start)
        for (many, one), link in found.links.items():
            if many in paths and paths.get(one) == (*paths[many], link):
                used |= {(many, column, one, to) for column, to in zip(link.columns, link.to_columns, strict=True)}
    for head in heads:
        above = next(iter(_above(found, head, root, heads)), root)
        link = found.links[head, above]
        used |= {(head, column, above, to) for column, to in zip(link.columns, link.to_columns, strict=True)}
    rest = []
    for pair, each in found.pairs.items():
        for (first, column), (second, other) in each:
            if {*found.grouped} & pair and not _equals_measure(found, ((first, column), (second, other))):
                continue
            if (first, column, second, other) in used or (second, other, first, column) in used:
                continue
            if found.optional[first] or found.optional[second]:
                raise Untranslatable("a LEFT JOIN by more columns than a key", f"{column} and {other}")
            sides = [exp.column(name, table=alias, quoted=True) for alias, name in ((first, column), (second, other))]
            rest.append(exp.EQ(this=sides[0], expression=sides[1]))
    return rest


def _gather(node: Any, session: Session, ctes: Mapping[str, Any]) -> _From:
    first, joins = node.args["from_"].this, node.args.get("joins") or []
    where = [*conjuncts(node.args["where"].this)] if node.args.get("where") else []
    found = _From(session, ctes, {}, {}, {}, {}, set(), where)
    _add(found, first, False)
    for join in joins:
        side, kind = (join.side or "").upper(), (join.kind or "").upper()
        if side in ("RIGHT", "FULL") or kind not in ("", "INNER", "OUTER", "CROSS") or join.args.get("method"):
            raise Untranslatable(f"{' '.join(filter(None, (join.args.get('method'), side, kind)))} JOIN", shown(join))
        alias = _add(found, join.this, side == "LEFT")
        _on(found, alias, join)
    if len(found.aliases) > 1:
        _equalities_of_where(found)
        for alias in found.aliases:
            if found.optional[alias] and any(_rejects(part, alias, found) for part in found.where):
                found.optional[alias] = False
                found.where.extend(found.on.pop(alias, ()))
    return found


def _add(found: _From, node: Any, optional: bool) -> str:
    if node.args.get("joins") or node.args.get("pivots") or node.args.get("sample"):
        raise Untranslatable("this FROM", shown(node))
    alias = normal(node.alias or node.name)
    if alias in found.aliases or not alias:
        raise Untranslatable("two tables of one name", f"give {node.name} an alias")
    found.optional[alias] = optional
    inner = named_query(node, found.ctes)
    if inner is None:
        found.tables[alias] = find_table(node, found.session.schema)
        return alias
    query = found.session.query(inner[0], found.session, inner[1])
    if query.is_rows and not query.is_cut and query.things is None and not query.series:
        found.tables[alias], found.views[alias] = query.scope.root, query
    elif query.groups and not query.is_cut and query.things is None and not query.series:
        found.grouped[alias] = query
    else:
        raise Untranslatable("a join with this subquery", shown(inner[0]))
    return alias


def named_query(node: Any, ctes: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]] | None:
    """The SELECT that a FROM names, and the names that it may use; None for a table."""
    if isinstance(node, exp.Subquery):
        return node.this, ctes
    if not isinstance(node, exp.Table):
        raise Untranslatable("this FROM", shown(node))
    return None if node.db else ctes.get(normal(node.name))


def _on(found: _From, alias: str, join: Any) -> None:
    for name in join.args.get("using") or ():
        others = [one for one in found.aliases if one != alias and found.has(one, name.name)]
        if not others or not found.has(alias, name.name):
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
    sides = [(alias, found.has(alias, name) or name) for alias, name in (first, second)]
    found.pairs.setdefault(frozenset((first[0], second[0])), []).append((sides[0], sides[1]))


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
        return (alias, node.name) if alias in found.aliases and found.has(alias, node.name) else None
    having = [alias for alias in found.aliases if found.has(alias, node.name)]
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
    """The relationships that equal columns of two tables are; or could be, where they are a unique key."""
    first, second = sorted(pair)
    for many, one in ((first, second), (second, first)):
        equal = {_sided(each, many, one) for each in found.pairs[pair]}
        table, to = found.tables[many].name, found.tables[one]
        if (known := known_link(found.session, table, to, equal)) is not None:
            found.links[many, one] = known
        elif (keyed := link_by_key(table, to, equal)) is not None:
            found.keyed[many, one] = keyed
    if not {(first, second), (second, first)} & {*found.links}:
        could = {pair_: link for pair_, link in found.keyed.items() if {*pair_} == {first, second}}
        if not could:
            tables = f"{found.tables[first].name} and {found.tables[second].name}"
            raise Untranslatable("a join that is by no key", f"{tables}: rows would be repeated on both sides")
        found.links |= could


def _sided(pair: Pair, many: str, one: str) -> tuple[str, str]:
    names = dict(pair)
    return names[many], names[one]


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
    if len(found.aliases) > 1 and len(found.pairs) < len(found.aliases) - 1:
        raise Untranslatable("a join without equal columns", ", ".join(table.name for table in found.tables.values()))
    firm = [alias for alias in found.tables if not found.optional[alias]]
    wanted = [alias for pair in found.pairs for alias in pair if {*found.grouped} & pair and alias in found.tables]
    graphs = found.links, {**found.keyed, **found.links}
    for whole, links in product((True, False), graphs):  # one row of each other table, or of each that is not optional
        found.links = dict(links)
        for alias in firm:
            lost = {*found.tables} - {*_reach(found, alias)}
            if {*wanted} <= {alias} and not [one for one in lost if whole or not found.optional[one]]:
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
    for alias in [*missing, *missing]:
        for head in [*heads]:
            if alias not in heads and (alias, head) in found.links:
                heads[alias] = (found.links[alias, head], *heads[head])
    for alias in missing:
        if alias not in heads and not any(alias in _reach(found, head) for head in heads):
            raise Untranslatable("a join that repeats rows on both sides", found.tables[alias].name)
    return heads


def _above(found: _From, alias: str, root: str, heads: Mapping[str, Path]) -> tuple[str, ...]:
    """The many sides between this one and the root, the nearest first."""
    if (alias, root) in found.links:
        return ()
    head = next(one for one in heads if (alias, one) in found.links and heads[alias][1:] == heads[one])
    return head, *_above(found, head, root, heads)


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
