"""What ends a reading early: names that could mean two things, and what the data or a plan cannot give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from groundplan.asking.tables import unsupported as unread
from groundplan.asking.tables.columns import EXACT
from groundplan.asking.tables.conditions import contained_mentions, idle_negations, texts_of
from groundplan.asking.tables.facets import Facets, time_columns
from groundplan.asking.tables.near_meaning import runs
from groundplan.asking.tables.numbers import Comparison, find_comparisons
from groundplan.asking.tables.refusals import find_refusal
from groundplan.asking.tables.roles import grouped_mentions
from groundplan.asking.tables.scan import Scan
from groundplan.asking.tables.spelling import find_slips
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.answer import refused as refused
from groundplan.contracts.reading import Period
from groundplan.contracts.schema import Column, Table
from groundplan.text.event_dates import dated_by
from groundplan.text.lexicon import Cue
from groundplan.text.names import split_name
from groundplan.text.stems import stem

Doubt = Clarification | Refusal
BESIDE = "{choice} {missing}"  # a column in front of the words that are about it
OPPOSITE = ("un", "non", "not", "не")  # how words begin that say the contrary
NO_AXES = frozenset({"anomaly", "correlation", "distribution", "summary"})  # charts and tables of single rows
PLACED = frozenset({"in", "for", "from", "at", "within", "only", "where", "в", "во", "для", "из", "у", "только", "где"})


def find_doubt(facets: Facets) -> Doubt | None:
    """The first thing that must be asked or refused before anything is planned."""
    checks = (
        _refused,
        _unread_negation,
        unread.width,
        unread.date_part,
        _yes_or_no,
        _misspelt,
        _unclear_column,
        _unclear_value,
        _unclear_text,
        _unclear_period,
        _unclear_time,
        _two_times,
        _no_time,
        _unclear_number,
        _unclear_share,
        unread.condition_on_total,
        unread.ratio,
        unread.average_per_thing,
        unread.rank_within,
        _rank_size,
        _unclear_rank,
    )
    return next((doubt for check in checks if (doubt := check(facets))), None)


def _refused(facets: Facets) -> Doubt | None:
    return find_refusal(facets.scan.text, facets.scan.words)


def _unread_negation(facets: Facets) -> Doubt | None:
    """`were not paid`: what is left out must be a value that the data has."""
    for cue in idle_negations(facets.scan):
        words = facets.scan.spoken(cue.first, min(cue.last + 1, len(facets.scan.words)))[0]
        problem = f"what {words!r} leaves out is no value of the data"
        return refused("reading/negation", problem, "name a value to leave out, such as: except West")
    return None


def _yes_or_no(facets: Facets) -> Doubt | None:
    """`insured visits`: rows are not narrowed to a yes or a no by words."""
    grouped = grouped_mentions(facets.scan)
    named = [*(m.mention for m in facets.roles.measures), *facets.roles.groups]
    columns = [m.column for m in named if m.column.kind == "boolean" and m not in grouped]
    for column in (column.name for column in (*columns, *_denied(facets.scan))):
        problem = f"rows cannot be narrowed to those where {column} is yes or no by words yet"
        return refused("reading/yes-or-no", problem, f"ask for both, by {column}")
    return None


def _denied(scan: Scan) -> Iterator[Column]:
    """`uninsured`, where a column says whether something is insured."""
    said = {
        stem(word.lower.removeprefix(sign)) for word in scan.words for sign in OPPOSITE if word.lower.startswith(sign)
    }
    for column in scan.table.columns:
        if column.kind == "boolean" and said & {stem(part) for part in split_name(column.name)}:
            yield column


def _misspelt(facets: Facets) -> Doubt | None:
    """`medain revenue`: passed over it would be another number."""
    scan = facets.scan
    for run in (
        run for run in runs(scan.unexplained) if scan.spoken(*run)[0].isascii()
    ):  # Russian endings are no slips
        labels = tuple(dict.fromkeys(label for _, label in find_slips(scan, run, scan.lexicon.functions)))
        if labels:
            words = scan.spoken(*run)[0]
            text = f"{words!r} is not known; do you mean {_either(labels)}?"
            return Clarification(text=text, missing=words, candidates=labels)
    return None


def _unclear_column(facets: Facets) -> Doubt | None:
    roles = facets.roles
    used = [*(m.mention for m in roles.measures), *roles.groups, *filter(None, (roles.time,))]
    for mention in used:
        if mention.others and mention.score < EXACT:
            names = tuple(column.name for column in (mention.column, *mention.others))
            return _either_of(facets.scan.spoken(mention.first, mention.last)[0], names)
    return None


def _unclear_value(facets: Facets) -> Doubt | None:
    """A value that two columns hold, and the question names neither of them."""
    named = {mention.column.name for mention in facets.scan.mentions}
    for value in facets.scan.value_mentions:
        columns = (value.column, *value.others)
        if value.others and not named & set(columns):
            return _either_of(facets.scan.spoken(value.first, value.last)[0], columns, put=BESIDE)
    return None


def _unclear_text(facets: Facets) -> Doubt | None:
    """`contains lamp`: in which column?"""
    for found, mention in contained_mentions(facets.scan):
        words = facets.scan.text[found.start : found.end]
        if mention is None:
            texts = tuple(column.name for column in facets.scan.table.columns if column.kind == "text")
            text = f"What {words}? Please name a column."
            return Clarification(text=text, missing=words, candidates=texts, put=BESIDE)
        if len(texts_of(mention)) > 1 and mention.score < EXACT:
            named = facets.scan.spoken(mention.first, mention.last)[0]
            return _either_of(named, tuple(column.name for column in texts_of(mention)))
    return None


def _unclear_period(facets: Facets) -> Doubt | None:
    for period in facets.scan.periods:
        words = facets.scan.text[period.start : period.end]
        if period.period is None and not period.candidates:
            text = f"{words!r} cannot be read as exact days. Which ones do you mean?"
            return Clarification(text=text, missing=words, open=True)
        if period.candidates and time_columns(facets.scan.table):
            spans = tuple(_span(candidate) for candidate in period.candidates)
            if len(spans) > 1:
                return _either_of(words, spans)
            text = f"{words!r} is not exact. Do you mean {spans[0]}?"
            return Clarification(text=text, missing=words, candidates=spans)
    return None


def _unclear_time(facets: Facets) -> Doubt | None:
    """A period or a time axis, where the table has two columns of dates and none was named."""
    scan = facets.scan
    columns = time_columns(scan.table)
    named = any(mention.column in columns for mention in scan.mentions)
    asked = facets.time_said or any(found.period for found in scan.periods)
    told, has_usual = dated_by(scan.words, scan.table), any(column.verbs for column in columns)
    if len(columns) < 2 or named or not asked or len(told) == 1 or (has_usual and not told):
        return None
    said = facets.time_said
    words = scan.spoken(*said)[0] if said else next(scan.text[f.start : f.end] for f in scan.periods if f.period)
    return _either_of(words, tuple(column.name for column in columns), put=BESIDE)


def _two_times(facets: Facets) -> Doubt | None:
    """`by order date, shipped in May`: one date along the axis, another one for the period."""
    told, column = dated_by(facets.scan.words, facets.scan.table), facets.time_column
    if column is None or not told or column in told or not any(found.period for found in facets.scan.periods):
        return None
    problem = f"a period of {told[0].name} beside an axis of {column.name} is not read yet"
    return refused("reading/two-times", problem, "ask by the one or by the other")


def _no_time(facets: Facets) -> Doubt | None:
    """A period or a trend, where the table has no dates."""
    scan = facets.scan
    cue = facets.analyses.get("trend") or next(iter(facets.grains.values()), None)
    if time_columns(scan.table) or not (cue or scan.periods):
        return None
    words = scan.spoken(cue.first, cue.last)[0] if cue else scan.text[scan.periods[0].start : scan.periods[0].end]
    return refused("reading/no-time", f"the data has no dates, so {words!r} cannot be told", _has(scan.table))


def _unclear_number(facets: Facets) -> Doubt | None:
    for comparison in find_comparisons(facets.scan):
        words = _said(facets.scan, comparison)
        if comparison.value is None:
            text = f"The number in {words!r} cannot be read for sure. Please write it in digits, such as 20000."
            put = re.sub(r"\d\S*", "{choice}", words, count=1)
            return Clarification(text=text, missing=words, put=put, open=True)
        if comparison.mention is None:
            numbers = tuple(column.name for column in facets.scan.table.columns if column.kind == "number")
            return Clarification(text=f"What should be {words}?", missing=words, candidates=numbers, put=BESIDE)
    return None


def _unclear_share(facets: Facets) -> Doubt | None:
    """A share needs one thing to be shared between."""
    cue = facets.analyses.get("share")
    if cue is None or facets.rank or facets.time_said or (facets.groups and len(facets.whole) < 2):
        return None
    words = facets.scan.spoken(cue.first, cue.last)[0]
    return _of_which(words, tuple(sorted(facets.whole)) or _dimensions(facets), "by")


def _rank_size(facets: Facets) -> Doubt | None:
    limit = facets.rank[1] if facets.rank else None
    if limit is None or 1 <= limit <= 10_000:
        return None
    return refused("reading/rank-size", f"the top {limit} cannot be shown", "ask for 1 to 10000")


def _unclear_rank(facets: Facets) -> Doubt | None:
    """`top 5 by revenue`: five of what?"""
    cue = facets.rank_cue
    if cue is None or facets.groups or facets.time_said or "anomaly" in facets.analyses:
        return None
    words = facets.scan.spoken(cue.first, cue.last)[0]
    return _of_which(words, _dimensions(facets))


def find_missing(facets: Facets, intent: str, asked: frozenset[str]) -> Doubt | None:
    """Words that must name something of the data and do not; or nothing to show. `asked` are the kinds found."""
    scan = facets.scan
    unknown = list(_unknown_names(scan))
    if intent not in ("summary", "detail"):
        implied = not facets.roles.measures and not facets.counted
        alone = intent == "distribution" and not (facets.spread_said or facets.counted)
        unknown += _unknown_nouns(scan)
        unknown += scan.unexplained[:1] if implied or alone or _is_half_related(facets) else ()
    if unknown:
        words = " ".join(scan.words[i].text for i in _run(min(unknown), scan.unexplained))
        return refused("reading/unknown", f"the data has nothing called {words!r}", _has(scan.table))
    if intent in ("summary", "detail") or asked & {"metric", "group_by", "time"}:
        return _half_asked(facets, intent)
    if asked:
        text = f"What do you want to know of these rows? {_has(scan.table)}."
        return Clarification(text=text, missing="what to show", candidates=_measures(facets))
    return _half_asked(facets, intent) or refused(
        "reading/nothing", "the question names nothing that the data has", _has(scan.table)
    )


def _half_asked(facets: Facets, intent: str) -> Doubt | None:
    """An analysis that lacks what it is of, or a chart that lacks an axis."""
    said = facets.chart_said
    axes = len(facets.groups) + bool(facets.time_said)
    if said and intent not in NO_AXES and axes < (2 if facets.chart_kind(intent) == "heatmap" else 1):
        return _of_which(facets.scan.spoken(*said)[0], _dimensions(facets), "by")
    lacks = intent == "anomaly" and not facets.roles.measures
    cue = facets.analyses.get("correlation" if _is_half_related(facets) else "anomaly")
    if cue is None or not (lacks or _is_half_related(facets)):
        return None
    return _of_which(facets.scan.spoken(cue.first, cue.last)[0], _measures(facets))


def _is_half_related(facets: Facets) -> bool:
    sides = len(facets.roles.measures) + len(facets.groups) + len(facets.scan.periods)
    return "correlation" in facets.analyses and sides + bool(facets.time_said) + bool(facets.counted) < 2


def _measures(facets: Facets) -> tuple[str, ...]:
    return tuple(column.name for column in facets.scan.table.columns if column.role == "measure")


def _dimensions(facets: Facets) -> tuple[str, ...]:
    return tuple(column.name for column in facets.scan.table.columns if column.role == "dimension")


def _of_which(words: str, candidates: tuple[str, ...], link: str = "of") -> Clarification:
    names = f" It could be {_either(candidates[:8])}." if candidates else ""
    put = f"{{missing}} {link} {{choice}}"
    return Clarification(text=f"{words!r} {link} what?{names}", missing=words, candidates=candidates, put=put)


def _unknown_nouns(scan: Scan) -> Iterator[int]:
    """Unknown words right behind `by`, `average` and the like, where something of the data must stand."""
    for cue in (*scan.groupings, *scan.functions):
        place = _noun_after(scan, cue)
        if place is not None:
            yield place


def _noun_after(scan: Scan, cue: Cue) -> int | None:
    place = cue.last
    named = {m.first for m in scan.mentions}
    while place < len(scan.words) and scan.words[place].stem in scan.lexicon.fillers and place not in named:
        place += 1
    behind = range(place + 1, min(place + 3, len(scan.words)))
    if place not in scan.unexplained or any(i in named for i in behind):
        return None  # nothing unknown, or an unknown adjective before a known name
    return place


def _unknown_names(scan: Scan) -> Iterator[int]:
    """Names that would narrow the question, were they in the data: `in france`, `of Acme`."""
    titled = sum(word.text[0].isupper() for word in scan.words) > len(scan.words) / 2
    for place in scan.unexplained:
        before = scan.words[place - 1].lower if place else ""
        if before in PLACED or (_is_name(scan, place) and not titled):
            yield place


def _is_name(scan: Scan, place: int) -> bool:
    """A capital letter, though no sentence begins there."""
    word = scan.words[place]
    before = scan.text[: word.start].rstrip(" \"'«“(")
    return word.text[0].isupper() and bool(before) and before[-1] not in ".!?:"


def _said(scan: Scan, comparison: Comparison) -> str:
    return scan.spoken(comparison.first, comparison.last)[0]


def _run(place: int, unexplained: tuple[int, ...]) -> Iterator[int]:
    while place in unexplained:
        yield place
        place += 1


def _either_of(words: str, candidates: tuple[str, ...], put: str = "{choice}") -> Clarification:
    text = f"{words!r} could mean {_either(candidates)}. Which one do you mean?"
    return Clarification(text=text, missing=words, candidates=candidates, put=put)


def _span(period: Period) -> str:
    """One day, or the first and the last."""
    last = period.end - timedelta(days=1)
    return period.start.isoformat() if last == period.start else f"from {period.start} to {last}"


def _either(names: tuple[str, ...]) -> str:
    return ", ".join(names[:-1]) + f" or {names[-1]}" if len(names) > 1 else names[0]


def _has(table: Table) -> str:
    names = ", ".join(column.name for column in table.columns[:20])
    return f"{table.name} has {names}{' …' if len(table.columns) > 20 else ''}"
