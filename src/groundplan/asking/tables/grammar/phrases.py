"""What phrases of a question mean: the values that senses have and that rules compose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from groundplan.asking.tables.grammar.meanings import Entity
from groundplan.contracts.columns import Grain, Meaning
from groundplan.contracts.defaults import Default
from groundplan.contracts.expression import Condition, Expression
from groundplan.contracts.expression import Unit as SpanUnit
from groundplan.contracts.reading import Period
from groundplan.contracts.schema import Column


@dataclass(frozen=True)
class Rule:
    """`result` is made of phrases of these categories, in this order, by a builder that refuses what does not fit."""

    result: str
    parts: tuple[str, ...]
    build: Callable[..., object | None]
    takes: tuple[int, ...]  # the parts that the builder is given, by their places
    bonus: float = 0.0


@dataclass(frozen=True)
class Item:
    """A phrase: its category and value, the words from `first` up to `last`, and how sure it is."""

    category: str
    first: int
    last: int
    value: object
    score: float
    within: tuple[Item, ...] = ()  # conditions and periods that stand between its words
    rule: Rule | None = field(default=None, compare=False)  # None: a sense of words
    parts: tuple[Item, ...] = field(default=(), compare=False)  # what the rule made it of

    @property
    def length(self) -> int:
        return self.last - self.first


@dataclass(frozen=True)
class Field:
    """A value of each row: a column, a duration, a product of columns."""

    expression: Expression
    name: str
    meaning: Meaning
    column: Column | None = None
    whole: bool = True  # the main word of its name was said: vehicles are no vehicle types


@dataclass(frozen=True)
class Thing:
    entity: Entity
    said: str = ""
    date: str | None = None  # arrivals are bookings by the date of arrival


@dataclass(frozen=True)
class Number:
    value: float
    percent: bool = False
    said: str = ""
    counts: frozenset[str] = frozenset()  # what the noun right behind it may name: ten rooms are no ten beds


@dataclass(frozen=True)
class When:
    period: Period


@dataclass(frozen=True)
class Unit:
    grain: Grain
    date: str | None = None  # order month: of the order date


@dataclass(frozen=True)
class Span:
    """A unit in which something lasts: nights, minutes."""

    unit: SpanUnit


@dataclass(frozen=True)
class PartOfDate:
    part: str


@dataclass(frozen=True)
class Measure:
    """A number of each group. `usual`: the question names the column and no function."""

    expression: Expression
    name: str
    usual: bool = False
    counts: Entity | None = None
    base: Field | None = None  # what it is a function of
    grain: Grain | None = None  # a change from period to period needs a time axis
    sides: bool = False  # a change between two periods that the question names
    date: str | None = None  # counts by this date
    bad: bool = False  # the worst is the highest
    default: Default | None = None  # nobody said it


@dataclass(frozen=True)
class ShareOf:
    of: Measure
    by: Group | None = None  # the share of each region in the revenue


@dataclass(frozen=True)
class Group:
    name: str
    expression: Expression | None = None  # None: the column of that name
    grain: Grain | None = None
    time: bool = False
    named: bool = False  # its date was said


@dataclass(frozen=True)
class Cond:
    condition: Condition
    column: str | None = None  # of plain values: whose they are
    values: tuple[str | float | int | bool, ...] = ()
    negated: bool = False
    named: bool = False  # their column was said too
    groups: bool = False  # of groups, not of rows
    versus: bool = False  # the values are compared with each other
    date: str | None = None  # of a period: the column that it is a period of
    weekday: bool = False  # of days of the week
    known: Condition | None = None  # what has to be known to decide it
    default: Default | None = None  # nobody said it

    @property
    def is_plain(self) -> bool:
        """Values of a column, neither negated nor compared with each other."""
        return bool(self.column and self.values) and not self.negated and not self.versus


@dataclass(frozen=True)
class Event:
    column: Column


@dataclass(frozen=True)
class Target:
    """The thing that is ranked, listed or asked for."""

    value: Field | Thing | Unit | PartOfDate


@dataclass(frozen=True)
class Rank:
    direction: str
    limit: int | None
    target: Target | None = None
    by: Measure | Field | None = None
    judged: bool = False  # best or worst: by a measure that has to be said


@dataclass(frozen=True)
class Ask:
    target: Target | None
    person: bool = False
    limit: int | None = None


@dataclass(frozen=True)
class Mark:
    """A word that changes how the rest is meant: an order, a chart, a comparison."""

    kind: str
    value: str = ""
    parts: tuple[object, ...] = field(default=())
