"""Expressions and conditions in words: why a plan was refused, and which rows an answer is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import assert_never

from groundplan.contracts.contract import Language, Scalar
from groundplan.contracts.expression import (
    Aggregate,
    All,
    Among,
    AnyOf,
    Arithmetic,
    Bins,
    Cases,
    Change,
    Column,
    Compare,
    Condition,
    Constant,
    Contains,
    Correlation,
    DateCut,
    DatePart,
    Elapsed,
    Expression,
    Holds,
    Missing,
    Moving,
    Named,
    Node,
    Not,
    OneOf,
    Rows,
    Running,
    Share,
)

WORDS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "nothing": "no condition",
        "where": "{} where {}",
        "and": " and ",
        "or": " or ",
        "not": "not ({})",
        "rows": "number of rows",
        "sum": "total {}",
        "mean": "average {}",
        "median": "median {}",
        "min": "lowest {}",
        "max": "highest {}",
        "count": "number of values of {}",
        "count_distinct": "number of different {}",
        "std": "standard deviation of {}",
        "percentile": "{1}th percentile of {0}",
        "correlation": "correlation of {} with {}",
        "share": "share of {}",
        "within": "{} within {}",
        "previous": "change of {} from the period before",
        "year": "change of {} from a year before",
        "relative": "relative {}",
        "running": "running total of {}",
        "moving": "average of {} over {} periods",
        "elapsed": "{}s from {} to {}",
        "date_part": "{} of {}",
        "date_cut": "{} by {}",
        "any_grain": "period",
        "width": "{} in ranges of {}",
        "edges": "{} in ranges at {}",
        "case": "{} where {}",
        "else": "else {}",
        "holds": "whether {}",
        "=": "{} is {}",
        "!=": "{} is not {}",
        "<": "{} is below {}",
        "<=": "{} is at most {}",
        ">": "{} is above {}",
        ">=": "{} is at least {}",
        "between": "{} is from {} up to, not including, {}",
        "in": "{} is one of {}",
        "not in": "{} is none of {}",
        "contains": "{} contains {}",
        "not contains": "{} does not contain {}",
        "missing": "{} is missing",
        "present": "{} is present",
        "top": "{} is among the {} highest",
        "bottom": "{} is among the {} lowest",
    },
    "ru": {
        "nothing": "без условий",
        "where": "{}, где {}",
        "and": " и ",
        "or": " или ",
        "not": "не ({})",
        "rows": "число строк",
        "sum": "сумма {}",
        "mean": "среднее {}",
        "median": "медиана {}",
        "min": "минимум {}",
        "max": "максимум {}",
        "count": "число значений {}",
        "count_distinct": "число разных {}",
        "std": "стандартное отклонение {}",
        "percentile": "{1}-й процентиль {0}",
        "correlation": "корреляция {} и {}",
        "share": "доля {}",
        "within": "{} внутри {}",
        "previous": "изменение {} к предыдущему периоду",
        "year": "изменение {} к прошлому году",
        "relative": "относительное {}",
        "running": "{} нарастающим итогом",
        "moving": "среднее {} за {} периодов",
        "elapsed": "{} от {} до {}",
        "date_part": "{}, {}",
        "date_cut": "{}, {}",
        "any_grain": "период",
        "width": "{} по {}",
        "edges": "{} с границами {}",
        "case": "{}, если {}",
        "else": "иначе {}",
        "holds": "верно ли, что {}",
        "=": "{} = {}",
        "!=": "{} ≠ {}",
        "<": "{} < {}",
        "<=": "{} ≤ {}",
        ">": "{} > {}",
        ">=": "{} ≥ {}",
        "between": "{} от {} до {}, не включая",
        "in": "{} — одно из: {}",
        "not in": "{} — ни одно из: {}",
        "contains": "{} содержит {}",
        "not contains": "{} не содержит {}",
        "missing": "{} не указано",
        "present": "{} указано",
        "top": "{} среди наибольших ({})",
        "bottom": "{} среди наименьших ({})",
    },
}
UNITS: Mapping[Language, Mapping[str, str]] = {
    "en": {},
    "ru": {
        "minute": "минуты",
        "hour": "часы",
        "day": "дни",
        "week": "недели",
        "month": "месяцы",
        "quarter": "кварталы",
        "year": "годы",
        "weekday": "дни недели",
    },
}


def _given(value: Scalar) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Wording:
    """How names, values and periods are written."""

    language: Language = "en"
    name: Callable[[str], str] = str
    value: Callable[[Scalar], str] = _given
    period: Callable[[str, Scalar, Scalar], str | None] = lambda *_: None  # a half-open range of days in words

    def said(self, key: str, *parts: object) -> str:
        return WORDS[self.language][key].format(*parts)

    def unit(self, name: str) -> str:
        return UNITS[self.language].get(name, name)


PLAIN = Wording()


def in_words(node: Node | None, wording: Wording = PLAIN) -> str:
    def words(part: Node) -> str:
        return in_words(part, wording)

    def listed(parts: Sequence[Scalar]) -> str:
        return ", ".join(map(wording.value, parts))

    said = wording.said
    match node:
        case None:
            return said("nothing")
        case Column(name=name) | Named(name=name):
            return wording.name(name)
        case Constant(value=value):
            return wording.value(value)
        case Arithmetic(operator=operator, left=left, right=right):
            return f"({words(left)} {'×' if operator == '*' else operator} {words(right)})"
        case Elapsed(start=start, end=end, unit=unit):
            return said("elapsed", wording.unit(unit), words(start), words(end))
        case DatePart(of=of, part=part):
            return said("date_part", wording.unit(part), words(of))
        case DateCut(of=of, grain=grain):
            return said("date_cut", words(of), wording.unit(grain) if grain else said("any_grain"))
        case Bins(of=of, width=float() as width):
            return said("width", words(of), wording.value(width))
        case Bins(of=of, edges=edges):
            return said("edges", words(of), listed(edges))
        case Cases(conditions=conditions, values=values, otherwise=otherwise):
            pairs = zip(values, conditions, strict=True)
            named = [said("case", wording.value(value), words(condition)) for value, condition in pairs]
            return ", ".join([*named, *([said("else", wording.value(otherwise))] if otherwise is not None else [])])
        case Holds(condition=condition):
            return said("holds", words(condition))
        case Rows(where=where):
            return _where(said("rows"), where, wording)
        case Aggregate(function=function, of=of, where=where, percent=percent):
            return _where(said(function, words(of), _given(percent)), where, wording)
        case Correlation(left=left, right=right, where=where):
            return _where(said("correlation", words(left), words(right)), where, wording)
        case Share(of=of, within=within):
            share = said("share", words(of))
            return said("within", share, ", ".join(map(words, within))) if within else share
        case Change(of=of, against=against, ratio=ratio):
            change = said(against, words(of))
            return said("relative", change) if ratio else change
        case Running(of=of):
            return said("running", words(of))
        case Moving(of=of, periods=periods):
            return said("moving", words(of), periods)
        case All() | AnyOf() | Not() | Compare() | OneOf() | Contains() | Among() | Missing():
            return _condition(node, wording)
    assert_never(node)


def _condition(node: Condition, wording: Wording) -> str:
    said = wording.said
    match node:
        case All(parts=parts):
            return said("and").join(
                f"({one})" if isinstance(part, AnyOf) else one for part, one in _all(parts, wording)
            )
        case AnyOf(parts=parts):
            return said("or").join(_alternative(part, wording) for part in parts)
        case Not(part=Missing(of=of)):
            return said("present", in_words(of, wording))
        case Not(part=OneOf(of=of, values=values)):
            return said("not in", in_words(of, wording), ", ".join(map(wording.value, values)))
        case Not(part=Contains(of=of, text=text)):
            return said("not contains", in_words(of, wording), wording.value(text))
        case Not(part=part):
            return said("not", in_words(part, wording))
        case Compare(left=left, operator=operator, right=right):
            return said(operator, _side(left, wording), _side(right, wording))
        case OneOf(of=of, values=values):
            return said("in", in_words(of, wording), ", ".join(map(wording.value, values)))
        case Contains(of=of, text=text):
            return said("contains", in_words(of, wording), wording.value(text))
        case Among(of=of, limit=limit, direction=direction):
            return said(direction, in_words(of, wording), limit)
        case Missing(of=of):
            return said("missing", in_words(of, wording))
    assert_never(node)


def _alternative(part: Condition, wording: Wording) -> str:
    several = isinstance(part, All) and len([*_all(part.parts, wording)]) > 1
    return f"({in_words(part, wording)})" if several else in_words(part, wording)


def _side(node: Expression, wording: Wording) -> str:
    """One side of a comparison, which needs no brackets around it."""
    words = in_words(node, wording)
    return words[1:-1] if isinstance(node, Arithmetic) else words


def _all(parts: Sequence[Condition], wording: Wording) -> Iterator[tuple[Condition, str]]:
    """Each part in words; a lower and an upper bound of the same value are one range."""
    ranges = {place: told for place, pair in enumerate(pairwise(parts)) if (told := _range(*pair, wording))}
    for place, part in enumerate(parts):
        if place - 1 not in ranges:
            yield part, ranges.get(place) or in_words(part, wording)


def _range(first: Condition, second: Condition, wording: Wording) -> str | None:
    match first, second:
        case (
            Compare(left=low, operator=">=", right=Constant(value=start)),
            Compare(left=high, operator="<", right=Constant(value=end)),
        ) if low == high:
            words = in_words(low, wording)
            return wording.period(words, start, end) or wording.said(
                "between", words, wording.value(start), wording.value(end)
            )
    return None


def _where(measure: str, condition: Condition | None, wording: Wording) -> str:
    return measure if condition is None else wording.said("where", measure, in_words(condition, wording))
