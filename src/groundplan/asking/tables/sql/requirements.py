"""A query that was understood, written as the requirements of a reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from groundplan.asking.tables.sql.grouping import is_decided, of_group, of_groups
from groundplan.asking.tables.sql.names import free_name, normal
from groundplan.asking.tables.sql.query import Ordering, Query, same
from groundplan.asking.tables.sql.scope import Output
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import (
    Aggregate,
    Column,
    Condition,
    Constant,
    Expression,
    Node,
    Overall,
    Rows,
    Share,
    Sort,
    level,
)
from groundplan.contracts.normal_form import CONDITIONS, mapped, mapped_here, settled_ties
from groundplan.contracts.reading import (
    ColumnsAsked,
    Each,
    EachMeasure,
    Evidence,
    Filter,
    GroupBy,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Requirement,
    Value,
)
from groundplan.text.words import language_of

LONGEST_EVIDENCE = 500
N = TypeVar("N", bound=Node)


def reading_of(query: Query, question: str) -> Reading:
    """The reading, with the query as chosen by hand; raises Untranslatable where the parts have no place in one."""
    return _Writer(query, Evidence(text=question.strip()[:LONGEST_EVIDENCE] or "?", chosen=True)).write(question)


@dataclass
class _Writer:
    query: Query
    evidence: Evidence
    made: list[Requirement] = field(default_factory=list)
    names: list[tuple[str, Expression]] = field(default_factory=list)  # what groups and columns are called

    def write(self, question: str) -> Reading:
        query = self.query
        if query.things is not None:
            measures = tuple(EachMeasure(name=name, expression=one) for name, one in query.things.measures.items())
            keys = tuple(EachMeasure(name=name, expression=one) for name, one in query.things.computed.items())
            self.add("thing", Each(keys=query.things.keys, measures=measures, computed=keys))
        for condition in (*query.where, *(query.things.where if query.things else ())):
            self.add("rows", Filter(condition=condition))
        if query.groups is None:
            self.rows()
        else:
            self.groups()
        self.add("table", OutputAsked(label="table"))
        root = query.scope.root
        asked = question[:2_000] or "?"
        return Reading(question=asked, language=language_of(asked), tables=(root.name,), requirements=tuple(self.made))

    def add(self, name: str, value: Value) -> None:
        taken = {requirement.id for requirement in self.made}
        base = f"{value.kind}:{' '.join(name.split())}"[:200]
        id_, number = base, 2
        while id_ in taken:
            id_, number = f"{base} {number}", number + 1
        self.made.append(Requirement(id=id_, value=value, evidence=self.evidence))

    def taken(self) -> list[str]:
        own = [column.name for column in self.query.scope.root.columns]
        things = [*self.query.things.measures, *self.query.things.keys] if self.query.things else []
        return [*own, *things, *(name for name, _ in self.names)]

    # --- rows

    def rows(self) -> None:
        columns: list[str] = []
        computed: list[EachMeasure] = []
        for output, value in self.shown():
            if level(value) != "row":
                raise Untranslatable("an aggregate beside single rows", output.name)
            if isinstance(value, Constant):
                self.query.scope.session.note(f"the column {output.name} is the same everywhere and is left out")
                continue
            columns.append(self.column(output.name, value, computed))
        if not columns:
            raise Untranslatable("a SELECT of constants only")
        within: tuple[str, ...] = ()
        ordering = self.query.ordering
        if ordering is not None:
            within = tuple(self.column("group", value, computed) for value in ordering.within)
            if not {*within} <= {*columns}:
                columns += [name for name in within if name not in columns]
                if self.query.distinct:
                    raise Untranslatable("DISTINCT within what is not shown")
        wanted = tuple(dict.fromkeys(columns))
        self.add("shown", ColumnsAsked(columns=wanted, distinct=self.query.distinct, computed=tuple(computed)))
        if ordering is not None:
            self.rank(ordering, self.row_key, within)

    def row_key(self, value: Expression) -> Expression:
        """A computed column that is shown stands under its name."""
        name = next((name for name, other in self.names if same(other, value)), None)
        return Column(name=name) if name else value

    def column(self, name: str, value: Expression, computed: list[EachMeasure]) -> str:
        """The name under which the value is shown; a computed one is defined once."""
        if isinstance(value, Column) and value.table is None and value.via is None:
            return value.name
        known = next((known for known, other in self.names if same(other, value)), None)
        if known is not None:
            return known
        free = free_name(name, self.taken())
        self.names.append((free, value))
        computed.append(EachMeasure(name=free, expression=value))
        return free

    def shown(self) -> Sequence[tuple[Output, Expression]]:
        found = []
        for output in self.query.outputs:
            if normal(output.name) in self.query.places:
                self.query.scope.session.note(f"{output.name}, the place in a ranking, is told by the order")
                continue
            value = output.expression
            if value is None:
                assert output.scope is not None
                value = output.scope.value(output.node)
            found.append((output, value))
        return found

    def rank(self, ordering: Ordering, key: Callable[[Expression], Expression], within: tuple[str, ...]) -> None:
        (by, descending), *others = ordering.keys
        direction = "top" if descending else "bottom"
        rank = Rank(
            direction=direction,
            limit=ordering.limit,
            by=key(by),
            within=within,
            then=tuple(Sort(by=key(value), direction="top" if down else "bottom") for value, down in others),
            shown=any(same(by, value) for _, value in self.shown()),
            ties=settled_ties(ordering.limit, ordering.ties),
        )
        self.add(direction, rank)

    # --- groups

    @property
    def by(self) -> list[Expression]:
        return [value for _, value in self.query.groups or ()]

    def groups(self) -> None:
        groups = [*(self.query.groups or ())]
        along = self.query.along
        if along is not None:
            groups.sort(key=lambda group: not same(group[1], along))
        for name, value in groups:
            ordered = along is not None and same(value, along)
            if isinstance(value, Column) and value.table is None:
                self.names.append((value.name, value))
                self.add(value.name, GroupBy(column=value.name, ordered=ordered))
            else:
                free = free_name(name, self.taken())
                self.names.append((free, value))
                self.add(free, GroupBy(column=free, expression=value, ordered=ordered))
        self.metrics()
        for condition in self.query.having:
            self.add("groups", Filter(condition=self.over_groups(condition)))
        if self.query.ordering is not None:
            self.rank_groups(self.query.ordering)

    def metrics(self) -> None:
        for output, value in self.shown():
            if isinstance(value, Constant):
                self.query.scope.session.note(f"the column {output.name} is the same everywhere and is left out")
            elif level(value) == "row" and not (isinstance(value, Overall) and not self.by):
                if not any(same(value, group) for _, group in self.names):
                    self.metric(output.name, of_group(value, self.by, self.query.scope, output.name))
            else:
                self.metric(output.name, of_groups(value, self.by, self.query.scope, output.name))

    def metric(self, name: str, value: Expression) -> None:
        asked = [r.value for r in self.made if isinstance(r.value, Metric)]
        if any(one.expression is not None and same(one.expression, value) for one in asked):
            return
        free = free_name(name, [*(known for known, _ in self.names), *(one.name or "" for one in asked)])
        self.add(free, Metric(expression=self.named_shares(value), name=free))

    def named_shares(self, node: N) -> N:
        """The groups that share a total stand under their names."""
        if isinstance(node, Share):
            names = [next((name for name, group in self.names if same(group, one)), None) for one in node.within]
            if None in names:
                raise Untranslatable("a share within what is no group")
            return node.model_copy(update={"within": tuple(Column(name=name or "") for name in names)})
        return mapped(node, self.named_shares)

    def over_groups(self, condition: Condition) -> Condition:
        """Computed groups stand under their names."""
        computed = [(name, value) for name, value in self.names if value != Column(name=name)]

        def change(part: Node) -> Node:
            if isinstance(part, Aggregate | Rows):
                return part
            if not isinstance(part, CONDITIONS):
                name = next((name for name, value in computed if same(value, part)), None)
                if name is not None:
                    return Column(name=name)
            return mapped_here(part, change)

        if level(condition) != "row":
            return self.named_shares(of_groups(condition, self.by, self.query.scope, "HAVING"))
        if is_decided(condition, [value for _, value in computed]):
            return change(condition)  # type: ignore[return-value]
        return of_groups(condition, self.by, self.query.scope, "a condition on groups")

    def rank_groups(self, ordering: Ordering) -> None:
        within = []
        for value in ordering.within:
            name = next((name for name, group in self.names if same(group, value)), None)
            if name is None:
                raise Untranslatable("a ranking within what is no group")
            within.append(name)
        self.rank(ordering, self.group_key, tuple(within))

    def group_key(self, value: Expression) -> Expression:
        """A group by its name, or a measure."""
        if level(value) != "row":
            return self.named_shares(of_groups(value, self.by, self.query.scope, "ORDER BY"))
        name = next((name for name, group in self.names if same(group, value)), None)
        return Column(name=name) if name is not None else of_group(value, self.by, self.query.scope, "ORDER BY")
