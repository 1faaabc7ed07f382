"""Joins that come before all other steps: what a question says of other tables becomes columns of its own table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from groundplan.asking.tables.steps.draft import Joined
from groundplan.asking.tables.steps.names import LONGEST_NAME, called, found_name
from groundplan.asking.tables.steps.nodes import Sought, bases, by_name, in_place, kept_rows, metric_params
from groundplan.asking.tables.steps.step_list import add_step, first_free
from groundplan.contracts.contract import Language
from groundplan.contracts.expression import (
    Alike,
    Column,
    Condition,
    Expression,
    Found,
    FoundGroup,
    Node,
    Overall,
    Related,
    Rows,
    is_count,
    kind_of,
)
from groundplan.contracts.join_paths import NoPath, Path, find_path, foreign, name_of, rooted_reading
from groundplan.contracts.normal_form import normal_expression
from groundplan.contracts.plan import Step
from groundplan.contracts.reading import ColumnsAsked, Each, GroupBy, Metric, Reading, Value
from groundplan.contracts.schema import Column as Described
from groundplan.contracts.schema import SourceSchema, Table
from groundplan.contracts.wording import Wording, in_words

Foreign = Column | Related | Overall | Alike | Sought


def with_joins(reading: Reading, table: Table, schema: SourceSchema) -> Joined:
    """The reading over one wide table, and the steps that make it. Without a clear path: as they are."""
    schema = schema.joined(reading.joins)
    try:
        reading = rooted_reading(reading, schema.relationships)
        wanted = {r.id: [*foreign(r.value, table.name)] for r in reading.requirements}
        cites = tuple(id_ for id_, nodes in wanted.items() if nodes)
        language: Language = "ru" if reading.language == "ru" else "en"
        joins = _Joins(table, schema, cites, [], _preferred(reading), language, _derived(reading))
        nodes = [node for nodes in wanted.values() for node in nodes]
        joins.widen(node for node in nodes if not isinstance(node, Overall | Sought))
        overall = joins.compute(dict.fromkeys(node for node in nodes if isinstance(node, Overall)), _names(reading))
        found = {kept_rows(node): joins.kept(node) for node in nodes if isinstance(node, Sought)}
    except NoPath:
        return Joined(reading, table)
    requirements = tuple(
        r.model_copy(update={"value": _plain(in_place(r.value, joins.names))}) for r in reading.requirements
    )
    rooted = reading.model_copy(update={"requirements": requirements})
    return Joined(rooted, joins.wide, tuple(joins.steps), joins.data, overall, found)


def _names(reading: Reading) -> frozenset[str]:
    """The names that the reading itself gives to groups, measures and columns."""
    found: set[str | None] = set()
    for requirement in reading.requirements:
        match requirement.value:
            case GroupBy(column=name):
                found.add(name)
            case Metric(name=name, expression=expression) if not isinstance(expression, Overall):
                found.add(name)
            case ColumnsAsked(computed=made):
                found |= {one.name for one in made}
            case Each(measures=made, computed=computed):
                found |= {one.name for one in (*made, *computed)}
    return frozenset(filter(None, found))


def _derived(reading: Reading) -> frozenset[str]:
    """The groups that the reading derives: `ordered_on` is the month, and the joined day is called otherwise."""
    groups = [r.value for r in reading.requirements if isinstance(r.value, GroupBy)]
    return frozenset(group.column for group in groups if not isinstance(group.expression, Column | Related | None))


def _preferred(reading: Reading) -> dict[Expression, str]:
    """The names that the reading itself gives to columns of other tables."""
    found: dict[Expression, str] = {}
    for requirement in reading.requirements:
        match requirement.value:
            case GroupBy(column=name, expression=Column() | Related() as node):
                found[node] = name
            case ColumnsAsked(computed=computed) | Each(computed=computed):
                found |= {one.expression: one.name for one in computed}
            case Metric(name=str() as name, expression=Overall() as node):
                found[node] = name
    return found


def _plain(value: Value) -> Value:
    """A group or a column that is now a column of the table needs no expression."""
    match value:
        case GroupBy(column=name, expression=Column(name=same)) if name == same:
            return value.model_copy(update={"expression": None})
        case ColumnsAsked(computed=computed) | Each(computed=computed):
            left = tuple(one for one in computed if one.expression != Column(name=one.name))
            return value.model_copy(update={"computed": left})
        case _:
            return value


@dataclass
class _Joins:
    """The joins of one table, after those of others in the same plan."""

    table: Table
    schema: SourceSchema
    cites: tuple[str, ...]
    steps: list[Step]
    preferred: Mapping[Expression, str]
    language: Language
    made: frozenset[str] = frozenset()  # the columns that the reading derives from those that are joined
    names: dict[Node, str] = field(default_factory=dict)  # the columns that were joined
    data: str | None = None

    def __post_init__(self) -> None:
        self.wide = self.table

    def widen(self, wanted: Iterable[Foreign]) -> None:
        """Each row with what it points at, then with measures of what points at it."""
        nodes = [*dict.fromkeys(wanted)]
        self.look_up([node for node in nodes if isinstance(node, Column)])
        related: dict[tuple[str, str | None], list[Related]] = {}
        for node in nodes:
            if isinstance(node, Related):
                related.setdefault((node.table, node.via), []).append(node)
        for measures in related.values():
            self.relate(measures)
        overall = [node for node in nodes if isinstance(node, Overall)]
        computed = self.compute(overall)
        for step, name in computed.values():
            self._add("overall", "add_overall", {"columns": [{"column": name, "as": name}]}, "left", (step,))
            self._widen(Described(name=name, type="", kind="number", role="measure"))
        self.names |= {one: computed[normal_expression(one)][1] for one in overall}

        for node in nodes:
            if isinstance(node, Sought):
                self.names[node] = self.mark(node)
            elif isinstance(node, Alike):
                self.names[node] = self.derive(node)

    def derive(self, alike: Alike) -> str:
        """The column with a measure of the rows that are alike, before any of them is left out."""
        name = self._free(self.preferred.get(alike), called(alike, self.language)[:LONGEST_NAME], self.table.name)
        self._add("alike", "derive_column", {"expression": _json(in_place(alike, self.names)), "as": name}, "table")
        kind = kind_of(alike, {column.name: column.kind for column in self.wide.columns})
        self._widen(Described(name=name, type="", kind=kind, role="measure"))
        return name

    def mark(self, found: Sought) -> str:
        """The column that says whether the value is found."""
        (step, among), of = self.kept(found), in_place(found.of, self.names)
        if not isinstance(of, Column):
            value = Column(name=self._free(None, "value", self.table.name))
            self._add("value", "derive_column", {"expression": _json(of), "as": value.name}, "table")
            self._widen(Described(name=value.name, type="", kind="number", role="measure"))
            of = value
        name = self._free(None, found_name(found, self.language), self.table.name)
        source = {} if step else {"right": found.table}
        params = {**source, "column": of.name, "among": among, "as": name}
        self._add("found", "mark_found", params, "left", (step,) if step else ())
        self._widen(Described(name=name, type="", kind="boolean", role="dimension"))
        return name

    def kept(self, found: Sought) -> tuple[str | None, str]:
        """The step that keeps the rows or groups among which a value is looked for, and the column that it is in.

        No step where it is looked for among all rows of a table.
        """
        other = self.of(found.table)
        if found.where is not None:
            other._keep("among", found.where)
        if isinstance(found, Found):
            return other.data, found.column
        keys = {normal_expression(key): other._key(key) for key in found.keys}
        other._group(keys, found)
        return other.data, next(iter(keys.values()))

    def _keep(self, id_: str, where: Condition) -> None:
        self.widen(foreign(where, self.table.name))
        self._add(id_, "filter_rows", {"where": _json(in_place(where, self.names))}, "table")

    def _key(self, key: Expression) -> str:
        """The column of a group's key, derived where it is none yet."""
        self.widen(foreign(key, self.table.name))
        made = in_place(key, self.names)
        if isinstance(made, Column):
            return made.name
        name = self._free(None, "key", self.table.name)
        self._add("key", "derive_column", {"expression": _json(made), "as": name}, "table")
        self._widen(Described(name=name, type="", kind="number", role="dimension"))
        return name

    def _group(self, keys: Mapping[Expression, str], found: FoundGroup) -> None:
        """The groups by their keys that meet the condition, and the first of them."""
        having = [found.having] if found.having is not None else []
        names = dict(keys)
        for measure in (base for node in (*having, *(one.by for one in found.order)) for base in bases(node)):
            names.setdefault(
                normal_expression(measure), first_free(called(measure)[:LONGEST_NAME], names.values(), " ")
            )
        measures = {measure: name for measure, name in names.items() if measure not in keys}
        self.widen(node for measure in measures for node in foreign(measure, self.table.name))
        metrics = [metric_params(in_place(measure, self.names), name) for measure, name in measures.items()]
        metrics = metrics or [metric_params(Rows(), first_free("rows", keys.values(), " "))]
        self._add("groups", "aggregate", {"group_by": [*keys.values()], "metrics": metrics}, "table")
        if found.having is not None:
            self._add("among", "filter_rows", {"where": _json(by_name(found.having, names))}, "table")
        if found.limit is not None:
            (by, direction), *then = [(names[normal_expression(one.by)], one.direction) for one in found.order]
            params: dict[str, Any] = {"by": by, "direction": direction, "limit": found.limit}
            params |= {"then": [{"by": name, "direction": way} for name, way in then]} if then else {}
            params |= {"ties": found.ties} if found.ties != "cut" else {}
            self._add("first", "rank_rows", params, "table")

    def compute(self, wanted: Iterable[Overall], taken: Collection[str] = ()) -> dict[Expression, tuple[str, str]]:
        """For each overall value in normal form, the step that computes it and the name of its column."""
        found: dict[Expression, tuple[str, str]] = {}
        for one in wanted:
            normal = normal_expression(one)
            if normal in found or not isinstance(normal, Overall):
                continue
            other = self.of(one.table or self.table.name)
            other.widen(foreign(normal.of, other.table.name))
            used = [*taken, *(name for _, name in found.values())]
            words = in_words(one, Wording(self.language))[:LONGEST_NAME]
            name = self._free(self.preferred.get(one), words, other.table.name, used)
            made = metric_params(in_place(normal.of, other.names), name)
            other._add("all_rows", "aggregate", {"metrics": [made]}, "table")
            found[normal] = (other.data or "", name)
        return found

    def look_up(self, wanted: Sequence[Column]) -> None:
        needed: dict[Path, dict[str, None]] = {}
        for column in wanted:
            path = self.path(self.table.name, column.table or "", column.via)
            needed.setdefault(path, {})[column.name] = None
            for place in range(len(path) - 1, 0, -1):
                needed.setdefault(path[:place], {}).update(dict.fromkeys(path[place].columns))
        for path in sorted(needed, key=lambda path: (len(path), name_of(path))):
            self._look_up(path, [*needed[path]])

    def _look_up(self, path: Path, columns: Sequence[str]) -> None:
        link = path[-1]
        other = self._found(link.to_table)
        own = [self.name(link.table, path[:-1], column) for column in link.columns]
        taken = []
        for column in columns:
            node = Column(table=link.to_table, via=name_of(path), name=column)
            self.names[node] = name = self._free(self.preferred.get(node), column, link.to_table)
            described = other.find(column)
            if described is not None:
                self._widen(described.model_copy(update={"name": name}))
            taken.append({"column": column, "as": name})
        on = [{"left": left, "right": right} for left, right in zip(own, link.to_columns, strict=True)]
        params = {"right": link.to_table, "on": on, "columns": taken, "how": "left"}
        self._add(f"with_{link.to_table}", "join_tables", params, "left")

    def relate(self, measures: Sequence[Related]) -> None:
        path = self.path(measures[0].table, self.table.name, measures[0].via)
        link = path[-1]
        other = self.of(measures[0].table)
        keys = [Column(table=link.table, via=name_of(path[:-1]), name=name) for name in link.columns if path[:-1]]
        other.widen((*keys, *(node for one in measures for node in foreign(one.of, other.table.name))))
        groups = [other.name(link.table, path[:-1], column) for column in link.columns]
        made, taken = [], []
        for one in measures:
            self.names[one] = name = self._free(self.preferred.get(one), *_called(one), also=groups)
            self._widen(Described(name=name, type="", kind="number", role="measure"))
            made.append(metric_params(in_place(one.of, other.names), name))
            taken.append({"column": name, "as": name, **({"otherwise": 0} if is_count(one.of) else {})})
        other._add(f"of_{other.table.name}", "aggregate", {"group_by": groups, "metrics": made}, "table")
        on = [{"left": left, "right": right} for left, right in zip(link.to_columns, groups, strict=True)]
        params = {"on": on, "columns": taken, "how": "left"}
        self._add(f"with_{other.table.name}", "join_tables", params, "left", (other.data or "",))

    def of(self, table: str) -> _Joins:
        """The joins of another table, or of the same one once more."""
        return _Joins(self._found(table), self.schema, self.cites, self.steps, {}, self.language)

    def name(self, table: str, path: Path, column: str) -> str:
        """The name in the wide table of a column at the end of a path."""
        return self.names[Column(table=table, via=name_of(path), name=column)] if path else column

    def path(self, table: str, to_table: str, via: str | None) -> Path:
        return find_path(self.schema.relationships, table, to_table, via)

    def _found(self, name: str) -> Table:
        table = self.schema.find(name)
        if table is None:
            raise NoPath(self.table.name, name)
        return table

    def _free(self, preferred: str | None, name: str, table: str, also: Sequence[str] = ()) -> str:
        """The reading's name for it, or its own, with the table's if that is taken."""
        taken = {*(column.name for column in self.wide.columns), *self.preferred.values(), *self.made, *also}
        if preferred is not None:
            return preferred
        return first_free(name if name not in taken else f"{table} {name}"[:LONGEST_NAME], taken, " ")

    def _widen(self, added: Described) -> None:
        self.wide = self.wide.model_copy(update={"columns": (*self.wide.columns, added)})

    def _add(self, id_: str, tool: str, params: Mapping[str, Any], port: str, more: tuple[str, ...] = ()) -> None:
        named = "".join(c if c.isascii() and c.isalnum() else "_" for c in id_.lower())[:40]
        source = {} if self.data else {port: self.table.name}
        step = Step(
            id=named,
            tool=tool,
            params={**source, **params},
            needs=(*((self.data,) if self.data else ()), *more),
            satisfies=self.cites,
        )
        self.data = add_step(self.steps, step)


def _json(node: Node) -> dict[str, Any]:
    return node.model_dump(mode="json", exclude_none=True)


def _called(node: Related) -> tuple[str, str]:
    name = f"number of {node.table}" if isinstance(node.of, Rows) and node.of.where is None else called(node.of)
    return name[:LONGEST_NAME], node.table
