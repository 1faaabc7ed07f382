"""Expressions and conditions in words: why a plan was refused, and which rows an answer is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from groundplan.contracts.contract import Language, Scalar
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
    Node,
    Not,
    OneOf,
    Overall,
    Related,
    Rounded,
    Rows,
    RowValue,
    Running,
    Share,
    in_percent,
    is_growth,
    level,
    quotient,
    walk,
)
from groundplan.contracts.normal_form import MIRRORED

WORDS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "nothing": "no condition",
        "where": "{} (where {})",
        "and": " and ",
        "or": " or ",
        "not": "not ({})",
        "rows": "number of {}",
        "things": "rows",
        "of_table": "{} of {}",
        "by_path": "{} by {}",
        "overall": "overall {}",
        "alike": "{} of all with the same {}",
        "found": "is among {} of {}",
        "not found": "is not among {} of {}",
        "found_group": "is among {}",
        "not found_group": "is not among {}",
        "keys": "{} of {}",
        "grouped": "{} grouped by {}",
        "having": "{} for which {}",
        "first": "the first {} by {}",
        "several": "{} {}",
        "kept": "{}, ties kept",
        "as_one": "{}, ties kept and counted once",
        "highest": "{} (highest first)",
        "lowest": "{} (lowest first)",
        "sum": "total {}",
        "mean": "average {}",
        "median": "median {}",
        "min": "lowest {}",
        "max": "highest {}",
        "count": "number of values of {}",
        "count_distinct": "number of different {}",
        "std": "standard deviation of {}",
        "defined": "{}",
        "percentile": "{1} percentile of {0}",
        "correlation": "correlation of {} with {}",
        "share": "{} as a share of the whole",
        "within": "{} as a share of its {}",
        "part": "share of {}",
        "growth": "percent change from {} to {}",
        "growth_of": "percent change of {} from rows where {} to rows where {}",
        "previous": "change of {} from the {} before",
        "year": "change of {} from a year before",
        "relative": "percent {}",
        "running": "running total of {}",
        "moving": "moving average of {} over {} {}s",
        "elapsed": "{}s from {} to {}",
        "date_part": "{} of {}",
        "in_year": "is in {}",
        "date_cut": "{1} ({0})",
        "any_grain": "{} in suitable periods",
        "width": "{} in steps of {}",
        "edges": "{} in ranges split at {}",
        "cases": "these groups: {}",
        "case": "{} (where {})",
        "else": "otherwise {}",
        "holds": "whether {}",
        "filled": "{} ({} if missing)",
        "nearest": "{} (rounded to {})",
        "down": "{} (rounded down to {})",
        "up": "{} (rounded up to {})",
        "toward_zero": "{} (cut to {})",
        "decimals": "{} decimals",
        "one decimal": "1 decimal",
        "whole number": "a whole number",
        "multiple": "a multiple of {}",
        "absolute": "absolute value of {}",
        "length": "number of characters of {}",
        "-": "{} minus {}",
        "/": "{} divided by {}",
        "percent": "{}, in percent",
        "=": "is {}",
        "!=": "is not {}",
        "<": "is below {}",
        "<=": "is at most {}",
        ">": "is above {}",
        ">=": "is at least {}",
        "before": "is before {}",
        "not after": "is on or before {}",
        "after": "is after {}",
        "not before": "is on or after {}",
        "not in": "is none of {}",
        "anywhere": "contains {}",
        "start": "begins with {}",
        "end": "ends with {}",
        "whole": "is {} in upper or lower case",
        "not anywhere": "does not contain {}",
        "not start": "does not begin with {}",
        "not end": "does not end with {}",
        "not whole": "is not {} in upper or lower case",
        "cased": "{} (case as written)",
        "missing": "is missing",
        "present": "is present",
        "top": "is among the {} highest",
        "bottom": "is among the {} lowest",
    },
    "ru": {
        "nothing": "без условий",
        "where": "{} (где {})",
        "and": " и ",
        "or": " или ",
        "not": "не ({})",
        "rows": "число {}",
        "things": "строк",
        "of_table": "{} ({})",
        "by_path": "{}, {}",
        "overall": "{} по всем строкам",
        "alike": "{} у всех с тем же значением {}",
        "found": "есть среди {} ({})",
        "not found": "нет среди {} ({})",
        "found_group": "есть среди {}",
        "not found_group": "нет среди {}",
        "keys": "{} ({})",
        "grouped": "{} по группам ({})",
        "having": "{}, для которых {}",
        "first": "первых {} по {}",
        "several": "{} из {}",
        "kept": "{}, с равными последнему",
        "as_one": "{}, равные считаются за одно место",
        "highest": "{} (по убыванию)",
        "lowest": "{} (по возрастанию)",
        "sum": "сумма {}",
        "mean": "среднее {}",
        "median": "медиана {}",
        "min": "минимум {}",
        "max": "максимум {}",
        "count": "число значений {}",
        "count_distinct": "число разных значений {}",
        "std": "стандартное отклонение {}",
        "defined": "{}",
        "percentile": "{1} процентиль {0}",
        "correlation": "корреляция {} и {}",
        "share": "{}, доля от целого",
        "within": "{}, доля внутри {}",
        "part": "доля: {}",
        "growth": "изменение в процентах, было: {}, стало: {}",
        "growth_of": "изменение в процентах: {}, было: где {}, стало: где {}",
        "previous": "изменение к предыдущему {1}: {0}",
        "year": "изменение к прошлому году: {}",
        "relative": "{}, в процентах",
        "running": "{} нарастающим итогом",
        "moving": "скользящее среднее, окно {1} ({2}): {0}",
        "elapsed": "{} от {} до {}",
        "date_part": "{} ({})",
        "in_year": "— {} год",
        "date_cut": "{1} ({0})",
        "any_grain": "подходящие периоды ({})",
        "width": "{} с шагом {}",
        "edges": "{} с границами {}",
        "cases": "группы: {}",
        "case": "{} (где {})",
        "else": "иначе {}",
        "holds": "верно ли, что {}",
        "filled": "{} (если не заполнено, то {})",
        "nearest": "{} (округление до {})",
        "down": "{} (округление вниз до {})",
        "up": "{} (округление вверх до {})",
        "toward_zero": "{} (отбрасывание до {})",
        "decimals": "{} знаков после запятой",
        "one decimal": "1 знака после запятой",
        "whole number": "целого",
        "multiple": "числа, кратного {}",
        "absolute": "модуль {}",
        "length": "число знаков {}",
        "-": "{} минус {}",
        "/": "{} ÷ {}",
        "percent": "{}, в процентах",
        "=": "— {}",
        "!=": "— не {}",
        "<": "меньше {}",
        "<=": "не больше {}",
        ">": "больше {}",
        ">=": "не меньше {}",
        "before": "раньше {}",
        "not after": "не позже {}",
        "after": "позже {}",
        "not before": "не раньше {}",
        "not in": "— ни одно из: {}",
        "anywhere": "содержит {}",
        "start": "начинается с {}",
        "end": "заканчивается на {}",
        "whole": "— {} без учёта регистра",
        "not anywhere": "не содержит {}",
        "not start": "не начинается с {}",
        "not end": "не заканчивается на {}",
        "not whole": "— не {} без учёта регистра",
        "cased": "{} (с учётом регистра)",
        "missing": "не заполнено",
        "present": "заполнено",
        "top": "среди {} наибольших",
        "bottom": "среди {} наименьших",
    },
}
PARTS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "hour": "hour",
        "weekday": "weekday",
        "day": "day of the month",
        "week": "week of the year",
        "month": "month of the year",
        "quarter": "quarter of the year",
        "year": "year number",
    },
    "ru": {
        "hour": "час",
        "weekday": "день недели",
        "day": "день месяца",
        "week": "неделя года",
        "month": "месяц года",
        "quarter": "квартал года",
        "year": "номер года",
    },
}
UNITS: Mapping[str, tuple[str, str, str]] = {
    "period": ("период", "периоды", "периоду"),
    "second": ("секунда", "секунды", "секунде"),
    "minute": ("минута", "минуты", "минуте"),
    "hour": ("час", "часы", "часу"),
    "day": ("день", "дни", "дню"),
    "week": ("неделя", "недели", "неделе"),
    "month": ("месяц", "месяцы", "месяцу"),
    "quarter": ("квартал", "кварталы", "кварталу"),
    "year": ("год", "годы", "году"),
    "weekday": ("день недели", "дни недели", "дню недели"),
}
"""In Russian: one, several, and `к предыдущему` one."""

DATES: Mapping[str, str] = {"<": "before", "<=": "not after", ">": "after", ">=": "not before"}
DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?")
SIGNS: Mapping[str, str] = {"*": "×", "/": "÷", "-": "−", "+": "+"}
STRENGTH: Mapping[str, int] = {"+": 1, "-": 1, "*": 2, "/": 2}


def _given(value: Scalar) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Wording:
    """How names, values and periods are written."""

    language: Language = "en"
    name: Callable[[str], str] = str
    several: Callable[[str], str] = str  # a name in the plural
    value: Callable[[Scalar], str] = _given
    period: Callable[[str, Scalar, Scalar], str | None] = lambda *_: None  # a half-open range of days in words
    part: Callable[[str, Scalar], str | None] = lambda *_: None  # the name of a month or a weekday
    things: str | None = None  # what is counted, if not rows
    rows: str | None = None  # what the rows are: orders
    grain: str = "period"  # of the series that changes and moving averages look along

    def said(self, key: str, *parts: object) -> str:
        return WORDS[self.language][key].format(*parts)

    def unit(self, name: str, form: int = 1) -> str:
        return UNITS[name][form] if self.language == "ru" else name

    @property
    def inner(self) -> Wording:
        """For what is inside an aggregate or a condition: there, rows are rows."""
        return replace(self, things=None) if self.things else self


PLAIN = Wording()


def in_words(node: Node | None, wording: Wording = PLAIN) -> str:
    match node:
        case None:
            return wording.said("nothing")
        case All() | AnyOf() | Not() | Compare() | OneOf() | Contains() | Among() | Missing():
            return _condition(node, wording.inner)
        case Found() | FoundGroup():
            return _condition(node, wording.inner)
        case _ if isinstance(node, GroupValue):
            return _measure(node, wording)
        case _:
            return _value(node, wording)


def _value(node: RowValue, wording: Wording) -> str:
    """What each row has."""

    def words(part: Node) -> str:
        return in_words(part, wording)

    said = wording.said
    match node:
        case Column(name=name, table=str() as table, via=via):
            told = said("of_table", wording.name(name), wording.name(table))
            return said("by_path", told, wording.name(via)) if via else told
        case Column(name=name) | Named(name=name):
            return wording.name(name)
        case Constant(value=value):
            return wording.value(value)
        case Arithmetic():
            return _arithmetic(node, wording)
        case Elapsed(start=start, end=end, unit=unit):
            return said("elapsed", wording.unit(unit), words(start), words(end))
        case DatePart(of=of, part=part):
            return said("date_part", PARTS[wording.language][part], words(of))
        case DateCut(of=of, grain=grain):
            return said("date_cut", words(of), wording.unit(grain, 0)) if grain else said("any_grain", words(of))
        case Bins(of=of, width=float() as width):
            return said("width", words(of), wording.value(width))
        case Bins(of=of, edges=edges):
            return said("edges", words(of), _list([wording.value(edge) for edge in edges], said("and")))
        case Cases() if (day := day_named(node)) is not None:
            return words(day)
        case Cases(conditions=conditions, values=values, otherwise=otherwise):
            pairs = zip(values, conditions, strict=True)
            named = [said("case", wording.value(value), words(condition)) for value, condition in pairs]
            named += [said("else", wording.value(otherwise))] if otherwise is not None else []
            return said("cases", ", ".join(named))
        case Filled(of=of, otherwise=otherwise):
            return said("filled", _operand(of, "*", True, wording), words(otherwise))
        case Rounded(of=of, how=how, digits=digits):
            return said(how, _operand(of, "*", True, wording), _places(digits, wording))
        case Absolute(of=of):
            return said("absolute", _operand(of, "*", True, wording))
        case Concatenated(parts=parts):
            return " + ".join(_text(part, wording) for part in parts)
        case Length(of=of):
            return said("length", _operand(of, "*", True, wording))
        case Holds(condition=condition):
            told = words(condition)
            return said("holds", f"({told})" if isinstance(condition, All | AnyOf) else told)
    assert_never(node)


def _measure(node: GroupValue, wording: Wording) -> str:
    """What several rows have together."""

    def words(part: Node) -> str:
        return in_words(part, wording)

    said, inner = wording.said, wording.inner
    match node:
        case Related(table=table, of=of):
            return in_words(of, replace(inner, things=wording.name(table)))
        case Overall(table=table, of=of, where=where):
            counted = in_words(of, replace(inner, things=wording.name(table) if table else wording.things))
            told = said("of_table", counted, wording.name(table)) if table and _columns_in(of) else counted
            return _where(said("overall", told), where, inner)
        case Alike(of=of, by=by):
            return said("alike", words(of), _list([in_words(one, inner) for one in by], said("and")))
        case Rows(where=where):
            return _where(said("rows", wording.things or wording.rows or said("things")), where, inner)
        case Aggregate(function=function, of=of, where=where, percent=percent):
            return _where(_aggregate(function, of, percent, inner), where, inner)
        case Correlation(left=left, right=right, where=where):
            return _where(said("correlation", in_words(left, inner), in_words(right, inner)), where, inner)
        case Share(of=of, within=within):
            return (
                said("within", words(of), _list([*map(words, within)], said("and")))
                if within
                else said("share", words(of))
            )
        case Change(of=of, against=against, ratio=ratio):
            change = said(against, words(of), wording.unit(wording.grain, 2))
            return said("relative", change) if ratio else change
        case Running(of=Aggregate(function="sum", of=of, where=None)) if wording.language == "en":
            return said("running", _measured(of, inner))
        case Running(of=of):
            return said("running", words(of))
        case Moving(of=of, periods=periods):
            return said("moving", words(of), periods, wording.unit(wording.grain))
    assert_never(node)


def _text(node: Expression, wording: Wording) -> str:
    """As a part of a longer text; a constant in quotes, because it may be a space."""
    return f'"{node.value}"' if isinstance(node, Constant) else _operand(node, "*", True, wording)


def _places(digits: int, wording: Wording) -> str:
    if digits < 0:
        return wording.said("multiple", 10**-digits)
    return wording.said("whole number" if digits == 0 else "one decimal" if digits == 1 else "decimals", digits)


def _columns_in(node: Node) -> bool:
    return any(isinstance(part, Column) for part in walk(node))


def day_named(cases: Cases) -> DatePart | None:
    """The day of the week, where the cases only give each day its name."""
    days = [part.left for part in cases.conditions if isinstance(part, Compare) and isinstance(part.left, DatePart)]
    alone = len(days) == len(cases.conditions) == 7 and len({*days}) == 1 and cases.otherwise is None
    return days[0] if alone and days[0].part == "weekday" else None


def _aggregate(function: str, of: Expression, percent: float | None, wording: Wording) -> str:
    if function == "count_distinct" and isinstance(of, Column):
        return wording.said(function, wording.several(of.name))
    told = _measured(of, wording)
    if function == "sum" and isinstance(of, Aggregate) and of.function == "sum":
        return told  # a total of totals
    if function == "sum" and told.startswith("total"):
        return f"sum of {told}"
    return wording.said(function, told, _ordinal(percent, wording.language) if percent else "")


def _measured(of: Expression, wording: Wording) -> str:
    told = in_words(of, wording)
    return f"({told})" if isinstance(of, Arithmetic) else told


def _ordinal(percent: float, language: Language) -> str:
    if language == "ru":
        return f"{percent:g}-й"
    teen = percent % 100 in (11, 12, 13)
    return f"{percent:g}" + ("th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(int(percent % 10), "th"))


def _arithmetic(node: Arithmetic, wording: Wording) -> str:
    said = wording.said
    if (ratio := in_percent(node)) is not None:
        return said("percent", in_words(ratio, wording))
    grown = quotient(node) if is_growth(node) else None
    if grown:
        new, old = grown
        alike = _but_for_conditions(new, old, wording)
        if alike:
            return said("growth_of", *alike)
        return said("growth", in_words(old, wording), in_words(new, wording))
    match node:
        case Arithmetic(operator="/", left=Rows(where=part), right=Rows(where=None)) if part is not None:
            return _where(said("part", wording.things or wording.rows or said("things")), part, wording.inner)
        case Arithmetic(operator="/", left=Aggregate(where=part) as left, right=right) if (
            part is not None and left.model_copy(update={"where": None}) == right
        ):
            told = in_words(right, wording).removeprefix(said("rows", ""))
            return _where(said("part", told), part, wording.inner)
    sides = [_operand(part, node.operator, part is node.right, wording) for part in (node.left, node.right)]
    if node.operator in ("-", "/") and level(node) != "row":
        return said(node.operator, *sides)
    return f" {SIGNS[node.operator]} ".join(sides)


def _but_for_conditions(new: Expression, old: Expression, wording: Wording) -> tuple[str, str, str] | None:
    """A measure under two conditions: the measure, and the conditions of the earlier and the later one."""
    match new, old:
        case (Rows(where=later), Rows(where=earlier)) | (Aggregate(where=later), Aggregate(where=earlier)) if (
            later is not None and earlier is not None
        ):
            plain = new.model_copy(update={"where": None})
            if plain == old.model_copy(update={"where": None}):
                return in_words(plain, wording), in_words(earlier, wording.inner), in_words(later, wording.inner)
    return None


def _operand(node: Expression, operator: str, is_right: bool, wording: Wording) -> str:
    """In brackets, unless it is simple or binds at least as tightly."""
    told = in_words(node, wording)
    match node:
        case Column() | Constant() | Rows() | Aggregate() | Named() | Related() | Overall():
            return told
        case Arithmetic(operator=own) if level(node) == "row":
            binds = STRENGTH[own] > STRENGTH[operator] or (STRENGTH[own] == STRENGTH[operator] and not is_right)
            return told if binds else f"({told})"
        case _:
            return f"({told})"


def _condition(node: Condition, wording: Wording) -> str:
    match node:
        case All(parts=parts):
            return wording.said("and").join(_all(parts, wording))
        case AnyOf(parts=parts):
            return wording.said("or").join(_any(parts, wording))
    simple = _predicate(node, wording)
    if simple is None:
        assert isinstance(node, Not)
        return wording.said("not", in_words(node.part, wording))
    return " ".join(simple)


def _predicate(node: Condition, wording: Wording) -> tuple[str, str] | None:
    """What a simple condition is about, and what it says of it."""
    said, value = wording.said, wording.value
    match node:
        case Not(part=Missing(of=of)):
            return in_words(of, wording), said("present")
        case Not(part=OneOf(of=of, values=values)):
            return in_words(of, wording), said("not in", ", ".join(map(value, values)))
        case Not(part=Contains(of=of) as part):
            return in_words(of, wording), _contains(part, "not ", wording)
        case Compare(left=DatePart(of=of, part="year"), operator="=", right=Constant(value=int() | float() as year)):
            return in_words(of, wording), said("in_year", f"{year:g}")
        case Compare(left=Arithmetic() as left, operator=operator, right=Column() as right):
            return in_words(right, wording), said(MIRRORED[operator], in_words(left, wording))
        case Compare(left=left, operator=operator, right=right):
            named = _compared(left, right, wording)
            if named is None:
                return in_words(left, wording), said(operator, in_words(right, wording))
            return in_words(left, wording), said(DATES.get(operator, operator), named)
        case OneOf(of=of, values=values):
            return in_words(of, wording), said("=", _list([*map(value, values)], said("or")))
        case Contains(of=of):
            return in_words(of, wording), _contains(node, "", wording)
        case Among(of=of, limit=limit, direction=direction):
            return in_words(of, wording), said(direction, limit)
        case Missing(of=of):
            return in_words(of, wording), said("missing")
        case Found(of=of):
            return in_words(of, wording), _found("found", node, wording)
        case Not(part=Found(of=of) as part):
            return in_words(of, wording), _found("not found", part, wording)
        case FoundGroup(of=of):
            return in_words(of, wording), said("found_group", _groups(node, wording))
        case Not(part=FoundGroup(of=of) as part):
            return in_words(of, wording), said("not found_group", _groups(part, wording))
    return None


def _found(key: str, node: Found, wording: Wording) -> str:
    return _where(wording.said(key, wording.name(node.column), wording.name(node.table)), node.where, wording)


def _groups(node: FoundGroup, wording: Wording) -> str:
    """The groups among which a value is looked for: `the first 5 client of orders by total price (highest first)`."""
    keys = [in_words(key, wording) for key in node.keys]
    told = _where(wording.said("keys", keys[0], wording.name(node.table)), node.where, wording)
    if len(keys) > 1:
        told = wording.said("grouped", told, _list(keys, wording.said("and")))
    if node.having is not None:
        told = wording.said("having", told, in_words(node.having, wording))
    if node.limit is None:
        return told
    ends = {"top": "highest", "bottom": "lowest"}
    order = [wording.said(ends[one.direction], in_words(one.by, wording)) for one in node.order]
    several = wording.said("several", node.limit, told) if node.limit > 1 else told
    first = wording.said("first", several, ", ".join(order))
    return first if node.ties == "cut" else wording.said(node.ties, first)


def _contains(node: Contains, negation: str, wording: Wording) -> str:
    if node.cased and node.place == "whole":
        return wording.said("!=" if negation else "=", wording.value(node.text))
    told = wording.said(negation + node.place, wording.value(node.text))
    return wording.said("cased", told) if node.cased else told


def _compared(left: Expression, right: Expression, wording: Wording) -> str | None:
    """A date, a month or a weekday that something is compared with; None for other values."""
    match left, right:
        case DatePart(part=part), Constant(value=value):
            return wording.part(part, value)
        case _, Constant(value=str() as value) if DAY.fullmatch(value):
            return wording.value(value)
    return None


def _all(parts: Sequence[Condition], wording: Wording) -> Iterator[str]:
    """What each thing must be; a lower and an upper bound of days are one period."""
    for subject, said in _by_subject(parts, wording).items():
        period = _period(subject, said, wording)
        if period:
            yield period
        else:
            yield _told(subject, said, "and", wording)


def _any(parts: Sequence[Condition], wording: Wording) -> Iterator[str]:
    for subject, said in _by_subject(parts, wording).items():
        values = [part.right for part in said if isinstance(part, Compare) and part.operator == "="]
        if subject and len(values) == len(said) > 1 and all(isinstance(value, Constant) for value in values):
            told = [_predicate(part, wording) or ("", "") for part in said]
            begun = wording.said("=", "")
            yield f"{subject} {begun}{_list([one.removeprefix(begun) for _, one in told], wording.said('or'))}"
        else:
            yield _told(subject, said, "or", wording)


def _told(subject: str, parts: Sequence[Condition], joint: str, wording: Wording) -> str:
    """`x is above 1 and below 5`; conditions made of others are in brackets."""
    if not subject or _predicate(parts[0], wording) is None:
        told = in_words(parts[0], wording)
        return told if isinstance(parts[0], Not) or _is_one(parts[0], wording) else f"({told})"
    ordered = sorted(parts, key=lambda part: not (isinstance(part, Compare) and part.operator in (">", ">=")))
    first, *rest = [(_predicate(part, wording) or ("", ""))[1] for part in ordered]
    short = [one.removeprefix("is ") if first.startswith("is ") else one for one in rest]
    return f"{subject} {wording.said(joint).join((first, *short))}"


def _is_one(node: Condition, wording: Wording) -> bool:
    """Whether it is one period, or a list of values of one thing."""
    match node:
        case All(parts=parts):
            found = _by_subject(parts, wording)
            return len(found) == 1 and bool(_period(*next(iter(found.items())), wording))
        case AnyOf(parts=parts):
            same = all(isinstance(part, Compare) and part.operator == "=" for part in parts)
            return same and len(_by_subject(parts, wording)) == 1
    return False


def _by_subject(parts: Sequence[Condition], wording: Wording) -> dict[str, list[Condition]]:
    """The conditions by what they are about; one that is made of others stands by itself."""
    found: dict[str, list[Condition]] = {}
    for part in parts:
        simple = _predicate(part, wording)
        found.setdefault(simple[0] if simple else f"({in_words(part, wording)})", []).append(part)
    return found


def _period(subject: str, parts: Sequence[Condition], wording: Wording) -> str | None:
    bounds = {part.operator: part.right for part in parts if isinstance(part, Compare)}
    match len(parts), bounds.get(">="), bounds.get("<"):
        case 2, Constant(value=start), Constant(value=end):
            return wording.period(subject, start, end)
    return None


def _list(items: Sequence[str], last: str) -> str:
    return last.join(filter(None, (", ".join(items[:-1]), items[-1])))


def _where(measure: str, condition: Condition | None, wording: Wording) -> str:
    return measure if condition is None else wording.said("where", measure, in_words(condition, wording))
