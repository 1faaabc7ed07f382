"""What columns of a result are called where the question has no name for them."""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.contracts.contract import Language, Scalar
from groundplan.contracts.expression import (
    Absolute,
    Aggregate,
    Alike,
    Arithmetic,
    Bins,
    Change,
    Column,
    Concatenated,
    Condition,
    Constant,
    Correlation,
    DatePart,
    Elapsed,
    Expression,
    Filled,
    Found,
    FoundGroup,
    Length,
    Moving,
    Rounded,
    Rows,
    Running,
    Share,
    in_percent,
    is_growth,
    level,
)
from groundplan.contracts.wording import Wording, in_words

NAMES: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "rows": "count",
        "share": "share",
        "sum": "{}",
        "mean": "average {}",
        "median": "median {}",
        "min": "lowest {}",
        "max": "highest {}",
        "count": "number of {}",
        "count_distinct": "number of {}",
        "std": "deviation of {}",
        "defined": "{}",
        "percentile": "percentile of {}",
        "those": "count of those",
        "where": "{} where {}",
        "rate": "rate",
        "ratio": "ratio",
        "difference": "difference",
        "correlation": "correlation",
        "growth": "growth",
        "change": "change",
        "running": "running total",
        "moving": "average of {}",
        "range": "{} range",
        "length": "length of {}",
        "value": "value",
        "among": "is among the {} by {}",
    },
    "ru": {
        "rows": "число строк",
        "share": "доля",
        "sum": "{}",
        "mean": "среднее {}",
        "median": "медиана {}",
        "min": "минимум {}",
        "max": "максимум {}",
        "count": "число {}",
        "count_distinct": "число {}",
        "std": "отклонение {}",
        "defined": "{}",
        "percentile": "процентиль {}",
        "those": "число таких",
        "where": "{}, где {}",
        "rate": "доля",
        "ratio": "отношение",
        "difference": "разность",
        "correlation": "корреляция",
        "growth": "прирост",
        "change": "изменение",
        "running": "нарастающий итог",
        "moving": "среднее за {}",
        "range": "{}, диапазон",
        "length": "длина {}",
        "value": "значение",
        "among": "среди {} по {}",
    },
}
LONGEST_NAME = 60  # of a column that is called by its condition or formula


def called(node: Expression, language: Language = "en") -> str:
    """The name of a column with this expression, if the question has none for it."""
    names = NAMES[language]
    match node:
        case Column(name=name):
            return name
        case Filled(of=of) | Rounded(of=of) | Absolute(of=of) | Alike(of=of):
            return called(of, language)
        case Rows(where=None):
            return names["rows"]
        case Rows(where=where):
            return _called_where(names["rows"], where, language) or names["those"]
        case Aggregate(function=function, of=of, where=where):
            measure = names[function].format(called(of, language))
            return _called_where(measure, where, language) or measure
        case Arithmetic():
            return _called_formula(node, language)
        case Correlation():
            return names["correlation"]
        case Share():
            return names["share"]
        case Change(ratio=ratio):
            return names["growth" if ratio else "change"]
        case Running():
            return names["running"]
        case Moving(periods=periods):
            return names["moving"].format(periods)
        case Elapsed(unit=unit):
            return Wording(language).unit(unit) if language == "ru" else f"{unit}s"
        case DatePart(part=part):
            return Wording(language).unit(part)
        case Concatenated(parts=texts):
            return " ".join(called(text, language) for text in texts if not isinstance(text, Constant))[:LONGEST_NAME]
        case Length(of=of):
            return names["length"].format(called(of, language))
        case Bins(of=of):
            return names["range"].format(called(of, language))
        case _:
            return names["value"]


def _called_formula(node: Arithmetic, language: Language) -> str:
    names = NAMES[language]
    if level(node) == "row":
        formula = in_words(node)
        return formula if len(formula) <= LONGEST_NAME else names["value"]
    if (ratio := in_percent(node)) is not None:
        return f"{called(ratio, language)}, %"
    if is_growth(node):
        return names["growth"]
    if node.operator == "/":
        return names["rate" if isinstance(node.left, Rows) and isinstance(node.right, Rows) else "ratio"]
    return names["difference" if node.operator == "-" else "value"]


def _called_where(measure: str, where: Condition | None, language: Language) -> str | None:
    """With the condition in the name, unless that is too long for a column."""
    name = NAMES[language]["where"].format(measure, in_words(where, Wording(language, period=period_name)))
    return name if where is not None and len(name) <= LONGEST_NAME else None


def period_name(words: str, start: Scalar, end: Scalar) -> str:
    """A year or a month in short; otherwise both ends."""
    first, after = str(start), str(end)
    if first.endswith("-01-01") and after == f"{int(first[:4]) + 1}{first[4:]}":
        return f"{words} {first[:4]}"
    if first.endswith("-01") and after.endswith("-01") and _months(after) - _months(first) == 1:
        return f"{words} {first[:7]}"
    return f"{words} {first} – {after}"


def _months(day: str) -> int:
    return int(day[:4]) * 12 + int(day[5:7])


def found_name(found: Found | FoundGroup, language: Language) -> str:
    """The name of the column that says whether the value is found."""
    return f"{called(found.of, language)} {'в' if language == 'ru' else 'in'} {found.table}"[:LONGEST_NAME]
