"""Which words of the question a part of a reading rests on, where the reading itself cites none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date

from groundplan.asking.tables.model.cues import HIGH, LOW, MEAN, MEDIAN, NUMBER_WORDS, RANKED, TIME_WORDS
from groundplan.contracts.contract import Contract
from groundplan.contracts.expression import (
    Aggregate,
    Column,
    Compare,
    Constant,
    Contains,
    DateCut,
    DatePart,
    Elapsed,
    Moving,
    OneOf,
    Related,
    Rounded,
    Rows,
    walk,
)
from groundplan.contracts.meaning import measure_of
from groundplan.contracts.normal_form import of_filter
from groundplan.contracts.reading import ColumnsAsked, Each, Evidence, Filter, GroupBy, Metric, Rank, Requirement
from groundplan.text.names import is_short_for, split_name
from groundplan.text.stems import stem
from groundplan.text.words import Word, words_of

COUNTED = frozenset(map(stem, ["many", "count", "number", "сколько", "количество", "число"]))
SUMMED = frozenset(map(stem, ["total", "sum", "much", "сумма", "всего", "итого", "общий"]))
GREATEST = frozenset(map(stem, ["maximum", "max", "highest", "largest", "latest", "last", "максимальный"]))
LEAST = frozenset(map(stem, ["minimum", "min", "lowest", "smallest", "first", "earliest", "минимальный"]))
SHARED = frozenset(map(stem, ["share", "percent", "percentage", "rate", "ratio", "per", "доля", "процент"]))
LONGEST = 500  # characters of a quote


def with_evidence(asked: Sequence[Requirement], question: str) -> tuple[Requirement, ...]:
    """Each requirement with the words that name its column, value, number or function; without any: the model's own."""
    words = words_of(question)
    return tuple(_cited(requirement, words, question) for requirement in asked)


def _cited(requirement: Requirement, words: Sequence[Word], question: str) -> Requirement:
    found = [*_spans([place for place, word in enumerate(words) if _names(word, requirement.value)])]
    if not found:
        return requirement.model_copy(update={"evidence": Evidence(text=question[:LONGEST]), "by_model": True})
    quotes = [(words[first].start, words[last].end) for first, last in found]
    evidence = [Evidence(text=question[start:end][:LONGEST], start=start) for start, end in quotes]
    return requirement.model_copy(update={"evidence": evidence[0], "also": tuple(evidence[1:])})


def _spans(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Places that follow each other, as first and last."""
    first = last = None
    for place in places:
        if last is not None and place == last + 1:
            last = place
            continue
        if first is not None and last is not None:
            yield first, last
        first = last = place
    if first is not None and last is not None:
        yield first, last


def _names(word: Word, value: Contract) -> bool:
    """True if the word is of a name, a value, a number, a function or a time that the value holds."""
    return any(_names_part(word, part) for part in _parts(value))


def _parts(value: Contract) -> Iterator[Contract | str]:
    match value:
        case Metric(name=name):
            yield from walk(measure_of(value))
            yield from [name] if name and value.expression is None else []
        case Filter():
            yield from walk(of_filter(value.model_copy(update={"table": None})))
        case GroupBy(column=column, expression=expression):
            yield from walk(expression) if expression is not None else [column]
        case ColumnsAsked(columns=columns):
            yield from columns
            yield from walk(value)
        case Each(keys=keys):
            yield from keys
            yield from walk(value)
        case Rank():
            yield from walk(value)
        case _:
            return


def _names_part(word: Word, part: Contract | str) -> bool:
    match part:
        case str() as name:
            return _is_of(word, name)
        case Column(name=name):
            return _is_of(word, name)
        case Related(table=table):
            return _is_of(word, table)
        case Constant(value=value):
            return _is_value(word, value)
        case OneOf(values=values):
            return any(_is_value(word, value) for value in values)
        case Contains(text=text):
            return _is_value(word, text)
        case Rows():
            return word.stem in COUNTED
        case Aggregate(function=function):
            return _is_function(word, function)
        case DateCut() | DatePart() | Elapsed() | Moving():
            return bool(TIME_WORDS.fullmatch(word.lower))
        case Rounded():
            return word.lower.startswith(("round", "округл"))
        case Rank(limit=limit):
            return bool(HIGH.search(word.lower) or LOW.search(word.lower) or RANKED.search(word.lower)) or (
                limit is not None and _is_number(word, limit)
            )
        case Compare(right=Constant(value=str() as text)) if _is_day(text):
            return bool(TIME_WORDS.fullmatch(word.lower))
        case _:
            return False


def _is_of(word: Word, name: str) -> bool:
    return any(word.stem == stem(part) or is_short_for(word.lower, part) for part in split_name(name))


def _is_value(word: Word, value: object) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return _is_number(word, value)
    return isinstance(value, str) and not _is_day(value) and word.stem in {one.stem for one in words_of(value)}


def _is_number(word: Word, number: float) -> bool:
    if word.lower in NUMBER_WORDS:
        return NUMBER_WORDS[word.lower] == number
    digits = re.sub(r",(?=\d{3}\b)", "", word.text).replace(",", ".")
    return word.is_number and digits.count(".") <= 1 and float(digits) in (number, number * 100, number / 1000)


def _is_function(word: Word, function: str) -> bool:
    match function:
        case "mean":
            return bool(MEAN.fullmatch(word.lower))
        case "median" | "percentile":
            return bool(MEDIAN.fullmatch(word.lower))
        case "count" | "count_distinct":
            return word.stem in COUNTED
        case "max":
            return word.stem in GREATEST
        case "min":
            return word.stem in LEAST
        case _:
            return word.stem in SUMMED | SHARED


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return True
