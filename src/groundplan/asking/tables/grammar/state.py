"""What is known of a question while its phrases become a reading."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from groundplan.asking.tables.grammar.chart import Cover
from groundplan.asking.tables.grammar.meanings import NUMBERS, Meanings
from groundplan.asking.tables.grammar.phrases import Ask, Cond, Group, Item, Measure, Rank, Thing, When
from groundplan.asking.tables.grammar.rules import Builders
from groundplan.contracts.defaults import Default
from groundplan.contracts.expression import Column, Expression, Missing, Not
from groundplan.contracts.normal_form import mapped
from groundplan.contracts.reading import Rank as RankAsked
from groundplan.text.words import Word

USABLE = frozenset(
    category
    for line in (
        "measure share field thing group groups condition having period ask rank order event over_time whole_time list",
        "chart table by_measure binned versus compared change over_prior in_percent in_unit split count who function",
        "what fresh if_any anomaly correlation distribution summary",
    )
    for category in line.split()
)
LOOSE = frozenset(
    category
    for line in (
        "whole_time in_percent list compared over_time split who thing distribution event versus count fresh what",
        "table",
    )
    for category in line.split()
)
ARTICLES = frozenset({"the", "a", "an", "our", "their", "its"})


class DoesNotCompose(Exception):
    """The phrases make no question; the reason, for whoever develops the grammar."""


class NamesElsewhere(DoesNotCompose):
    """The things that it groups by are called something in another table."""

    def __init__(self) -> None:
        super().__init__("its names are in another table")


class Unsound(Exception):
    """Understood, but must not be computed: says why, and what can be asked instead."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint


class NeedsClarification(Exception):
    """Something has to be said first. `said`: the words that lack it; `link` leads from them to a choice."""

    def __init__(self, what: str, choices: tuple[str, ...] = (), said: str = "", link: str = "by") -> None:
        super().__init__(what)
        self.what = what
        self.choices = choices
        self.said = said
        self.link = link


@dataclass
class Part:
    """A requirement in the making: its value and the words that ask for it. Without any it is implied."""

    id: str
    value: Any
    items: tuple[Item, ...]
    assumed: tuple[Default | None, ...] = ()


@dataclass
class State:
    """One way to read a question, slot by slot; each value has the phrases that ask for it."""

    cover: Cover
    words: tuple[Word, ...]
    text: str
    builders: Builders
    parts: list[Part] = field(default_factory=list)
    penalty: float = 0.0
    used: set[Item] = field(default_factory=set)
    measures: list[tuple[Measure, tuple[Item, ...]]] = field(default_factory=list)
    groups: list[tuple[Group, tuple[Item, ...]]] = field(default_factory=list)
    having: list[tuple[Cond, tuple[Item, ...]]] = field(default_factory=list)
    conditions: list[tuple[Cond, tuple[Item, ...]]] = field(default_factory=list)
    rank: tuple[Rank, tuple[Item, ...]] | None = None
    ask: tuple[Ask, tuple[Item, ...]] | None = None
    show: list[tuple[str, tuple[Item, ...]]] = field(default_factory=list)
    distinct: bool = False
    each: Part | None = None
    axes: set[str] = field(default_factory=set)  # dates that events tell
    asked: list[Part] = field(default_factory=list)  # analyses
    sides: list[tuple[When, Item]] = field(default_factory=list)  # periods that are compared
    whole_rows: bool = False
    order: RankAsked | None = None
    order_items: tuple[Item, ...] = ()
    columns: tuple[str, ...] = ()
    columns_items: tuple[Item, ...] = ()
    date: str | None = None

    def __post_init__(self) -> None:
        self.having = [(i.value, (i,)) for i in self.all("having")]  # type: ignore[misc]
        self.conditions = [(i.value, (i,)) for i in self.all("condition")]  # type: ignore[misc]

    @property
    def meanings(self) -> Meanings:
        return self.builders.meanings

    def all(self, *categories: str) -> list[Item]:
        return [item for item in self.cover.items if item.category in categories]

    def take(self, *items: Item) -> tuple[Item, ...]:
        self.used.update(items)
        return items

    def said(self, *items: Item) -> str:
        """Their words, as they are written."""
        first, last = min(item.first for item in items), max(item.last for item in items)
        return self.text[self.words[first].start : self.words[last - 1].end]

    def gap(self, left: Item, right: Item) -> str:
        """The text between two phrases."""
        return self.text[self.words[left.last - 1].end : self.words[right.first].start]

    def between(self, place: int) -> str:
        """The text between this word and the next."""
        return self.text[self.words[place].end : self.words[place + 1].start]

    def has_rows_before(self, item: Item) -> bool:
        """Rows are asked for, and a list of columns follows."""
        things = [i for i in self.all("thing") if i.value.entity.is_rows and i.first < item.first]  # type: ignore[attr-defined]
        return bool(self.all("list") and things)

    def names_of(self, *kinds: str) -> tuple[str, ...]:
        return tuple(c.name for c in self.meanings.table.columns if self.meanings.of[c.name] in kinds)

    def measure_names(self) -> tuple[str, ...]:
        return self.names_of(*NUMBERS)

    def assumes(self, default: Default) -> bool:
        """True unless the model file switches it off for the table."""
        return default in self.meanings.table.assume

    def leave_out_missing(self, of: Expression) -> None:
        if self.assumes("known_names"):
            self.conditions.append((Cond(Not(part=Missing(of=of)), default="known_names"), ()))

    def rows_counted(self) -> Measure:
        counted = self.builders.count_things(Thing(self.meanings.entities[0], "number"))
        return replace(counted, default="count_rows")

    def refuse_lists(self, column: str) -> None:
        if column in self.meanings.lists:
            some = min(self.meanings.lists[column])
            raise Unsound(
                f"a cell of {column} holds several values, so that it cannot be split by them",
                f"ask about one of them, such as {some!r}",
            )

    def axis(self) -> Group | None:
        """The main date, or the only column of years."""
        if self.meanings.main_date is not None:
            return Group(self.meanings.main_date.name, time=True)
        years = self.names_of("year")
        return Group(years[0]) if len(years) == 1 else None

    def time_axis(self) -> Group:
        axis = self.axis()
        if axis is None:
            raise DoesNotCompose("no time axis")
        return axis


def _over(node: Any, column: str, name: str) -> Any:
    if isinstance(node, Column) and node.name == column:
        return Column(name=name)
    return mapped(node, lambda part: _over(part, column, name))
