"""The language of measures, groups and conditions: one closed set of expressions over columns.

An expression has a level. `row`: a value of each row (a column, a duration, an hour of day). `group`: a value of each
group of rows (a count, a sum, a ratio of sums). `series`: a value of each group that looks at the other groups (a
share of the whole, a change from the period before). A condition has the level of the highest expression in it: on
rows it selects rows, on groups it selects groups.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, model_validator

from groundplan.contracts.columns import ColumnKind, Function, Grain
from groundplan.contracts.contract import Contract, Name, Scalar, Text, thaw

ArithmeticOperator = Literal["+", "-", "*", "/"]
ComparisonOperator = Literal["=", "!=", "<", "<=", ">", ">="]
Part = Literal["hour", "weekday", "day", "week", "month", "quarter", "year"]
Unit = Literal["second", "minute", "hour", "day", "week", "month", "year"]
Place = Literal["anywhere", "start", "end", "whole"]
Rounding = Literal["down", "up", "nearest", "toward_zero"]
Ties = Literal["cut", "kept", "as_one"]
"""Of those that share the last place: as many as fit, all of them, or all of them where a place is counted once."""

Level = Literal["row", "group", "series"]
LEVELS: tuple[Level, ...] = ("row", "group", "series")
ALIKE: tuple[Function, ...] = ("sum", "mean", "min", "max", "count")  # that every engine has beside each row
LATER = ConfigDict(defer_build=True)


class Column(Contract):
    """A column of the rows, or of the one row of another table that each of them points at.

    `via` names the join path to that table where there are several: `shipped_to > country_id`.
    """

    kind: Literal["column"] = "column"
    table: Name | None = None
    name: Name
    via: Text | None = None


class Constant(Contract):
    """A number, a text, a yes or no, or a date in ISO 8601."""

    kind: Literal["constant"] = "constant"
    value: str | int | float | bool


class Arithmetic(Contract):
    """Division by zero gives no value."""

    kind: Literal["arithmetic"] = "arithmetic"
    operator: ArithmeticOperator
    left: Expression
    right: Expression


class Elapsed(Contract):
    """The time from one date to another, with fractions. A month is 30.436875 days, a year 365.2425."""

    kind: Literal["elapsed"] = "elapsed"
    start: Expression
    end: Expression
    unit: Unit = "day"


class DatePart(Contract):
    """A number that comes round: the hour of the day, the month of the year. Monday is weekday 1."""

    kind: Literal["date_part"] = "date_part"
    of: Expression
    part: Part


class DateCut(Contract):
    """The date at which the period begins; without a grain the data's span decides when the plan runs."""

    kind: Literal["date_cut"] = "date_cut"
    of: Expression
    grain: Grain | None = None


class Bins(Contract):
    """Ranges between edges, or ranges of one width.

    The edges `(18, 65)` make below 18, 18 up to 65, and 65 and above: the value is the range in words. A width of 10
    makes 0 up to 10, 10 up to 20 and so on: the value is the lower edge.
    """

    kind: Literal["bins"] = "bins"
    of: Expression
    edges: Annotated[tuple[float, ...], Field(max_length=64)] = ()
    width: Annotated[float, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _ranges_are_known(self) -> Bins:
        if bool(self.edges) == (self.width is not None):
            raise ValueError("bins have edges or a width: one of them")
        if list(self.edges) != sorted(set(self.edges)):
            raise ValueError("the edges of bins must increase")
        return self


class Cases(Contract):
    """The value of the first condition that holds, and `otherwise` where none does: named groups, a given order."""

    kind: Literal["cases"] = "cases"
    conditions: Annotated[tuple[Condition, ...], Field(min_length=1, max_length=64)]
    values: Annotated[tuple[str | int | float | bool, ...], Field(min_length=1, max_length=64)]
    otherwise: str | int | float | bool | None = None

    @model_validator(mode="after")
    def _each_condition_has_its_value(self) -> Cases:
        if len(self.conditions) != len(self.values):
            raise ValueError("cases have a value for each condition")
        given = [*self.values, *([] if self.otherwise is None else [self.otherwise])]
        if len({_kind_of_constant(value) for value in given}) > 1:
            raise ValueError("the values of cases are all numbers, all texts, or all yes and no")
        return self


class Filled(Contract):
    """The value, and `otherwise` where it is missing."""

    kind: Literal["filled"] = "filled"
    of: Expression
    otherwise: Expression


class Rounded(Contract):
    """The number at so many places after the point, before it if negative: `-2` gives hundreds.

    Halves are rounded away from zero by `nearest`.
    """

    kind: Literal["rounded"] = "rounded"
    of: Expression
    how: Rounding
    digits: Annotated[int, Field(ge=-12, le=12)] = 0


class Absolute(Contract):
    """The number without its sign."""

    kind: Literal["absolute"] = "absolute"
    of: Expression


class Concatenated(Contract):
    """The texts one after the other, of a date's part its digits; missing where one of them is."""

    kind: Literal["concatenated"] = "concatenated"
    parts: Annotated[tuple[Expression, ...], Field(min_length=2, max_length=32)]


class Length(Contract):
    """The number of characters."""

    kind: Literal["length"] = "length"
    of: Expression


class Holds(Contract):
    """Whether the condition holds: a group for those that meet it and one for the others."""

    kind: Literal["holds"] = "holds"
    condition: Condition


class Rows(Contract):
    """The number of rows, or of those that meet the condition."""

    kind: Literal["rows"] = "rows"
    where: Condition | None = None


class Aggregate(Contract):
    """A function of an expression over the rows of a group, or over those of them that meet the condition."""

    kind: Literal["aggregate"] = "aggregate"
    function: Function | Literal["percentile"]
    of: Expression
    where: Condition | None = None
    percent: Annotated[float, Field(gt=0, lt=100)] | None = None  # of a percentile

    @model_validator(mode="after")
    def _percentile_has_its_percent(self) -> Aggregate:
        if (self.function == "percentile") != (self.percent is not None):
            raise ValueError("`percent` goes with the function `percentile`, which needs it")
        return self


class Correlation(Contract):
    """How closely two values follow each other over the rows of a group, from -1 to 1 (Pearson)."""

    kind: Literal["correlation"] = "correlation"
    left: Expression
    right: Expression
    where: Condition | None = None


class Share(Contract):
    """The part of the total of all groups, from 0 to 1; `within` names the groups that share a total."""

    kind: Literal["share"] = "share"
    of: Expression
    within: Annotated[tuple[Expression, ...], Field(max_length=8)] = ()


class Change(Contract):
    """The change from an earlier period: the one before, or the same one a year earlier. As a ratio, of the earlier."""

    kind: Literal["change"] = "change"
    of: Expression
    against: Literal["previous", "year"] = "previous"
    ratio: bool = False


class Running(Contract):
    """The total up to and including each period."""

    kind: Literal["running"] = "running"
    of: Expression


class Moving(Contract):
    """The average of the last periods, the present one among them."""

    kind: Literal["moving"] = "moving"
    of: Expression
    periods: Annotated[int, Field(ge=2, le=1_000)]


class Named(Contract):
    """A measure that the semantic model defines."""

    kind: Literal["named"] = "named"
    name: Name


class Related(Contract):
    """A measure of those rows of another table that point at a row: a customer's number of orders, the first of them.

    Where there are none, a count is 0 and everything else has no value.
    """

    kind: Literal["related"] = "related"
    table: Name
    of: Expression
    via: Text | None = None


class Overall(Contract):
    """A measure of all rows of a table that meet `where`, whichever rows were asked for: the same value for each row.

    Without a table, of the table whose rows are spoken of: `price > Overall(of=average price)`.
    """

    kind: Literal["overall"] = "overall"
    table: Name | None = None
    of: Expression
    where: Condition | None = None


class Alike(Contract):
    """A measure of all rows that have the same values as this one: of a trip's fare, the average in its region.

    It looks at every row of the table, whichever of them were asked for. Missing values are alike.
    """

    kind: Literal["alike"] = "alike"
    of: Annotated[Rows | Aggregate, Field(discriminator="kind")]
    by: Annotated[tuple[Expression, ...], Field(min_length=1, max_length=8)]

    @model_validator(mode="after")
    def _every_engine_has_it(self) -> Alike:
        if isinstance(self.of, Aggregate) and self.of.function not in ALIKE:
            raise ValueError("of rows that are alike there are counts, sums, averages, and the lowest and highest")
        return self


class All(Contract):
    kind: Literal["all"] = "all"
    parts: Annotated[tuple[Condition, ...], Field(min_length=1, max_length=64)]


class AnyOf(Contract):
    kind: Literal["any"] = "any"
    parts: Annotated[tuple[Condition, ...], Field(min_length=1, max_length=64)]


class Not(Contract):
    kind: Literal["not"] = "not"
    part: Condition


class Compare(Contract):
    """Nothing compares with a missing value: such rows meet neither the comparison nor its negation."""

    kind: Literal["compare"] = "compare"
    left: Expression
    operator: ComparisonOperator
    right: Expression


class OneOf(Contract):
    kind: Literal["one_of"] = "one_of"
    of: Expression
    values: Annotated[tuple[Scalar, ...], Field(min_length=1, max_length=1_000)]


class Contains(Contract):
    """The text stands anywhere in the value, at its start, at its end, or is all of it.

    Without `cased`, upper and lower case are the same. `%` and `_` are characters like any others.
    """

    kind: Literal["contains"] = "contains"
    of: Expression
    text: Text
    place: Place = "anywhere"
    cased: bool = False


class Among(Contract):
    """The value is among the highest, or the lowest, of all rows that were kept. Stands in the `where` of a measure."""

    kind: Literal["among"] = "among"
    of: Expression
    limit: Annotated[int, Field(ge=1, le=10_000)]
    direction: Literal["top", "bottom"] = "top"


class Found(Contract):
    """The value is among those of a column of a table, over its rows that meet `where`. It is never unknown.

    A missing value is not found: `Not(Found(...))` holds for it.
    """

    kind: Literal["found"] = "found"
    of: Expression
    table: Name
    column: Name
    where: Condition | None = None


class Sort(Contract):
    """What orders rows or groups; `top` is the highest first. Missing values come last either way."""

    by: Expression
    direction: Literal["top", "bottom"]


class FoundGroup(Contract):
    """The value is among those of the first key of some groups of a table. It is never unknown.

    The groups are of the rows that meet `where`, one for each value of all keys, and of these the ones that meet
    `having`. With a limit only the first of them in that order; a group whose key is missing is one like any other.
    A missing value is not found.
    """

    kind: Literal["found_group"] = "found_group"
    of: Expression
    table: Name
    keys: Annotated[tuple[Expression, ...], Field(min_length=1, max_length=8)]
    where: Condition | None = None
    having: Condition | None = None
    order: Annotated[tuple[Sort, ...], Field(max_length=8)] = ()
    limit: Annotated[int, Field(ge=1, le=10_000)] | None = None
    ties: Ties = "cut"  # of a first place all are kept

    @model_validator(mode="after")
    def _is_cut_in_an_order(self) -> FoundGroup:
        if bool(self.order) != (self.limit is not None):
            raise ValueError("`limit` goes with `order`, which needs it")
        return self


class Missing(Contract):
    kind: Literal["missing"] = "missing"
    of: Expression


RowValue = (
    Column
    | Constant
    | Arithmetic
    | Elapsed
    | DatePart
    | DateCut
    | Bins
    | Cases
    | Filled
    | Rounded
    | Absolute
    | Concatenated
    | Length
    | Holds
    | Named
)
"""What a row has by itself, or a formula of what groups have."""
GroupValue = Rows | Aggregate | Correlation | Share | Change | Running | Moving | Related | Overall | Alike
"""What several rows have together."""
Expression = Annotated[RowValue | GroupValue, Field(discriminator="kind")]
Condition = Annotated[
    All | AnyOf | Not | Compare | OneOf | Contains | Among | Found | FoundGroup | Missing,
    Field(discriminator="kind"),
]
Node = Expression | Condition
Arithmetic.model_rebuild()  # the schema of all expressions, which every contract with one in it then takes over
EXPRESSION: TypeAdapter[Expression] = TypeAdapter(Expression, config=LATER)
CONDITION: TypeAdapter[Condition] = TypeAdapter(Condition, config=LATER)


def read_expression(given: object) -> Expression:
    """The expression that JSON describes; raises ValidationError."""
    return EXPRESSION.validate_python(thaw(given))


def read_condition(given: object) -> Condition:
    """The condition that JSON describes; raises ValidationError."""
    return CONDITION.validate_python(thaw(given))


def read_node(kind: str, given: object) -> Node:
    return read_condition(given) if kind == "condition" else read_expression(given)


def kind_of(node: Node, columns: Mapping[str, ColumnKind]) -> ColumnKind:
    """The kind of its values, given those of the columns."""
    match node:
        case Column(name=name):
            return columns.get(name, "other")
        case Constant(value=value):
            return _kind_of_constant(value)
        case Cases(values=values):
            return _kind_of_constant(values[0])
        case Holds() | All() | AnyOf() | Not() | Compare() | OneOf() | Contains() | Among() | Missing():
            return "boolean"
        case Found() | FoundGroup():
            return "boolean"
        case Bins(width=None) | Concatenated():
            return "text"
        case DateCut():
            return "time"
        case Aggregate(function="min" | "max", of=of) | Filled(of=of):
            return kind_of(of, columns)
        case Related(of=of) | Overall(of=of):
            return kind_of(of, {})
        case Alike(of=of):
            return kind_of(of, columns)
        case _:
            return "number"


def is_count(node: Expression) -> bool:
    """Whether it is 0 of no rows."""
    if isinstance(node, Filled | Rounded | Absolute):
        return is_count(node.of)
    return isinstance(node, Rows) or (isinstance(node, Aggregate) and node.function in ("count", "count_distinct"))


def _kind_of_constant(value: str | int | float | bool) -> ColumnKind:
    return "text" if isinstance(value, str) else "boolean" if isinstance(value, bool) else "number"


def parts(node: Contract) -> Iterator[Node]:
    """The expressions and conditions that it is directly made of; it may be a requirement."""
    for name in type(node).model_fields:
        value = getattr(node, name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Contract):
                yield item  # type: ignore[misc]


def walk(node: Contract) -> Iterator[Node]:
    yield node  # type: ignore[misc]
    for part in parts(node):
        yield from walk(part)


def columns_of(node: Node) -> frozenset[str]:
    """The names of the columns of the rows themselves."""
    if isinstance(node, Related | Overall):
        return frozenset()
    if isinstance(node, Found | FoundGroup):
        return columns_of(node.of)
    if isinstance(node, Column):
        return frozenset({node.name}) if node.table is None and node.via is None else frozenset()
    return frozenset[str]().union(*map(columns_of, parts(node)))


def level(node: Node) -> Level:
    match node:
        case Rows() | Aggregate() | Correlation() | Named():
            return "group"
        case Share() | Change() | Running() | Moving():
            return "series"
        case Related() | Overall() | Alike():
            return "row"
        case Found(of=of) | FoundGroup(of=of):
            return level(of)
        case _:
            return max((level(part) for part in parts(node)), key=LEVELS.index, default="row")


def misplaced(node: Node) -> str | None:
    """Why its parts do not fit each other, or None: a sum of a sum, a share of a single row."""
    for found in walk(node):
        wanted, inner = _levels_of(found)
        wrong = next((part for part in inner if level(part) not in wanted), None)
        if wrong is not None:
            return f"{found.kind!r} takes {' or '.join(wanted)} values, and {wrong.kind!r} is of a {level(wrong)}"
        if isinstance(found, Alike) and (_beside_others(found) or any(level(part) != "row" for part in found.by)):
            return "'alike' takes a measure of plain rows, and values of rows that are the same"
        if isinstance(found, Related | Overall) and (bare_overalls(found.of) or _ranks(found)):
            return f"{found.kind!r} takes measures of rows"
        if isinstance(found, Overall | Found | FoundGroup) and found.where and level(found.where) != "row":
            return f"the condition of {found.kind!r} is of rows"
        if isinstance(found, Found | FoundGroup) and _ranks(found):
            return f"{found.kind!r} takes values of rows"
        if isinstance(found, FoundGroup) and not _chooses_groups(found):
            return "'found_group' chooses groups by their keys and measures"
    return None


def _chooses_groups(node: FoundGroup) -> bool:
    """Whether it chooses and orders groups by what one aggregation gives: no other groups, no overall values."""
    said = [*([node.having] if node.having else []), *(one.by for one in node.order if one.by not in node.keys)]
    return all(level(one) == "group" and not bare_overalls(one) for one in said)


def _beside_others(node: Alike) -> bool:
    """Whether its measure looks at other rows than those that it is of."""
    inner = (part for one in (node.of, *node.by) for part in walk(one))
    return any(isinstance(part, Among | Found | FoundGroup | Overall | Alike) for part in inner)


def _ranks(node: Node) -> bool:
    return any(isinstance(part, Among) for part in walk(node))


def bare_overalls(node: Node) -> tuple[Overall, ...]:
    """The overall values in it that stand beside measures of groups, and not inside one of them."""
    match node:
        case Overall():
            return (node,)
        case Rows() | Aggregate() | Correlation() | Related() | Alike():
            return ()
        case Found(of=of) | FoundGroup(of=of):
            return bare_overalls(of)
        case _:
            return tuple(found for part in parts(node) for found in bare_overalls(part))


def _levels_of(node: Node) -> tuple[tuple[Level, ...], tuple[Node, ...]]:
    """The levels that its parts may have."""
    match node:
        case Rows() | Aggregate() | Correlation() | DateCut() | Bins() | Holds() | Among():
            return ("row",), tuple(parts(node))
        case Share() | Running() | Moving() | Change() | Related() | Overall() | Alike():
            return ("group",), (node.of,)
        case Found():
            return ("row",), (node.of,)
        case FoundGroup():
            return ("row",), (node.of, *node.keys)
        case _:
            return LEVELS, ()


def is_ratio(node: Node) -> bool:
    """Whether its values are parts of a whole or relative changes, so that people read them as percentages."""
    match node:
        case Share() | Change(ratio=True):
            return True
        case Arithmetic(operator="/", left=Rows(where=part), right=Rows(where=whole)):
            return all(_follows(one, {*_conjuncts(part)}) for one in _conjuncts(whole))
        case Arithmetic(operator="/", left=Rows(), right=Overall(table=None, of=Rows(where=None), where=None)):
            return True
        case Arithmetic(operator="/", left=Arithmetic(operator="-", left=new, right=old), right=base):
            return base in (new, old)
        case Arithmetic(operator="-", left=Arithmetic(operator="/"), right=Constant(value=1)):
            return True
        case Arithmetic(operator="/", left=Aggregate() as part, right=Aggregate() as whole):
            return part.where is not None and part.model_copy(update={"where": whole.where}) == whole
        case Moving(of=of) | Filled(of=of) | Rounded(of=of) | Absolute(of=of):
            return is_ratio(of)
        case _:
            return False


def _follows(condition: Condition, from_all: Collection[Condition]) -> bool:
    """True if it is one of them, or says that a value is known that one of them compares."""
    compared = {one.left for one in from_all if isinstance(one, Compare) and one.operator != "!="}
    compared |= {one.of for one in from_all if isinstance(one, OneOf)}
    return condition in from_all or condition in {Not(part=Missing(of=of)) for of in compared}


def _conjuncts(condition: Condition | None) -> Iterator[Condition]:
    if isinstance(condition, All):
        for part in condition.parts:
            yield from _conjuncts(part)
    elif condition is not None:
        yield condition


def in_percent(node: Node) -> Expression | None:
    """The ratio of measures that it gives in percent: `100 * a / b` or `a / b * 100`."""
    match node:
        case Arithmetic(operator="*", left=Arithmetic(operator="/") as ratio, right=Constant(value=100)):
            found = ratio
        case Arithmetic(operator="*", left=Constant(value=100), right=Arithmetic(operator="/") as ratio):
            found = ratio
        case Arithmetic(operator="/", left=Arithmetic(operator="*", left=one, right=Constant(value=100)), right=whole):
            found = Arithmetic(operator="/", left=one, right=whole)
        case Arithmetic(operator="/", left=Arithmetic(operator="*", left=Constant(value=100), right=one), right=whole):
            found = Arithmetic(operator="/", left=one, right=whole)
        case _:
            return None
    return found if level(found) != "row" else None


def quotient(node: Node) -> tuple[Expression, Expression] | None:
    """The two measures that it divides: part and whole, or, if `is_growth`, the later and the earlier."""
    ratio = in_percent(node)
    if ratio is not None and is_growth(ratio):
        return None  # neither its value nor its percentage is what the two divide to
    match ratio or node:
        case Arithmetic(operator="-", left=Arithmetic(operator="/", left=left, right=right), right=Constant(value=1)):
            sides = left, right
        case Arithmetic(operator="/", left=Arithmetic(operator="-", left=left, right=old), right=right) if old == right:
            sides = left, right
        case Arithmetic(operator="/", left=left, right=right):
            sides = left, right
        case _:
            return None
    return sides if level(sides[0]) == level(sides[1]) == "group" else None


def is_growth(node: Node) -> bool:
    """Whether it is a relative difference of two measures: `a / b - 1` or `(a - b) / b`."""
    match node:
        case Arithmetic(operator="-", left=Arithmetic(operator="/"), right=Constant(value=1)):
            return True
        case Arithmetic(operator="/", left=Arithmetic(operator="-", right=old), right=base):
            return old == base
        case _:
            return False


def adds_up(node: Node) -> bool:
    """Whether the sum of its values over groups has a meaning: of totals and counts, not of averages and rates."""
    match node:
        case Rows() | Share():
            return True
        case Aggregate(function=function):
            return function in ("sum", "count")
        case Arithmetic(operator="+" | "-", left=left, right=right):
            return adds_up(left) and adds_up(right)
        case Overall():
            return False
        case Filled(of=of, otherwise=otherwise):
            return adds_up(of) and (adds_up(otherwise) or otherwise == Constant(value=0))
        case _:
            return level(node) == "row" and not isinstance(node, Constant)
