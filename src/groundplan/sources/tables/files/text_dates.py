"""Dates written as text: `31.12.2025`, `12/31/2025`, `Jan 5, 2020`, `5 января 2020`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from groundplan.sources.tables.files.quoting import literal
from groundplan.sources.tables.files.text_cells import Cells, Written

ENGLISH = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
RUSSIAN = ("янв", "фев", "мар", "апр", "мая", "июн", "июл", "авг", "сен", "окт", "ноя", "дек")
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?|янв(?:аря)?|фев(?:раля)?|мар(?:та)?|апр(?:еля)?|мая|июня?|июля?|авг(?:уста)?|"
    r"сент?(?:ября)?|окт(?:ября)?|нояб?(?:ря)?|дек(?:абря)?)\.?"
)
WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?[.,]?\s)?"
BLANK = "[ \u00a0\u202f]+"
DAY = r"\d{1,2}(?:st|nd|rd|th)?"
CLOCK = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?"

YEAR_FIRST = rf"\d{{4}}([-/.])\d{{1,2}}[-/.]\d{{1,2}}{CLOCK}"
DOTTED = rf"\d{{1,2}}\.\d{{1,2}}\.\d{{4}}{CLOCK}"
SLASHED = rf"\d{{1,2}}[-/]\d{{1,2}}[-/]\d{{4}}{CLOCK}"
NAMED = (
    rf"(?i){WEEKDAY}(?:{MONTH}{BLANK}{DAY},?{BLANK}\d{{4}}|{DAY}(?:{BLANK}|-){MONTH},?(?:{BLANK}|-)\d{{4}})"
    rf"(?:{BLANK}г\.?)?"
)
PARTS = r"^(\d+)[-/.](\d+)[-/.](\d+)[T ]?(.*)$"
EITHER_ORDER = "text: day and month can be in either order; write such dates as 2025-04-03"


def _year_first(cells: Cells, columns: Sequence[str]) -> dict[str, Written]:
    return _checked(cells, columns, _arranged(1, 2, 3), "2025-12-31")


def _dotted(cells: Cells, columns: Sequence[str]) -> dict[str, Written]:
    """With dots, the day is first everywhere."""
    return _checked(cells, columns, _arranged(3, 2, 1), "31.12.2025")


def _slashed(cells: Cells, columns: Sequence[str]) -> dict[str, Written]:
    """A number above 12 is the day; without one, the order is unknown."""
    greatest = [f"max(CAST(regexp_extract(v, {literal(PARTS)}, {place}) AS INTEGER))" for place in (1, 2)]
    told = cells.ask(columns, greatest)
    day_first = [column for column, (first, _) in told.items() if first > 12]
    month_first = [column for column, (first, second) in told.items() if first <= 12 < second]
    unclear = [column for column, (first, second) in told.items() if first <= 12 and second <= 12]
    return (
        dict.fromkeys(unclear, Written("VARCHAR", "v", EITHER_ORDER))
        | _checked(cells, day_first, _arranged(3, 2, 1), "31/12/2025")
        | _checked(cells, month_first, _arranged(3, 1, 2), "12/31/2025")
    )


def _checked(cells: Cells, columns: Sequence[str], iso: str, example: str) -> dict[str, Written]:
    """Dates, or moments if some value has a clock time."""
    told = cells.ask(
        columns, ["count(*)", f"count(TRY_CAST({iso} AS TIMESTAMP))", "count(*) FILTER (contains(v, ':'))"]
    )
    note = f"text such as {example}, read as dates"
    return {
        column: Written("TIMESTAMP" if clocks else "DATE", iso, note)
        for column, (total, dates, clocks) in told.items()
        if dates == total
    }


def _arranged(year: int, month: int, day: int) -> str:
    arranged = f"\\{year}-\\{month}-\\{day} \\4"
    return f"trim(regexp_replace(v, {literal(PARTS)}, {literal(arranged)}))"


def _named(cells: Cells, columns: Sequence[str]) -> dict[str, Written]:
    names = "|".join((*ENGLISH, *RUSSIAN))
    month = f"regexp_extract(lower(v), {literal(names)})"
    number = (
        f"coalesce(nullif(list_position({literal(ENGLISH)}, {month}), 0), list_position({literal(RUSSIAN)}, {month}))"
    )
    day = r"regexp_extract(v, '(?:^|\D)(\d{1,2})(?:\D|$)', 1)"
    iso = rf"regexp_extract(v, '\d{{4}}') || '-' || {number} || '-' || {day}"
    return _checked(cells, columns, iso, "Jan 5, 2020")


DATES: Mapping[str, Callable[[Cells, Sequence[str]], dict[str, Written]]] = {
    YEAR_FIRST: _year_first,
    DOTTED: _dotted,
    SLASHED: _slashed,
    NAMED: _named,
}
"""By the pattern of a whole value: how to convert columns whose values all match it; none whose values are no dates."""
