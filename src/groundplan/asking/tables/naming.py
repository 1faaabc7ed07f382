"""Which words name a requirement: its column, its value or its concept, as the lexicon and the schema know it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import get_args

from groundplan.asking.tables.grammar.meanings import Meanings
from groundplan.asking.tables.grammar.near import columns_meant
from groundplan.asking.tables.grammar.phrases import (
    Cond,
    Event,
    Field,
    Item,
    Mark,
    Measure,
    Number,
    Thing,
    When,
)
from groundplan.asking.tables.grammar.read import senses_of
from groundplan.asking.tables.grammar.senses import Senses
from groundplan.asking.tables.grammar.wide import widened
from groundplan.asking.tables.values import Values
from groundplan.contracts.contract import Contract
from groundplan.contracts.defaults import DEFAULTS, Default
from groundplan.contracts.expression import (
    Aggregate,
    Arithmetic,
    Bins,
    Change,
    Column,
    Compare,
    Constant,
    Contains,
    DateCut,
    DatePart,
    Elapsed,
    Found,
    FoundGroup,
    Holds,
    Missing,
    Moving,
    Named,
    Not,
    OneOf,
    Related,
    Rows,
    Running,
    Share,
    walk,
)
from groundplan.contracts.meaning import measure_of
from groundplan.contracts.normal_form import of_filter
from groundplan.contracts.reading import (
    Analysis,
    AnalysisAsked,
    ColumnsAsked,
    Each,
    Evidence,
    Filter,
    GroupBy,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Requirement,
    Time,
    Value,
)
from groundplan.contracts.schema import SourceSchema
from groundplan.text.similar import Nearness
from groundplan.text.stems import stem
from groundplan.text.words import words_of


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


COUNTS = _words("count headcount volume times row_verb frequent comparative who fresh rows")
COMPARES = _words("compare beyond between comparative than sign lateness negation left_out at_least")
RANKS = _words("superlative judged frequent selling adjective ordering sorted ranking_word comparative")
RATIOS = _words("per share_word rate as_share in_percent function:mean change over_prior moved")
EXTREMES = _words("superlative adjective judged")
FUNCTIONS: Mapping[str, frozenset[str]] = {
    "sum": _words("function:sum much selling generic formula over_prior"),
    "mean": _words("function:mean comparative per"),
    "max": EXTREMES | {"function:max"},
    "min": EXTREMES | {"function:min"},
    "count": COUNTS,
    "count_distinct": COUNTS | {"distinct"},
    "percentile": _words("percentile percentile_of function:median"),
}
ANALYSES: Mapping[str, frozenset[str]] = {
    "trend": _words("over_time chart"),
    "compare": _words("compared versus change difference period"),
    "share": _words("share_word as_share in_percent rate"),
    "ranking": RANKS,
    "detail": _words("list which"),
    "total": _words("function:sum much"),
    "correlation": _words("correlation versus by chart"),
    "distribution": _words("distribution chart count by versus bracket"),
}
"""The categories of the lexicon whose words name a function or an analysis."""
ABOUT_TABLES = (Metric, GroupBy, Time, Filter, Rank, ColumnsAsked, Each, AnalysisAsked, OutputAsked)
SINGLE_VALUES = _words("anomaly correlation distribution summary")  # no function is taken of single values


@dataclass(frozen=True)
class Sense:
    """Some words of a question, their place in it, and the names they may stand for."""

    start: int
    end: int
    concepts: frozenset[str]
    columns: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Naming:
    """The senses of the words of one question over the tables that a reading of it speaks of."""

    question: str
    schema: SourceSchema
    values: Mapping[str, Values]
    tables: tuple[str, ...]
    today: date
    timezone: str = "UTC"
    nearness: Nearness | None = None

    @property
    def assume(self) -> tuple[Default, ...]:
        """The defaults of the first table."""
        table = self.schema.find(self.tables[0]) if self.tables else None
        return table.assume if table else DEFAULTS

    @cached_property
    def senses(self) -> tuple[Sense, ...]:
        return tuple(dict.fromkeys(named for table in self.tables for named in self._of_table(table)))

    def quotes(self, value: Value) -> tuple[Evidence, ...]:
        """The words of the question that name it, those side by side as one quote."""
        places = sorted({(one.start, one.end) for one in self.senses if _says(one, value)})
        merged: list[tuple[int, int]] = []
        for start, end in places:
            if merged and not self.question[merged[-1][1] : start].strip():
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return tuple(Evidence(text=self.question[start:end][:500], start=start) for start, end in merged)

    def evident(self, requirement: Requirement) -> Requirement:
        """With the words that name it; without any it is implied."""
        quotes = self.quotes(requirement.value)
        update = {"evidence": quotes[0] if quotes else None, "also": quotes[1:], "implied": not quotes}
        return requirement.model_copy(update=update)

    def names(self, requirement: Requirement) -> bool:
        """True if its quotes stand in the question and one of them names it, or it was chosen by hand."""
        if requirement.chosen:
            return True
        spans = [(e.start, e.start + len(e.text)) for e in requirement.quotes if e.start is not None]
        if not all(self.question[e.start or 0 :].startswith(e.text) for e in requirement.quotes):
            return False
        inside = [one for one in self.senses if any(start <= one.start and one.end <= end for start, end in spans)]
        return any(_says(one, requirement.value) for one in inside) or self._spells(requirement)

    def unfounded(self, reading: Reading) -> Requirement | None:
        """The first requirement that is not implied and that its words do not name."""
        asked = (r for r in reading.requirements if not r.implied and isinstance(r.value, ABOUT_TABLES))
        return next((r for r in asked if not _is_phrase_of_a_tool(r.value) and not self.names(r)), None)

    def with_assumed(self, reading: Reading) -> Reading:
        """The reading with the defaults that decided a part of a requirement: the function, the date."""
        labels = {r.value.label for r in reading.requirements if isinstance(r.value, AnalysisAsked)}
        said = frozenset[str]().union(*(one.columns for one in self.senses))
        unsaid = {name for name in self._dates if name not in said} if len(self._dates) > 1 else set()

        def assumed(requirement: Requirement) -> Iterator[Default]:
            yield from requirement.assumed
            value = requirement.value
            if isinstance(value, Metric) and value.usual and not value.function and not labels & SINGLE_VALUES:
                yield "usual_function"
            asks = not (requirement.implied or requirement.chosen or isinstance(value, ColumnsAsked))
            if asks and unsaid & {*_columns(value)}:
                yield "main_date"

        parts = tuple(r.model_copy(update={"assumed": tuple(dict.fromkeys(assumed(r)))}) for r in reading.requirements)
        return reading.model_copy(update={"requirements": parts})

    @property
    def _dates(self) -> frozenset[str]:
        """The dates of the first table."""
        table = self.schema.find(self.tables[0]) if self.tables else None
        return frozenset(column.name for column in table.columns if column.kind == "time") if table else frozenset()

    def _spells(self, requirement: Requirement) -> bool:
        """True if a word of the quotes is one of a text that it looks for."""
        said = {word.stem for quote in requirement.quotes for word in words_of(quote.text)}
        texts = [text for text in _values(requirement.value) if not text.replace(".", "").isdigit()]
        return bool(said & {stem(word.lower) for text in texts for word in words_of(text)})

    def _of_table(self, name: str) -> Iterator[Sense]:
        table = self.schema.find(name)
        if table is None:
            return
        metrics = [metric for metric in self.schema.metrics if metric.table == name]
        clock = {"today": self.today, "timezone": self.timezone}
        senses, _ = senses_of(self.question, table, self.values.get(name, {}), metrics=metrics, **clock)  # type: ignore[arg-type]
        yield from self._named(senses, {})
        for pointed_at in (False, True) if len(self.tables) > 1 or self.schema.relationships else ():
            wide = widened(table, self.schema, self.values, pointed_at=pointed_at)
            if wide is not None:
                senses, _ = senses_of(self.question, wide.table, wide.values, wide=wide, metrics=metrics, **clock)  # type: ignore[arg-type]
                yield from self._named(senses, wide.of)

    def _named(self, senses: Senses, of: Mapping[str, Contract]) -> Iterator[Sense]:
        items = [*senses.items, *senses.compounds()]
        if self.nearness is not None:
            items += columns_meant(senses, range(len(senses.words)), self.nearness)
        for item in items:
            start, end = senses.words[item.first].start, senses.words[item.last - 1].end
            columns = {name for column in _item_columns(item, senses.meanings) for name in _under(column, of)}
            yield Sense(start, end, frozenset(_item_concepts(item)), frozenset(columns), frozenset(_item_values(item)))


def _under(name: str, of: Mapping[str, Contract]) -> Iterator[str]:
    """The column itself, or those that a column of a joined table stands for."""
    yield name
    for node in walk(of[name]) if name in of else ():
        if isinstance(node, Column):
            yield node.name
        if isinstance(node, Related | Found | FoundGroup):
            yield f"{node.table} rows"


def _item_columns(item: Item, meanings: Meanings) -> Iterator[str]:
    match item.value:
        case Field(expression=expression, name=name):
            yield name
            yield from _columns(expression)
        case Event(column=column):
            yield column.name
        case Cond(condition=condition):
            yield from _columns(condition)
        case Thing(entity=entity, date=dated):
            yield from [entity.column.name] if entity.column is not None else []
            yield from [dated] if dated else []
            yield from (column.name for column in meanings.name_columns(entity))
        case Measure(expression=expression):
            yield from _columns(expression)


def _item_concepts(item: Item) -> Iterator[str]:
    yield item.category
    match item.value:
        case Mark(kind=kind, value=value):
            yield f"{kind}:{value}"
        case Thing(entity=entity) if entity.is_rows:
            yield "rows"
        case Field(meaning="name"):  # names of rows stand for them
            yield "rows"
        case Measure(name=name):
            yield f"metric:{name}"


def _item_values(item: Item) -> Iterator[str]:
    match item.value:
        case Cond(values=values, condition=condition):
            yield from map(str, values)
            yield from _constants(condition)
        case Number(value=value):
            yield from (f"{number:g}" for number in (value, value / 100))
        case When(period=period):
            yield from (period.start.isoformat(), period.end.isoformat())
        case Mark(parts=parts):
            yield from (f"{number:g}" for number in parts if isinstance(number, int | float))


def _says(named: Sense, value: Value) -> bool:
    return bool(
        named.columns & {*_columns(value)} or named.values & {*_values(value)} or named.concepts & {*_concepts(value)}
    )


def _nodes(value: Contract) -> Iterator[Contract]:
    match value:
        case Metric():
            yield from walk(measure_of(value))
        case Filter():
            yield from walk(of_filter(value.model_copy(update={"table": None})))
        case _:
            yield from walk(value)


def _columns(value: Contract) -> Iterator[str]:
    match value:
        case GroupBy(column=column) | Time(column=column):
            yield column
        case ColumnsAsked(columns=columns):
            yield from columns
        case Each(keys=keys):
            yield from keys
    for node in _nodes(value):
        match node:
            case Column(name=name):
                yield name
            case Found(column=name, table=table):
                yield from (name, f"{table} rows")
            case Related(table=table) | FoundGroup(table=table):
                yield f"{table} rows"


def _values(value: Contract) -> Iterator[str]:
    """The constants that it holds, as texts."""
    if isinstance(value, Rank) and value.limit is not None:
        yield f"{value.limit:g}"
    for node in _nodes(value):
        yield from _constants_of(node)


def _constants(value: Contract) -> Iterator[str]:
    for node in walk(value):
        yield from _constants_of(node)


def _constants_of(node: Contract) -> Iterator[str]:
    match node:
        case Constant(value=held):
            yield _told(held)
        case OneOf(values=values):
            yield from map(_told, values)
        case Contains(text=text):
            yield text
        case Bins(edges=edges, width=width):
            yield from (f"{number:g}" for number in (*edges, *([width] if width else [])))
        case Moving(periods=periods):
            yield f"{periods:g}"
        case FoundGroup(limit=int() as limit):
            yield f"{limit:g}"
        case Aggregate(percent=float() | int() as percent):
            yield f"{percent:g}"


def _told(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _is_phrase_of_a_tool(value: Value) -> bool:
    """True for an analysis that a tool brings with it: only its own phrase asks for it."""
    return isinstance(value, AnalysisAsked) and value.label not in get_args(Analysis)


def _concepts(value: Contract) -> Iterator[str]:
    match value:
        case AnalysisAsked(label=label):
            yield from ANALYSES.get(label, {label})
        case OutputAsked(label=label):
            yield label
        case Rank():
            yield from RANKS
        case Time() | GroupBy(ordered=True):
            yield from ("unit", "grain", "over_time", "period", "chart", "span")
        case ColumnsAsked():
            yield from ("list", "which", "what", "who", "rows", *RANKS)
        case Each():
            yield "rows"
    for node in _nodes(value):
        yield from _concepts_of(node)


def _concepts_of(node: Contract) -> Iterable[str]:
    match node:
        case Rows():
            return COUNTS
        case Aggregate(function=function):
            return FUNCTIONS.get(function, {f"function:{function}"})
        case Named(name=name):
            return [f"metric:{name}"]
        case Share():
            return RATIOS
        case Arithmetic(operator="/"):
            return RATIOS
        case Arithmetic(operator="-"):
            return ["difference", "change", "versus", "compared", "moved"]
        case Change():
            return ["change", "over_prior", "moved", "compared", "versus"]
        case Running():
            return ["running"]
        case Moving():
            return ["moving"]
        case Elapsed():
            return ["duration", "span", "in_unit", "comparative", "adjective", "lateness", "until"]
        case DateCut():
            return ["unit", "grain", "over_time", "over_prior", "span"]
        case DatePart():
            return ["date_part", "unit", "days_of_week"]
        case Missing():
            return ["missing", "undone", "present", "current", "if_any"]
        case Not():
            return ["negation", "left_out", "missing"]
        case Compare() | OneOf() | Contains() | Holds():
            return COMPARES
        case Bins():
            return ["bracket", "bin_width", "compare"]
        case _:
            return ()
