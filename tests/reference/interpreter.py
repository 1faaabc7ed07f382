"""Answers a reading by its definition: plain Python over rows. No Ibis, no SQL, and no code of the planner."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from statistics import mean, median, stdev
from typing import Any

from groundplan.contracts import expression as e
from groundplan.contracts.reading import (
    ColumnsAsked,
    Each,
    Filter,
    GroupBy,
    Metric,
    Rank,
    Reading,
    Time,
)

Row = Mapping[str, Any]
COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3_600,
    "day": 86_400,
    "week": 604_800,
    "month": 2_629_746,
    "year": 31_556_952,
}
ROUNDING = {"down": ROUND_FLOOR, "up": ROUND_CEILING, "nearest": ROUND_HALF_UP, "toward_zero": ROUND_DOWN}
PLACE = "·place"
SERIES = (e.Share, e.Change, e.Running, e.Moving)
ROWS: ContextVar[Sequence[Row]] = ContextVar("all rows of the table, for overall values")


def answer(reading: Reading, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows of the answer in their order; a cut is made by value, so that ties stay in.

    Each row has its place in the order that was asked for under `PLACE`, the same for those that tie.
    The clock of a moment with a time zone is that of UTC.
    """
    rows = [{name: _simple(item) for name, item in row.items()} for row in rows]
    ROWS.set(rows)

    def of(kind: type) -> list[Any]:
        return [r.value for r in reading.requirements if isinstance(r.value, kind)]

    each, filters = next(iter(of(Each)), None), [f.condition for f in of(Filter)]
    own = {made.name for made in (*each.measures, *each.computed)} if each else set()
    plain = [c for c in filters if not _measures(c) and not own & e.columns_of(c)]
    kept = [row for row in rows if all(holds(c, row) is True for c in plain)]
    if each:
        made_keys = {one.name: one.expression for one in each.computed}
        things = _grouped(kept, {key: made_keys.get(key, e.Column(name=key)) for key in each.keys}).items()
        kept = [
            {**dict(zip(each.keys, key, strict=True)), **{m.name: over(m.expression, part) for m in each.measures}}
            for key, part in things
        ]
        kept = [row for row in kept if all(holds(c, row) is True for c in filters if own & e.columns_of(c))]
    rank = next(iter(of(Rank)), None)
    if not of(Metric) and not of(GroupBy) and not of(Time):
        listed = [{**row, "·keys": [value(by, row) for by in _orders(rank, None)]} for row in kept]
        return _ranked(listed, rank, of(ColumnsAsked))
    groups = {g.column: g.expression or e.Column(name=g.column) for g in of(GroupBy)}
    groups |= {t.column: e.DateCut(of=e.Column(name=t.column), grain=t.grain) for t in of(Time)}
    parts = _grouped(kept, groups) if groups else {(): kept}
    table = [(dict(zip(groups, key, strict=True)), part) for key, part in parts.items()]
    ordered = [g.column for g in of(GroupBy) if g.ordered]
    along = next(iter([t.column for t in of(Time)] or ordered), None)
    orders = _orders(rank, of(Metric)[0].expression if of(Metric) else None)

    def ordering(by: e.Expression, index: int) -> Any:
        return value(by, table[index][0]) if e.level(by) == "row" else _series(by, index, table, along)

    made = [
        {
            **key,
            **{m.name: _series(m.expression, index, table, along) for m in of(Metric)},
            "·": part,
            "·keys": [ordering(by, index) for by in orders],
        }
        for index, (key, part) in enumerate(table)
    ]
    having = [c for c in filters if _measures(c)]
    made = [row for row in made if all(holds(c, row["·"], over) is True for c in having)]
    return _ranked(made, rank, [])


def _orders(rank: Rank | None, first: e.Expression | None) -> list[e.Expression]:
    return [] if rank is None else [rank.by or first, *(one.by for one in rank.then)]


def _ranked(rows: list[dict[str, Any]], rank: Rank | None, columns: Sequence[ColumnsAsked]) -> list[dict[str, Any]]:
    if rank is not None:
        directions = [rank.direction, *(one.direction for one in rank.then)]
        places = {place: n for n, place in enumerate(sorted({_place(row, directions) for row in rows}))}
        rows = sorted(({**row, PLACE: places[_place(row, directions)]} for row in rows), key=lambda row: row[PLACE])
    if rank is not None and rank.limit is not None:
        parts: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in rows:
            parts.setdefault(tuple(row[name] for name in rank.within), []).append(row)
        rows = [row for part in parts.values() for row in _cut(part, rank.limit, rank.ties)]
    if columns:
        rows = [{name: row[name] for name in (*columns[0].columns, PLACE) if name in row} for row in rows]
    return [{name: item for name, item in row.items() if name not in ("·", "·keys")} for row in rows]


def _place(row: Row, directions: Sequence[str]) -> tuple[Any, ...]:
    """Comparable with that of other rows; missing values come last, whatever the direction."""
    return tuple(_key(item, direction) for item, direction in zip(row["·keys"], directions, strict=True))


def _key(item: Any, direction: str) -> tuple[bool, Any]:
    if item is None:
        return True, 0
    if isinstance(item, str):
        assert len(item) == 1, "only single letters are ordered: engines order longer texts by their own rules"
        item = ord(item)
    if isinstance(item, date):
        item = (_moment(item) - datetime(1, 1, 1)).total_seconds()
    number = round(float(item), 9) + 0.0
    return False, -number if direction == "top" else number


def _cut(rows: list[dict[str, Any]], limit: int, ties: e.Ties) -> list[dict[str, Any]]:
    if ties == "as_one" and limit > 1:
        kept = sorted({row[PLACE] for row in rows})[:limit]
        return [row for row in rows if row[PLACE] in kept]
    return rows if len(rows) <= limit else [row for row in rows if row[PLACE] <= rows[limit - 1][PLACE]]


def _measures(condition: e.Node) -> bool:
    return any(isinstance(part, e.Rows | e.Aggregate) for part in _of_groups(condition))


def _of_groups(node: e.Node) -> Iterator[e.Node]:
    """Its parts, but not those of overall values and of groups that are looked in."""
    if not isinstance(node, e.Overall | e.Alike | e.FoundGroup):
        yield node
        for part in e.parts(node):
            yield from _of_groups(part)


def _overall(node: e.Overall) -> Any:
    return over(node.of, [row for row in ROWS.get() if node.where is None or holds(node.where, row) is True])


def _grouped(rows: Iterable[Row], groups: Mapping[str, e.Expression]) -> dict[tuple[Any, ...], list[Row]]:
    parts: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        parts.setdefault(tuple(value(group, row) for group in groups.values()), []).append(row)
    return parts


def value(node: e.Expression, row: Row) -> Any:
    """Of one row."""
    match node:
        case e.Column(name=name):
            return row[name]
        case e.Constant(value=given):
            return given
        case e.Arithmetic():
            return _arithmetic(node.operator, value(node.left, row), value(node.right, row))
        case e.Elapsed():
            start, end = (_moment(value(side, row)) for side in (node.start, node.end))
            return None if start is None or end is None else (end - start).total_seconds() // 1 / SECONDS[node.unit]
        case e.DatePart(of=of, part=part):
            return _part(value(of, row), part)
        case e.DateCut(of=of, grain=grain):
            return _cut_date(value(of, row), grain)
        case e.Bins(of=of, edges=edges):
            return _bin(value(of, row), edges)
        case e.Filled(of=of, otherwise=otherwise):
            item = value(of, row)
            return value(otherwise, row) if item is None else item
        case e.Rounded(of=of):
            return _rounded(value(of, row), node)
        case e.Absolute(of=of):
            item = value(of, row)
            return None if item is None else abs(item)
        case e.Concatenated(parts=parts):
            texts = [value(part, row) for part in parts]
            return None if None in texts else "".join(map(str, texts))
        case e.Length(of=of):
            item = value(of, row)
            return None if item is None else len(item)
        case e.Holds(condition=condition):
            return holds(condition, row) is True
        case e.Overall():
            return _overall(node)
        case e.Alike(of=of, by=by):
            mine = [value(part, row) for part in by]
            return over(of, [other for other in ROWS.get() if [value(part, other) for part in by] == mine])
    raise AssertionError(node)


def over(node: e.Expression, rows: Any) -> Any:
    """Of one group of rows."""
    match node:
        case e.Constant(value=given):
            return given
        case e.Rows(where=where):
            return sum(1 for row in rows if where is None or holds(where, row) is True)
        case e.Arithmetic():
            return _arithmetic(node.operator, over(node.left, rows), over(node.right, rows))
        case e.Aggregate():
            taken = [row for row in rows if node.where is None or holds(node.where, row) is True]
            known = [item for item in (value(node.of, row) for row in taken) if item is not None]
            return _aggregated(node, known)
        case e.Overall():
            return _overall(node)
        case e.Filled(of=of, otherwise=otherwise):
            item = over(of, rows)
            return over(otherwise, rows) if item is None else item
        case e.Rounded(of=of):
            return _rounded(over(of, rows), node)
        case e.Absolute(of=of):
            item = over(of, rows)
            return None if item is None else abs(item)
    raise AssertionError(node)


def _rounded(item: Any, node: e.Rounded) -> float | None:
    if item is None:
        return None
    return float(Decimal(item).quantize(Decimal(1).scaleb(-node.digits), ROUNDING[node.how]))


def _aggregated(node: e.Aggregate, known: list[Any]) -> Any:
    match node.function:
        case "count":
            return len(known)
        case "count_distinct":
            return len(set(known))
        case "std":
            return stdev(map(float, known)) if len(known) > 1 else None
    if not known:
        return None
    match node.function:
        case "sum":
            return math.fsum(known)
        case "mean":
            return mean(map(float, known))
        case "median":
            return median(map(float, known))
        case "min":
            return min(known)
        case "max":
            return max(known)
        case _:
            ordered, place = sorted(map(float, known)), (len(known) - 1) * (node.percent or 0) / 100
            low = math.floor(place)
            high = min(low + 1, len(ordered) - 1)
            return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _series(node: e.Expression, index: int, table: Sequence[tuple[Row, Any]], along: str | None) -> Any:
    if not isinstance(node, SERIES):
        return over(node, table[index][1])
    key, part = table[index]
    now = over(node.of, part)
    if isinstance(node, e.Share):
        names = [group.name for group in node.within]
        peers = [over(node.of, rows) for other, rows in table if all(other[n] == key[n] for n in names)]
        return _arithmetic("/", now, math.fsum(peer for peer in peers if peer is not None))
    assert along is not None
    same = [(other[along], over(node.of, rows)) for other, rows in table if _beside(other, key, along)]
    same.sort(key=lambda item: (item[0] is None, item[0] or 0) if not isinstance(item[0], date) else (False, item[0]))
    place = next(n for n, item in enumerate(same) if item[0] == key[along])
    match node:
        case e.Running():
            known = [item for _, item in same[: place + 1] if item is not None]
            return math.fsum(known) if known else None
        case e.Moving(periods=periods):
            known = [item for _, item in same[max(0, place - periods + 1) : place + 1] if item is not None]
            return mean(map(float, known)) if known else None
        case e.Change(against="year"):
            before = next((item for when, item in same if _year_earlier(when, key[along])), None)
        case _:
            before = same[place - 1][1] if place else None
    change = None if now is None or before is None else now - before
    return _arithmetic("/", change, before) if node.ratio else change


def _beside(other: Row, key: Row, along: str) -> bool:
    return all(other[name] == key[name] for name in key if name != along)


def _year_earlier(then: Any, now: Any) -> bool:
    if then is None or now is None:
        return False
    return (then.year + 1, then.month, then.day) == (now.year, now.month, now.day)


def holds(node: e.Condition, row: Any, side: Callable[[e.Expression, Any], Any] | None = None) -> bool | None:
    """True, False, or None where a missing value leaves it open."""
    of = side or value
    match node:
        case e.All(parts=parts):
            found = [holds(part, row, side) for part in parts]
            return False if False in found else None if None in found else True
        case e.AnyOf(parts=parts):
            found = [holds(part, row, side) for part in parts]
            return True if True in found else None if None in found else False
        case e.Not(part=part):
            inner = holds(part, row, side)
            return None if inner is None else not inner
        case e.Missing(of=inside):
            return of(inside, row) is None
        case e.Found(of=inside, column=column, where=where):
            kept = [other for other in ROWS.get() if where is None or holds(where, other) is True]
            item = of(inside, row)
            return item is not None and any(other[column] == item for other in kept)
        case e.FoundGroup(of=inside):
            item = of(inside, row)
            return item is not None and item in _first_keys(node)
        case e.Contains(of=inside):
            item = of(inside, row)
            return None if item is None else _has(item, node)
        case e.OneOf(of=inside, values=values):
            item = of(inside, row)
            if item is None:
                return True if None in values else None
            return any(_same(item, one) for one in values if one is not None)
        case e.Compare(left=left, operator=operator, right=right):
            first, second = of(left, row), of(right, row)
            if first is None or second is None:
                return None
            first, second = _comparable(first, second)
            return COMPARE[operator](first, second)
    raise AssertionError(node)


def _first_keys(node: e.FoundGroup) -> list[Any]:
    """The first keys of the groups that are kept; of a limit of one, of all that share the first place."""
    kept = [row for row in ROWS.get() if node.where is None or holds(node.where, row) is True]
    groups = [*_grouped(kept, {str(place): key for place, key in enumerate(node.keys)}).items()]
    groups = [(key, part) for key, part in groups if node.having is None or holds(node.having, part, over) is True]
    if node.limit is not None:
        directions = [one.direction for one in node.order]

        def place(group: tuple[tuple[Any, ...], list[Row]]) -> tuple[Any, ...]:
            key, part = group
            own = [key[node.keys.index(o.by)] if o.by in node.keys else over(o.by, part) for o in node.order]
            return _place({"·keys": own}, directions)

        groups.sort(key=place)
        if node.limit == 1 or node.ties != "cut":
            places = [*map(place, groups)]
            places = sorted({*places}) if node.ties == "as_one" else places
            groups = [group for group in groups if place(group) in places[: node.limit]]
        groups = groups[: node.limit] if node.limit > 1 and node.ties == "cut" else groups
    return [key[0] for key, _ in groups]


def _has(item: str, node: e.Contains) -> bool:
    whole, text = (item, node.text) if node.cased else (item.lower(), node.text.lower())
    match node.place:
        case "anywhere":
            return text in whole
        case "start":
            return whole.startswith(text)
        case "end":
            return whole.endswith(text)
        case "whole":
            return whole == text


def _same(item: Any, constant: Any) -> bool:
    first, second = _comparable(item, constant)
    return bool(first == second)


def _comparable(first: Any, second: Any) -> tuple[Any, Any]:
    """A moment beside a whole day is compared by its day."""
    if isinstance(second, str) and isinstance(first, date):
        if len(second) > len("2024-01-01"):
            return _moment(first), datetime.fromisoformat(second)
        day = date.fromisoformat(second)
        return (first.date() if isinstance(first, datetime) else first), day
    if (
        isinstance(first, date)
        and isinstance(second, date)
        and isinstance(first, datetime) != isinstance(second, datetime)
    ):
        return _moment(first), _moment(second)
    return first, second


def _arithmetic(operator: str, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case _:
            return None if right == 0 else left / right


def _simple(item: Any) -> Any:
    """A moment by the clock of UTC, and a decimal as the double that is the same number."""
    if isinstance(item, Decimal):
        assert Decimal(float(item)) == item, "a double cannot hold it"
        return float(item)
    zoned = isinstance(item, datetime) and item.tzinfo is not None
    return item.astimezone(UTC).replace(tzinfo=None) if zoned else item


def _moment(item: Any) -> datetime | None:
    if isinstance(item, str):
        return datetime.fromisoformat(item)
    if item is None or isinstance(item, datetime):
        return item
    return datetime(item.year, item.month, item.day)


def _part(item: Any, part: str) -> int | None:
    if item is None:
        return None
    match part:
        case "weekday":
            return int(item.isoweekday())
        case "week":
            return int(item.isocalendar().week)
        case "quarter":
            return int((item.month + 2) // 3)
        case _:
            return int(getattr(item, part))


def _cut_date(item: Any, grain: str | None) -> date | None:
    if item is None:
        return None
    day = item.date() if isinstance(item, datetime) else item
    match grain:
        case "day":
            return day
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case _:
            return day.replace(month=1, day=1)


def _bin(item: Any, edges: Sequence[float]) -> str | None:
    if item is None:
        return None
    shown = [f"{edge:,.10g}" for edge in edges]
    place = sum(1 for edge in edges if item >= edge)
    if place == 0:
        return f"under {shown[0]}"
    whole = isinstance(item, int) and all(edge == int(edge) for edge in edges)
    if place == len(edges):
        return f"{shown[-1]}+" if whole else f"{shown[-1]} and over"
    if whole:
        last = f"{edges[place] - 1:,.0f}"
        return last if last == shown[place - 1] else f"{shown[place - 1]}-{last}"
    return f"{shown[place - 1]} to {shown[place]}"
