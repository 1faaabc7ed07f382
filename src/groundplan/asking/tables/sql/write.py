"""A reading as one SELECT in DuckDB's dialect: shown to people, given to models as an example, never run by us."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from groundplan.asking.tables.sql.write_expressions import Writer, ordered, place, window_of
from groundplan.asking.tables.sql.write_scope import Scope, Unwritable, quoted
from groundplan.asking.tables.steps.names import called
from groundplan.asking.tables.steps.step_list import first_free
from groundplan.contracts.columns import Grain
from groundplan.contracts.contract import Contract, Language
from groundplan.contracts.expression import (
    All,
    Among,
    Column,
    Condition,
    DateCut,
    Expression,
    Found,
    FoundGroup,
    Named,
    Overall,
    Related,
    Share,
    level,
    walk,
)
from groundplan.contracts.join_paths import is_joined
from groundplan.contracts.meaning import (
    compared_periods,
    follows_series,
    has_meaning,
    measure_of,
    series_group,
    stage_of,
)
from groundplan.contracts.normal_form import looked_in, mapped, of_filter, substituted
from groundplan.contracts.ranges import readable_grain
from groundplan.contracts.reading import ColumnsAsked, Each, Filter, GroupBy, Metric, Rank, Reading, Time
from groundplan.contracts.schema import Column as Described
from groundplan.contracts.schema import SourceSchema, Table

__all__ = ["Unwritable", "sql_of"]
T = TypeVar("T")
C = TypeVar("C", bound=Contract)
PLACE = "place"
_Order = tuple[Expression, bool]


def sql_of(reading: Reading, schema: SourceSchema) -> str:
    """One SELECT over the cleaned tables that gives the rows the reading asks for; raises Unwritable.

    Moments with a time zone are read by the clock of UTC.
    """
    if not has_meaning(reading.model_copy(update={"tables": reading.tables[:1]})):
        raise Unwritable("it looks at how single values spread")
    if compared_periods(reading.requirements):
        raise Unwritable("it compares two periods side by side")
    return _Query(_expanded(reading, schema), schema.joined(reading.joins)).text()


@dataclass
class _Select:
    columns: Sequence[tuple[str, str | None]]  # each with its alias where it needs one
    source: str
    where: Sequence[str] = ()
    groups: Sequence[str] = ()
    having: Sequence[str] = ()
    qualify: Sequence[str] = ()
    order: str | None = None
    limit: int | None = None
    distinct: bool = False

    def text(self) -> str:
        shown = ", ".join(f"{text} AS {quoted(alias)}" if alias else text for text, alias in self.columns)
        clauses = [f"SELECT {'DISTINCT ' if self.distinct else ''}{shown}"]
        clauses += [f"FROM {self.source}"] if self.source else []
        for keyword, parts, between in (
            ("WHERE", self.where, " AND "),
            ("GROUP BY", self.groups, ", "),
            ("HAVING", self.having, " AND "),
            ("QUALIFY", self.qualify, " AND "),
        ):
            clauses += [f"{keyword} {between.join(parts)}"] if parts else []
        clauses += [f"ORDER BY {self.order}"] if self.order else []
        clauses += [f"LIMIT {self.limit}"] if self.limit else []
        return "\n".join(clauses)


@dataclass
class _Query:
    """The SELECT as it grows: `scope` is what it reads, the table itself or the last of `before`."""

    reading: Reading
    schema: SourceSchema
    before: list[tuple[str, str]] = field(default_factory=list)  # the CTEs, each with its name

    def __post_init__(self) -> None:
        name = self.reading.tables[0] if self.reading.tables else self.schema.tables[0].name
        table = self.schema.find(name)
        if table is None:
            raise Unwritable(f"no table {name!r}")
        named = tuple(r.model_copy(update={"value": _named(r.value, table.name)}) for r in self.reading.requirements)
        self.reading = self.reading.model_copy(update={"requirements": named})
        joined = is_joined(self.reading)
        self.names = {table.name.casefold() for table in self.schema.tables}
        self.scope = Scope.of(self.schema, table, set(), qualified=joined)
        self.kept: dict[str, list[Condition]] = {"rows": [], "things": [], "groups": []}
        for asked in self.asked(Filter):
            condition = of_filter(asked)
            self.kept[stage_of(condition, self.reading)].append(condition)

    def text(self) -> str:
        made = self._grouped() if self._groups_rows() else self._listed() if self.each else self._rows()
        head = ",\n".join(f"{quoted(name)} AS (\n{_indented(text)}\n)" for name, text in self.before)
        return f"WITH {head}\n{made}" if head else made

    def asked(self, kind: type[T]) -> list[T]:
        return [r.value for r in self.reading.requirements if isinstance(r.value, kind)]

    @property
    def language(self) -> Language:
        return "ru" if self.reading.language == "ru" else "en"

    @property
    def each(self) -> Each | None:
        return next(iter(self.asked(Each)), None)

    @property
    def rank(self) -> Rank | None:
        return next(iter(self.asked(Rank)), None)

    def _groups_rows(self) -> bool:
        return bool(self.asked(Metric) or self.asked(GroupBy) or self.asked(Time))

    def _grouped(self) -> str:
        """The measures of each group, of rows or of things."""
        if self.each is not None:
            self._things(self.each)
        groups = self._group_expressions()
        taken = [*groups]
        measures: dict[str, Expression] = {}
        for metric in self.asked(Metric):
            measure = measure_of(metric)
            name = first_free(metric.name or called(measure, self.language), taken, " ")
            measures[name] = measure
            taken.append(name)
        computed = {group.column: group.expression for group in self.asked(GroupBy) if group.expression is not None}
        having = [substituted(condition, computed) for condition in self.kept["groups"]]
        if measures and not groups and not having and all(level(measure) == "row" for measure in measures.values()):
            writer = Writer(self.scope)  # overall values alone: of no rows in particular
            return _Select([(writer.value(measure), name) for name, measure in measures.items()], "").text()
        return self._measured(groups, measures, having)

    def _listed(self) -> str:
        """The things themselves: groups like any others."""
        each = self.each or Each(keys=("",))
        own = {measure.name: measure.expression for measure in each.measures}
        made = {one.name: one.expression for one in each.computed}
        groups: dict[str, Expression] = {key: made.get(key, Column(name=key)) for key in each.keys}
        shown = next(iter(self.asked(ColumnsAsked)), None)
        defined = {**own, **{one.name: substituted(one.expression, own) for one in (shown.computed if shown else ())}}
        wanted = shown.columns if shown else (*groups, *own)
        measures = {name: defined[name] for name in wanted if name in defined}
        having = [substituted(condition, own) for condition in (*self.kept["groups"], *self.kept["things"])]
        return self._measured(groups, measures, having, shown=wanted, own=own)

    def _measured(
        self,
        groups: Mapping[str, Expression],
        measures: Mapping[str, Expression],
        having: Sequence[Condition],
        shown: Sequence[str] | None = None,
        own: Mapping[str, Expression] | None = None,
    ) -> str:
        orders = self._orders({**(own or {}), **measures, **groups}, next(iter(measures.values()), None))
        nodes = [*measures.values(), *having, *(node for node, _ in orders)]
        where = self._where()
        chosen = self._choose(nodes, where)
        writer = Writer(self.scope, groups, chosen=chosen)
        keys = {name: writer.value(node) for name, node in groups.items()}
        along = series_group(self.reading)
        if along in keys:
            writer.along, writer.beside = keys[along], [text for name, text in keys.items() if name != along]
        texts = {**keys, **{name: writer.value(node) for name, node in measures.items()}}
        last = any(_looks_around(node) for node in nodes)  # groups are dropped after shares and series are known
        kept = [_in_list(writer, condition) for condition in having]
        select = _Select(
            columns=[self._shown(name, texts[name], groups.get(name)) for name in (shown or texts)],
            source="",
            where=[] if chosen else where,
            groups=[self._by_alias(name, text, groups[name]) for name, text in keys.items()],
            having=[] if last else kept,
            qualify=kept if last else [],
        )
        return self._ranked(select, writer, texts, orders)

    def _rows(self) -> str:
        """The rows themselves, by the columns asked for."""
        asked = next(iter(self.asked(ColumnsAsked)), None)
        computed = {one.name: one.expression for one in asked.computed} if asked else {}
        nodes: dict[str, Expression] = {
            name: computed.get(name, Column(name=name)) for name in (asked.columns if asked else ())
        }
        orders = self._orders(computed, None)
        where = self._where()
        writer = Writer(self.scope)
        texts = {name: writer.value(node) for name, node in nodes.items()}
        columns = [self._shown(name, text, nodes[name]) for name, text in texts.items()] or [("*", None)]
        select = _Select(columns, "", where=where, distinct=asked.distinct if asked else False)
        return self._ranked(select, writer, texts, orders)

    def _ranked(self, select: _Select, writer: Writer, texts: Mapping[str, str], orders: Sequence[_Order]) -> str:
        """In order and cut. The first of all is everything that shares its value, as RANK has it."""
        rank = self.rank
        if rank is not None and orders:
            by = [(writer.value(node), descends) for node, descends in orders]
            within = [texts.get(name) or writer.value(Column(name=name)) for name in rank.within]
            by_window = rank.limit is not None and (rank.limit == 1 or bool(within) or rank.ties != "cut")
            if select.distinct and any(_name_of(text, texts) is None for text, _ in by):
                raise Unwritable("different rows, ordered by what is not shown")
            if by_window and (select.qualify or select.distinct or any(_looks_around(node) for node, _ in orders)):
                return self._ranked_outside(select, rank, texts, by)
            if by_window:
                select.qualify = [*select.qualify, place(within, by, rank.limit or 1, rank.ties)]
            else:
                select.order = ordered([(self._ordering(_name_of(text, texts), text), down) for text, down in by])
                select.limit = rank.limit
        elif rank is not None:
            select.limit = rank.limit
        select.source = self.scope.source()
        return select.text()

    def _ranked_outside(
        self, select: _Select, rank: Rank, texts: Mapping[str, str], by: Sequence[tuple[str, bool]]
    ) -> str:
        """Ranked in a SELECT of its own: what it ranks is known only after groups are dropped or shares computed."""
        names = {text: _name_of(text, texts) for text, _ in by}
        for text in [text for text, name in names.items() if name is None]:
            names[text] = added = first_free("ranked by", (*texts, *filter(None, names.values())), " ")
            select.columns = [*select.columns, (text, added)]
        select.source = self.scope.source()
        cte = self._cte("groups", select.text())
        ranked = [(quoted(names[text] or ""), descends) for text, descends in by]
        cut = place([quoted(column) for column in rank.within], ranked, rank.limit or 1, rank.ties)
        return _Select([(quoted(alias), None) for alias in texts], quoted(cte), qualify=[cut]).text()

    def _things(self, each: Each) -> None:
        """One row for each thing, which the rest then reads."""
        writer = Writer(self.scope)
        where = self._where()
        computed = {one.name: one.expression for one in each.computed}
        keys = {key: writer.value(computed.get(key, Column(name=key))) for key in each.keys}
        columns: list[tuple[str, str | None]] = [(text, key if key in computed else None) for key, text in keys.items()]
        columns += [(writer.value(measure.expression), measure.name) for measure in each.measures]
        own = [self.scope.find(Column(name=key)) for key in each.keys if key not in computed]
        made = [
            Described(name=one.name, type="", kind=writer.kind(one.expression), role="dimension")
            for one in (*each.computed, *each.measures)
        ]
        select = _Select(columns, self.scope.source(), where=where, groups=[*keys.values()])
        self._read_from("things", select.text(), [*own, *made])
        self.kept["rows"] = self.kept["things"]

    def _choose(self, nodes: Sequence[Contract], where: Sequence[str]) -> dict[Among, str]:
        """Numbers the rows that were kept, by each value of which the highest or lowest are asked for."""
        found = list(dict.fromkeys(part for node in nodes for part in walk(node) if isinstance(part, Among)))
        if not found:
            return {}
        if self.scope.qualified:
            raise Unwritable("the highest or lowest rows of several tables")
        writer = Writer(self.scope)
        columns: list[tuple[str, str | None]] = [("*", None)]
        chosen: dict[Among, str] = {}
        taken = [column.name for column in self.scope.table.columns]
        for node in found:
            chosen[node] = first_free(PLACE, [*taken, *chosen.values()], "_")
            order = f"ORDER BY {writer.value(node.of)}{' DESC' if node.direction == 'top' else ''}"
            columns.append((f"ROW_NUMBER() OVER ({window_of(order)})", chosen[node]))
        select = _Select(columns, self.scope.source(), where=where)
        self._read_from("numbered", select.text(), self.scope.table.columns)
        return chosen

    def _read_from(self, name: str, text: str, columns: Sequence[Described]) -> None:
        cte = self._cte(name, text)
        made = Table(name=cte, columns=tuple(columns))
        before, self.scope = self.scope, Scope.of(self.schema, made, set(), qualified=False)
        self.scope.made_from = before.rows_of

    def _cte(self, name: str, text: str) -> str:
        free = first_free(name, self.names, "_")
        self.names.add(free)
        self.before.append((free, text))
        return free

    def _where(self) -> list[str]:
        writer = Writer(self.scope)
        return [_in_list(writer, condition) for condition in self.kept["rows"]]

    def _group_expressions(self) -> dict[str, Expression]:
        """The groups by their names, the axis of time first."""
        times = {time.column: self._cut(time) for time in self.asked(Time)}
        groups = {group.column: group.expression or Column(name=group.column) for group in self.asked(GroupBy)}
        return {**times, **groups}

    def _cut(self, time: Time) -> Expression:
        column = Column(name=time.column)
        return DateCut(of=column, grain=time.grain or self._usual_grain(self.scope.find(column)))

    def _usual_grain(self, column: Described) -> Grain:
        """The grain that the span of the column suggests."""
        if column.least is None or column.greatest is None:
            raise Unwritable(f"the span of {column.name!r} is not known")
        try:
            first, last = (datetime.fromisoformat(str(end)) for end in (column.least, column.greatest))
        except ValueError as error:
            raise Unwritable(f"the span of {column.name!r} is not known") from error
        if column.type.upper() != "DATE" and last - first <= timedelta(days=2):
            return "hour"
        days = (last - first).days
        return readable_grain(days, min(column.cardinality or days, days + 1))

    def _orders(self, defined: Mapping[str, Expression], first: Expression | None) -> list[_Order]:
        """The keys that rank rows or groups, then those for ties; each with True if it descends."""
        rank = self.rank
        by = rank.by if rank is not None and rank.by is not None else first
        if rank is None or by is None:
            return []
        sorts = [(by, rank.direction), *((sort.by, sort.direction) for sort in rank.then)]
        return [(_defined(node, defined), direction == "top") for node, direction in sorts]

    def _shown(self, name: str, text: str, node: Expression | None) -> tuple[str, str | None]:
        bare = isinstance(node, Column) and node.name == name and "(" not in text
        return text, None if bare else name

    def _by_alias(self, name: str, text: str, node: Expression) -> str:
        return text if isinstance(node, Column) else self._ordering(name, text)

    def _ordering(self, name: str | None, text: str) -> str:
        """The alias, unless a column has that name, too."""
        columns = {
            column.name.casefold() for table in (self.scope.table, *self.schema.tables) for column in table.columns
        }
        return quoted(name) if name is not None and name.casefold() not in columns else text


def _defined(node: Expression, definitions: Mapping[str, Expression]) -> Expression:
    own = isinstance(node, Column) and node.table is None and node.via is None
    return definitions.get(node.name, node) if own and isinstance(node, Column) else node


def _name_of(text: str, texts: Mapping[str, str]) -> str | None:
    """The column of the result that is written so."""
    return next((name for name, shown in texts.items() if shown == text), None)


def _looks_around(node: Contract) -> bool:
    """True if it looks at other groups."""
    return any(isinstance(part, Share) for part in walk(node)) or follows_series(node)  # type: ignore[arg-type]


def _in_list(writer: Writer, condition: Condition) -> str:
    """As one of several that all must hold."""
    return writer.condition(condition) if isinstance(condition, All) else writer.part(condition)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _named(node: C, table: str) -> C:
    """With the table of overall values that do not name it: things and groups are read from other rows than those."""
    if isinstance(node, Found | FoundGroup):
        groups = mapped(looked_in(node), lambda part: _named(part, node.table))
        return groups.model_copy(update={"of": _named(node.of, table)})  # type: ignore[return-value]
    owner = node.table or table if isinstance(node, Overall) else node.table if isinstance(node, Related) else table
    made = mapped(node, lambda part: _named(part, owner))  # type: ignore[type-var]
    return made.model_copy(update={"table": owner}) if isinstance(node, Overall) else made


def _expanded(reading: Reading, schema: SourceSchema) -> Reading:
    """With named metrics as the model file defines them."""
    table = reading.tables[0] if reading.tables else schema.tables[0].name
    defined = {metric.name: metric.expression for metric in schema.metrics if metric.table == table}

    def inner(node: C) -> C:
        if isinstance(node, Named) and node.name in defined:
            return defined[node.name]  # type: ignore[return-value]
        return mapped(node, inner)  # type: ignore[arg-type, return-value]

    requirements = tuple(r.model_copy(update={"value": inner(r.value)}) for r in reading.requirements)
    return reading.model_copy(update={"requirements": requirements})
