"""Joins that repeat rows: a sum, an average or a count then takes the same row several times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from groundplan.asking.tables.sql.names import normal
from groundplan.asking.tables.sql.scope import conjuncts
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.verify_names import Query, output, selected
from groundplan.contracts.schema import Table
from groundplan.contracts.verification import Finding

COUNTING = (
    exp.Sum, exp.Avg, exp.Count, exp.CountIf, exp.Median, exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance,
    exp.Quantile, exp.PercentileCont,
)  # fmt: skip
STEADY = (exp.Avg, exp.Median, exp.Quantile, exp.PercentileCont)  # the same for equal values, however often
FILTERING = ("SEMI", "ANTI")


@dataclass(frozen=True)
class Repeat:
    """Rows that a join repeats: once for each matching row of `by`. A look-up of one row for each is `looked_up`."""

    join: Any
    by: str
    looked_up: bool = False


Repeats = Mapping[str, Repeat]
"""By alias: the join that repeats rows of this source."""


def repeated_rows(query: Query) -> Iterator[Finding]:
    """A measure of rows that a join repeats counts each of them several times."""
    checker = _Joins(query)
    for scope in query.scopes:
        for measure in scope.find_all(*COUNTING):
            found = checker.repeated(measure, scope)
            if found is not None:
                yield _finding(measure, *found)


def _finding(measure: Any, repeat: Repeat, rows: str) -> Finding:
    return Finding(
        code="verify/join-repeats-rows",
        problem=f"{shown(measure)} takes rows of {rows} once for each matching row of {repeat.by}",
        where=shown(repeat.join),
        hint=f"if each row of {rows} should count once, compute this before the join, in a subquery of its own",
        severity="warning" if repeat.looked_up else "error",
    )


@dataclass
class _Joins:
    query: Query

    def __post_init__(self) -> None:
        self._known: dict[int, Repeats] = {}

    def repeated(self, measure: Any, scope: Scope) -> tuple[Repeat, str] | None:
        """The join that repeats what is measured, and the table whose rows it repeats."""
        if isinstance(measure.this, exp.Distinct):
            return None
        columns = [column for value in _values(measure.this) for column in value.find_all(exp.Column)]
        if not columns:
            return self._all_rows(scope)
        if isinstance(measure, STEADY) and self._is_one_of_each(columns, scope):
            return None
        found = [self._of(column, scope) for column in columns]
        return found[0] if all(found) else None

    def _all_rows(self, scope: Scope) -> tuple[Repeat, str] | None:
        """Of COUNT(*): rows are counted that no table has, if each table's rows are repeated."""
        repeats, sources = self._repeats(scope), selected(scope)
        if len(sources) < 2 or any(alias not in repeats or repeats[alias].looked_up for alias in sources):
            return None
        alias = next(iter(sources))
        return repeats[alias], self._called(alias, scope)

    def _of(self, column: Any, scope: Scope) -> tuple[Repeat, str] | None:
        alias = self.query.alias_of(column, scope)
        if alias is None:
            return None
        repeat = self._repeats(scope).get(alias)
        if repeat is not None:
            return repeat, self._called(alias, scope)
        source = selected(scope)[alias]
        if isinstance(source, Scope) and _passes_rows(source):
            inner = output(source, column.name)
            found = [self._of(one, source) for one in inner.find_all(exp.Column)] if inner is not None else []
            return found[0] if found and all(found) else None
        return None

    def _called(self, alias: str, scope: Scope) -> str:
        table = self.query.table(selected(scope)[alias])
        return table.name if table else alias

    def _is_one_of_each(self, columns: Sequence[Any], scope: Scope) -> bool:
        """True if each group holds one row of the measured table."""
        aliases = {self.query.alias_of(column, scope) for column in columns}
        group = scope.expression.args.get("group")
        keys = [one for one in (group.expressions if group else ()) if isinstance(one, exp.Column)]
        by = {normal(key.name) for key in keys if self.query.alias_of(key, scope) in aliases}
        sources = [selected(scope).get(alias or "") for alias in aliases]
        return len(sources) == 1 and self.query.table(sources[0]) is not None and self._is_unique(sources[0], by)

    def _repeats(self, scope: Scope) -> Repeats:
        if id(scope) not in self._known:
            self._known[id(scope)] = self._follow(scope)
        return self._known[id(scope)]

    def _follow(self, scope: Scope) -> Repeats:
        """Adds one joined source after the other, as FROM has them."""
        sources, repeats = selected(scope), dict[str, Repeat]()
        joins = scope.expression.args.get("joins") or ()
        before = [alias for alias in sources if alias not in {join.alias_or_name for join in joins}]
        where = scope.expression.args.get("where")
        for join in joins:
            alias = join.alias_or_name
            if alias not in sources or join.kind in FILTERING:
                continue
            pairs = self._pairs(scope, alias, join, where)
            self._join(alias, join, pairs, before, scope, repeats)
            before.append(alias)
        return repeats

    def _join(
        self,
        alias: str,
        join: Any,
        pairs: Sequence[tuple[str, str, str]],
        before: Sequence[str],
        scope: Scope,
        repeats: dict[str, Repeat],
    ) -> None:
        sources = selected(scope)
        one_row = self._is_unique(sources[alias], {own for own, _, _ in pairs})
        partners = [other for other in before if any(other == name for _, name, _ in pairs)]
        unique = [
            other
            for other in partners
            if self._is_unique(sources[other], {theirs for _, name, theirs in pairs if name == other})
        ]
        if not one_row:
            for other in before:
                repeats.setdefault(other, Repeat(join, self._called(alias, scope)))
        steady = [other for other in unique if other not in repeats or repeats[other].join is join]
        if steady:
            return
        if unique:
            repeats[alias] = Repeat(repeats[unique[0]].join, repeats[unique[0]].by, looked_up=one_row)
        elif partners or any(not self._is_unique(sources[other], set()) for other in before):
            by = self._called((partners or [*before])[0], scope)
            repeats[alias] = Repeat(join, by, looked_up=one_row)

    def _pairs(self, scope: Scope, alias: str, join: Any, where: Any) -> list[tuple[str, str, str]]:
        """The columns of the joined source, each with the source and column that it must equal; `` is a constant."""
        using = [normal(one.name) for one in join.args.get("using") or ()]
        pairs = [(name, other, name) for name in using for other in selected(scope) if other != alias]
        for part in (*conjuncts(join.args.get("on")), *(conjuncts(where.this) if where else ())):
            if isinstance(part, exp.EQ):
                pairs += self._equal(part.this, part.expression, alias, scope)
                pairs += self._equal(part.expression, part.this, alias, scope)
        return pairs

    def _equal(self, own: Any, other: Any, alias: str, scope: Scope) -> Iterator[tuple[str, str, str]]:
        if not isinstance(own, exp.Column) or self.query.alias_of(own, scope) != alias:
            return
        if isinstance(other, exp.Literal):
            yield normal(own.name), "", ""
        elif isinstance(other, exp.Column) and (name := self.query.alias_of(other, scope)) not in (None, alias):
            yield normal(own.name), str(name), normal(other.name)

    def _is_unique(self, source: Any, columns: set[str]) -> bool:
        """True if at most one row has given values of the columns, or if that is not known."""
        if not isinstance(source, Scope):
            table = self.query.table(source)
            return table is None or is_key(table, columns, self.query)
        select: Any = source.expression
        if not isinstance(select, exp.Select):
            return True
        group = select.args.get("group")
        if group is not None:
            outputs = [_output_of(one, select) for one in group.expressions]
            return all(name is not None and name in columns for name in outputs)
        if select.args.get("distinct"):
            return {normal(name) for name in select.named_selects} <= columns
        if select.find(exp.AggFunc) and not _passes_rows(source):
            return True
        inner = [one for name in columns if isinstance(one := output(source, name), exp.Column)]
        sources = selected(source)
        if len(sources) != 1:
            return True
        return self._is_unique(next(iter(sources.values())), {normal(one.name) for one in inner})


def is_key(table: Table, columns: set[str], query: Query) -> bool:
    """True if the columns hold a key of the table, or one alone has a value of its own in each row."""
    keys = [*table.keys, *(link.to_columns for link in query.schema.relationships if link.to_table == table.name)]
    if any({normal(name) for name in key} <= columns for key in keys) or table.row_count in (0, 1):
        return True
    own = [column for column in table.columns if normal(column.name) in columns]
    counted = [column for column in own if not column.sampled and column.cardinality is not None]
    return any(column.cardinality == table.row_count for column in counted)


def _passes_rows(scope: Scope) -> bool:
    """True if a subquery gives the rows that it reads, without grouping them."""
    select: Any = scope.expression
    plain = isinstance(select, exp.Select) and not select.args.get("group") and not select.args.get("distinct")
    return plain and not any(one.find(exp.AggFunc) and not one.find(exp.Window) for one in select.selects)


def _values(node: Any) -> list[Any]:
    """The values that are added up: of a CASE its results, without its conditions."""
    node = node.unnest() if isinstance(node, exp.Paren) else node
    if isinstance(node, exp.Case):
        chosen = [branch.args["true"] for branch in node.args["ifs"]]
        return [*chosen, *([node.args["default"]] if node.args.get("default") else [])]
    return [node] if node is not None else []


def _output_of(group: Any, select: Any) -> str | None:
    """The column of the result that a group is; None if it is not shown."""
    if isinstance(group, exp.Literal) and not group.is_string and 0 < int(group.this) <= len(select.selects):
        return normal(select.selects[int(group.this) - 1].alias_or_name)
    for one in select.selects:
        if one.unalias() == group or (
            isinstance(group, exp.Column) and normal(one.alias_or_name) == normal(group.name)
        ):
            return normal(one.alias_or_name)
    return None
