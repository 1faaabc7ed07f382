"""One named unit of time: a day, month, quarter, half, year or decade, with its year or without."""

from __future__ import annotations

from datetime import date

from groundplan.text.periods.calendar import Named, Span, Unit, latest, shift, year_span
from groundplan.text.periods.period_words import (
    COUNTED,
    JOINERS,
    LOOSE_HALVES,
    MONTHS,
    ORDINALS,
    PLAIN_NUMBERED,
    TURN_OFFSETS,
    TURNS,
    UNITS,
    WEAK_MONTHS,
    YEAR_AFTER,
    YEAR_BEFORE,
)
from groundplan.text.periods.tokens import Match, Sentence, full_year, written_date

YEARS = range(1900, 2100)  # a number in this range can be a year without the word "year"
SHORT_UNITS: dict[str, Unit] = {"q": "quarter", "h": "half"}
LONGEST_AMOUNT_LIST = 4
DECADE_SUFFIXES = {"s", "е", "х"}


def resolve(item: Span | Named, today: date) -> Span | None:
    """The days it means; a unit without a year is the latest that has begun. None if there is no such day."""
    if isinstance(item, Span):
        return item
    return latest(item, today) if item.year is None else item.in_year(item.year)


def find_written(sentence: Sentence, at: int) -> Match | None:
    """2025-03-01, 03.04.2025, 2025-03."""
    item = written_date(sentence.tokens[at], sentence.dialect)
    return Match(item, at + 1) if item else None


def find_day(sentence: Sentence, at: int) -> Match | None:
    """3 March 2025, the 3rd of March, March 3, 2025, 3 марта 2025 года."""
    month_at = sentence.skip(at + 1, ("of", "-"))
    day, month, after = sentence.number(at), MONTHS.get(sentence.word(month_at)), month_at + 1
    if not day or not month:
        day, month, after = sentence.number(at + 1), MONTHS.get(sentence.word(at)), at + 2
    if not day or not month or day > 31 or sentence.word(after) in COUNTED:
        return None
    return _with_year(sentence, Named("day", day, month), after)


def find_month(sentence: Sentence, at: int) -> Match | None:
    """March, March 2025, в марте прошлого года."""
    month = MONTHS.get(sentence.word(at))
    if not month:
        return None
    match = _with_year(sentence, Named("month", month), at + 1)
    return Match(match.item, match.after, weak=match.after == at + 1 and sentence.word(at) in WEAK_MONTHS)


def find_near_month(sentence: Sentence, at: int) -> Match | None:
    """Last March is the latest that has ended; next March is the first that has not begun."""
    turn, month = TURNS.get(sentence.word(at)), MONTHS.get(sentence.word(at + 1))
    if not turn or not month or sentence.says(at, ("this", "may")):
        return None
    named, today, offset = Named("month", month), sentence.today, TURN_OFFSETS[turn]
    if offset < 0:
        span = latest(named, shift(today.replace(day=1), "day", -1))
    else:
        span = named.in_year(today.year + (offset > 0 and month <= today.month))
    return Match(span, at + 2, relative=True) if span else None


def find_year_part(sentence: Sentence, at: int) -> Match | None:
    """Q3 2025, third quarter of 2025, III квартал 2025, H1 2025, первое полугодие."""
    found = _numbered_unit(sentence, at)
    if not found or found[0].number not in range(1, 5 if found[0].unit == "quarter" else 3):
        return None
    named, after, needs_year = found
    match = _with_year(sentence, named, after)
    return None if needs_year and match.after == after else match


def find_year(sentence: Sentence, at: int) -> Match | None:
    """2024, year 2024, 2024 году; also 2024 Q3, where the year comes first."""
    place = sentence.skip(at, YEAR_BEFORE)
    year, after = _year_number(sentence, place, named=place > at) or (0, 0)
    if not year:
        return None
    joined = sentence.word(after) == "," or (sentence.word(after) in ("-", "/") and sentence.glued(after + 1))
    for find in (find_day, find_year_part, find_month):
        match = find(sentence, after + joined)
        if match and isinstance(match.item, Named) and match.item.year is None and not match.weak:
            return Match(match.item._replace(year=year), match.after)
    return Match(year_span(year), after)


def find_decade(sentence: Sentence, at: int) -> Match | None:
    """1990s, 1990-е годы."""
    year = sentence.number(at) or 0
    if year not in YEARS or year % 10 or sentence.tokens[at].suffix not in DECADE_SUFFIXES:
        return None
    return Match(year_span(year, year + 9), sentence.skip(at + 1, YEAR_AFTER))


def loose_number(sentence: Sentence, at: int) -> int | None:
    """A number or an ordinal without its unit: 3 in "3-5 March", first in "first and second quarter"."""
    number = sentence.number(at)
    return number if number and number <= 31 else ORDINALS.get(sentence.word(at))


def _with_year(sentence: Sentence, named: Named, at: int) -> Match:
    year, after = _year_after(sentence, at) or (None, at)
    return Match(named._replace(year=year), after)


def _year_after(sentence: Sentence, at: int) -> tuple[int, int] | None:
    place = sentence.skip(at, (",", "of", "in", "for", "the"))
    if sentence.word(at) in ("-", "/") and sentence.glued(at) and sentence.glued(at + 1):
        place = at + 1
    turn = TURNS.get(sentence.word(place))
    if turn and (UNITS.get(sentence.word(place + 1)) == "year" or sentence.word(place + 1) == "г"):
        return sentence.today.year + TURN_OFFSETS[turn], place + 2
    if sentence.word(place) and sentence.tokens[place].kind == "short":
        return full_year(sentence.word(place)), place + 1
    number_at = sentence.skip(place, YEAR_BEFORE)
    found = _year_number(sentence, number_at, named=number_at > place)
    of_the_year = sentence.word(place - 1) == "the" and sentence.word(place) == "year"
    return found or ((sentence.today.year, place + 1) if of_the_year else None)


def _year_number(sentence: Sentence, at: int, named: bool) -> tuple[int, int] | None:
    """Four digits; without the word "year" they must be in YEARS and not be an amount."""
    year = sentence.number(at)
    if year and len(sentence.word(at)) == 2 and sentence.word(at + 1) == "году":
        return full_year(sentence.word(at)), at + 2
    if not year or len(sentence.word(at)) != 4 or sentence.tokens[at].suffix in DECADE_SUFFIXES:
        return None
    if sentence.word(at + 1) in YEAR_AFTER:
        return year, at + 2
    return (year, at + 1) if named or (year in YEARS and not _is_amount(sentence, at)) else None


def _is_amount(sentence: Sentence, at: int) -> bool:
    """2010 units, 1500 to 2000, от 1900 до 2000."""
    if sentence.word(at - 1) == "от" or (sentence.word(at - 1) in JOINERS and _ends_amount(sentence, at - 2)):
        return True
    after = at + 1
    for _ in range(LONGEST_AMOUNT_LIST):
        following = sentence.number(after + 1)
        if sentence.word(after) not in JOINERS or following is None:
            break
        if following not in YEARS and following > 31:
            return True
        after += 2
    return sentence.word(after) in COUNTED


def _ends_amount(sentence: Sentence, at: int) -> bool:
    number = at >= 0 and sentence.tokens[at].kind == "number"
    dated = sentence.word(at - 1) in MONTHS or sentence.word(at - 1) in SHORT_UNITS
    return number and not dated and (sentence.number(at) not in YEARS or sentence.word(at - 1) == "от")


def _numbered_unit(sentence: Sentence, at: int) -> tuple[Named, int, bool] | None:
    """The unit, the position after it, and whether it needs a year to be a period: 1H, first half, 2 квартала."""
    word, following = sentence.word(at), sentence.word(at + 1)
    number = sentence.number(at)
    if word in SHORT_UNITS and sentence.glued(at + 1):
        return Named(SHORT_UNITS[word], sentence.number(at + 1) or 0), at + 2, False
    if number and following in SHORT_UNITS and sentence.glued(at + 1):
        return Named(SHORT_UNITS[following], number), at + 2, True
    unit = UNITS.get(following)
    if unit not in ("quarter", "half") or not (number or word in ORDINALS):
        return None
    plain = number is not None and not sentence.tokens[at].suffix
    if plain and following not in PLAIN_NUMBERED:
        return None
    needs_year = following in LOOSE_HALVES or (plain and not PLAIN_NUMBERED[following])
    return Named(unit, number or ORDINALS[word]), at + 2, needs_year
