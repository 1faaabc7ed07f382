"""The rules by which a fragment edits a question: what it replaces and what it adds. What it does not name stays.

- What to compute: the new takes the place of the old and keeps its function; `also`, `add` and `plus` add.
- A function alone takes the place of the old one.
- Groups replace groups, a time axis replaces a time axis, and each leaves the other alone. `and by` adds;
  `instead` replaces the whole breakdown.
- A condition replaces one on the same column and leaves those on others alone. `also` widens it; a value that is left
  out is taken from those that were kept, or joins those that were left out. A period replaces the period.
- A ranking replaces the ranking; a chart or a table replaces the chart or the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date

from groundplan.asking.tables.columns import Mention
from groundplan.asking.tables.conditions import compared_mentions, spent_mentions, value_filters
from groundplan.asking.tables.facets import Facets
from groundplan.asking.tables.follow_up.fragments import Fragment, Span, counted_span, load_edit_words, time_cues
from groundplan.asking.tables.follow_up.splice import Splice
from groundplan.asking.tables.numbers import Comparison, find_comparisons
from groundplan.asking.tables.roles import Measure, grouped_mentions
from groundplan.asking.tables.scan import Scan
from groundplan.asking.tables.values import ValueMention
from groundplan.contracts.answer import Clarification
from groundplan.contracts.reading import Filter
from groundplan.text.lexicon import Cue
from groundplan.text.periods.find import Found, find_periods

Rule = Callable[[Facets, Fragment, Splice, date], Clarification | None]


def merge(base: Facets, fragment: Fragment, splice: Splice, today: date) -> Clarification | None:
    """Writes the fragment into the splice; what cannot be told is asked back."""
    return next((doubt for rule in RULES if (doubt := rule(base, fragment, splice, today))), None)


def _metric(base: Facets, fragment: Fragment, splice: Splice, _: date) -> Clarification | None:
    if fragment.metric is None:
        return None
    words, old = _said(fragment.scan, fragment.metric), measured(base)
    related = any(cue.label == "correlation" for cue in fragment.analyses)
    counted = counted_span(base.scan, base.counted) if base.counted else None
    if (old or counted) and (fragment.adds or related):
        place = max([*(measure.said[1] for measure in old), counted[1] if counted else 0])
        splice.insert(place, f", {words}")
    elif old:
        _put_metric(base, fragment, splice, words)
    elif counted:
        splice.put(*counted, words)
    else:
        splice.add(words)
    return None


def _put_metric(base: Facets, fragment: Fragment, splice: Splice, words: str) -> None:
    """In place of the first; a function of its own replaces the old one."""
    first, *others = (measure.mention for measure in measured(base))
    splice.put(first.first, first.last, words)
    for mention in others:
        splice.cross_out(mention.first, mention.last)
    if not fragment.measures or any(measure.function for measure in fragment.measures):
        for cue in _functions(base):
            splice.strike(cue.first, cue.last)


def measured(base: Facets) -> list[Measure]:
    compared = compared_mentions(base.scan)
    return [m for m in base.roles.measures if m.function or m.mention not in compared]


def _functions(base: Facets) -> Iterator[Cue]:
    """The words for the functions of what is computed."""
    for cue in base.scan.functions:
        if any(m.function == cue.label and cue.first in range(*m.said) for m in base.roles.measures):
            yield cue


def _function(base: Facets, fragment: Fragment, splice: Splice, _: date) -> Clarification | None:
    cue = fragment.function
    if cue is None:
        return None
    words, old = _said(fragment.scan, (cue.first, cue.last)), base.roles.measures
    if not old:
        numbers = tuple(c.name for c in base.scan.table.columns if c.role == "measure")
        return Clarification(text=f"{words!r} of what? Please name a column.", missing=words, candidates=numbers)
    for spoken in (replaced := [*_functions(base)]):
        splice.strike(spoken.first, spoken.last)
    splice.insert(replaced[0].first if replaced else old[0].mention.first, words)
    for measure in old:
        splice.touch(*measure.said)
    return None


def _groups(base: Facets, fragment: Fragment, splice: Splice, _: date) -> Clarification | None:
    new, old = fragment.groups, base.roles.groups
    instead = "replace" in fragment.signs and (fragment.groups or fragment.time)
    words = " and ".join(_said(fragment.scan, (m.first, m.last)) for m in new)
    if instead:
        cross_out_time(base, splice)
    if new and (not old or fragment.adds or "join" in fragment.signs):
        splice.add(f"by {words}")
    elif new or instead:
        _replace_groups(old, words, splice)
    return None


def _replace_groups(old: list[Mention], words: str, splice: Splice) -> None:
    if words:
        splice.put(old[0].first, old[0].last, words)
    for mention in old[1:] if words else old:
        splice.cross_out(mention.first, mention.last)


def _time(base: Facets, fragment: Fragment, splice: Splice, _: date) -> Clarification | None:
    if fragment.time is None:
        return None
    cross_out_time(base, splice, trend=False)
    words = _said(fragment.scan, fragment.time)
    splice.add(words if any(time_cues(fragment.facets)) else f"by {words}")
    return None


def cross_out_time(base: Facets, splice: Splice, *, trend: bool = True) -> None:
    """The time axis; the word `trend` may stay for another one."""
    for cue in time_cues(base):
        if trend or cue.label != "trend":
            splice.cross_out(cue.first, cue.last)
    named = base.roles.time or base.roles.ordinal
    if named:
        splice.cross_out(named.first, named.last)
    if base.time_said:
        splice.touch(*base.time_said)


def _values(base: Facets, fragment: Fragment, splice: Splice, _: date) -> Clarification | None:
    for column, new in by_column(fragment.scan).items():
        old = by_column(base.scan).get(column, [])
        words = _said(fragment.scan, _with_its_column(fragment.scan, column, new))
        if old and _is_left_out(fragment.scan, column):
            doubt = _leave_out(base.scan, column, old, new, splice)
            if doubt:
                return doubt
        elif old and fragment.adds and not _is_left_out(base.scan, column):
            splice.insert(old[-1].last, f", {_said(fragment.scan, (new[0].first, new[-1].last))}")
            splice.touch(old[0].first, old[-1].last)
        else:
            splice.cross_out_values(column, ((value.first, value.last) for value in old))
            splice.add(words)
    return None


def by_column(scan: Scan) -> dict[str, list[ValueMention]]:
    found: dict[str, list[ValueMention]] = {}
    for mention in scan.value_mentions:
        found.setdefault(mention.column, []).append(mention)
    return found


def _is_left_out(scan: Scan, column: str) -> bool:
    values = (r.value for r in value_filters(scan) if isinstance(r.value, Filter))
    return any(value.column == column and value.operator in ("!=", "not in") for value in values)


def _leave_out(
    scan: Scan, column: str, old: list[ValueMention], new: list[ValueMention], splice: Splice
) -> Clarification | None:
    """`without the East`: from those that were kept, or beside those that were left out."""
    names = {value.value for value in new}
    if _is_left_out(scan, column):
        splice.insert(old[-1].last, "".join(f", {name}" for name in sorted(names)))
        splice.touch(old[0].first, old[-1].last)
        return None
    gone = [value for value in old if value.value in names]
    kept = {value.value for value in old} - names
    if not kept or {value.value for value in gone} != names:
        text = f"Only {_list(v.value for v in old)} was asked about before. Which {column} do you mean now?"
        return Clarification(text=text, missing=column, candidates=tuple(sorted(kept)))
    for value in gone:
        splice.cross_out(value.first, value.last)
    splice.touch(old[0].first, old[-1].last)
    return None


def _with_its_column(scan: Scan, column: str, values: list[ValueMention]) -> Span:
    """The values with what leaves them out and with the name of their column."""
    first, last = values[0].first, values[-1].last
    if _is_left_out(scan, column):
        first = max((cue.first for cue in scan.cues(scan.lexicon.negations) if cue.last <= first), default=first)
    named = [m for m in spent_mentions(scan) if m.column.name == column]
    return min([first, *(m.first for m in named)]), max([last, *(m.last for m in named)])


def _numbers(base: Facets, fragment: Fragment, splice: Splice, _: date) -> Clarification | None:
    for span, columns in _compared(fragment.comparisons).items():
        for column in columns:
            cross_out_comparisons(base, column, splice)
        splice.add(_said(fragment.scan, span))
    return None


def _compared(comparisons: Iterable[Comparison]) -> dict[Span, set[str]]:
    """Each phrase once: `between 10 and 20` is two comparisons."""
    found: dict[Span, set[str]] = {}
    for comparison in comparisons:
        named = comparison.mention
        span = (comparison.first, comparison.last)
        if named:
            span = min(span[0], named.first), max(span[1], named.last)
        found.setdefault(span, set()).update({named.column.name} if named else ())
    return found


def cross_out_comparisons(base: Facets, column: str, splice: Splice) -> None:
    """The condition; the name of the column too, where it stands there only for it."""
    used = [*(m.mention for m in measured(base)), *base.roles.groups]
    for comparison in find_comparisons(base.scan):
        if comparison.mention is None or comparison.mention.column.name != column:
            continue
        splice.cross_out(comparison.first, comparison.last)
        if comparison.mention not in used:
            splice.cross_out(comparison.mention.first, comparison.mention.last)


def _period(base: Facets, fragment: Fragment, splice: Splice, today: date) -> Clarification | None:
    new, old = fragment.scan.periods, base.scan.periods
    if not new:
        return None
    words = fragment.scan.text[new[0].start : new[-1].end]
    if len(old) > 1:
        text = f"The question before is about several periods. What should {words!r} stand for? Please ask anew."
        return Clarification(text=text, missing=words)
    doubt = _unclear_year(old, new, words, today)
    if doubt:
        return doubt
    if any(cue.label == "compare" for cue in fragment.analyses):
        if not old:
            return Clarification(text=f"Which period should be compared with {words!r}?", missing="the other period")
        splice.insert(_word_span(base.scan, old[0])[1], f"and {words}")
        splice.add("compare")
        return None
    cross_out_periods(base, splice)
    splice.add(words)
    return None


def _unclear_year(old: tuple[Found, ...], new: tuple[Found, ...], words: str, today: date) -> Clarification | None:
    """`in March`, right behind a question about 2024: that year's, or the latest?"""
    before, plain = (old[0].period if old else None), new[0].period
    if before is None or plain is None or len(new) > 1 or (before.end - before.start).days > 366:
        return None
    found = find_periods(f"{words} {before.start.year}", today, plain.timezone)
    dated = found[0].period if len(found) == 1 else None
    if dated is None or (dated.start, dated.end) == (plain.start, plain.end):
        return None
    spans = tuple(f"{p.start.isoformat()} up to {p.end.isoformat()}" for p in (dated, plain))
    return Clarification(text=f"{words!r} could mean {' or '.join(spans)}.", missing=words, candidates=spans)


def cross_out_periods(base: Facets, splice: Splice) -> None:
    for found in base.scan.periods:
        splice.cross_out(*_word_span(base.scan, found))
    for mention in spent_mentions(base.scan) - grouped_mentions(base.scan):
        if mention.column.kind == "time" or mention.column.role == "temporal":
            splice.cross_out(mention.first, mention.last)


def _word_span(scan: Scan, found: Found) -> Span:
    places = [i for i, word in enumerate(scan.words) if found.start <= word.start and word.end <= found.end]
    return places[0], places[-1] + 1


def _rank(base: Facets, fragment: Fragment, splice: Splice, _: date) -> Clarification | None:
    if fragment.rank is None:
        return None
    words, old = _said(fragment.scan, (fragment.rank.first, fragment.rank.last)), base.rank_cue
    if old:
        splice.put(old.first, old.last, words)
    else:
        splice.add(words)
    return None


def _outputs(base: Facets, fragment: Fragment, splice: Splice, _: date) -> Clarification | None:
    if fragment.outputs:
        cross_out_outputs(base, splice)
        first, last = min(cue.first for cue in fragment.outputs), max(cue.last for cue in fragment.outputs)
        splice.add(_said(fragment.scan, (first, last)))
    return None


def cross_out_outputs(base: Facets, splice: Splice) -> None:
    """The words for a chart or a table; what else such a word says is said in another way."""
    said = load_edit_words().said_by_chart
    for kind, cue in (*base.charts.items(), *base.outputs.items()):
        other = "over time" if base.time_said == (cue.first, cue.last) else said.get(kind)
        if other:
            splice.put(cue.first, cue.last, other)
        else:
            splice.cross_out(cue.first, cue.last)


def _analyses(_: Facets, fragment: Fragment, splice: Splice, __: date) -> Clarification | None:
    for cue in fragment.analyses:
        if cue.label != "compare":
            splice.add(_said(fragment.scan, (cue.first, cue.last)))
    return None


def _said(scan: Scan, span: Span) -> str:
    return scan.spoken(*span)[0]


def _list(names: Iterable[str]) -> str:
    return " and ".join(names)


RULES: tuple[Rule, ...] = (
    _metric,
    _function,
    _groups,
    _time,
    _values,
    _numbers,
    _period,
    _rank,
    _outputs,
    _analyses,
)
