"""Filters: values, comparisons and periods that the question names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from groundplan.asking.tables.columns import Mention, is_ordinal_time
from groundplan.asking.tables.numbers import Comparison, find_comparisons
from groundplan.asking.tables.scan import Scan
from groundplan.asking.tables.values import ValueMention
from groundplan.contracts.contract import Scalar
from groundplan.contracts.reading import Evidence, Filter, Operator, Period, Requirement
from groundplan.contracts.schema import Column
from groundplan.text.lexicon import Cue, Lexicon
from groundplan.text.periods.find import Found
from groundplan.text.words import Word, words_of

JOINED_BY = frozenset({"and", "or", "nor", "и", "или", "ни"})
CONTAIN = re.compile(r"contain(?:s|ing)?|содерж(?:ит|ат|ащ(?:ий|ая|ее|ие|их|им|ими|ей|его))")
"""By form, not by stem: a container is something else."""

QUOTED = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|«([^»]+)»|“([^”]+)”|‘([^’]+)’)""")


LOOKED_IN = frozenset({(), ("that",), ("which",), ("whose", "name"), ("whose", "names")})
"""What may stand between a column and `contains`."""


@dataclass(frozen=True)
class Contained:
    """Letters that a text has somewhere in it; the places are those of the whole phrase in the question."""

    text: str
    start: int
    end: int


def find_contained(text: str, words: tuple[Word, ...], lexicon: Lexicon) -> tuple[Contained, ...]:
    """`contains "desk lamp"`, `containing lamp`: what is looked for names nothing else."""
    return tuple(
        found
        for place, word in enumerate(words)
        if CONTAIN.fullmatch(word.lower) and (found := _contained(text, words, place, lexicon))
    )


def _contained(text: str, words: tuple[Word, ...], place: int, lexicon: Lexicon) -> Contained | None:
    start, end = words[place].start, words[place].end
    quoted = QUOTED.match(text, end)
    if quoted:
        return Contained(next(filter(None, quoted.groups())), start, quoted.end())
    last = place
    while last + 1 < len(words) and (last == place or _goes_on(text, words, last, lexicon)):
        last += 1
    return Contained(text[words[place + 1].start : words[last].end], start, words[last].end) if last > place else None


def _goes_on(text: str, words: tuple[Word, ...], last: int, lexicon: Lexicon) -> bool:
    """Whether the next word is still looked for: one that the reader knows, or that tells what was done, is not."""
    following = words[last + 1]
    families = (lexicon.groupings, lexicon.comparisons, lexicon.negations, lexicon.orders, lexicon.outputs)
    begins = any(cue.first == 0 for phrases in families for cue in phrases.find(words[last + 1 :]))
    known = begins or following.stem in lexicon.fillers or following.lower.endswith(("ed", "ing"))
    return not known and not text[words[last].end : following.start].strip()


def contained_mentions(scan: Scan) -> Iterator[tuple[Contained, Mention | None]]:
    """Each with the column of texts that stands before it; None where none does."""
    for found in find_contained(scan.text, words_of(scan.text), scan.lexicon):
        before = [m for m in scan.mentions if scan.words[m.last - 1].end <= found.start and texts_of(m)]
        near = before[-1] if before else None
        place = sum(word.end <= found.start for word in scan.words)
        between = tuple(word.lower for word in scan.words[near.last : place]) if near else ()
        yield found, near if between in LOOKED_IN else None


def texts_of(mention: Mention) -> tuple[Column, ...]:
    """The columns of texts that the words may mean."""
    return tuple(column for column in (mention.column, *mention.others) if column.kind == "text")


def contained_filters(scan: Scan) -> Iterator[Requirement]:
    """One for each text that is looked for, beside what else is said of the column."""
    for found, mention in contained_mentions(scan):
        if mention:
            name = texts_of(mention)[0].name
            value = Filter(column=name, operator="contains", values=(found.text,))
            said = _words(scan, scan.words[mention.first].start, found.end)
            yield Requirement(id=f"filter:{name}#{found.text}", value=value, evidence=said)


def value_filters(scan: Scan, whole: frozenset[str] = frozenset()) -> Iterator[Requirement]:
    """Values of one column together: `West and East` keeps both, `except West` leaves it out.

    Columns in `whole` are shown with all their values, so nothing is left out there.
    """
    for column, mentions in _by_column(scan).items():
        if column in whole:
            continue
        left_out = _left_out(scan, mentions)
        named = [mention for mention in mentions if mention not in left_out] or mentions
        values = tuple(dict.fromkeys(mention.value for mention in named))
        negated = named[0] in left_out
        if not negated and set(values) >= scan.values_of(column):
            continue  # every value that there is: a list of groups, not a filter
        single: tuple[Operator, Operator] = ("=", "!=") if len(values) == 1 else ("in", "not in")
        yield _requirement(scan, column, single[negated], values, named[0].first, named[-1].last)


def named_groups(scan: Scan, least: int) -> tuple[tuple[str, int, int], ...]:
    """Columns of which so many values are named: they are compared, so they group."""
    return tuple(
        (column, mentions[0].first, mentions[-1].last)
        for column, mentions in _by_column(scan).items()
        if len({mention.value for mention in mentions}) >= least and not _left_out(scan, mentions)
    )


def _by_column(scan: Scan) -> dict[str, list[ValueMention]]:
    found: dict[str, list[ValueMention]] = {}
    for mention in scan.value_mentions:
        found.setdefault(mention.column, []).append(mention)
    return found


def _left_out(scan: Scan, mentions: list[ValueMention]) -> list[ValueMention]:
    """Those that `except` or `not` leads to, with the rest of its list: `not West or East`."""
    ends = [cue.last for cue in scan.cues(scan.lexicon.negations)]
    found: list[ValueMention] = []
    for mention in mentions:
        listed = bool(found) and all(word.lower in JOINED_BY for word in scan.words[found[-1].last : mention.first])
        if listed or any(_leads_to(scan, end, mention.first) for end in ends):
            found.append(mention)
    return found


def idle_negations(scan: Scan) -> tuple[Cue, ...]:
    """`not` and the like that leave no value out."""
    return tuple(
        cue
        for cue in scan.cues(scan.lexicon.negations)
        if not any(_leads_to(scan, cue.last, mention.first) for mention in scan.value_mentions)
    )


def number_filters(scan: Scan) -> Iterator[Requirement]:
    """One for each comparison that names a column; a second one of the same column gets a number."""
    seen: dict[str, int] = {}
    for comparison in find_comparisons(scan):
        if comparison.mention and comparison.value is not None:
            column = comparison.mention.column.name
            seen[column] = seen.get(column, 0) + 1
            yield _number_filter(scan, comparison, comparison.mention, comparison.value, seen[column])


def _number_filter(scan: Scan, comparison: Comparison, mention: Mention, value: int | float, place: int) -> Requirement:
    first, last = min(comparison.first, mention.first), max(comparison.last, mention.last)
    found = _requirement(scan, mention.column.name, comparison.operator, (value,), first, last)
    return found if place == 1 else found.model_copy(update={"id": f"{found.id}#{place}"})


def spent_mentions(scan: Scan) -> frozenset[Mention]:
    """Columns that are only named for a condition: `region is West`, `date after 1 May`, `name contains lamp`."""
    looked_in = {mention for _, mention in contained_mentions(scan)}
    return frozenset(
        m for m in scan.mentions if _names_its_value(scan, m) or _names_its_period(scan, m) or m in looked_in
    )


def compared_mentions(scan: Scan) -> frozenset[Mention]:
    """Columns of numbers that a comparison stands beside."""
    return frozenset(comparison.mention for comparison in find_comparisons(scan) if comparison.mention)


def _names_its_value(scan: Scan, mention: Mention) -> bool:
    return any(
        mention.column.name in (value.column, *value.others)
        and (_leads_to(scan, mention.last, value.first) or value.last == mention.first)
        for value in scan.value_mentions
    )


def _names_its_period(scan: Scan, mention: Mention) -> bool:
    is_time = mention.column.kind == "time" or mention.column.role == "temporal"
    return is_time and any(_leads_to(scan, mention.last, place) for place in sorted(scan.dated))


def period_filters(scan: Scan, column: Column) -> Iterator[Requirement]:
    """Half-open periods of a time column; of a column of years, the years in them."""
    periods = [found for found in scan.periods if found.period]
    if is_ordinal_time(column) and len(periods) > 1:
        yield _of_years(scan, column, periods)
        return
    for place, found in enumerate(periods):
        yield _of_period(scan, column, found, place)


def _of_years(scan: Scan, column: Column, periods: list[Found]) -> Requirement:
    spans = [_years(found.period, column) for found in periods if found.period]
    years = sorted({year for first, last in spans for year in range(first, last + 1)})
    value = Filter(column=column.name, operator="in", values=tuple(years))
    return Requirement(
        id=f"filter:{column.name}", value=value, evidence=_words(scan, periods[0].start, periods[-1].end)
    )


def _of_period(scan: Scan, column: Column, found: Found, place: int) -> Requirement:
    period = found.period
    assert period is not None
    values: tuple[Scalar, ...]
    operator: Operator
    if is_ordinal_time(column):
        first, last = _years(period, column)
        operator, values = ("between", (first, last + 1)) if last > first else ("=", (first,))
    elif period.start == date.min:
        operator, values = "<", (period.end.isoformat(),)
    elif period.end == date.max:
        operator, values = ">=", (period.start.isoformat(),)
    else:
        operator, values = "between", (period.start.isoformat(), period.end.isoformat())
    value = Filter(column=column.name, operator=operator, values=values)
    name = column.name if place == 0 else f"{column.name}#{place + 1}"
    return Requirement(id=f"filter:{name}", value=value, evidence=_words(scan, found.start, found.end))


def is_period(requirement: Requirement) -> bool:
    """Whether it keeps a span of time with two ends."""
    value = requirement.value
    return isinstance(value, Filter) and value.operator == "between" and isinstance(value.values[0], str)


def _years(period: Period, column: Column) -> tuple[int, int]:
    """Years as the column writes them: 1984, or 84."""
    last = period.end.year - 1 if (period.end.month, period.end.day) == (1, 1) else period.end.year
    short = isinstance(column.greatest, int | float) and column.greatest < 100
    return (period.start.year % 100, last % 100) if short else (period.start.year, last)


def _requirement(
    scan: Scan, column: str, operator: Operator, values: tuple[Scalar, ...], first: int, last: int
) -> Requirement:
    value = Filter(column=column, operator=operator, values=values)
    evidence = _words(scan, scan.words[first].start, scan.words[last - 1].end)
    return Requirement(id=f"filter:{column}", value=value, evidence=evidence)


def _words(scan: Scan, start: int, end: int) -> Evidence:
    return Evidence(text=scan.text[start:end][:500], start=start)


def _leads_to(scan: Scan, first: int, last: int) -> bool:
    """Whether from the end of one phrase to the start of another there is nothing but up to two fillers."""
    between = scan.words[first:last]
    return first <= last <= first + 2 and all(w.text == "=" or w.stem in scan.lexicon.fillers for w in between)
