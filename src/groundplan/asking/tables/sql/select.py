"""One SELECT: its source, conditions, groups, columns, order and cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.beside import side_by_side
from groundplan.asking.tables.sql.best import best_of, is_special, of_best
from groundplan.asking.tables.sql.derived import value_of
from groundplan.asking.tables.sql.folded import folded
from groundplan.asking.tables.sql.joins import Joined, Many, named_query, read_joins, sources_of
from groundplan.asking.tables.sql.measures import is_measure
from groundplan.asking.tables.sql.named_groups import with_names
from groundplan.asking.tables.sql.names import free_name, normal
from groundplan.asking.tables.sql.outputs import marked, stars
from groundplan.asking.tables.sql.query import Ordering, Query, same
from groundplan.asking.tables.sql.ranks import order_of_place
from groundplan.asking.tables.sql.related import many_in, related, without_partner
from groundplan.asking.tables.sql.scope import (
    Output,
    Scope,
    SelectSource,
    Session,
    TableSource,
    conjuncts,
)
from groundplan.asking.tables.sql.set_operations import OPERATIONS, read_set_operation
from groundplan.asking.tables.sql.single_rows import written_in
from groundplan.asking.tables.sql.statement import most_rows, shown
from groundplan.asking.tables.sql.things import as_things
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.asking.tables.sql.windows import order_key, place
from groundplan.contracts.expression import (
    Among,
    Column,
    Condition,
    Constant,
    Expression,
    level,
    walk,
)


def read_query(node: Any, session: Session, ctes: Mapping[str, Any]) -> Query:
    """The SELECT, with its common table expressions; raises Untranslatable."""
    session.step()
    while isinstance(node, exp.Subquery):
        node = node.this
    if not isinstance(node, (exp.Select, *OPERATIONS)):
        raise Untranslatable(str(node.key).upper(), "write one SELECT")
    for key in ("windows", "offset", "laterals", "cluster", "sort", "into", "sample", "pivots", "kind", "prewhere"):
        if node.args.get(key):
            raise Untranslatable(key.upper(), shown(node))
    named = dict(ctes)
    with_ = node.args.get("with_")
    if with_ is not None:
        if with_.args.get("recursive"):
            raise Untranslatable("WITH RECURSIVE")
        for one in with_.expressions:
            if one.args["alias"].args.get("columns"):
                raise Untranslatable("column names of a WITH", "name the columns in its SELECT")
            named[normal(one.alias)] = (one.this, dict(named))
    if isinstance(node, OPERATIONS):
        return read_set_operation(node, session, named)
    return _Select(written_in(node, session, named), session, named).read()


@dataclass
class _Select:
    node: Any
    session: Session
    ctes: Mapping[str, Any]
    many: Mapping[str, Many] = field(default_factory=dict)
    best: Among | None = None  # of an aggregate over a LIMIT
    scope: Scope = field(init=False)
    query: Query = field(init=False)

    def read(self) -> Query:
        before = len(self.session.along)
        grouped = self._is_grouped()
        self._start(grouped)
        self._filter()
        plain = self.query.is_rows and not self.query.is_cut and not self.query.things and not self.many
        self.scope.kept = self.query.where if plain else None
        if grouped:
            self._group()
        self._show()
        self._having()
        self._qualify()
        self._distinct()
        self._order()
        along = self.session.along[before:]
        if along:
            if any(not same(one, along[0]) for one in along):
                raise Untranslatable("windows in several orders")
            self.query = replace(self.query, along=along[0], series=True)
        return self.query

    # --- the source

    def _is_grouped(self) -> bool:
        parts = [*self.node.expressions, *filter(None, (self.node.args.get("having"), self.node.args.get("qualify")))]
        if not self.node.args.get("from_"):
            return False
        return bool(self.node.args.get("group")) or bool(self.node.args.get("having")) or any(map(is_measure, parts))

    def _start(self, grouped: bool) -> None:
        if not self.node.args.get("from_"):
            self._start_alone()
            return
        sources = sources_of(self.node)
        inner = named_query(sources[0], self.ctes) if len(sources) == 1 else None
        if inner is not None:
            query = read_query(inner[0], self.session, inner[1])
            alias = normal(sources[0].alias or sources[0].name)
            self._over(query, [(alias, output.name) for output in query.outputs], grouped)
            return
        beside = side_by_side(self.node, self.session, self.ctes) or with_names(self.node, self.session, self.ctes)
        if beside is not None:
            self._over(beside.query, beside.names, grouped)
            self.scope.using = beside.using
            return
        joined = self._joined()
        self.many, self.conditions = joined.many, joined.rest
        self.scope = joined.scope
        self.query = Query(self.scope, (), where=tuple(joined.conditions))

    def _joined(self) -> Joined:
        try:
            return read_joins(self.node, self.session, self.ctes)
        except Untranslatable:
            chosen = folded(self.node)
            if chosen is None:
                raise
        self.node = chosen
        return read_joins(chosen, self.session, self.ctes)

    def _start_alone(self) -> None:
        """`SELECT (SELECT …) / (SELECT …)`: one row, about the table of a subquery."""
        parts = [
            read_query(one, self.session, self.ctes)
            for part in self.node.expressions
            for one in part.find_all(exp.Subquery)
            if one.find_ancestor(exp.Query) is self.node
        ]
        if not parts or any(self.node.args.get(key) for key in ("where", "group", "having", "order", "qualify")):
            raise Untranslatable("a SELECT without FROM", shown(self.node))
        query = next(filter(is_special, parts), parts[0])
        self.scope = Scope(self.session, query.scope.root, {}, groups=(), ctes=self.ctes, alone=query)
        self.query, self.conditions = Query(self.scope, (), groups=()), []
        if is_special(query):
            self.scope.own = query.scope.own
            self.query = replace(self.query, where=query.where, things=query.things)

    def _over(self, query: Query, names: Sequence[tuple[str, str]], grouped: bool) -> None:
        """A subquery: merged where both are one level, else its rows are the things that the rest speaks of."""
        node = self.node.args["from_"]
        where = self.node.args.get("where")
        self.conditions = [*conjuncts(where.this)] if where else []
        if grouped and query.is_cut:
            query, self.best = best_of(query, self.node)
        elif grouped and not query.is_rows:
            query = as_things(query)
        elif query.is_cut and (self.conditions or self.node.args.get("qualify")):
            raise Untranslatable("a condition after a LIMIT", shown(node))
        elif grouped and query.series:
            raise Untranslatable("an aggregate over a window", shown(node))
        outputs: dict[str, dict[str, Output]] = {}
        for (alias, name), output in zip(names, query.outputs, strict=True):
            outputs.setdefault(alias, {})[normal(name)] = replace(output, name=name)
        sources = {alias: SelectSource(columns) for alias, columns in outputs.items()}
        scope = Scope(self.session, query.scope.root, sources, own=query.scope.own, ctes=self.ctes)
        scope.groups = query.scope.groups if query.groups is not None else None
        self.scope = scope
        self.query = replace(query, scope=scope, outputs=())

    # --- conditions

    def _filter(self) -> None:
        self.scope.aliases = self._aliases()
        ranking = None
        later: list[Condition] = []
        for node in map(self._as_place, self.conditions):
            found = place(node, self.scope)
            if found is not None:
                if ranking is not None or self.query.is_cut:
                    raise Untranslatable("two rankings", shown(node))
                ranking = found
                continue
            if is_measure(node):
                raise Untranslatable("an aggregate in WHERE", f"{shown(node)}; use HAVING")
            condition = self.scope.condition(node)
            if self.many and many_in(condition):
                lone = without_partner(condition, self.many, self.scope)
                if lone is None:
                    raise Untranslatable("a condition on the many side of a LEFT JOIN", shown(node))
                condition = lone
                self._drop(node)
            later.append(condition)
        if ranking is not None:
            self._rank(ranking, later)
        for condition in later:
            self._keep(condition)

    def _as_place(self, node: Any) -> Any:
        """`s = (SELECT MAX(s) FROM months)` over these months is the first place, with all that share it."""
        best: Any = node.expression.unnest() if isinstance(node, exp.EQ) else None
        sources = sources_of(self.node) if self.node.args.get("from_") else []
        if not isinstance(best, exp.Select) or len(sources) != 1 or not isinstance(sources[0], exp.Table):
            return node
        source: Any = best.args.get("from_")
        (value, *more), used = best.expressions, {key for key, said in best.args.items() if said}
        value = value.unalias()
        plain = used == {"expressions", "from_"} and not more and isinstance(value, exp.Max | exp.Min)
        same_source = plain and isinstance(source.this, exp.Table) and source.this.name == sources[0].name
        if not same_source or normal(sources[0].name) not in self.ctes or not isinstance(node.this, exp.Column):
            return node
        if not isinstance(value.this, exp.Column) or normal(value.this.name) != normal(node.this.name):
            return node
        key = exp.Ordered(this=node.this.copy(), desc=isinstance(value, exp.Max))
        rank = exp.Window(this=exp.Rank(), order=exp.Order(expressions=[key]))
        return exp.EQ(this=rank, expression=exp.Literal.number(1))

    def _drop(self, node: Any) -> None:
        """A side that has no rows is not used any more."""
        alias = next(normal(column.table) for column in node.find_all(exp.Column))
        self.many = {name: one for name, one in self.many.items() if name != alias}
        sources = {
            name: source
            for name, source in self.scope.sources.items()
            if name != alias and not (isinstance(source, TableSource) and source.many == alias)
        }
        self.scope.sources = sources

    def _keep(self, condition: Condition) -> None:
        """Rows, things or groups: whatever the source's rows are."""
        query = self.query
        self.session.kept.append(condition)
        if query.groups is None and not query.distinct:
            if level(condition) != "row":
                raise Untranslatable("a condition on a window in WHERE")
            if query.things is not None:
                things = replace(query.things, where=(*query.things.where, condition))
                self.query = replace(query, things=things)
            else:
                self.query = replace(query, where=(*query.where, condition))
        elif level(condition) == "row" and not query.series and not query.having:
            self._keep_early(condition)
        else:
            self.query = replace(query, having=(*query.having, condition))

    def _keep_early(self, condition: Condition) -> None:
        """A condition on what groups are by keeps the same groups before and after."""
        if self.query.things is not None:
            things = replace(self.query.things, where=(*self.query.things.where, condition))
            self.query = replace(self.query, things=things)
        else:
            self.query = replace(self.query, where=(*self.query.where, condition))

    def _rank(self, ranking: Ordering, others: list[Condition]) -> None:
        """Conditions beside a place come after it, so only those that are alike for a whole ranking may stand."""
        for condition in others:
            columns = [part for part in walk(condition) if isinstance(part, Column)]
            if not columns or not all(any(same(column, one) for one in ranking.within) for column in columns):
                raise Untranslatable("a condition after a ranking", "put it into the subquery, before the ranking")
        self.query = replace(self.query, ordering=ranking)

    # --- groups

    def _aliases(self) -> dict[str, Output]:
        found = {}
        for node in self.node.expressions:
            if isinstance(node, exp.Alias):
                found[normal(node.alias)] = Output(node.alias, node.this, self.scope)
        return found

    def _group(self) -> None:
        group = self.node.args.get("group")
        if group is not None and any(group.args.get(key) for key in ("rollup", "cube", "grouping_sets", "totals")):
            raise Untranslatable("ROLLUP, CUBE or GROUPING SETS")
        if group is None:
            nodes = []
        elif group.args.get("all"):
            nodes = [one for one in self.node.expressions if not is_measure(one)]
        else:
            nodes = group.expressions
        groups: list[tuple[str, Expression]] = []
        for node in nodes:
            name, written = self._grouped_by(node)
            value = self.scope.value(written)
            if level(value) != "row" or many_in(value):
                raise Untranslatable("a group by this", shown(node))
            if not isinstance(value, Constant) and not any(same(value, other) for _, other in groups):
                groups.append((name, value))
        self.scope.groups = tuple(value for _, value in groups)
        self.query = replace(self.query, groups=tuple(groups))

    def _grouped_by(self, node: Any) -> tuple[str, Any]:
        """The name that the SELECT gives it, and its expression."""
        if isinstance(node, exp.Literal) and not node.is_string:
            node = self._at(node)
        if isinstance(node, exp.Alias):
            return node.alias, node.this
        for one in self.node.expressions:
            inner = one.this if isinstance(one, exp.Alias) else one
            if inner == node:
                return one.alias_or_name or shown(node), node
        return node.name if isinstance(node, exp.Column) else shown(node), node

    def _at(self, node: Any) -> Any:
        place_ = int(node.name) if node.name.isdigit() else 0
        if not 1 <= place_ <= len(self.node.expressions):
            raise Untranslatable("a column by its number", shown(node))
        return self.node.expressions[place_ - 1]

    # --- columns

    def _show(self) -> None:
        outputs: list[Output] = []
        for node in self.node.expressions:
            if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
                outputs += stars(node, self.scope)
                continue
            inner = node.this if isinstance(node, exp.Alias) else node
            name = free_name(node.alias_or_name or shown(inner), [output.name for output in outputs])
            outputs.append(Output(name, inner, self.scope))
        self.query = replace(self.query, outputs=tuple(outputs))
        if self.many:
            self._relate()
        if self.best is not None:
            self.query = replace(self.query, outputs=tuple(of_best(output, self.best) for output in outputs))
        self.query = marked(self.query, self.node.expressions)

    def _relate(self) -> None:
        """Groups by the root's key are its rows; what was joined are measures of each."""
        query = self.query
        if query.groups is None:
            raise Untranslatable("rows that a LEFT JOIN repeats", "group them, or join the other way round")
        own = {value.name for _, value in query.groups if isinstance(value, Column) and value.table is None}
        by_key = any({*key} <= own for key in self.scope.root.keys)
        outputs = []
        for output in query.outputs:
            assert output.scope is not None
            value = related(output.scope.value(output.node), self.many, self.scope, by_key)
            outputs.append(Output(output.name, expression=value))
        self.by_key = by_key
        self.query = replace(query, outputs=tuple(outputs), groups=None if by_key else query.groups)

    # --- what is kept, in which order

    def _related(self, node: Any) -> Any:
        return related(node, self.many, self.scope, self.by_key) if self.many else node

    def _having(self) -> None:
        having = self.node.args.get("having")
        for node in conjuncts(having.this) if having else ():
            condition = self._related(self.scope.condition(node))
            if level(condition) == "row" and self.query.groups is None and self.many:
                self.query = replace(self.query, where=(*self.query.where, condition))
            elif level(condition) == "row":
                self._keep_early(condition)
            else:
                if self.query.series:
                    raise Untranslatable("a window over groups that HAVING chooses", "filter in an outer SELECT")
                self.query = replace(self.query, having=(*self.query.having, condition))

    def _qualify(self) -> None:
        qualify = self.node.args.get("qualify")
        parts = [*conjuncts(qualify.this)] if qualify else []
        for node in parts:
            found = place(node, self.scope)
            if found is None:
                condition = self.scope.condition(node)
                if level(condition) == "row" or self.query.groups is None:
                    raise Untranslatable("this QUALIFY", shown(node))
                self.query = replace(self.query, having=(*self.query.having, condition), series=True)
                continue
            if len(parts) > 1 or self.query.is_cut:
                raise Untranslatable("QUALIFY with several conditions", shown(qualify))
            if self.many:
                found = replace(found, keys=tuple((self._related(key), desc) for key, desc in found.keys))
            self.query = replace(self.query, ordering=found)

    def _distinct(self) -> None:
        distinct = self.node.args.get("distinct")
        if distinct is None:
            return
        if distinct.args.get("on"):
            raise Untranslatable("DISTINCT ON", "use QUALIFY ROW_NUMBER() OVER (…) = 1")
        if self.query.is_cut:
            raise Untranslatable("DISTINCT after a ranking")
        if self.query.groups is not None:
            shown_ = [value_of(output) for output in self.query.outputs]
            if not all(any(same(group, one) for one in shown_) for _, group in self.query.groups):
                raise Untranslatable("DISTINCT over groups that are not shown")
            return
        self.query = replace(self.query, distinct=True)

    def _order(self) -> None:
        order, most = self.node.args.get("order"), most_rows(self.node)
        if order is None:
            if most is not None and not self._is_one_row():
                raise Untranslatable("LIMIT without ORDER BY", "say what the rows are ordered by")
            return
        keys: tuple[tuple[Expression, bool], ...] = ()
        for one in order.expressions:
            placed = order_of_place(self._ordered_by(one), bool(one.args.get("desc")), keys, self.scope)
            keys += (self._key(one),) if placed is None else tuple((self._related(by), down) for by, down in placed)
        if self.query.is_cut:
            if most is not None:
                raise Untranslatable("a LIMIT after a ranking")
            return  # a ranking has an order of its own
        keys = tuple((value, desc) for value, desc in keys if not isinstance(value, Constant))
        if keys and not self._is_one_row():
            self.query = replace(self.query, ordering=Ordering(keys, most))

    def _is_one_row(self) -> bool:
        return (self.query.groups == () and self.query.things is None) or self.query.groups == ()

    def _key(self, node: Any) -> tuple[Expression, bool]:
        value, descending = order_key(
            exp.Ordered(
                this=self._ordered_by(node), desc=node.args.get("desc"), nulls_first=node.args.get("nulls_first")
            ),
            self.scope,
        )
        return self._related(value), descending

    def _ordered_by(self, node: Any) -> Any:
        """Names of columns that are shown come first, as SQL has it for ORDER BY."""
        inner = node.this
        if isinstance(inner, exp.Literal) and not inner.is_string:
            inner = self._at(inner)
            inner = inner.this if isinstance(inner, exp.Alias) else inner
        elif isinstance(inner, exp.Column) and not inner.table and normal(inner.name) in self.scope.aliases:
            inner = self.scope.aliases[normal(inner.name)].node
        return inner
