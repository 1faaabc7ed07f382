"""A whole reading as a model writes it: the requirement language without recursion, with a quote for each part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from groundplan.contracts.columns import Grain
from groundplan.contracts.contract import Contract
from groundplan.contracts.expression import (
    Aggregate,
    All,
    Arithmetic,
    Bins,
    Change,
    Column,
    Compare,
    Condition,
    Constant,
    Contains,
    DateCut,
    DatePart,
    Elapsed,
    Expression,
    Missing,
    Moving,
    Not,
    OneOf,
    Part,
    Rows,
    Running,
    Share,
    walk,
)
from groundplan.contracts.reading import (
    ColumnsAsked,
    Evidence,
    Filter,
    GroupBy,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Requirement,
)
from groundplan.contracts.reading import Value as Asked
from groundplan.contracts.schema import SourceSchema
from groundplan.text.words import language_of, words_of

Flag = str | int | bool
Comparison = Literal["=", "!=", "<", "<=", ">", ">="]
Operator = Literal[
    "+",
    "-",
    "*",
    "/",
    "minutes until",
    "hours until",
    "days until",
    "weeks until",
    "months until",
    "years until",
]
At = Literal[
    "",
    "minute",
    "hour",
    "day",
    "week",
    "month",
    "quarter",
    "year",
    "hour of date",
    "weekday of date",
    "day of date",
    "month of date",
    "quarter of date",
    "year of date",
]
UNITS = {f"{unit}s until": unit for unit in ("minute", "hour", "day", "week", "month", "year")}
ROUND = {f"{part} of date": part for part in ("hour", "weekday", "day", "month", "quarter", "year")}
LONGEST_NAME = 60


class Then(Contract):
    operator: Operator
    column: str


class Value(Contract):
    """A value of each row: a column, combined with others from left to right."""

    column: str
    then: Annotated[tuple[Then, ...], Field(max_length=2)] = ()


class RowTest(Contract):
    """`=` several values is any of them, `!=` none of them; `within` is from the first date up to the second."""

    words: str
    of: Value
    part: Literal["", "hour", "weekday", "day", "week", "month", "quarter", "year"] = ""
    check: Literal["=", "!=", "<", "<=", ">", ">=", "within", "contains", "missing", "present"]
    to: Annotated[tuple[str | float | bool, ...], Field(max_length=12)] = ()
    than: str | None = None  # another column


class Number(Contract):
    """A function over the rows of a group, or over those that meet all of `where`."""

    function: Literal["rows", "sum", "mean", "median", "min", "max", "std", "count", "distinct", "percentile"]
    of: Value | None = None
    where: Annotated[tuple[RowTest, ...], Field(max_length=3)] = ()
    percent: float | None = None


class Against(Contract):
    """`growth` is the relative change from this number."""

    operator: Literal["/", "-", "growth"]
    number: Number


class Measure(Contract):
    words: str
    number: Number
    against: Against | None = None
    along: Literal["", "share", "change", "growth", "yearly change", "yearly growth", "running", "moving"] = ""
    periods: int | None = None  # of a moving average
    within: Annotated[tuple[str, ...], Field(max_length=3)] = ()  # the groups that a share is of


class Group(Contract):
    words: str
    of: Value
    at: At = ""
    width: float | None = None  # of ranges


class Having(Contract):
    """A condition on groups."""

    words: str
    number: Number
    check: Comparison
    to: float | None = None
    than: Number | None = None


class Order(Contract):
    words: str
    direction: Literal["top", "bottom"]
    limit: int | None = None
    number: Number | None = None  # without it and `value`: the first measure
    value: Value | None = None
    within: Annotated[tuple[str, ...], Field(max_length=3)] = ()


class WholeReading(Contract):
    """Without measures and groups: the rows themselves, by `columns`."""

    table: str
    measures: Annotated[tuple[Measure, ...], Field(max_length=6)] = ()
    groups: Annotated[tuple[Group, ...], Field(max_length=4)] = ()
    filters: Annotated[tuple[RowTest, ...], Field(max_length=8)] = ()
    having: Annotated[tuple[Having, ...], Field(max_length=3)] = ()
    order: Order | None = None
    columns: Annotated[tuple[str, ...], Field(max_length=12)] = ()
    distinct: bool = False


class Unusable(Exception):
    """Why a proposal is no reading, worded so that it can be sent back."""


def columns_by_name(schema: SourceSchema) -> dict[str, Column]:
    """What a proposal may call each column: its name, with its table where there are several."""
    if len(schema.tables) == 1:
        return {column.name: Column(name=column.name) for column in schema.tables[0].columns}
    return {
        f"{table.name}.{column.name}": Column(table=table.name, name=column.name)
        for table in schema.tables
        for column in table.columns
    }


def choices_for(schema: SourceSchema, texts: Iterable[str]) -> dict[str, list[str]]:
    """The names and texts that may be said, by the path of the field."""
    names, told = [*columns_by_name(schema)], [*texts] or [""]
    value = ("column", "then.column")
    test = (*(f"of.{end}" for end in value), "than")
    number = (*(f"of.{end}" for end in value), *(f"where.{end}" for end in test))
    paths = [
        *(f"measures.number.{end}" for end in number),
        *(f"measures.against.number.{end}" for end in number),
        "measures.within",
        *(f"groups.of.{end}" for end in value),
        *(f"filters.{end}" for end in test),
        *(f"having.number.{end}" for end in number),
        *(f"having.than.{end}" for end in number),
        *(f"order.number.{end}" for end in number),
        *(f"order.value.{end}" for end in value),
        "order.within",
        "columns",
    ]
    numbers = ("measures.number", "measures.against.number", "having.number", "having.than", "order.number")
    said = ["filters.to", *(f"{path}.where.to" for path in numbers)]
    return {
        "table": [table.name for table in schema.tables],
        **dict.fromkeys(paths, names),
        **dict.fromkeys(said, told),
    }


def reading_of(
    proposal: WholeReading, question: str, schema: SourceSchema, flags: Mapping[str, tuple[Flag, Flag]] | None = None
) -> Reading:
    """The reading that is proposed; raises Unusable. `flags`: how columns of yes and no write them."""
    return _Reader(proposal, question, schema, flags or {}).read()


class _Reader:
    def __init__(
        self, proposal: WholeReading, question: str, schema: SourceSchema, flags: Mapping[str, tuple[Flag, Flag]]
    ) -> None:
        self.proposal, self.question, self.flags = proposal, question, flags
        self.columns = columns_by_name(schema)
        self.names: list[str] = []

    def read(self) -> Reading:
        try:
            requirements = tuple(self._requirements())
            used = dict.fromkeys(self._tables(requirements))
            return Reading(
                question=self.question,
                language=language_of(self.question),
                tables=tuple(dict.fromkeys((self.proposal.table, *used))),
                requirements=requirements,
            )
        except ValueError as error:
            raise Unusable(str(error)) from error

    def _tables(self, requirements: Iterable[Requirement]) -> Iterator[str]:
        for requirement in requirements:
            yield from (n.table for n in walk(requirement.value) if isinstance(n, Column) and n.table)

    def _requirements(self) -> Iterator[Requirement]:
        given = self.proposal
        if not (given.measures or given.groups or given.columns):
            raise Unusable("the reading computes nothing and shows nothing; give measures, groups or columns")
        for measure in given.measures:
            expression = self._measure(measure)
            name = self._name(measure.words)
            yield self._requirement(f"metric:{name}", Metric(expression=expression, name=name), measure, measure.number)
        for group in given.groups:
            yield self._requirement(f"group_by:{self._group_name(group)}", self._group(group), group)
        for number, test in enumerate(given.filters):
            yield self._requirement(f"filter:{number}", Filter(condition=self._test(test)), test)
        for number, having in enumerate(given.having, len(given.filters)):
            yield self._requirement(f"filter:{number}", Filter(condition=self._having(having)), having, having.number)
        if given.columns:
            shown = ColumnsAsked(columns=tuple(self._plain(name) for name in given.columns), distinct=given.distinct)
            yield Requirement(
                id="columns:shown", value=shown, evidence=Evidence(text=self.question, start=0), implied=True
            )
        if given.order:
            yield self._requirement(f"rank:{given.order.direction}", self._rank(given.order), given.order)
        table = OutputAsked(label="table")
        yield Requirement(id="output:table", value=table, evidence=Evidence(text=self.question, start=0), implied=True)

    def _requirement(
        self, id_: str, value: Asked, said: Measure | Group | RowTest | Having | Order, number: Number | None = None
    ) -> Requirement:
        also = tuple(self._evidence(test.words) for test in (number.where if number else ()))
        return Requirement(id=id_, value=value, evidence=self._evidence(said.words), also=also)

    def _evidence(self, words: str) -> Evidence:
        """The quote where the question has it, whatever its case and punctuation; any other text quotes nothing."""
        wanted = [word.lower for word in words_of(words)]
        found = words_of(self.question)
        for first in range(len(found) - len(wanted) + 1):
            if wanted and [word.lower for word in found[first : first + len(wanted)]] == wanted:
                start, end = found[first].start, found[first + len(wanted) - 1].end
                return Evidence(text=self.question[start:end], start=start)
        return Evidence(text=self.question)

    def _name(self, words: str) -> str:
        plain = " ".join(words.split())[:LONGEST_NAME] or "number"
        name, count = plain, 1
        while name in self.names:
            count += 1
            name = f"{plain} {count}"
        self.names.append(name)
        return name

    def _column(self, name: str) -> Column:
        if name not in self.columns:
            raise Unusable(f"there is no column {name[:80]!r}")
        column = self.columns[name]
        return Column(name=column.name) if column.table == self.proposal.table else column

    def _plain(self, name: str) -> str:
        column = self._column(name)
        if column.table:
            raise Unusable(f"only columns of {self.proposal.table} can be shown, and {name} is none")
        return column.name

    def _value(self, value: Value) -> Expression:
        made: Expression = self._column(value.column)
        for step in value.then:
            right = self._column(step.column)
            if step.operator in UNITS:
                made = Elapsed(start=made, end=right, unit=UNITS[step.operator])
            else:
                made = Arithmetic(operator=step.operator, left=made, right=right)
        return made

    def _test(self, test: RowTest) -> Condition:
        of = self._value(test.of)
        if test.part:
            of = DatePart(of=of, part=test.part)
        match test.check:
            case "missing":
                return Missing(of=of)
            case "present":
                return Not(part=Missing(of=of))
        if test.than is not None and test.check in ("=", "!=", "<", "<=", ">", ">="):
            return Compare(left=of, operator=test.check, right=self._column(test.than))
        if not test.to:
            raise Unusable(f"the condition {test.words[:80]!r} has nothing to compare with")
        first = _constant(test.to[0])
        if isinstance(first.value, bool) and isinstance(of, Column) and of.name in self.flags:
            first = Constant(value=self.flags[of.name][not first.value])
        match test.check:
            case "contains":
                return Contains(of=of, text=str(test.to[0]))
            case "within":
                if len(test.to) != 2:
                    raise Unusable(f"{test.words[:80]!r}: `within` takes two dates")
                last = Compare(left=of, operator="<", right=_constant(test.to[1]))
                return All(parts=(Compare(left=of, operator=">=", right=first), last))
            case "=" | "!=" if len(test.to) > 1:
                any_of = OneOf(of=of, values=tuple(_constant(value).value for value in test.to))
                return any_of if test.check == "=" else Not(part=any_of)
        if len(test.to) > 1:
            raise Unusable(f"{test.words[:80]!r} compares with one value")
        return Compare(left=of, operator=test.check, right=first)

    def _number(self, number: Number) -> Expression:
        tests = tuple(self._test(test) for test in number.where)
        where = None if not tests else tests[0] if len(tests) == 1 else All(parts=tests)
        if number.function == "rows":
            return Rows(where=where)
        if number.of is None:
            raise Unusable(f"{number.function} needs a column")
        function = "count_distinct" if number.function == "distinct" else number.function
        return Aggregate(function=function, of=self._value(number.of), where=where, percent=number.percent)

    def _measure(self, measure: Measure) -> Expression:
        made = self._number(measure.number)
        if measure.against is not None:
            right = self._number(measure.against.number)
            if measure.against.operator == "growth":
                ratio = Arithmetic(operator="/", left=made, right=right)
                made = Arithmetic(operator="-", left=ratio, right=Constant(value=1))
            else:
                made = Arithmetic(operator=measure.against.operator, left=made, right=right)
        match measure.along:
            case "share":
                return Share(of=made, within=tuple(self._column(name) for name in measure.within))
            case "change" | "growth":
                return Change(of=made, ratio=measure.along == "growth")
            case "yearly change" | "yearly growth":
                return Change(of=made, against="year", ratio=measure.along == "yearly growth")
            case "running":
                return Running(of=made)
            case "moving":
                if measure.periods is None:
                    raise Unusable("a moving average needs `periods`")
                return Moving(of=made, periods=measure.periods)
        return made

    def _group_name(self, group: Group) -> str:
        made = self._value(group.of)
        return made.name if isinstance(made, Column) and not group.at and group.width is None else group.at or "range"

    def _group(self, group: Group) -> GroupBy:
        made, name = self._value(group.of), self._group_name(group)
        if group.width is not None:
            return GroupBy(column=name, expression=Bins(of=made, width=group.width))
        if group.at in ROUND:
            part: Part = ROUND[group.at]  # type: ignore[assignment]
            return GroupBy(column=name, expression=DatePart(of=made, part=part), ordered=True)
        if group.at:
            grain: Grain = group.at  # type: ignore[assignment]
            return GroupBy(column=name, expression=DateCut(of=made, grain=grain), ordered=True)
        if isinstance(made, Column) and made.table is None:
            return GroupBy(column=made.name)
        return GroupBy(column=name, expression=made)

    def _having(self, having: Having) -> Condition:
        if (having.to is None) == (having.than is None):
            raise Unusable(f"{having.words[:80]!r} compares with a number or with another measure: one of them")
        right = Constant(value=having.to) if having.than is None else self._number(having.than)
        return Compare(left=self._number(having.number), operator=having.check, right=right)

    def _rank(self, order: Order) -> Rank:
        by = self._number(order.number) if order.number else self._value(order.value) if order.value else None
        within = tuple(self._plain(name) for name in order.within)
        return Rank(direction=order.direction, limit=order.limit, by=by, within=within)


def _constant(value: str | float | bool) -> Constant:
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return Constant(value=int(value) if whole else value)
