"""Numbers written as text: `1,234.50`, `12 345,50`, `€ 5`, `12%`, `$1.2M`, `13 min`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from groundplan.sources.tables.files.quoting import literal
from groundplan.sources.tables.files.text_cells import Cells, Written

SPACE = "[ \u00a0\u202f]"
NOTED = re.compile(r"read as numbers in ([^;]+)")
MONEY = r"(?:US\$|[€$£¥₽₹₴₺₩]|USD|EUR|GBP|CHF|JPY|CNY|INR|RUB|руб\.?)"
WORD = r"(?:thousand|million|billion|тыс\.?|млн\.?|млрд\.?)"
LETTER = r"(?:[kKmMbB]|mn|bn)"  # only beside a currency: `5K` may be a race
SCALES = (("1e3", r"(?i)\dk$|thousand|тыс"), ("1e6", r"(?i)\dmn?$|million|млн"), ("1e9", r"(?i)\dbn?$|billion|млрд"))
UNITS = (
    "mg|kg|lbs?|oz|mm|cm|km|ft|yd|miles?|ml|kWh|MWh|kW|MW|°C|°F|ha|m²|km²|sqm|m2|pcs|"
    "ms|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|"  # `6 months` names a contract
    "мг|кг|мм|см|км|мл|кВт|кВтч|МВт|га|м²|м2|шт|мин|сек"
)
LETTERS = "gtmlLhsгтмлч"  # behind a space: `12m` may be a code
UNIT = rf"(?:{SPACE}?(?:{UNITS})\.?|{SPACE}[{LETTERS}]\.?)"
CORE = r"\.?\d(?:[\d.,'’ \x{a0}\x{202f}]*\d)?(?:[eE][-+]?\d+)?"  # the digits with their separators
DIGITS = f"regexp_extract(v, {literal(CORE)})"
MOST_DIGITS = 18  # of a BIGINT
MIXED = Written("VARCHAR", "v", "text: the values have different units")


@dataclass(frozen=True)
class Format:
    separators: str  # between thousands
    decimal: str
    example: str  # for the note

    @property
    def pattern(self) -> str:
        """A whole value. A number with leading zeros is a code."""
        between = f"[{self.separators}]"
        whole = rf"(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?:{between}\d{{3}})+)"
        number = rf"{whole}(?:[{self.decimal}]\d+)?"
        if self.decimal == ".":
            number = rf"(?:{number}|\.\d+|\d+\.\d+[eE][-+]?\d+|\d+[eE][-+]\d+)"
        sign = "[-−]?" if " " in self.separators else "[-+−]?"  # `+49 123 456` is a phone number
        amount = rf"{sign}(?:{MONEY}{SPACE}?)?{sign}{number}(?:{SPACE}?{WORD})?(?:{SPACE}?(?:{MONEY}|%))?"
        short = rf"{sign}{MONEY}{SPACE}?{sign}{number}{LETTER}"
        return f"{amount}|{short}|{sign}{number}{UNIT}"


FORMATS = (
    Format(",", ".", "1,234.50"),
    Format(" \u00a0\u202f", ".", "1 234.50"),
    Format("'’", ".", "1'234.50"),
    Format(" \u00a0\u202f", ",", "1 234,50"),
    Format(".", ",", "1.234,50"),
)


def with_separators(cells: Cells, columns: Iterable[str]) -> set[str]:
    """The columns in which some number may have thousands or decimals."""
    told = cells.ask(columns, [r"bool_or(regexp_matches(v, '\d[.,]|[.,]\d'))"])
    return {column for column, (found,) in told.items() if found}


def as_numbers(cells: Cells, columns: Iterable[str], form: Format) -> dict[str, Written]:
    """How to convert the values; nothing for columns that look like phone numbers, addresses or long ids."""
    told = cells.ask(columns, _seen(form))
    read = {column: _read(Seen(*row), form) for column, row in told.items()}
    return {column: written for column, written in read.items() if written}


class Seen(NamedTuple):
    """Of the values of a column, in the order of `_seen`."""

    total: int
    percents: int
    currencies: int  # different ones
    currency: str
    measured: int
    units: int  # different ones
    unit: str
    scaled: int
    parts: int
    longest: int
    fewest_separators: int
    most_separators: int
    shortest_digits: int
    longest_digits: int


def _seen(form: Format) -> list[str]:
    bare = _bare(form)
    money = f"regexp_extract(v, {literal(MONEY)})"
    unit = f"trim(regexp_extract(v, {literal(f'{UNIT}$')}), ' .')"
    one = f"rtrim({unit}, 's')"  # 1 day, 2 days
    scaled = " OR ".join(f"regexp_matches(v, {literal(pattern)})" for _, pattern in SCALES)
    return [
        "count(*)",
        "count(*) FILTER (contains(v, '%'))",
        f"count(DISTINCT {money}) FILTER ({money} <> '')",
        f"max({money})",
        f"count(*) FILTER ({unit} <> '')",
        f"count(DISTINCT {one}) FILTER ({unit} <> '')",
        f"max({unit})",
        f"count(*) FILTER ({scaled})",
        f"count(*) FILTER (contains({bare}, {literal(form.decimal)}) OR regexp_matches(v, '\\d[eE][-+]?\\d'))",
        f"max(length({bare}))",
        f"min(length({DIGITS}) - length({bare}))",
        f"max(length({DIGITS}) - length({bare}))",
        f"min(length({DIGITS}))",
        f"max(length({DIGITS}))",
    ]


def _read(seen: Seen, form: Format) -> Written | None:
    if seen.percents not in (0, seen.total) or seen.currencies > 1:
        return MIXED
    if seen.measured not in (0, seen.total) or seen.units > 1:
        return MIXED
    plain = not seen.percents and not seen.currencies and not seen.measured and not seen.scaled
    if not seen.parts and (seen.longest > MOST_DIGITS or (plain and _looks_like_phone(seen, form))):
        return None
    type_ = "DOUBLE" if seen.parts or seen.scaled else "BIGINT"
    if plain:  # much faster than to look for the digits
        value = f"CAST({_pointed(_without('v', form.separators + '+'), form)} AS {type_})"
    else:
        value = f"CAST({_pointed(_bare(form), form)} AS {type_})"
        value = f"{value} * CASE WHEN regexp_matches(v, '^\\D*[-−]') THEN -1 ELSE 1 END"
    if seen.scaled:
        cases = " ".join(f"WHEN regexp_matches(v, {literal(pattern)}) THEN {factor}" for factor, pattern in SCALES)
        value = f"round({value} * CASE {cases} ELSE 1 END, 6)"
    said = "percent" if seen.percents else seen.currency or seen.unit
    return Written(type_, value, f"text such as {form.example}, read as numbers{f' in {said}' if said else ''}")


def unit_in(note: str) -> str | None:
    """The unit that a note of loading names: `€`, `USD`, `%`, `kg`."""
    found = NOTED.search(note)
    return "%" if found and found[1] == "percent" else found[1] if found else None


def _bare(form: Format) -> str:
    return _without(DIGITS, form.separators)


def _without(text: str, characters: str) -> str:
    for character in characters:
        text = f"replace({text}, {literal(character)}, '')"
    return text


def _pointed(text: str, form: Format) -> str:
    """As DuckDB writes a number."""
    return f"replace(replace({text}, {literal(form.decimal)}, '.'), '−', '-')"


def _looks_like_phone(seen: Seen, form: Format) -> bool:
    """All values have the same form: `601 234 567`, or four parts with dots."""
    if " " in form.separators:
        is_even = seen.shortest_digits == seen.longest_digits
        return is_even and seen.fewest_separators == seen.most_separators >= 2
    return form.separators == "." and seen.fewest_separators == seen.most_separators == 3
