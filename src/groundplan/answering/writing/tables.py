"""Sentences about other kinds of table: ranks, shares, periods, distributions, correlations, anomalies, rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from groundplan.answering.writing.citing import Cites, Citing, Figure, is_number, placed
from groundplan.answering.writing.display import named, period
from groundplan.answering.writing.forms import Sentence
from groundplan.answering.writing.measures import changes, measured, movers, whole
from groundplan.answering.writing.phrases import METHODS, RELATED
from groundplan.answering.writing.subjects import Kind
from groundplan.answering.writing.tracing import Cell, Column, Derived, flat, total
from groundplan.text.names import worded

MOST_PAIRS = 5

Teller = Callable[[Citing, int], Iterator[Sentence]]


def described(cite: Citing, items: int) -> Iterator[Sentence]:
    """The sentences about one table; its lists are complete up to `items`."""
    subject = cite.subject
    if not subject.rows:
        if subject.kind == "anomalies":
            yield from _anomalies(cite, items)
        else:
            yield Sentence("no_rows", {})
    elif not subject.complete and subject.kind not in ("ranking", "shares", "summary"):
        yield from _listing(cite, items)  # rows are missing, so no statement about all rows is possible
    elif not subject.keys and len(subject.rows) > 1 and subject.kind in ("measured", "periods", "segments"):
        yield from _listing(cite, items)  # the key columns were dropped
    else:
        yield from list(TELLERS[subject.kind](cite, items)) or _listing(cite, items)


def _ranking(cite: Citing, items: int) -> Iterator[Sentence]:
    """One row as a sentence; several as a list, under a heading for each group they are ranked within."""
    params, rows = cite.subject.params, cite.subject.rows
    by, within, direction = params["by"], params.get("within", ()), params.get("direction", "top")
    names = [name for name in cite.subject.naming if name not in (by, *within)]
    one_each = params["limit"] == 1
    if not names:
        return  # nothing tells the rows apart: they are listed
    if one_each and not within and rows and rows[0][by] is None:
        yield Sentence("no_value", {"measure": cite.label(by)})  # an infinite number is shown as empty
        return
    if one_each and not within and len(rows) > 1:
        yield Sentence(
            f"{direction}_tied", {"count": cite.rows(), "measure": cite.label(by), "value": cite.cell(0, by)}
        )
        for row in range(min(items, len(rows))):
            yield Sentence("tied_entry", {"name": cite.names(row, names)})
        yield from _more(cite, items)
        return
    if one_each and not within:
        told = {"measure": cite.label(by), "name": cite.names(0, names), "value": cite.cell(0, by)}
        yield Sentence(f"{direction}_one", told)
        return
    asked = placed(str(params["limit"]), f"{cite.subject.params_path}.limit", params["limit"])
    head = {"measure": cite.label(by), "within": cite.labels(within)}
    if one_each:
        yield Sentence(f"{direction}_of_each", head)
    else:
        yield Sentence(direction, {"count": asked if within else cite.shown(), **head})
    for row in range(min(items, len(rows))):
        group = [rows[row][name] for name in within]
        told = {"name": cite.names(row, names), "value": cite.cell(row, by)}
        if one_each:
            yield Sentence("one_of_each", {"group": cite.names(row, within), **told})
            continue
        if within and (row == 0 or group != [rows[row - 1][name] for name in within]):
            yield Sentence("ranked_group", {"group": cite.names(row, within)})
        if "rank" in cite.subject.columns:
            yield Sentence("place", {"rank": cite.cell(row, "rank"), **told})
        else:
            yield Sentence("entry", told)
    yield from _more(cite, items)


def _shares(cite: Citing, items: int) -> Iterator[Sentence]:
    params, rows = cite.subject.params, cite.subject.rows
    column, share = params["column"], params.get("as", "share")
    yield Sentence(
        "shares",
        {
            "measure": cite.label(column),
            "dimensions": cite.labels(cite.subject.keys),
            "within": cite.labels(params.get("within", ())),
        },
    )
    told = [place for place, row in enumerate(rows) if is_number(row[share]) and is_number(row[column])]
    for row in sorted(told, key=lambda place: -cite.number(place, share))[:items]:
        names = cite.names(row, cite.subject.naming)
        yield Sentence("share", {"name": names, "share": cite.ratio(row, share), "value": cite.cell(row, column)})
    if len(told) > items:
        yield from _more(cite, items)


def _periods(cite: Citing, items: int) -> Iterator[Sentence]:
    subject = cite.subject
    before, after = (_period(cite, name) for name in ("previous", "current"))
    sides = [subject.measures[name] for name in ("previous", "current") if cite.figures(name, subject.keys)]
    if len(sides) == 2 and (sides[0].additive or not subject.keys):
        first, last = (whole(cite, side) for side in sides)
        move = "rise" if last.value > first.value else "fall" if last.value < first.value else "level"
        yield Sentence(
            f"periods_{move}",
            {
                "measure": cite.label("current"),
                "first": cite.figure(first),
                "before": before,
                "last": cite.figure(last),
                "after": after,
                "change": cite.change(first, last) if move != "level" else (),
            },
        )
    else:
        yield Sentence("periods", {"measure": cite.label("current"), "before": before, "after": after})
    by_row = [{figure.row: figure for figure in cite.figures(name, subject.keys)} for name in ("previous", "current")]
    yield from movers(cite, [(by_row[0][row], by_row[1][row]) for row in by_row[0] if row in by_row[1]], subject.keys)


def _period(cite: Citing, name: str) -> Cites:
    start, end = cite.subject.params[name]
    return placed(period(start, end, cite.language), f"{cite.subject.params_path}.{name}", flat((start, end)))


def _distribution(cite: Citing, items: int) -> Iterator[Sentence]:
    by = cite.subject.params.get("by", cite.subject.params.get("color"))
    for row, all_of_them in _most_frequent(cite, by)[:items]:
        part = Figure(cite.number(row, "count"), Cell(cite.subject.step, row, "count"), row, "count")
        told = {
            "column": _spread_of(cite),
            "name": cite.name(row, by) if by else (),
            "count": cite.figure(part),
            "total": cite.figure(all_of_them),
            "share": cite.share(part, all_of_them),
        }
        if _is_span(cite, row):
            edges = {"start": cite.cell(row, "bin_start"), "end": cite.cell(row, "bin_end")}
            yield Sentence("most_often", {**told, **edges})
        else:
            yield Sentence("most_frequent", {**told, "value": cite.name(row, "bin")})


def _most_frequent(cite: Citing, by: str | None) -> list[tuple[int, Figure]]:
    """For each group, the row with the highest count, and the total count."""
    found: dict[object, list[int]] = {}
    for place, row in enumerate(cite.subject.rows):
        found.setdefault(row[by] if by else None, []).append(place)
    told = []
    for places in found.values():
        alike = ((by, places[0]),) if by else ()
        count = sum(cite.number(place, "count") for place in places)
        trace = total(cite.subject.step, "count", *alike)
        told.append((max(places, key=lambda place: cite.number(place, "count")), Figure(count, trace, 0, "count")))
    return told


def _is_span(cite: Citing, row: int) -> bool:
    """Whether the bin is a range of numbers, not a name or a single whole number."""
    told = cite.subject.rows[row]
    return is_number(told["bin_start"]) and str(told.get("bin")) != named(told["bin_start"], cite.language)


def _spread_of(cite: Citing) -> Cites:
    """The column whose values are counted."""
    name = {"bins": "x", "boxes": "y"}.get(cite.subject.kind, "column")
    column = cite.subject.params[name]
    return placed(worded(column), f"{cite.subject.params_path}.{name}", column)


def _boxes(cite: Citing, items: int) -> Iterator[Sentence]:
    by = cite.subject.params.get("x")
    for row in range(min(items, len(cite.subject.rows))):
        columns = {"median": "median", "count": "count", "low": "q1", "high": "q3"}
        told = {slot: cite.cell(row, column) for slot, column in columns.items()}
        yield Sentence("box", {**told, "column": _spread_of(cite), "name": cite.name(row, by) if by else ()})
    yield from _more(cite, items)


def _summary(cite: Citing, items: int) -> Iterator[Sentence]:
    for row, told in enumerate(cite.subject.rows[:items]):
        column = cite.word(str(told["column"]), Cell(cite.subject.step, row, "column"))
        counts = {name: cite.cell(row, name) for name in ("count", "missing")}
        if told["mean"] is None:
            distinct = cite.cell(row, "distinct")
            yield Sentence("summary_of_text", {"column": column, "distinct": distinct, **counts})
            continue
        slots = {"mean": "mean", "median": "median", "low": "min", "high": "max"}
        numbers = {slot: cite.cell(row, name) for slot, name in slots.items()}
        yield Sentence("summary", {"column": column, **numbers, **counts})
    yield from _more(cite, items)


def _correlation(cite: Citing, items: int) -> Iterator[Sentence]:
    """The strongest pairs; the table has all of them."""
    yield from (_pair(cite, row) for row in _strongest(cite)[:MOST_PAIRS])


def _strongest(cite: Citing) -> list[int]:
    known = [place for place, row in enumerate(cite.subject.rows) if is_number(row["correlation"])]
    return sorted(known, key=lambda place: -abs(cite.number(place, "correlation")))


def _pair(cite: Citing, row: int) -> Sentence:
    strength, told = cite.number(row, "correlation"), cite.subject.rows[row]
    form = "together" if strength >= RELATED else "opposite" if strength <= -RELATED else "unrelated"
    pair = {side: cite.word(str(told[side]), Cell(cite.subject.step, row, side)) for side in ("left", "right")}
    numbers = {"correlation": cite.strength(row, "correlation"), "rows": cite.cell(row, "rows")}
    path, method = f"{cite.subject.params_path}.method", cite.subject.params.get("method", "pearson")
    return Sentence(form, {**pair, **numbers, "method": placed(METHODS[cite.language][method], path, method)})


def _anomalies(cite: Citing, items: int) -> Iterator[Sentence]:
    subject = cite.subject
    column = subject.params["column"]
    marked = [place for place, row in enumerate(subject.rows) if row["anomaly"] is True]
    trace = Derived("count", (Column(subject.step, "anomaly"),))
    if len(marked) > 1:
        count = cite.figure(Figure(len(marked), trace, 0, "anomaly"))
        yield Sentence("anomalies", {"count": count, "column": cite.label(column)})
    else:
        yield Sentence("anomalies_one" if marked else "anomalies_none", {"column": cite.label(column)})
    names = [name for name in subject.naming if name != column]
    for row in sorted(marked, key=lambda place: -abs(cite.number(place, "score")))[:items]:
        told = {"value": cite.cell(row, column), "expected": cite.cell(row, "expected")}
        yield Sentence("anomaly", {"name": cite.names(row, names), **told})
    if len(marked) > items:
        rest = cite.figure(Figure(len(marked) - items, Derived("rest", (trace, items)), 0, "anomaly"))
        yield Sentence("more", {"count": rest})


def _segments(cite: Citing, items: int) -> Iterator[Sentence]:
    column, keys = cite.subject.params["metric"]["as"], cite.subject.keys
    figures = cite.figures(column, keys)
    if not figures or not keys:
        yield from _listing(cite, items)
        return
    top, low = max(figures, key=lambda item: item.value), min(figures, key=lambda item: item.value)
    if top.value == low.value:
        yield from measured(cite)
        return
    yield Sentence(
        "segments",
        {
            "measure": cite.label(column),
            "overall": cite.cell(top.row, "overall"),
            "top": cite.names(top.row, keys),
            "top_value": cite.figure(top),
            "top_gap": cite.ratio(top.row, "difference_ratio", signed=True),
            "low": cite.names(low.row, keys),
            "low_value": cite.figure(low),
            "low_gap": cite.ratio(low.row, "difference_ratio", signed=True),
        },
    )


def _listing(cite: Citing, items: int) -> Iterator[Sentence]:
    columns = cite.labels(cite.subject.table.columns)
    if cite.subject.table.row_count == 1:
        yield Sentence("listing_of_one", {"columns": columns})
    else:
        yield Sentence("listing", {"count": cite.rows(), "columns": columns})


def _more(cite: Citing, listed: int) -> Iterator[Sentence]:
    if cite.subject.table.row_count > listed:
        yield Sentence("more", {"count": cite.rest(listed)})


def _forecast(cite: Citing, items: int) -> Iterator[Sentence]:
    """What is expected of each period to come, with its limits."""
    params, rows = cite.subject.params, cite.subject.rows
    ahead = [place for place, row in enumerate(rows) if row["part"] == "forecast"]
    yield Sentence("forecast", {"column": cite.label(params["column"])})
    for row in ahead[:items]:
        told = {name: cite.cell(row, name) for name in ("low", "high")}
        names = cite.names(row, [*params.get("by", ()), params["time"]])
        yield Sentence("forecast_entry", {"name": names, "value": cite.cell(row, params["column"]), **told})


TELLERS: Mapping[Kind, Teller] = {
    "forecast": _forecast,
    "anomalies": _anomalies,
    "correlation": _correlation,
    "periods": _periods,
    "bins": _distribution,
    "boxes": _boxes,
    "summary": _summary,
    "distribution": _distribution,
    "ranking": _ranking,
    "shares": _shares,
    "changes": lambda cite, _: changes(cite),
    "segments": _segments,
    "measured": lambda cite, _: measured(cite),
    "listing": _listing,
}
