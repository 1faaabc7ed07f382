"""Formats names and numbers for charts, and quotes data for Vega expressions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from unicodedata import category

from groundplan.contracts.contract import Language, Scalar
from groundplan.contracts.facts import TableColumn
from groundplan.text.names import spaced
from groundplan.text.printable import printable

MISSING = "(none)"
LARGE = 1_000_000
MARK = "\u200a"  # a hair space
RESERVED = frozenset(
    (
        *("__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__", "constructor"),
        *("hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"),
    )
)
WORDS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "not_drawn": "not drawn: {:,} without {}",
        "drawn_from": "drawn from {:,} of {:,} rows",
        "cut": "{:,} of {:,} rows",
        "no_rows": "no rows to draw",
        "mean": "each value is the mean of up to {:,} rows that the chart does not tell apart",
        "largest": "{}: the largest {} of {}",
        "more": ", … {} more",
        "other": "Other ({})",
        "box": "box: middle half and median; whiskers: up to 1.5 times its height; dots: least and greatest",
        "starts": "{} is partial: data from {}",
        "ends": "{} is partial: data to {}",
        "hole": "no rows: {}",
        "holes": "gaps: {} periods without rows",
        "partial": "partial",
        "marked": "circled: values that stand out",
        "rows": "Rows",
        "share_of": "Share of {}",
        "distribution": "Distribution of {}",
        "against": "{} against {}",
        "between": "{} between columns",
        "by": " by {}",
        "and": " and ",
        "to": "{} to {}",
        "every": "{0} {1}",
        "period": "period",
        "value": "value",
    },
    "ru": {
        "not_drawn": "не показано: {} без «{}»",
        "drawn_from": "показано строк: {} из {}",
        "cut": "строк: {} из {}",
        "no_rows": "нет строк для графика",
        "mean": "каждое значение — среднее строк, которые график не различает (до {})",
        "largest": "{}: наибольшие {} из {}",
        "more": ", … ещё {}",
        "other": "Прочие ({})",
        "box": "ящик: средняя половина и медиана; усы: до 1,5 его высоты; точки: минимум и максимум",
        "starts": "{} — неполный период: данные с {}",
        "ends": "{} — неполный период: данные по {}",
        "hole": "нет строк: {}",
        "holes": "разрывы: периодов без строк — {}",
        "partial": "неполный",
        "marked": "обведено: значения, которые выделяются",
        "rows": "Число строк",
        "share_of": "Доля: {}",
        "distribution": "Распределение: {}",
        "against": "{} и {}",
        "between": "{} между столбцами",
        "by": ", разрез: {}",
        "and": ", ",
        "to": "{} – {}",
        "every": "{1} {0}",
        "period": "период",
        "value": "значение",
    },
}
"""What titles, subtitles and legends say."""


SHORT: Mapping[Language, tuple[tuple[str, str], ...]] = {
    "en": (("G", "B"),),
    "ru": (("k", " тыс."), ("M", " млн"), ("G", " млрд"), ("T", " трлн")),
}
"""What stands for the prefixes of SI in long numbers."""


def drawn_value(value: Scalar) -> Scalar:
    """A value for a chart: the name of a property that every JavaScript object has would make Vega fail."""
    return f"{value}{MARK}" if isinstance(value, str) and value in RESERVED else value


def quoted(value: object) -> str:
    """A value as a literal in a Vega expression; ASCII only, so that no character can end it."""
    if isinstance(value, str) and value in RESERVED:  # as one literal it would be taken for the property
        return f"({quoted(value[:1])} + {quoted(value[1:])})"
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c")


def datum(column: str) -> str:
    return f"datum[{quoted(column)}]"


def human(name: str) -> str:
    """`product_category` as a label: Product category."""
    text = inner(name)
    return drawable(text[:1].upper() + text[1:])


def drawable(text: str) -> str:
    """Text for a title. Vega-Lite copies titles into expressions and does not escape a backslash there."""
    return printable(text).replace("\\", "\u2216")


def inner(name: str) -> str:
    """A name inside a sentence; short upper-case words are abbreviations and stay upper-case."""
    return " ".join(map(_word, spaced(name).split())) or name


def _word(word: str) -> str:
    if word.lower() == "id":
        return "ID"
    return word if word.isupper() and len(word) <= 4 else word.lower()


def titled(column: TableColumn) -> str:
    return f"{human(column.name)} ({drawable(column.unit)})" if column.unit else human(column.name)


def number_format(column: TableColumn, values: Iterable[float]) -> str:
    """Percent for ratios, SI only when large, thousands separators otherwise."""
    numbers = list(values)
    if column.ratio:
        return ".0%" if max(numbers, default=1) - min(numbers, default=0) >= 0.1 else ".1~%"
    if is_years(numbers):
        return "d"
    largest = max(map(abs, numbers), default=0)
    if largest >= LARGE:
        return "~s"
    return ",.2~f" if largest >= 0.1 or largest == 0 else ".3~g"


def short_format(column: TableColumn, values: list[float]) -> str:
    """For a number that is written beside its mark; small money with its cents."""
    pattern, farthest = number_format(column, values), max(map(abs, values), default=0.0)
    if pattern == ",.2~f" and farthest < 100 and category((column.unit or " ")[0]) == "Sc":
        return ",.2f"
    return {"~s": ".3~s", ",.2~f": ",.0f" if farthest >= 100 else ",.2~f"}.get(pattern, pattern)


def number_axis(
    column: TableColumn, values: Iterable[float], language: Language, title: str | None = None
) -> dict[str, Any]:
    return {"title": title or titled(column), **labels(number_format(column, values), language)}


def labels(pattern: str, language: Language) -> dict[str, Any]:
    """The number format of an axis or a legend."""
    if not pattern.endswith("s"):
        return {"format": pattern}
    return {"format": pattern, "labelExpr": written_number("datum.value", pattern, language)}


def written_number(value: str, pattern: str, language: Language) -> str:
    """An expression that writes a number with the language's short names of thousands, millions and billions."""
    written = f'format({value}, "{pattern}")'
    for prefix, name in SHORT[language]:
        written = f"replace({written}, {quoted(prefix)}, {quoted(name)})"
    return written


def is_years(numbers: list[float]) -> bool:
    """Whether the numbers are years, which have no thousands separator."""
    return bool(numbers) and all(number == int(number) and 1800 <= number <= 2200 for number in numbers)
