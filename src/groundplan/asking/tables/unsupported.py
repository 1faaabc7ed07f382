"""What questions ask for that is not read yet: refused by name, for passed over it would be another number."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.asking.tables.columns import is_discrete
from groundplan.asking.tables.facets import Facets
from groundplan.asking.tables.numbers import find_comparisons
from groundplan.asking.tables.roles import find_repeated
from groundplan.contracts.answer import Refusal, refused
from groundplan.text.event_dates import TIME_UNITS
from groundplan.text.stems import stem
from groundplan.text.words import Word, words_of

EACH = frozenset(map(stem, ("each", "every", "per", "каждый")))


def _phrases(*phrases: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(word.stem for word in words_of(phrase)) for phrase in phrases)


WIDTHS = _phrases("bins of", "buckets of", "intervals of", "интервалами по", "с шагом")
PARTS = _phrases("of the year", "of year", "of the week", "of the month", "года", "недели")


def width(facets: Facets) -> Refusal | None:
    """`revenue in bins of 500` groups by ranges of a number."""
    words = facets.scan.words
    found = _find(words, WIDTHS)
    if found is None or found[1] >= len(words) or not words[found[1]].is_number:
        return None
    problem = f"groups of a width of their own ({facets.scan.spoken(found[0], found[1] + 1)[0]!r}) are not read yet"
    return refused("reading/width", problem, "ask for the distribution")


def date_part(facets: Facets) -> Refusal | None:
    """`month of the year` puts the Januaries of all years together; a month does not."""
    words = facets.scan.words
    for place, word in enumerate(words[:-1]):
        unit = word.lower.removesuffix("s") in TIME_UNITS | {"day"}
        found = _find(words[place + 1 :], PARTS)
        if unit and found and found[0] == 0 and place not in facets.scan.dated:
            problem = f"a part of a date ({facets.scan.spoken(place, place + 1 + found[1])[0]!r}) is not read yet"
            return refused("reading/date-part", problem, f"ask by {word.lower}, in one year or over all of them")
    return None


def _find(words: Sequence[Word], phrases: frozenset[tuple[str, ...]]) -> tuple[int, int] | None:
    """Where one of the phrases stands first."""
    stems = [word.stem for word in words]
    places = ((i, i + len(p)) for i in range(len(stems)) for p in phrases if tuple(stems[i : i + len(p)]) == p)
    return next(places, None)


def ratio(facets: Facets) -> Refusal | None:
    """`cost per unit` divides one column by another."""
    if len(facets.roles.measures) < 2:
        return None
    measured = {m.mention.first: m.mention.column for m in facets.roles.measures if m.function is None}
    rows = facets.scan.table.row_count or 0
    for cue in facets.scan.groupings:
        column = measured.get(cue.last)
        if facets.scan.words[cue.last - 1].lower == "per" and column and not is_discrete(column, rows):
            problem = f"one column divided by another ('per {column.name}') is not read yet"
            return refused("reading/ratio", problem, "ask for each of the two and divide")
    return None


def average_per_thing(facets: Facets) -> Refusal | None:
    """`average revenue per order`, where an order may have several rows: not the average of the rows."""
    scan = facets.scan
    grouped = {name for name, _, _ in facets.groups}
    averaged = any(measure.function in ("mean", "median") for measure in facets.roles.measures)
    for cue in scan.groupings if averaged else ():
        column = find_repeated(scan, cue.last) if cue.last < len(scan.words) else None
        if column and column.name not in grouped and any(w.stem in EACH for w in scan.words[cue.first : cue.last]):
            words = scan.spoken(cue.first, cue.last + 1)[0]
            problem = f"an average of what several rows add up to ({words!r}) is not read yet"
            return refused("reading/average-of-totals", problem, "ask for the total and for the number, and divide")
    return None


def rank_within(facets: Facets) -> Refusal | None:
    """`the top 3 in each region` ranks many times, and a plan of rules ranks once."""
    several = len(facets.groups) + bool(facets.time_said) > 1
    if facets.rank is None or facets.rank[1] is None or not several:
        return None
    for cue in facets.scan.groupings:
        words = facets.scan.words[cue.first : cue.last]
        if any(word.stem in EACH for word in words):
            problem = f"a ranking within groups ({' '.join(word.text for word in words)!r}) is not read yet"
            return refused("reading/rank-within", problem, "ask about one group at a time")
    return None


def condition_on_total(facets: Facets) -> Refusal | None:
    """`regions with total revenue over 1000`: rows are filtered before they are added up, totals are not."""
    for comparison in find_comparisons(facets.scan):
        measure = next((m for m in facets.roles.measures if m.mention == comparison.mention), None)
        if measure is None or (measure.function is None and not facets.groups):
            continue
        words, column = facets.scan.spoken(comparison.first, comparison.last)[0], measure.mention.column.name
        problem = f"{column} {words} is a condition on what rows add up to, and only rows can be filtered"
        hint = f"ask for {column} by group and compare there, or for the number of rows with {column} {words}"
        return refused("reading/condition-on-total", problem, hint)
    return None
