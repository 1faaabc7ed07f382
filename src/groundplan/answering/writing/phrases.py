"""Words in both languages: months, grains, labels of measures, conditions."""

from __future__ import annotations

import re
from collections.abc import Mapping

from groundplan.contracts.contract import Language
from groundplan.text.names import worded
from groundplan.text.period_names import MONTHS

MONTHS_OF_DAYS: Mapping[Language, tuple[str, ...]] = {
    "en": MONTHS["en"],
    "ru": tuple(
        re.findall(r"\w+", "января февраля марта апреля мая июня июля августа сентября октября ноября декабря")
    ),
}
WEEK: Mapping[Language, str] = {"en": "the week of ", "ru": "неделя с "}
PERIOD: Mapping[Language, str] = {"en": "{} to {}", "ru": "{} – {}"}

SCALES: Mapping[Language, Mapping[float, str]] = {
    "en": {1e12: "trillion", 1e9: "billion", 1e6: "million"},
    "ru": {1e12: "трлн", 1e9: "млрд", 1e6: "млн"},
}
SIGNS = frozenset({"%", "$", "US$", "€", "£", "¥", "₽", "₹", "₴", "₺", "₩"})
"""Units that stand next to the number."""
NOTHING: Mapping[Language, str] = {"en": "(none)", "ru": "(не указано)"}
TEXT: Mapping[Language, str] = {"en": '"{}"', "ru": "«{}»"}
EMPTY: Mapping[Language, str] = {"en": "(empty)", "ru": "(пусто)"}
BOOLEANS: Mapping[Language, tuple[str, str]] = {"en": ("no", "yes"), "ru": ("нет", "да")}
JOINED: Mapping[Language, str] = {"en": " and ", "ru": " и "}
AGES: Mapping[Language, Mapping[float, str]] = {
    "en": {86_400: "days", 3_600: "hours", 60: "minutes", 1: "seconds"},
    "ru": {86_400: "дн.", 3_600: "ч", 60: "мин", 1: "с"},
}

GRAINS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "minute": "by minute",
        "hour": "by hour",
        "day": "by day",
        "week": "by week",
        "month": "by month",
        "quarter": "by quarter",
        "year": "by year",
    },
    "ru": {
        "minute": "по минутам",
        "hour": "по часам",
        "day": "по дням",
        "week": "по неделям",
        "month": "по месяцам",
        "quarter": "по кварталам",
        "year": "по годам",
    },
}
RHYTHMS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "minute": "minute-by-minute",
        "hour": "hourly",
        "day": "daily",
        "week": "weekly",
        "month": "monthly",
        "quarter": "quarterly",
        "year": "yearly",
    },
    "ru": GRAINS["ru"],
}
METHODS: Mapping[Language, Mapping[str, str]] = {
    "en": {"pearson": "r", "spearman": "Spearman's rank correlation"},
    "ru": {"pearson": "r", "spearman": "ранговая корреляция Спирмена"},
}

RELATED = 0.3
"""Correlations from which two columns are said to move together."""

LABELS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "sum": "{}",
        "mean": "average {}",
        "median": "median {}",
        "min": "minimum {}",
        "max": "maximum {}",
        "count": "number of {} values",
        "std": "standard deviation of {}",
        "defined": "{}",
        "things": "number of {}",
        "rows": "number of rows",
    },
    "ru": {
        "sum": "{}",
        "mean": "среднее «{}»",
        "median": "медиана «{}»",
        "min": "минимум «{}»",
        "max": "максимум «{}»",
        "count": "число значений «{}»",
        "count_distinct": "число разных значений «{}»",
        "std": "стандартное отклонение «{}»",
        "defined": "{}",
        "rows": "число строк",
        "rows_of": "число строк «{}»",
    },
}
COMPARED: Mapping[Language, dict[str, str]] = {
    "en": {"change_ratio": "change, %"},
    "ru": {"change": "изменение", "change_ratio": "изменение, %"},
}
"""Headings of a comparison of periods."""
LISTS: Mapping[str, str] = {
    "Commits": "Коммиты",
    "Issues": "Задачи",
    "Merge requests": "Запросы на слияние",
}
"""Headings of lists, in Russian."""

PERIODS: Mapping[Language, Mapping[str, str]] = {
    "en": {"whole": "{} is in {}", "day": "{} is on {}", "days": "{} is from {} to {}"},
    "ru": {"whole": "{} — {}", "day": "{} — {}", "days": "{} с {} по {}"},
}
"""A condition on a date: in a year, quarter or month; on a day; from one day to another."""


def label(function: str | None, column: str | None, language: Language) -> str:
    """The label of a measure: `average revenue`, `row count`; without a known function, the column's name."""
    if column is None:
        return LABELS[language]["rows"]
    return LABELS[language][function or "sum"].format(worded(column))


def headed(title: str, language: Language) -> str:
    """The heading of a list, translated if it is a known one."""
    kind, colon, rest = title.partition(":")
    return LISTS.get(kind, kind) + colon + rest if language == "ru" else title
