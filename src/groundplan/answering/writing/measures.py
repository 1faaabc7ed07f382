"""Sentences about measures: one number, by group, over time, or both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from groundplan.answering.writing.citing import Citing, Figure, is_number
from groundplan.answering.writing.forms import Sentence
from groundplan.answering.writing.phrases import is_plural
from groundplan.answering.writing.subjects import Measure

MOST_MEASURES = 4
MOST_DIMENSIONS = 3


def measured(cite: Citing) -> Iterator[Sentence]:
    for measure in _told(cite):
        if not cite.subject.keys:
            yield _one_number(cite, measure)
        elif _has_numbers(cite, measure):
            yield from _by_keys(cite, measure)


def further_measured(cite: Citing) -> Iterator[Sentence]:
    """For additive groups: the total if only parts are stated, and single cells if only sums are."""
    for measure in _told(cite):
        if measure.additive and cite.subject.groups and _has_numbers(cite, measure):
            yield _total(cite, measure) if cite.subject.time is None else _extremes(cite, measure)


def movers(cite: Citing, pairs: Sequence[tuple[Figure, Figure]], names: Sequence[str]) -> Iterator[Sentence]:
    """The groups that rose and fell most, if there are several."""
    if len(pairs) < 2:
        return
    risen = max(pairs, key=lambda pair: pair[1].value - pair[0].value)
    fallen = min(pairs, key=lambda pair: pair[1].value - pair[0].value)
    for form, (first, last) in (("rises_most", risen), ("falls_most", fallen)):
        if (last.value > first.value) == (form == "rises_most") and first.value != last.value:
            yield _moved(cite, form, first, last, names)


def whole(cite: Citing, measure: Measure) -> Figure:
    """The total of a measure."""
    return cite.figures(measure.column, ())[0]


def _told(cite: Citing) -> list[Measure]:
    numbers = [measure for measure in cite.subject.measures.values() if measure.column not in cite.subject.keys]
    measures = [measure for measure in numbers if measure.function] or numbers
    return measures[: MOST_MEASURES if cite.subject.keys else None]


def _has_numbers(cite: Citing, measure: Measure) -> bool:
    return any(is_number(row[measure.column]) for row in cite.subject.rows)


def _one_number(cite: Citing, measure: Measure) -> Sentence:
    label = cite.label(measure.column)
    if cite.subject.rows[0][measure.column] is None:
        return Sentence("no_value", {"measure": label})
    value = cite.figures(measure.column, ())
    told = cite.figure(value[0], fully=True) if value else cite.name(0, measure.column)
    return Sentence(_total_form(cite, measure), {"measure": label, "value": told})


def _by_keys(cite: Citing, measure: Measure) -> Iterator[Sentence]:
    time, groups = cite.subject.time, cite.subject.groups
    if time is None:
        yield _extremes(cite, measure)
        if measure.additive and len(groups) > 1:
            yield from _leaders(cite, measure)
        return
    if measure.additive:
        yield _total(cite, measure)
        yield from _series(cite, measure, time)
        yield from _leaders(cite, measure)
    elif groups:
        yield _extremes(cite, measure)
    else:
        yield from _series(cite, measure, time)
    if groups:
        yield from movers(cite, _ends(cite, measure, time), groups)


def _total(cite: Citing, measure: Measure) -> Sentence:
    told = cite.figure(whole(cite, measure), fully=True)
    return Sentence(_total_form(cite, measure), {"measure": cite.label(measure.column), "value": told})


def _total_form(cite: Citing, measure: Measure) -> str:
    if measure.function != "sum":
        return "value"
    return "total_of_several" if is_plural(measure.label(cite.language)) else "total"


def _extremes(cite: Citing, measure: Measure) -> Sentence:
    column, keys = measure.column, (*cite.subject.groups, *filter(None, [cite.subject.time]))
    figures = cite.figures(column, keys)
    top, low = _highest(figures), _lowest(figures)
    label = cite.label(column)
    if len(figures) == 1:
        return Sentence("one", {"measure": label, "value": cite.figure(top), "name": cite.names(top.row, keys)})
    if top.value == low.value:
        return Sentence("same", {"measure": label, "count": cite.rows(), "value": cite.figure(top)})
    all_of_it = whole(cite, measure)
    divisible = measure.additive and all_of_it.value > 0 and low.value >= 0
    return Sentence(
        "extremes",
        {
            "measure": label,
            "top": cite.names(top.row, keys),
            "top_value": cite.figure(top),
            "share": cite.share(top, all_of_it) if divisible else (),
            "total": cite.figure(all_of_it) if divisible else (),
            "low": cite.names(low.row, keys),
            "low_value": cite.figure(low),
        },
    )


def _leaders(cite: Citing, measure: Measure) -> Iterator[Sentence]:
    """The largest and the smallest part by each dimension alone."""
    column, all_of_it = measure.column, whole(cite, measure)
    for dimension in cite.subject.groups[:MOST_DIMENSIONS]:
        figures = cite.figures(column, [dimension])
        top, low = _highest(figures), _lowest(figures)
        if top.value == low.value or low.value < 0 or all_of_it.value <= 0:
            continue
        yield Sentence(
            "leader",
            {
                "measure": cite.label(column),
                "dimension": cite.label(dimension),
                "top": cite.name(top.row, dimension),
                "top_value": cite.figure(top),
                "share": cite.share(top, all_of_it),
                "low": cite.name(low.row, dimension),
                "low_value": cite.figure(low),
            },
        )


def _series(cite: Citing, measure: Measure, time: str) -> Iterator[Sentence]:
    column = measure.column
    figures = cite.figures(column, [time])
    dated = sorted((f for f in figures if cite.subject.rows[f.row][time] is not None), key=_at(cite, time))
    if len(dated) < 2:
        if not cite.subject.groups:
            yield _extremes(cite, measure)
        return
    first, last, peak, low = dated[0], dated[-1], _highest(figures), _lowest(figures)
    move = "rises" if last.value > first.value else "falls" if last.value < first.value else "level"
    yield Sentence(
        f"series_{move}",
        {
            "start": cite.name(first.row, time),
            "end": cite.name(last.row, time),
            "grain": cite.rhythm(time),
            "measure": cite.label(column),
            "first": cite.figure(first),
            "last": cite.figure(last),
            "change": cite.change(first, last) if move != "level" else (),
            "peak": cite.figure(peak),
            "peak_at": cite.name(peak.row, time),
            "low": cite.figure(low),
            "low_at": cite.name(low.row, time),
        },
    )


def _ends(cite: Citing, measure: Measure, time: str) -> list[tuple[Figure, Figure]]:
    """Each group's figures in the first and in the last period, if it has both."""
    rows, groups = cite.subject.rows, cite.subject.groups
    times = sorted({str(row[time]) for row in rows if row[time] is not None})
    if len(times) < 2:
        return []
    figures = cite.figures(measure.column, cite.subject.keys)
    by_end = [
        {tuple(rows[f.row][name] for name in groups): f for f in figures if str(rows[f.row][time]) == end}
        for end in (times[0], times[-1])
    ]
    return [(by_end[0][key], by_end[1][key]) for key in by_end[0] if key in by_end[1]]


def _moved(cite: Citing, form: str, first: Figure, last: Figure, names: Sequence[str]) -> Sentence:
    return Sentence(
        form,
        {
            "measure": cite.label(last.column),
            "name": cite.names(first.row, names),
            "first": cite.figure(first),
            "last": cite.figure(last),
            "change": cite.change(first, last),
        },
    )


def _highest(figures: Sequence[Figure]) -> Figure:
    return max(figures, key=lambda figure: figure.value)


def _lowest(figures: Sequence[Figure]) -> Figure:
    return min(figures, key=lambda figure: figure.value)


def _at(cite: Citing, time: str) -> Callable[[Figure], str]:
    return lambda figure: str(cite.subject.rows[figure.row][time])
