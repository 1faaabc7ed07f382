"""What the words of a question and a reading of it cannot both mean. Ordinary words are never contradictions.

A certain contradiction is a veto: the reading goes back to the model that proposed it. The others only say where a
reading deserves a second look.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from groundplan.asking.tables.grammar.meanings import meanings_of
from groundplan.asking.tables.model.cues import (
    COMPARED,
    HIGH,
    HOW_MANY,
    LOW,
    MEAN,
    MEDIAN,
    NUMBER,
    NUMBER_WORDS,
    OTHER_AVERAGE,
    QUOTED,
    RANKED,
    SINGULAR,
    TIME_WORDS,
    TIMES,
    TOP_N,
    TOTAL,
    UNCLEAR_END,
)
from groundplan.asking.tables.model.values import nearest
from groundplan.asking.tables.values import Values
from groundplan.contracts.contract import Contract
from groundplan.contracts.expression import (
    Aggregate,
    Among,
    Arithmetic,
    Bins,
    Cases,
    Column,
    Compare,
    Constant,
    Contains,
    Correlation,
    Found,
    FoundGroup,
    Moving,
    Node,
    Not,
    OneOf,
    Related,
    Rows,
    parts,
)
from groundplan.contracts.meaning import measure_of
from groundplan.contracts.normal_form import looked_in, of_filter
from groundplan.contracts.reading import Filter, Metric, Rank, Reading, Requirement
from groundplan.contracts.schema import SourceSchema
from groundplan.text.periods.find import find_periods
from groundplan.text.stems import lower
from groundplan.text.words import normalise

READ_WHOLE = 300  # distinct values up to which a source reads a column whole
AVERAGING = frozenset({"mean", "median", "percentile", "std"})
OPPOSITE = {">": "<", ">=": "<", "<": ">", "<=": ">"}


@dataclass(frozen=True)
class Contradiction:
    """Something the question says against something the reading says; `problem` is worded to be sent back."""

    code: str
    problem: str
    certain: bool = True


@dataclass(frozen=True)
class _Case:
    """A question and its reading, with what several checks need of them."""

    reading: Reading
    question: str
    schema: SourceSchema
    values: Mapping[str, Values]
    today: date
    timezone: str

    @cached_property
    def text(self) -> str:
        return lower(normalise(self.question))

    @cached_property
    def numbers(self) -> frozenset[float]:
        """The numbers of the question, in digits and in words."""
        found = {float(NUMBER_WORDS[word]) for word in re.findall(r"[^\W\d_]+", self.text) if word in NUMBER_WORDS}
        for digits, times in re.findall(rf"({NUMBER})\s?([^\W\d_]*)", self.text):
            number = _number(digits)
            found |= {number, number * TIMES.get(times, 1)} if number is not None else set()
        return frozenset(found)

    @cached_property
    def nodes(self) -> tuple[tuple[str | None, Node], ...]:
        """Every expression and condition of the reading with the table of its columns."""
        return tuple(
            pair
            for ask in self.reading.asks
            for r in ask.requirements
            for pair in _walk(_as_node(r.value), ask.tables[0] if ask.tables else None)
        )

    @cached_property
    def requirements(self) -> tuple[Requirement, ...]:
        """Of everything that is asked for."""
        return tuple(requirement for ask in self.reading.asks for requirement in ask.requirements)

    @cached_property
    def ranks(self) -> tuple[Rank, ...]:
        return tuple(r.value for r in self.requirements if isinstance(r.value, Rank))

    @cached_property
    def functions(self) -> frozenset[str]:
        """The functions that it takes anywhere; a ratio is `ratio`, a moving average `moving`."""
        return frozenset(filter(None, (_function(node) for _, node in self.nodes)))

    @cached_property
    def measured(self) -> frozenset[str]:
        """The functions of what it measures, not of what it only orders or selects by."""
        metrics = [measure_of(r.value) for r in self.requirements if isinstance(r.value, Metric)]
        return frozenset(filter(None, (_function(node) for one in metrics for _, node in _walk(one, None))))


def contradictions(
    reading: Reading,
    question: str,
    schema: SourceSchema,
    values: Mapping[str, Values],
    *,
    today: date,
    timezone: str = "UTC",
) -> tuple[Contradiction, ...]:
    """All contradictions between the question and the reading, those that are certain first."""
    case = _Case(reading, question, schema, values, today, timezone)
    found = [one for rule in RULES for one in rule(case)]
    return tuple(sorted(dict.fromkeys(found), key=lambda one: not one.certain))


def other_limit(case: _Case) -> Iterator[Contradiction]:
    """`top 5` keeps five."""
    said = {int(found["a"] or found["b"]) for found in TOP_N.finditer(case.text)}
    kept = {rank.limit for rank in case.ranks if rank.limit} | {
        n.limit for _, n in case.nodes if isinstance(n, Among | FoundGroup) and n.limit
    }
    if len(said) == 1 and not said & kept:
        wanted, have = said.pop(), ", ".join(map(str, sorted(kept))) or "no limit"
        yield Contradiction("limit/other", f"the question asks for {wanted}, and the reading has {have}")


def unsaid_limit(case: _Case) -> Iterator[Contradiction]:
    """No cut where the question names neither a number nor an end of an order."""
    for limit in {rank.limit for rank in case.ranks if rank.limit}:
        single = limit == 1 and SINGULAR.search(case.text)
        if float(limit) not in case.numbers and not RANKED.search(case.text) and not single:
            yield Contradiction("limit/unsaid", f"LIMIT {limit}: the question does not say how many to show")


def other_direction(case: _Case) -> Iterator[Contradiction]:
    """`highest` keeps the top, `lowest` the bottom."""
    cuts = {rank.direction for rank in case.ranks if rank.limit}
    if len(cuts) != 1 or UNCLEAR_END.search(case.text):
        return
    high, low = HIGH.search(case.text), LOW.search(case.text)
    said = None if bool(high) == bool(low) else "top" if high else "bottom"
    if said and said not in cuts:
        word = (high or low or [""])[0]
        yield Contradiction("direction/reversed", f"{word!r} asks for the other end of the order: sort the other way")
    top = TOP_N.search(case.text)
    if said is None and not low and top and top["a"] and cuts == {"bottom"}:  # the top by a time may be the shortest
        problem = f"{top[0]!r} usually asks for the highest, and the reading keeps the lowest"
        yield Contradiction("direction/unusual", problem, certain=False)


def other_comparison(case: _Case) -> Iterator[Contradiction]:
    """`more than 100` is no `< 100`."""
    compared = {(number, sign) for _, node in case.nodes for number, sign in _comparisons(node)}
    for found in COMPARED.finditer(case.text):
        number = _number(found["number"])
        if found["not"] or number is None:
            continue
        signs = {sign for value, sign in compared if value in (number, number / 100)}
        wanted = ">" if found["over"] else "<"
        if signs and all(sign[0] != wanted for sign in signs):
            yield Contradiction(
                "comparison/reversed", f"{found[0]!r} is turned round: the reading has {sorted(signs)[0]}"
            )


def unsaid_dates(case: _Case) -> Iterator[Contradiction]:
    """No period where no word speaks of time; up to today is none."""
    if TIME_WORDS.search(case.text) or find_periods(case.question, case.today, case.timezone):
        return
    for table, node in case.nodes:
        if isinstance(node, Compare) and isinstance(node.left, Column) and _is_other_day(node.right, case.today):
            held = case.schema.find(node.left.table or table or "")
            column = held.find(node.left.name) if held else None
            if column is not None and column.kind == "time":
                problem = f"the question speaks of no time, and the reading keeps only some dates of {column.name!r}"
                yield Contradiction("time/unsaid", problem)
                return


def other_function(case: _Case) -> Iterator[Contradiction]:
    """`average` is an average, `median` a median; `how many` and `total` are neither."""
    text, functions = case.text, case.functions
    if MEDIAN.search(text) and not functions & {"median", "percentile"}:
        yield Contradiction("function/median", "the question asks for a median, and the reading has none")
    averaged = functions & {"mean", "ratio", "moving", "median"}
    if MEAN.search(text) and not averaged and functions & {"sum", "min", "max", "count", "count_distinct"}:
        yield Contradiction("function/mean", "the question asks for an average, and the reading has none")
    plain = not any(cue.search(text) for cue in (MEAN, MEDIAN, OTHER_AVERAGE))
    only_averages = case.measured and case.measured <= AVERAGING
    if plain and only_averages and HOW_MANY.search(text):
        yield Contradiction("function/count", "the question asks how many, and the reading has an average")
    if plain and only_averages and TOTAL.search(text):
        yield Contradiction("function/total", "the question asks for a total, and the reading has an average")


def unknown_value(case: _Case) -> Iterator[Contradiction]:
    """A condition names values that the column holds."""
    for table, node in case.nodes:
        match node:
            case OneOf(of=Column() as column, values=given):
                wanted = [value for value in given if isinstance(value, str)]
            case Compare(left=Column() as column, operator="=" | "!=", right=Constant(value=str() as value)):
                wanted = [value]
            case _:
                continue
        held = _held(case, column.table or table, column.name)
        known = {lower(value).strip() for value in held}
        wanted = [value for value in wanted if value.strip()]  # `<> ''` is said to leave out what is empty
        if wanted and held and not any(lower(value).strip() in known for value in wanted):
            near = ", ".join(repr(one) for one in nearest(wanted[0], held))
            problem = f"{column.name!r} does not hold {wanted[0]!r}; the nearest values are {near}"
            yield Contradiction("value/unknown", problem)


def measured_identifier(case: _Case) -> Iterator[Contradiction]:
    """Identifiers are counted, never added up."""
    for table, node in case.nodes:
        if not isinstance(node, Aggregate) or node.function not in ("sum", "mean", "median", "std"):
            continue
        if not isinstance(node.of, Column):
            continue
        held = case.schema.find(node.of.table or table or "")
        column = held.find(node.of.name) if held else None
        if held and column and meanings_of(held, case.values.get(held.name, {})).of[column.name] == "identifier":
            yield Contradiction("identifier/measured", f"{column.name!r} is an identifier: it has no {node.function}")


def lost_number(case: _Case) -> Iterator[Contradiction]:
    """A number of the question stands somewhere in the reading. Not certain: `30-day` may be part of a name."""
    said = {
        float(n)
        for digits in re.findall(rf"(?<![\w.]){NUMBER}(?![\w%])", case.text)
        if (n := _number(digits)) is not None
    }
    held = {float(n) for _, node in case.nodes for n in _constants(node)}
    held |= {float(rank.limit) for rank in case.ranks if rank.limit}
    for number in sorted(said - held):
        if not 1900 <= number <= 2100 and not find_periods(case.question, case.today, case.timezone):
            yield Contradiction("number/lost", f"{number:g} of the question is not in the reading", certain=False)


def lost_quote(case: _Case) -> Iterator[Contradiction]:
    """A quoted text stands somewhere in the reading. Not certain: a name may be written otherwise in the data."""
    held = " ".join(str(value).lower() for _, node in case.nodes for value in _texts(node))
    for quote in QUOTED.findall(case.question):
        if lower(quote).strip() not in lower(held):
            yield Contradiction("quote/lost", f"{quote!r} of the question is not in the reading", certain=False)


RULES = (
    other_limit,
    unsaid_limit,
    other_direction,
    other_comparison,
    unsaid_dates,
    other_function,
    unknown_value,
    measured_identifier,
    lost_number,
    lost_quote,
)


def _as_node(value: Contract) -> Contract:
    """A filter and a metric in their long form."""
    if isinstance(value, Filter):
        return of_filter(value.model_copy(update={"table": None}))
    return measure_of(value) if isinstance(value, Metric) else value


def _walk(node: Contract, table: str | None) -> Iterator[tuple[str | None, Node]]:
    yield table, node  # type: ignore[misc]
    if isinstance(node, Found | FoundGroup):
        yield from _walk(node.of, table)
        node, table = looked_in(node), node.table
    inner = node.table if isinstance(node, Related) else table
    for part in parts(node):
        yield from _walk(part, inner)


def _function(node: Node) -> str | None:
    match node:
        case Aggregate(function=function):
            return function
        case Rows():
            return "count"
        case Arithmetic(operator="/"):
            return "ratio"
        case Moving():
            return "moving"
        case Correlation():
            return "correlation"
        case _:
            return None


def _comparisons(node: Node) -> Iterator[tuple[float, str]]:
    """Each comparison with a number, as its number and its sign."""
    match node:
        case Not(part=Compare(operator=sign, right=Constant(value=int() | float() as number))):
            yield float(number), OPPOSITE.get(sign, sign)
        case Compare(operator=sign, right=Constant(value=int() | float() as number)) if sign in OPPOSITE:
            yield float(number), sign
        case Compare(operator=sign, left=Constant(value=int() | float() as number)) if sign in OPPOSITE:
            yield float(number), OPPOSITE[sign]
        case Cases() | Bins():
            yield from ((float(edge), sign) for edge in getattr(node, "edges", ()) for sign in (">", "<"))


def _constants(node: Node) -> Iterator[float]:
    match node:
        case Constant(value=int() | float() as number) if not isinstance(number, bool):
            yield number
        case OneOf(values=values):
            yield from (value for value in values if isinstance(value, int | float))
        case Aggregate(percent=percent) if percent is not None:
            yield percent
        case Moving(periods=periods):
            yield periods
        case Bins(edges=edges, width=width):
            yield from (*edges, *([width] if width else []))
        case Among(limit=int() as limit) | FoundGroup(limit=int() as limit):
            yield limit


def _texts(node: Node) -> Iterator[object]:
    match node:
        case Constant(value=str() as text):
            yield text
        case OneOf(values=values):
            yield from values
        case Contains(text=text):
            yield text


def _held(case: _Case, table: str | None, column: str) -> tuple[str, ...]:
    """All values of a text column; empty if not all are known."""
    held = case.schema.find(table or "")
    known = held.find(column) if held else None
    whole = known is not None and known.kind == "text" and 0 < (known.cardinality or READ_WHOLE + 1) <= READ_WHOLE
    whole = whole and known is not None and not known.sampled
    return case.values.get(table or "", {}).get(column, ()) if whole else ()


def _is_other_day(node: Node, today: date) -> bool:
    """A date that is neither today nor a day beside it: those only say that something holds now."""
    if not isinstance(node, Constant) or not isinstance(node.value, str):
        return False
    try:
        return abs((date.fromisoformat(node.value[:10]) - today).days) > 1
    except ValueError:
        return False


def _number(digits: str) -> float | None:
    """`1,200` and `1 200` are whole; None if the digits can be read in two ways."""
    plain = re.sub(r",(?=\d{3}\b)", "", digits)
    try:
        return float(plain.replace(",", "."))
    except ValueError:
        return None
