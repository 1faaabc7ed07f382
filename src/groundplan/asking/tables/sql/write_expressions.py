"""Expressions and conditions as SQL in DuckDB's dialect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import assert_never

from groundplan.asking.tables.sql.write_scope import Scope, Unwritable, quoted
from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.contract import Scalar
from groundplan.contracts.expression import (
    Absolute,
    Aggregate,
    Alike,
    All,
    Among,
    AnyOf,
    Arithmetic,
    Bins,
    Cases,
    Change,
    Column,
    Compare,
    Concatenated,
    Condition,
    Constant,
    Contains,
    Correlation,
    DateCut,
    DatePart,
    Elapsed,
    Expression,
    Filled,
    Found,
    FoundGroup,
    GroupValue,
    Holds,
    Length,
    Missing,
    Moving,
    Named,
    Not,
    OneOf,
    Overall,
    Related,
    Rounded,
    Rows,
    Running,
    Share,
    Ties,
    is_count,
    kind_of,
    walk,
)
from groundplan.contracts.join_paths import name_of
from groundplan.contracts.normal_form import MIRRORED, OPPOSITE, lowered, substituted
from groundplan.contracts.ranges import bin_labels

FUNCTIONS: Mapping[str, str] = {
    "sum": "SUM",
    "mean": "AVG",
    "median": "MEDIAN",
    "min": "MIN",
    "max": "MAX",
    "count": "COUNT",
    "std": "STDDEV_SAMP",
    "defined": "AGG",
}
PARTS: Mapping[str, str] = {"weekday": "ISODOW"}  # others go by their own names
SECONDS: Mapping[str, int] = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
DAYS: Mapping[str, str] = {"day": "1", "week": "7", "month": "30.436875", "year": "365.2425"}
PLACES: Mapping[str, str] = {"anywhere": "CONTAINS", "start": "STARTS_WITH", "end": "ENDS_WITH"}
ROUNDING: Mapping[str, str] = {"nearest": "ROUND", "down": "FLOOR", "up": "CEIL", "toward_zero": "TRUNC"}
FINE = ("minute", "hour")
NUMBERING: Mapping[Ties, str] = {"cut": "ROW_NUMBER", "kept": "RANK", "as_one": "DENSE_RANK"}


@dataclass
class Writer:
    """Writes what is said of one scope. `groups` defines the names of groups; `along` and `beside` order a series."""

    scope: Scope
    groups: Mapping[str, Expression] = field(default_factory=dict)
    along: str | None = None
    beside: Sequence[str] = ()
    chosen: Mapping[Among, str] = field(default_factory=dict)  # the columns that number rows by what they rank by

    def value(self, node: Expression) -> str:
        match node:
            case Column():
                return self._column(node)
            case Constant(value=value):
                return literal(value)
            case Arithmetic():
                return self._arithmetic(node)
            case Elapsed():
                return self._elapsed(node)
            case DatePart(of=of, part=part):
                return f"{PARTS.get(part, part.upper())}({self.value(of)})"
            case DateCut(of=of, grain="day"):
                return f"CAST({self.value(of)} AS DATE)"
            case DateCut(of=of, grain=str() as grain):
                return f"DATE_TRUNC('{grain}', {self.value(of)})"
            case DateCut():
                raise Unwritable("a date without a grain")
            case Bins(of=of, width=float() as width):
                return f"FLOOR({self.operand(of)} / {literal(width)}) * {literal(width)}"
            case Bins():
                return self._bins(node)
            case Cases(conditions=conditions, values=values, otherwise=otherwise):
                chosen = zip(map(self.condition, conditions), map(literal, values), strict=True)
                return _cases(chosen, None if otherwise is None else literal(otherwise))
            case Filled():
                return f"COALESCE({', '.join(self._in_turn(node))})"
            case Rounded():
                return self._rounded(node)
            case Absolute(of=of):
                return f"ABS({self.value(of)})"
            case Concatenated(parts=parts):
                return " || ".join(map(self._said, parts))
            case Length(of=of):
                return f"LENGTH({self.value(of)})"
            case Holds(condition=condition):
                return f"COALESCE({self.condition(condition)}, FALSE)"
            case Named(name=name):
                raise Unwritable(f"no metric {name!r} is defined for these rows")
            case _:
                return self._of_group(node)

    def _said(self, part: Expression) -> str:
        return f"CAST({self.value(part)} AS VARCHAR)" if isinstance(part, DatePart) else self.operand(part)

    def _of_group(self, node: GroupValue) -> str:
        match node:
            case Rows(where=where):
                return f"COUNT(*){self._filter(where)}"
            case Aggregate():
                return self._aggregate(node)
            case Correlation(left=left, right=right, where=where):
                return f"CORR({self.value(left)}, {self.value(right)}){self._filter(where)}"
            case Share() | Change() | Running() | Moving():
                return self._series(node)
            case Related():
                return self._related(node)
            case Overall():
                return self._overall(node)
            case Alike():
                return self._alike(node)
            case _:
                assert_never(node)

    def condition(self, node: Condition) -> str:
        match node:
            case All(parts=parts):
                return " AND ".join(map(self.part, parts))
            case AnyOf(parts=parts):
                return " OR ".join(map(self.part, parts))
            case Not(part=part):
                return self._negated(part)
            case Missing(of=of):
                return f"{self.operand(of)} IS NULL"
            case Among():
                return self._among(node)
            case Found():
                return self._found(node)
            case FoundGroup():
                return self._found_group(node)
            case Contains():
                return self._contains(node)
            case OneOf(of=of, values=values):
                return self._one_of(of, values)
            case Compare():
                return self._compare(node)
            case _:
                assert_never(node)

    def operand(self, node: Expression) -> str:
        """The value, in parentheses if it is made of several with an operator between them."""
        text = self.value(node)
        several = isinstance(node, Arithmetic | Elapsed | Bins | Concatenated | Share | Change)
        return f"({text})" if several and " " in text else text

    def kind(self, node: Expression) -> ColumnKind:
        match node:
            case Column():
                described = self.scope.find(node)
                return "time" if described.role == "temporal" else described.kind
            case Aggregate(function="min" | "max", of=of) | Filled(of=of):
                return self.kind(of)
            case Related(table=table, of=of):
                return Writer(self._inner(table)).kind(of)
            case Overall(table=table, of=of):
                return Writer(self._inner(table or self.scope.rows_of)).kind(of)
            case _:
                return kind_of(node, {})

    def _column(self, node: Column) -> str:
        text, described = self.scope.column(node), self.scope.find(node)
        if described.role != "temporal" or described.kind == "time":
            return text
        if described.kind != "text":
            raise Unwritable(f"{node.name!r} holds dates as numbers")
        return f"CAST({text} AS DATE)"

    def _arithmetic(self, node: Arithmetic) -> str:
        left, right = self.operand(node.left), self.operand(node.right)
        if node.operator == "/" and not (isinstance(node.right, Constant) and node.right.value != 0):
            right = f"NULLIF({self.value(node.right)}, 0)"
        return f"{left} {node.operator} {right}"

    def _rounded(self, node: Rounded) -> str:
        of, digits = self.value(node.of), node.digits
        if digits == 0:
            return f"{ROUNDING[node.how]}({of})"
        near = f"ROUND({of}, {digits})"
        if node.how == "nearest":
            return near
        beside, step = self.operand(node.of), repr(10.0**-digits)
        down = f"ROUND({near} - CASE WHEN {near} > {beside} THEN {step} ELSE 0 END, {digits})"
        up = f"ROUND({near} + CASE WHEN {near} < {beside} THEN {step} ELSE 0 END, {digits})"
        match node.how:
            case "down":
                return down
            case "up":
                return up
            case "toward_zero":
                return f"CASE WHEN {beside} < 0 THEN {up} ELSE {down} END"

    def _elapsed(self, node: Elapsed) -> str:
        start, end = self._moment(node.start), self._moment(node.end)
        if node.unit in DAYS and self._is_day(node.start) and self._is_day(node.end):
            days = f"DATE_DIFF('day', {start}, {end})"
            return days if node.unit == "day" else f"{days} / {DAYS[node.unit]}"
        seconds = f"DATE_DIFF('second', {start}, {end})"
        if node.unit == "second":
            return seconds
        return f"{seconds} / {SECONDS[node.unit]}" if node.unit in SECONDS else f"{seconds} / 86400 / {DAYS[node.unit]}"

    def _moment(self, node: Expression) -> str:
        return moment(node.value) if isinstance(node, Constant) else self.value(node)

    def _is_day(self, node: Expression) -> bool:
        """True if its values have no time of day."""
        match node:
            case Column():
                described = self.scope.find(node)
                return described.kind == "text" or described.type.upper() == "DATE"
            case Constant(value=value):
                return is_day(value)
            case DateCut(grain=grain):
                return grain not in FINE
            case Aggregate(of=of):
                return self._is_day(of)
            case _:
                return False

    def _bins(self, node: Bins) -> str:
        of = self.operand(node.of)
        labels = bin_labels(node.edges, whole=self._is_whole(node.of))
        below = [(f"{of} < {literal(edge)}", literal(label)) for edge, label in zip(node.edges, labels, strict=False)]
        return _cases([*below, (f"{of} >= {literal(node.edges[-1])}", literal(labels[-1]))], None)

    def _is_whole(self, node: Expression) -> bool:
        match node:
            case Column():
                return "INT" in self.scope.find(node).type.upper()
            case Arithmetic(operator="/") | Elapsed() | Aggregate(function="mean" | "median" | "std" | "percentile"):
                return False
            case Constant(value=value):
                return isinstance(value, int)
            case Rounded(of=of, digits=digits):
                return digits <= 0 or self._is_whole(of)
            case Absolute(of=of):
                return self._is_whole(of)
            case Arithmetic(left=left, right=right):
                return self._is_whole(left) and self._is_whole(right)
            case Aggregate(function="sum" | "min" | "max", of=of):
                return self._is_whole(of)
            case _:
                return isinstance(node, DatePart | Length) or is_count(node)

    def _aggregate(self, node: Aggregate) -> str:
        of, kept = self.value(node.of), self._filter(node.where)
        if node.function in ("median", "percentile") and self._is_decimal(node.of):
            of = f"CAST({of} AS DOUBLE)"  # the middle of two decimals is rounded to their places
        if node.function == "percentile":
            return f"QUANTILE_CONT({of}, {(node.percent or 50) / 100:.10g}){kept}"
        if node.function == "count_distinct":
            return f"COUNT(DISTINCT {of}){kept}"
        return f"{FUNCTIONS[node.function]}({of}){kept}"

    def _is_decimal(self, node: Expression) -> bool:
        columns = (self.scope.find(part) for part in walk(node) if isinstance(part, Column))
        constants = (part.value for part in walk(node) if isinstance(part, Constant))
        return any(isinstance(value, float) for value in constants) or any(
            column.type.upper().startswith(("DECIMAL", "NUMERIC")) for column in columns
        )

    def _filter(self, where: Condition | None) -> str:
        return "" if where is None else f" FILTER (WHERE {self.condition(where)})"

    def _series(self, node: Share | Change | Running | Moving) -> str:
        of = self.operand(node.of)
        if isinstance(node, Share):
            within = [self.value(substituted(part, self.groups)) for part in node.within]
            return f"{of} / NULLIF(SUM({self.value(node.of)}) OVER ({window_of(_partition(within))}), 0)"
        if self.along is None:
            raise Unwritable(f"{node.kind!r} without an order of groups")
        order = window_of(_partition(self.beside), f"ORDER BY {self.along}")
        match node:
            case Running():
                return f"SUM({self.value(node.of)}) OVER ({order})"
            case Moving(periods=periods):
                frame = f"ROWS BETWEEN {periods - 1} PRECEDING AND CURRENT ROW"
                return f"AVG({self.value(node.of)}) OVER ({order} {frame})"
            case Change(against="year"):
                year = "INTERVAL 1 YEAR PRECEDING"
                before = f"MAX({self.value(node.of)}) OVER ({order} RANGE BETWEEN {year} AND {year})"
            case Change():
                before = f"LAG({self.value(node.of)}) OVER ({order})"
        return f"({of} - {before}) / NULLIF({before}, 0)" if node.ratio else f"{of} - {before}"

    def _related(self, node: Related) -> str:
        """A subquery over the rows of the other table that point at this row."""
        if not self.scope.qualified:
            raise Unwritable("a measure of another table where one table is read")
        path = self.scope.path(node.table, self.scope.table.name, node.via)
        inner = Writer(self._inner(node.table))
        link, way = path[-1], name_of(path[:-1]) or None
        keys = [Column(table=link.table if way else None, name=name, via=way) for name in link.columns]
        pairs = zip(keys, link.to_columns, strict=True)
        kept = [f"{inner.scope.column(key)} = {self.scope.own(name)}" for key, name in pairs]
        of = node.of
        if isinstance(of, Rows | Aggregate | Correlation) and of.where is not None:
            kept.append(inner.part(of.where))
            of = of.model_copy(update={"where": None})
        some = "" if is_count(of) or isinstance(of, Aggregate | Correlation) else " HAVING COUNT(*) > 0"
        measure = inner.value(of)
        source = inner.scope.source().replace("\n", " ")
        return f"(SELECT {measure} FROM {source} WHERE {' AND '.join(kept)}{some})"  # noqa: S608 - shown, never run

    def _found(self, node: Found) -> str:
        """True or false: a missing value is found nowhere."""
        of = self.operand(node.of)  # first, so that the subquery's own names are others
        inner = Writer(self._inner(node.table))
        kept = [f"{inner.scope.own(node.column)} = {of}"]
        kept += [inner.part(node.where)] if node.where is not None else []
        source = inner.scope.source().replace("\n", " ")
        return f"EXISTS (SELECT 1 FROM {source} WHERE {' AND '.join(kept)})"  # noqa: S608 - shown, never run

    def _found_group(self, node: FoundGroup) -> str:
        """True or false: a missing value is found nowhere."""
        of = self.operand(node.of)  # first, so that the subquery's own names are others
        inner = Writer(self._inner(node.table))
        keys = [inner.value(key) for key in node.keys]
        kept = f" WHERE {inner.condition(node.where)}" if node.where is not None else ""
        groups = f" GROUP BY {', '.join(keys)}"
        having = f" HAVING {inner.condition(node.having)}" if node.having is not None else ""
        cut = _first(node, [(inner.value(one.by), one.direction == "top") for one in node.order])
        source = inner.scope.source().replace("\n", " ")
        groups_of = f"SELECT {keys[0]} FROM {source}{kept}{groups}{having}{cut}"  # noqa: S608 - shown, never run
        return f"COALESCE({of} IN ({groups_of}), FALSE)"

    def _alike(self, node: Alike) -> str:
        """A subquery over the rows of the same table with the same values."""
        if not self.scope.qualified or self.scope.made_from or not all(isinstance(one, Column) for one in node.by):
            raise Unwritable("a measure of the rows that are alike, by other than columns")
        same = [self.value(one) for one in node.by]  # first, so that the subquery's own names are others
        inner = Writer(self._inner(self.scope.table.name))
        pairs = zip(map(inner.value, node.by), same, strict=True)
        kept = [f"{there} IS NOT DISTINCT FROM {here}" for there, here in pairs]
        kept += [inner.part(node.of.where)] if node.of.where is not None else []
        measure = inner.value(node.of.model_copy(update={"where": None}))
        source = inner.scope.source().replace("\n", " ")
        return f"(SELECT {measure} FROM {source} WHERE {' AND '.join(kept)})"  # noqa: S608 - shown, never run

    def _overall(self, node: Overall) -> str:
        """A subquery over all rows of its table."""
        inner = Writer(self._inner(node.table or self.scope.rows_of))
        kept = f" WHERE {inner.condition(node.where)}" if node.where is not None else ""
        measure = inner.value(node.of)
        source = inner.scope.source().replace("\n", " ")
        return f"(SELECT {measure} FROM {source}{kept})"  # noqa: S608 - shown, never run

    def _inner(self, table: str) -> Scope:
        found = self.scope.schema.find(table)
        if found is None:
            raise Unwritable(f"no table {table!r}")
        return Scope.of(self.scope.schema, found, {*self.scope.taken}, qualified=True)

    def part(self, node: Condition) -> str:
        """As one of several conditions."""
        if isinstance(node, All | AnyOf) and len(node.parts) == 1:
            return self.part(node.parts[0])
        text = self.condition(node)
        several = isinstance(node, All | AnyOf | Among) or (isinstance(node, OneOf) and None in node.values)
        return f"({text})" if several else text

    def _negated(self, node: Condition) -> str:
        match node:
            case Missing(of=of):
                return f"{self.operand(of)} IS NOT NULL"
            case Compare():
                return self._compare(node.model_copy(update={"operator": OPPOSITE[node.operator]}))
            case OneOf(of=of, values=values) if None not in values:
                return self._one_of(of, values, "NOT IN")
            case _:
                return f"NOT ({self.condition(node)})"

    def _contains(self, node: Contains) -> str:
        of, text = (
            (self.value(node.of), node.text) if node.cased else (f"LOWER({self.value(node.of)})", lowered(node.text))
        )
        if node.place == "whole":
            return f"{of} = {literal(text)}"
        if set("%_\\") & {*text}:  # they stand for other letters in a pattern
            return f"{PLACES[node.place]}({of}, {literal(text)})"
        before, after = "" if node.place == "start" else "%", "" if node.place == "end" else "%"
        pattern = literal(f"{before}{node.text}{after}")
        return f"{self.operand(node.of)} {'LIKE' if node.cased else 'ILIKE'} {pattern}"

    def _in_turn(self, node: Expression) -> list[str]:
        """The values of which the first that is not missing counts."""
        if isinstance(node, Filled):
            return [*self._in_turn(node.of), *self._in_turn_beside(node.otherwise, node.of)]
        return [self.value(node)]

    def _in_turn_beside(self, node: Expression, first: Expression) -> list[str]:
        return [self._literal(first, node.value)] if isinstance(node, Constant) else self._in_turn(node)

    def _one_of(self, of: Expression, values: Sequence[Scalar], operator: str = "IN") -> str:
        known = [value for value in values if value is not None]
        side = self._beside(of, "=", known)
        parts = [f"{side} {operator} ({', '.join(self._literal(of, value) for value in known)})"] if known else []
        return " OR ".join([*parts, *([f"{self.operand(of)} IS NULL"] if None in values else [])])

    def _compare(self, node: Compare) -> str:
        left, operator, right = node.left, node.operator, node.right
        if isinstance(left, Constant) and not isinstance(right, Constant):
            left, operator, right = right, MIRRORED[operator], left
        sign = "<>" if operator == "!=" else operator
        if isinstance(right, Constant):
            return f"{self._beside(left, operator, [right.value])} {sign} {self._literal(left, right.value)}"
        return f"{self.operand(left)} {sign} {self.operand(right)}"

    def _beside(self, node: Expression, operator: str, values: Sequence[Scalar]) -> str:
        """As it is compared with constants: a moment with a day by its day, other types as text."""
        kind = self.kind(node)
        if kind == "other":
            return f"CAST({self.value(node)} AS VARCHAR)"
        days = bool(values) and all(map(is_day, values))
        if kind == "time" and days and operator not in ("<", ">=") and not self._is_day(node):
            return f"CAST({self.value(node)} AS DATE)"
        return self.operand(node)

    def _literal(self, beside: Expression, value: Scalar) -> str:
        return moment(value) if self.kind(beside) == "time" else literal(value)

    def _among(self, node: Among) -> str:
        if node not in self.chosen:
            raise Unwritable("the highest or lowest rows inside another table's measure")
        return f"{quoted(self.chosen[node])} <= {node.limit} AND {self.operand(node.of)} IS NOT NULL"


def literal(value: Scalar) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case _:
            return repr(value)


def is_day(value: Scalar) -> bool:
    return isinstance(value, str) and len(value.strip()) <= len("YYYY-MM-DD")


def moment(value: Scalar) -> str:
    """`DATE '2025-01-31'`, or a timestamp by the clock of UTC."""
    try:
        if is_day(value):
            return f"DATE '{date.fromisoformat(str(value).strip()).isoformat()}'"
        when = datetime.fromisoformat(str(value).strip())
    except ValueError as error:
        raise Unwritable(f"{value!r} is not a date") from error
    clock = when.astimezone(UTC).replace(tzinfo=None) if when.tzinfo else when
    return f"TIMESTAMP '{clock.isoformat(sep=' ')}'"


def _cases(branches: Iterable[tuple[str, str]], otherwise: str | None) -> str:
    whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in branches)
    return f"CASE {whens}{f' ELSE {otherwise}' if otherwise else ''} END"


def _partition(groups: Sequence[str]) -> str:
    return f"PARTITION BY {', '.join(groups)}" if groups else ""


def window_of(*parts: str) -> str:
    """The definition of a window, in which no database takes another one."""
    text = " ".join(filter(None, parts))
    if " OVER (" in text:
        raise Unwritable("a window inside the definition of another")
    return text


def _first(node: FoundGroup, order: Sequence[tuple[str, bool]]) -> str:
    """The cut of an order of groups."""
    if node.limit is None:
        return ""
    if node.limit == 1 or node.ties != "cut":
        return f" QUALIFY {place((), order, node.limit, node.ties)}"
    return f" ORDER BY {ordered(order)} LIMIT {node.limit}"


def place(within: Sequence[str], by: Sequence[tuple[str, bool]], limit: int, ties: Ties) -> str:
    """A place of an order, compared. The first of all is everything that shares its value, as RANK has it."""
    function = "RANK" if limit == 1 else NUMBERING[ties]
    order = f"ORDER BY {ordered(by)}"
    window = window_of(_partition(within), order)
    return f"{function}() OVER ({window}) {'=' if limit == 1 else '<='} {limit}"


def ordered(by: Sequence[tuple[str, bool]]) -> str:
    """The keys of an order, each with whether it descends."""
    return ", ".join(f"{text} DESC" if descends else text for text, descends in by)
