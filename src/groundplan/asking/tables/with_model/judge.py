"""Compares a proposed reading with the words: all that the words say is in it, and all that is in it has words.

A word that the lexicon, the schema or the data knows must be in the reading with one of its senses. A word that
nothing knows must be quoted, and says what the model says it does; `open_words` tells which those are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from groundplan.asking.tables.accounting import covers
from groundplan.asking.tables.grammar.phrases import Cond, Event, Item, Mark, PartOfDate, Span, Thing, Unit, When
from groundplan.asking.tables.grammar.phrases import Field as Named
from groundplan.asking.tables.grammar.phrases import Measure as Formula
from groundplan.asking.tables.grammar.phrases import Number as Said
from groundplan.asking.tables.grammar.senses import Senses
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
    Missing,
    Moving,
    Node,
    Not,
    OneOf,
    Rows,
    Running,
    Share,
    columns_of,
    level,
    walk,
)
from groundplan.contracts.meaning import Meaning, meaning_of
from groundplan.contracts.normal_form import MIRRORED, normal_expression
from groundplan.contracts.reading import Reading
from groundplan.contracts.words import DAY
from groundplan.text.words import Word

FIRM = 0.7  # a sense below may be a chance likeness
GROUPING = frozenset(
    {"by", "per", "within", "split", "which", "what", "who", "list", "versus", "compared", "over_time", "grain"}
)
RANKING = frozenset({"superlative", "judged", "frequent", "selling", "adjective", "ordering", "sorted", "ranking_word"})
ORDERING = frozenset({"ordering", "sorted", "ranking_word"})
NEGATING = frozenset({"negation", "left_out", "missing", "nothing", "undone"})
COUNTING = frozenset(
    {"count", "numbered", "headcount", "volume", "frequent", "times", "distinct", "share_word", "rate"}
)
DIVIDING = frozenset(
    {"share_word", "rate", "per", "in_percent", "as_share", "measure", "comparative", "change", "over_prior"}
)
CHANGING = frozenset({"change", "over_prior", "moved", "difference", "versus", "compared", "comparative"})
TIMED = frozenset({"period", "unit", "grain", "span", "date_part", "over_time", "over_prior", "moving", "running"})
IGNORED = frozenset(
    {
        "filler",
        "generic",
        "whole_time",
        "table",
        "which",
        "what",
        "who",
        "list",
        "where",
        "and",
        "or",
        "until",
        "leave",
        "than",
        "row_verb",
        "volume",
        "rows_loosely",
        "if_any",
    }
)
NAMING = (Named, Thing, Cond, Event, Formula, Said, When)


@dataclass(frozen=True)
class Judgement:
    """Why the reading is not what the words say; and the unknown words, with what of the reading rests on them."""

    faults: tuple[str, ...] = ()
    open_words: tuple[str, ...] = ()
    resting: tuple[str, ...] = ()  # columns and values that no known word names
    columns: frozenset[str] = frozenset()
    constants: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()


def judged(reading: Reading, senses: Sequence[Senses]) -> Judgement:
    """`senses`: of the question, over each table that the reading uses."""
    held = Held(meaning_of(reading))
    said = _Said(senses)
    lost = [*_unread(reading, said), *_lost(held, said)]
    unasked, resting = _unasked(held, said)
    open_words = tuple(dict.fromkeys(said.words[place].text for place in said.unknown))
    if resting and not open_words:
        unasked += [f"no word of the question says {what}" for what in resting]
    return Judgement(
        faults=tuple(dict.fromkeys((*lost, *unasked))),
        open_words=open_words,
        resting=tuple(resting),
        columns=held.columns,
        constants=frozenset(map(_text, held.texts)),
        functions=held.functions,
    )


class _Said:
    """The senses of the words over several tables."""

    def __init__(self, senses: Sequence[Senses]) -> None:
        self.words: tuple[Word, ...] = senses[0].words
        self.items: list[Item] = [item for one in senses for item in one.items]
        self.senses = senses
        skippable = [one.skippable() for one in senses]
        self.content = [place for place in range(len(self.words)) if not all(skip[place] for skip in skippable)]
        known = {place for item in self.items for place in range(item.first, item.last)}
        self.unknown = [place for place in self.content if place not in known]

    def at(self, place: int) -> list[Item]:
        return [item for item in self.items if item.first <= place < item.last]

    def has(self, categories: Iterable[str]) -> bool:
        wanted = frozenset(categories)
        return any(item.category in wanted for item in self.items)

    def of(self, *categories: str) -> list[Item]:
        return [item for item in self.items if item.category in categories]

    def mentions(self, column: str) -> int:
        """How many words name the column, those side by side as one."""
        places = {p for i in self.items if column in _columns(i) for p in range(i.first, i.last)}
        return sum(place - 1 not in places for place in places)

    @cached_property
    def named(self) -> frozenset[str]:
        """The columns that some words name."""
        return frozenset(name for item in self.items for name in _columns(item))

    @cached_property
    def values(self) -> frozenset[tuple[str, str]]:
        """Columns with those of their values that some words name."""
        return frozenset(
            (item.value.column, _text(value))
            for item in self.items
            if isinstance(item.value, Cond) and item.value.column
            for value in item.value.values
        )

    @cached_property
    def numbers(self) -> frozenset[float]:
        said = [item.value.value for item in self.items if isinstance(item.value, Said)]
        within = [part for item in self.of("ranges") if isinstance(item.value, Mark) for part in item.value.parts]
        days = [
            float(node.value)
            for item in self.items
            if isinstance(item.value, Cond)
            for node in walk(item.value.condition)
            if isinstance(node, Constant) and isinstance(node.value, int | float)
        ]
        listed = [
            float(value)
            for item in self.items
            if isinstance(item.value, Cond)
            for node in walk(item.value.condition)
            if isinstance(node, OneOf)
            for value in node.values
            if isinstance(value, int | float)
        ]
        zero = [0.0] if self.has({"sign", "nothing", "missing", "negation", "present"}) else []
        return frozenset(float(one) for one in (*said, *within, *days, *listed, *zero))  # type: ignore[arg-type]

    @cached_property
    def dates(self) -> frozenset[str]:
        periods = [item.value.period for item in self.items if isinstance(item.value, When)]
        return frozenset(day.isoformat() for period in periods for day in (period.start, period.end))

    @cached_property
    def main_dates(self) -> frozenset[str]:
        return frozenset(column.name for one in self.senses for column in one.meanings.main_dates)

    def meaning(self, column: str) -> str | None:
        return next((one.meanings.of[column] for one in self.senses if column in one.meanings.of), None)


@dataclass(frozen=True)
class Held:
    """What a meaning has in it."""

    meaning: Meaning
    nodes: tuple[Node, ...] = field(init=False)

    def __post_init__(self) -> None:
        given = self.meaning
        whole: list[Node] = [*given.groups, *given.measures, *given.columns, *given.within]
        whole += [
            part for part in (given.where, given.having, given.order[0] if given.order else None) if part is not None
        ]
        if given.things is not None:
            whole += [*given.things.keys, *([given.things.where] if given.things.where else [])]
        object.__setattr__(self, "nodes", tuple(node for part in whole for node in walk(part)))

    @cached_property
    def columns(self) -> frozenset[str]:
        return frozenset(node.name for node in self.nodes if isinstance(node, Column))

    @cached_property
    def functions(self) -> frozenset[str]:
        found = {node.function for node in self.nodes if isinstance(node, Aggregate)}
        return frozenset({*found, *(["rows"] if self.any(Rows) else [])})

    @cached_property
    def conditions(self) -> frozenset[tuple[str, str, str]]:
        """Column, operator and value of each comparison with a constant."""
        found = set()
        for node in self.nodes:
            match node:
                case Compare(left=left, operator=operator, right=Constant(value=value)):
                    found |= {(name, operator, _text(value)) for name in columns_of(left)}
                case OneOf(of=of, values=values):
                    found |= {(name, "=", _text(value)) for name in columns_of(of) for value in values}
        return frozenset(found)

    @cached_property
    def texts(self) -> frozenset[str | bool]:
        return frozenset(v for v in self._constants() if isinstance(v, str | bool))

    @cached_property
    def numbers(self) -> frozenset[float]:
        """Without the 1 that a growth subtracts."""
        subtracted = [
            id(node.right) for node in self.nodes if isinstance(node, Arithmetic) and node.right == Constant(value=1.0)
        ]
        found = {
            float(node.value)
            for node in self.nodes
            if isinstance(node, Constant)
            and isinstance(node.value, int | float)
            and not isinstance(node.value, bool)
            and id(node) not in subtracted
        }
        found |= {float(v) for v in self._listed() if isinstance(v, int | float) and not isinstance(v, bool)}
        found |= {node.percent for node in self.nodes if isinstance(node, Aggregate) and node.percent is not None}
        found |= {float(node.periods) for node in self.nodes if isinstance(node, Moving)}
        found |= {
            edge for node in self.nodes if isinstance(node, Bins) for edge in (*node.edges, node.width or 0.0) if edge
        }
        return frozenset(found)

    def _listed(self) -> Iterator[object]:
        return (value for node in self.nodes if isinstance(node, OneOf) for value in node.values)

    def _constants(self) -> Iterator[object]:
        yield from (node.value for node in self.nodes if isinstance(node, Constant))
        yield from self._listed()
        yield from (node.text for node in self.nodes if isinstance(node, Contains))

    @cached_property
    def operators(self) -> frozenset[str]:
        found = set()
        for node in self.nodes:
            if isinstance(node, Compare):
                both = not isinstance(node.right, Constant)
                found |= {node.operator, MIRRORED[node.operator]} if both else {node.operator}
        return frozenset(found)

    @cached_property
    def present(self) -> frozenset[str]:
        """The columns that must have a value."""
        held = [node.part.of for node in self.nodes if isinstance(node, Not) and isinstance(node.part, Missing)]
        return frozenset(name for of in held for name in columns_of(of))

    @cached_property
    def missing(self) -> frozenset[str]:
        """The columns that must have none."""
        found = [node.of for node in self.nodes if isinstance(node, Missing)]
        return frozenset(name for of in found for name in columns_of(of)) - self.present

    @cached_property
    def excluded(self) -> frozenset[str]:
        """The columns some of whose values are excluded."""
        found = [node.left for node in self.nodes if isinstance(node, Compare) and node.operator == "!="]
        found += [n.part.of for n in self.nodes if isinstance(n, Not) and isinstance(n.part, OneOf | Contains)]
        return frozenset(name for of in found for name in columns_of(of))

    @cached_property
    def divides(self) -> bool:
        ratios = any(isinstance(n, Arithmetic) and n.operator == "/" and level(n) == "group" for n in self.nodes)
        return ratios or self.any(Share) or any(isinstance(n, Change) and n.ratio for n in self.nodes)

    @cached_property
    def subtracts(self) -> bool:
        less = any(isinstance(n, Arithmetic) and n.operator == "-" and level(n) == "group" for n in self.nodes)
        return less or self.any(Change)

    @cached_property
    def units(self) -> frozenset[str]:
        cut = {node.grain for node in self.nodes if isinstance(node, DateCut) and node.grain}
        return frozenset(
            {
                *cut,
                *(n.part for n in self.nodes if isinstance(n, DatePart)),
                *(n.unit for n in self.nodes if isinstance(n, Elapsed)),
            }
        )

    @property
    def direction(self) -> str | None:
        return None if self.meaning.order is None else "top" if self.meaning.order[1] else "bottom"

    def any(self, *kinds: type) -> bool:
        return any(isinstance(node, kinds) for node in self.nodes)


def _unread(reading: Reading, said: _Said) -> Iterator[str]:
    """Unknown words that no quote has: of those that are known, the sense counts and not the quote."""
    quotes = [e for r in reading.requirements if not r.implied for e in (r.evidence, *r.also)]
    for place in said.unknown:
        word = said.words[place]
        if not any(covers(quote, word) for quote in quotes):
            yield f"{word.text!r} is quoted by no part"


def _lost(held: Held, said: _Said) -> Iterator[str]:
    """Known words none of whose senses is in the reading."""
    for place in said.content:
        items = [item for item in said.at(place) if item.category not in IGNORED]
        firm = [item for item in items if item.score >= FIRM * (item.length**0.9)] or items
        naming = [item for item in firm if isinstance(item.value, NAMING)]
        longest = max((item.length for item in naming), default=0)
        chosen = [item for item in naming if item.length == longest] if longest > 1 else naming or firm
        marks = [item for item in firm if isinstance(item.value, Mark | Unit | Span | PartOfDate)]
        if any(item.category in IGNORED and item.length > 1 for item in said.at(place)) or _is_in_name(
            place, held, said
        ):
            continue
        if chosen and not any(_is_in(item, held, said) for item in (*chosen, *marks)):
            yield f"{said.words[place].text!r} is not in the reading"


def _is_in_name(place: int, held: Held, said: _Said) -> bool:
    """A number in the name of a column, and the unit behind it: 7 days for `opened_7d`."""
    for number, unit in ((place, place + 1), (place - 1, place)):
        if number >= 0 and said.words[number].is_number:
            letter = said.words[unit].lower[:1] if unit < len(said.words) else ""
            wanted = said.words[number].text + (letter if place == unit else "")
            if any(wanted in name.lower() for name in held.columns):
                return True
    return False


def _is_in(item: Item, held: Held, said: _Said) -> bool:
    """Whether the reading has this sense of the words."""
    match item.value:
        case Thing(entity=entity):
            return entity.column is None or entity.column.name in held.columns
        case Cond(column=str() as column, values=values) if values:
            return any((c, v) == (column, _text(value)) for value in values for c, _, v in held.conditions)
        case Said(value=number, percent=percent):
            kept = {*held.numbers, *([float(held.meaning.limit)] if held.meaning.limit else [])}
            return number in kept or (percent and number / 100 in kept)
        case When(period=period):
            start, end = period.start.isoformat(), period.end.isoformat()
            compared = {(operator, value[:10]) for _, operator, value in held.conditions}
            parts = {float(period.start.year), float(period.start.month)} & held.numbers if held.any(DatePart) else ()
            return bool(parts) or (
                (">=", start) in compared and (("<", end) in compared or (end > _latest(said) and not _ends(compared)))
            )
        case Unit(grain=unit) | Span(unit=unit) | PartOfDate(part=unit):
            plain = {group.name for group in held.meaning.groups if isinstance(group, Column)}
            by_day = unit == "day" and any(said.meaning(name) == "date" for name in plain)
            return unit in held.units or by_day
        case Mark() as mark:
            return _is_marked(item.category, mark, held)
    if isinstance(item.value, Named) and isinstance(item.value.expression, Arithmetic):
        return normal_expression(item.value.expression) in held.nodes
    columns = {*_columns(item)}
    return bool(columns) and columns <= held.columns


def _ends(compared: Iterable[tuple[str, str]]) -> bool:
    return any(operator in ("<", "<=") for operator, _ in compared)


def _latest(said: _Said) -> str:
    """The last day that the data has: a period that ends later is open."""
    ends = [str(c.greatest)[:10] for one in said.senses for c in one.meanings.dates if c.greatest is not None]
    return max(ends, default="9999")


def _is_marked(category: str, mark: Mark, held: Held) -> bool:
    given, functions, value = held.meaning, held.functions, mark.value
    if category in RANKING:
        if category in ("sorted", "ranking_word"):
            return given.order is not None
        wanted = value.split()[0]
        extreme = {"top": "max", "bottom": "min"}.get(wanted)
        return held.direction == wanted or (given.order is None and extreme in functions)
    if category in NEGATING:
        return bool(held.missing or (held.excluded and category in ("negation", "left_out"))) or (
            category in ("nothing", "missing") and 0.0 in held.numbers
        )
    match category:
        case "function" if value == "sum":
            return bool(functions & {"sum", "rows", "count", "count_distinct"})
        case "function" if value in ("min", "max"):
            return value in functions or held.direction == {"max": "top", "min": "bottom"}[value]
        case "function" if value == "mean":
            return "mean" in functions or held.divides or held.any(Moving)
        case "function":
            return value in functions
        case "count" | "numbered" | "headcount" | "times":
            return bool(functions & {"rows", "count", "count_distinct", "sum"})
        case "much":
            return bool(functions & {"sum"})
        case "distinct":
            return "count_distinct" in functions or given.distinct
        case "percentile" | "percentile_of":
            return "percentile" in functions
        case "by" | "per" | "within" | "split":
            return bool(given.groups) or held.divides
        case "share_word" | "rate" | "in_percent" | "as_share":
            return held.divides
        case "change" | "over_prior" | "moved" | "difference":
            return held.subtracts
        case "versus" | "compared":
            return bool(given.groups) or held.subtracts or held.divides or len(given.measures) > 1
        case "running":
            return held.any(Running)
        case "moving":
            return held.any(Moving)
        case "compare" | "beyond" | "sign":
            return value in held.operators
        case "between":
            return bool(held.operators & {">=", ">"}) and bool(held.operators & {"<", "<="})
        case "present":
            return bool(held.present) or ">" in held.operators
        case "over_time":
            return held.any(DateCut, DatePart)
        case _:
            return False


def _unasked(held: Held, said: _Said) -> tuple[list[str], list[str]]:
    """What no word asks for; and the columns and values that only an unknown word could name."""
    faults, resting = [*_unasked_structure(held, said), *_unasked_functions(held, said)], list[str]()
    timed = said.has(TIMED) or any(isinstance(i.value, Cond) and i.value.weekday for i in said.items)
    for column in sorted(held.columns - said.named):
        if column in said.main_dates and timed:
            continue
        resting.append(column)
    for column, _, value in sorted(held.conditions):
        if _is_said(column, value, said):
            continue
        resting.append(value)
    faults += [
        f"no word of the question says {number:g}"
        for number in sorted(held.numbers - said.numbers)
        if number * 100 not in said.numbers and not _is_of_date(number, held, said)
    ]
    return faults, resting


def _is_said(column: str, value: str, said: _Said) -> bool:
    if (column, value) in said.values or value[:10] in said.dates:
        return True
    try:
        float(value)
    except ValueError:
        flag = value in ("true", "false") or said.meaning(column) == "flag"
        return flag and column in said.named
    return True  # numbers are compared with the words in one place


def _is_of_date(number: float, held: Held, said: _Said) -> bool:
    """A year, month or weekday of a date, beside a period that has it."""
    return held.any(DatePart) and any(number in (int(day[:4]), int(day[5:7])) for day in said.dates)


def _unasked_functions(held: Held, said: _Said) -> Iterator[str]:
    for node in held.nodes:
        if isinstance(node, Aggregate) and not _is_asked(node, held, said):
            yield f"no word of the question asks for the {node.function} of {', '.join(sorted(columns_of(node.of)))}"
        if isinstance(node, Arithmetic) and node.operator in ("/", "-") and not _is_even(node):
            yield "a ratio or a difference is of two numbers of the same kind"
    things = any(isinstance(item.value, Thing | Event) for item in said.items)
    if held.any(Rows) and not (things or said.has(COUNTING) or said.unknown):
        yield "no word of the question asks to count rows"
    for column in sorted({*_measured(held)}):
        if said.meaning(column) in ("identifier", "category", "name", "flag", "date"):
            yield f"{column} holds no amounts"


def _is_asked(node: Aggregate, held: Held, said: _Said) -> bool:
    """Whether words ask for the function, or it is the usual one of the column and they name none."""
    spoken = {item.value.value for item in said.of("function") if isinstance(item.value, Mark)}
    formulas = [item.value.expression for item in said.items if isinstance(item.value, Formula)]
    if node.function in spoken or any(
        node.function == n.function for f in formulas for n in walk(f) if isinstance(n, Aggregate)
    ):
        return True
    meanings = {said.meaning(name) for name in columns_of(node.of)}
    counts = any(isinstance(item.value, Thing) for item in said.items) or said.has(COUNTING)
    match node.function:
        case "sum":
            other = spoken & {"mean", "median", "min", "max", "std"} and not held.divides
            return not other and (
                bool(meanings & {"amount", "count"}) or said.has({"much"}) or isinstance(node.of, Elapsed)
            )
        case "mean":
            asked = spoken or said.has({"much", "count", "numbered"})
            return not asked and isinstance(node.of, Column | Elapsed) and meanings <= {"rate"}
        case "min" | "max":
            return said.has(RANKING) and (held.meaning.order is None or said.has({"adjective"}))
        case "count_distinct":
            return counts and not meanings & {"amount", "rate", "count"}
        case "count":
            return said.has(COUNTING) and meanings <= {"flag", "rate", "amount"}
        case "percentile":
            return said.has({"percentile", "percentile_of"})
    return False


def _is_even(node: Arithmetic) -> bool:
    """Of one column, the same function on both sides; an average is not divided by a total."""
    match node.left, node.right:
        case Aggregate(function=one, of=left), Aggregate(function=other, of=right):
            return one == other or (left != right and {one, other} <= {"sum", "count_distinct", "count"})
        case Rows(where=None), Rows() | Aggregate(function="count"):
            return False  # a share without a condition
        case (Aggregate(function=one), Rows()) | (Rows(), Aggregate(function=one)):
            return one in ("sum", "count", "count_distinct")
    return True


def _measured(held: Held) -> Iterator[str]:
    for node in held.nodes:
        if isinstance(node, Aggregate) and node.function in ("sum", "mean", "median", "std", "percentile"):
            yield from (column for column in columns_of(node.of) if not isinstance(node.of, Elapsed))


def _unasked_structure(held: Held, said: _Said) -> Iterator[str]:
    given = held.meaning
    if given.groups and not said.has(GROUPING | RANKING | CHANGING | {"distribution", "bracket", "ranges", "compare"}):
        yield "no word of the question asks for groups"
    grouped = {name for group in given.groups for name in columns_of(group)}
    fields = {name for item in said.items if not isinstance(item.value, Cond) for name in _columns(item)}
    for name in sorted(grouped & said.named - fields - said.main_dates):
        if not said.has({"versus", "compared", "difference", "comparative"}):
            yield f"{name} is named by a value, and no word of the question groups by it"
    if not given.within <= given.groups and given.groups:
        yield "a ranking within groups is of groups that the reading does not have"
    if held.any(Change, Running, Moving) and not given.groups:
        yield "a change or a running total needs periods to go along"
    for name in sorted(grouped & ({c for c, o, _ in held.conditions if o == "="} | _counted(held))):
        if not said.has({"versus", "compared", "difference", "or", "and"}) or name in _counted(held):
            yield f"no word of the question groups by {name}: it is what is chosen or counted"
    for column, operator, value in sorted(_compared(given.where)):
        if operator in ("<", "<=", ">", ">=") and not _is_date(value) and not _is_compared(operator, value, said):
            yield f"no word of the question says {operator} {value}"
        if column in _measured(held) and not _is_date(value) and said.mentions(column) < 2:
            yield f"{column} is named once, and the reading measures it and compares it"
    if given.order is not None and not said.has(RANKING | {"comparative"}):
        yield "no word of the question asks for an order"
    if given.limit is not None and given.limit not in said.numbers and (given.limit != 1 or not said.has(RANKING)):
        yield f"no word of the question says {given.limit}"
    if given.order is not None and given.limit is None and not said.has(ORDERING):
        yield "a few are asked for, and the reading keeps all"
    negations = {place for item in said.of(*NEGATING) for place in range(item.first, item.last)}
    if len(held.excluded | held.missing) > len(negations):
        yield "no word of the question says not, without or missing"
    present = {name for item in said.of("event") for name in _columns(item)}
    if held.present - present and not said.has({"present", "if_any"}):
        yield f"no word of the question asks that {', '.join(sorted(held.present - present))} is present"
    if held.divides and not said.has(DIVIDING) and not said.unknown:
        yield "no word of the question asks for a share or a ratio"
    if held.any(Change) and not said.has({"change", "over_prior", "moved"}):
        yield "no word of the question asks for a change"
    if held.any(Running) and not said.has({"running"}):
        yield "no word of the question asks for a running total"
    if held.any(Moving) and not said.has({"moving"}):
        yield "no word of the question asks for a moving average"
    for unit in sorted(held.units):
        named = {
            getattr(i.value, "grain", None) or getattr(i.value, "unit", None) or getattr(i.value, "part", None)
            for i in said.of("unit", "grain", "span", "date_part", "in_unit")
        }
        marked = {item.value.value for item in said.of("in_unit", "over_prior") if isinstance(item.value, Mark)}
        weekday = unit == "weekday" and any(isinstance(i.value, Cond) and i.value.weekday for i in said.items)
        lasting = unit == "day" and held.any(Elapsed)
        if unit not in named | marked and not weekday and not lasting and not (said.dates and held.any(DatePart)):
            yield f"no word of the question says {unit}"


def _compared(condition: Node | None) -> frozenset[tuple[str, str, str]]:
    return Held(Meaning(table=None, where=condition)).conditions if condition is not None else frozenset()  # type: ignore[arg-type]


def _counted(held: Held) -> set[str]:
    counted = [n.of for n in held.nodes if isinstance(n, Aggregate) and n.function == "count_distinct"]
    return {name for of in counted for name in columns_of(of)}


def _is_date(value: str) -> bool:
    return DAY.match(value) is not None


def _is_compared(operator: str, value: str, said: _Said) -> bool:
    """By words such as above; more than none needs none."""
    words = {item.value.value for item in said.of("compare", "beyond", "sign") if isinstance(item.value, Mark)}
    spans = said.has({"between", "ranges"}) or (operator == ">=" and said.has({"at_least"}))
    return operator in words or spans or (operator, value) == (">", "0")


def _columns(item: Item) -> Iterator[str]:
    match item.value:
        case Named(expression=expression) | Formula(expression=expression):
            yield from (node.name for node in walk(expression) if isinstance(node, Column))
        case Thing(entity=entity, date=date):
            yield from (name for name in (entity.column.name if entity.column else None, date) if name)
        case Cond(condition=condition):
            yield from (node.name for node in walk(condition) if isinstance(node, Column))
        case Event(column=column):
            yield column.name


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, int | float) else str(value)
