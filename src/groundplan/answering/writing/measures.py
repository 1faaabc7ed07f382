"""Sentences about measures: one number, by group, over time, or both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from groundplan.answering.writing.citing import Cites, Citing, Figure, is_number
from groundplan.answering.writing.forms import Sentence, Slots
from groundplan.answering.writing.subjects import Quotient, ShownMeasure
from groundplan.text.names import is_plural

MOST_MEASURES = 4
MOST_DIMENSIONS = 3


def measured(cite: Citing) -> Iterator[Sentence]:
    for measure in _told(cite):
        if not cite.subject.keys:
            yield _one_number(cite, measure)
        elif _has_numbers(cite, measure):
            yield from _by_keys(cite, measure)


def movers(cite: Citing, pairs: Sequence[tuple[Figure, Figure]], names: Sequence[str]) -> Iterator[Sentence]:
    """The groups that rose and fell most, if there are several."""
    if len(pairs) < 2:
        return
    risen = max(pairs, key=lambda pair: pair[1].value - pair[0].value)
    fallen = min(pairs, key=lambda pair: pair[1].value - pair[0].value)
    for form, (first, last) in (("rises_most", risen), ("falls_most", fallen)):
        if (last.value > first.value) == (form == "rises_most") and first.value != last.value:
            yield _moved(cite, form, first, last, names)


def whole(cite: Citing, measure: ShownMeasure) -> Figure:
    """The total of a measure."""
    return cite.figures(measure.column, ())[0]


def _told(cite: Citing) -> list[ShownMeasure]:
    numbers = [measure for measure in cite.subject.measures.values() if measure.column not in cite.subject.keys]
    rates = [measure for measure in numbers if measure.quotient]  # each is told with its two parts
    measures = rates or [measure for measure in numbers if measure.function] or numbers
    return measures[: MOST_MEASURES if cite.subject.keys else None]


def _has_numbers(cite: Citing, measure: ShownMeasure) -> bool:
    return any(is_number(row[measure.column]) for row in cite.subject.rows)


def _one_number(cite: Citing, measure: ShownMeasure) -> Sentence:
    label = cite.label(measure.column)
    if cite.subject.rows[0][measure.column] is None:
        return Sentence("no_value", {"measure": label})
    value = cite.figures(measure.column, ())
    told = cite.figure(value[0], fully=True) if value else cite.name(0, measure.column)
    if measure.quotient and value:
        return Sentence(
            measure.quotient.kind, {"measure": label, "value": told, **_parts(cite, measure.quotient, value[0])}
        )
    return _whole(cite, measure, told)


def _by_keys(cite: Citing, measure: ShownMeasure) -> Iterator[Sentence]:
    time, groups = cite.subject.time, cite.telling(cite.subject.groups)
    yield from _overall(cite, measure)
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


def _parts(cite: Citing, told: Quotient, rate: Figure, side: str = "") -> Slots:
    """The two numbers that the rate of a row divides."""
    return {f"{side}part": cite.cell(rate.row, told.part), f"{side}whole": cite.cell(rate.row, told.whole)}


def _overall(cite: Citing, measure: ShownMeasure) -> Iterator[Sentence]:
    """The rate over all groups, if its parts add up."""
    told, measures = measure.quotient, cite.subject.measures
    if (
        told is None
        or told.kind in ("quotient", "percent")
        or not (measures[told.part].additive and measures[told.whole].additive)
    ):
        return
    if not (_has_numbers(cite, measures[told.part]) and _has_numbers(cite, measures[told.whole])):
        return
    part, all_of_it = (whole(cite, measures[name]) for name in (told.part, told.whole))
    if all_of_it.value > 0:
        rate = cite.share(part, all_of_it, fine=True) if told.kind == "rate" else cite.change(all_of_it, part)
        sides = {"part": cite.figure(part), "whole": cite.figure(all_of_it)}
        yield Sentence(f"overall_{told.kind}", {"measure": cite.label(measure.column), "value": rate, **sides})


def _total(cite: Citing, measure: ShownMeasure) -> Sentence:
    return _whole(cite, measure, cite.figure(whole(cite, measure), fully=True))


def _whole(cite: Citing, measure: ShownMeasure, told: Cites) -> Sentence:
    label = measure.label(cite.language)
    plural = is_plural(label)
    if measure.counted(cite.language) and told[0].value != 1:
        return Sentence("things_counted", {"measure": cite.counted(measure), "value": told})
    if measure.counts_rows and not (cite.language == "ru" and measure.table):
        return Sentence("one_row_counted" if told[0].value == 1 else "rows_counted", {"value": told})
    counts = measure.name is not None and measure.function in ("count", "count_distinct")
    if counts and plural and told[0].value != 1:
        return Sentence("things_counted", {"measure": cite.label(measure.column), "value": told})
    summed = measure.function == "sum" and not label.lower().startswith("total ")  # it says so itself
    form = "value" if not summed else "total_of_several" if plural else "total"
    return Sentence(form, {"measure": cite.label(measure.column), "value": told})


def _extremes(cite: Citing, measure: ShownMeasure) -> Sentence:
    column, keys = measure.column, (*cite.subject.groups, *filter(None, [cite.subject.time]))
    figures = sorted(cite.figures(column, keys), key=lambda f: [str(cite.subject.rows[f.row][key]) for key in keys])
    top, low = _highest(figures), _lowest(_of_full_periods(cite, figures))
    label = cite.label(column)
    if len(figures) == 1:
        return Sentence("one", {"measure": label, "value": cite.figure(top), "name": cite.names(top.row, keys)})
    if top.value == min(figure.value for figure in figures):
        form = "same" if len(figures) == cite.subject.table.row_count else "same_known"
        return Sentence(form, {"measure": label, "count": cite.rows(), "value": cite.figure(top)})
    if measure.quotient:
        return _extreme_rates(cite, measure, top, low)
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


def _extreme_rates(cite: Citing, measure: ShownMeasure, top: Figure, low: Figure) -> Sentence:
    told = measure.quotient
    assert told is not None
    keys = (*cite.subject.groups, *filter(None, [cite.subject.time]))
    slots = {
        "measure": cite.label(measure.column),
        "top": cite.names(top.row, keys),
        "top_value": cite.figure(top),
        **_parts(cite, told, top, "top_"),
        "low": cite.names(low.row, keys),
        "low_value": cite.figure(low),
        **_parts(cite, told, low, "low_"),
    }
    return Sentence(f"extremes_of_{told.kind}", slots)


def _of_full_periods(cite: Citing, figures: Sequence[Figure]) -> Sequence[Figure]:
    """Without partial periods, which are low only because days are missing."""
    time, partial = cite.subject.time, cite.subject.incomparable
    return [f for f in figures if not time or cite.subject.rows[f.row][time] not in partial] or figures


def _leaders(cite: Citing, measure: ShownMeasure) -> Iterator[Sentence]:
    """The largest and the smallest part by each dimension alone."""
    column, all_of_it = measure.column, whole(cite, measure)
    for dimension in cite.telling(cite.subject.groups)[:MOST_DIMENSIONS]:
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


def _series(cite: Citing, measure: ShownMeasure, time: str) -> Iterator[Sentence]:
    column = measure.column
    figures = cite.figures(column, [time])
    times = cite.subject.full_times(column)
    dated = sorted((f for f in figures if str(cite.subject.rows[f.row][time]) in times), key=_at(cite, time))
    if len(dated) < 2:
        if not cite.subject.groups:
            yield _extremes(cite, measure)
        return
    first, last, peak, low = dated[0], dated[-1], _highest(figures), _lowest(_of_full_periods(cite, figures))
    move = "rises" if last.value > first.value else "falls" if last.value < first.value else "level"
    if peak.value == low.value:
        ends = {"start": cite.name(first.row, time), "end": cite.name(last.row, time), "grain": cite.rhythm(time)}
        yield Sentence("series_flat", {**ends, "measure": cite.label(column), "first": cite.figure(first)})
        return
    yield Sentence(
        f"series_{move}",
        {
            "start": cite.name(first.row, time),
            "end": cite.name(last.row, time),
            "grain": cite.rhythm(time),
            "measure": cite.label(column),
            "first": cite.figure(first),
            "last": cite.figure(last),
            "change": cite.change(first, last) if move != "level" and not cite.subject.columns[column].ratio else (),
            "peak": cite.figure(peak),
            "peak_at": cite.name(peak.row, time),
            "low": cite.figure(low),
            "low_at": cite.name(low.row, time),
        },
    )


def _ends(cite: Citing, measure: ShownMeasure, time: str) -> list[tuple[Figure, Figure]]:
    """Each group's figures in the first and in the last period, if it has both."""
    rows, groups = cite.subject.rows, cite.subject.groups
    times = cite.subject.full_times(measure.column)
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
            "change": () if cite.subject.columns[last.column].ratio else cite.change(first, last),
        },
    )


def changes(cite: Citing) -> Iterator[Sentence]:
    """The last change with the two values it compares, then the highest and the lowest change."""
    params, time = cite.subject.params, cite.subject.time
    base, change = cite.subject.measures[params["column"]], cite.subject.measures[params["as"]]
    if not _has_numbers(cite, change):
        return
    if time and not cite.subject.groups:
        yield from _last_change(cite, base.column, change.column, time, params["against"])
    if len(cite.figures(change.column, cite.subject.keys)) > 1:
        yield _extremes(cite, change)


def _last_change(cite: Citing, base: str, change: str, time: str, against: str) -> Iterator[Sentence]:
    rows = {str(row[time]): place for place, row in enumerate(cite.subject.rows) if row[time] is not None}
    last = rows[cite.subject.full_times(change)[-1]]
    at = str(cite.subject.rows[last][time])
    earlier = [day for day in sorted(rows) if day < at]
    before = rows.get(f"{int(at[:4]) - 1}{at[4:]}") if against == "year" else rows[earlier[-1]] if earlier else None
    if before is None or not is_number(cite.subject.rows[before][base]) or not is_number(cite.subject.rows[last][base]):
        return
    moved = cite.number(last, base) - cite.number(before, base)
    yield Sentence(
        "change_rise" if moved > 0 else "change_fall" if moved < 0 else "change_level",
        {
            "measure": cite.label(base),
            "first": cite.cell(before, base),
            "before": cite.name(before, time),
            "last": cite.cell(last, base),
            "after": cite.name(last, time),
            "change": cite.cell(last, change) if moved else (),
        },
    )


def _highest(figures: Sequence[Figure]) -> Figure:
    return max(figures, key=lambda figure: figure.value)


def _lowest(figures: Sequence[Figure]) -> Figure:
    return min(figures, key=lambda figure: figure.value)


def _at(cite: Citing, time: str) -> Callable[[Figure], str]:
    return lambda figure: str(cite.subject.rows[figure.row][time])
