"""The statement's own rows: what DuckDB gives for it, as text, over the same tables.

Five conventions of the language are written into the statement first: a division by zero has no value, today is a
given day, a sum of flags over no rows is 0, months by `strftime` are shown as their first day, and a text function
over a column that loading has made a number is left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

Cells = tuple[Any, ...]
PERIODS = {"%Y-%m": "month", "%Y-%m-%d": "day"}
PARTS = {"%Y": "year", "%m": "month", "%d": "day", "%H": "hour"}


@dataclass(frozen=True)
class Expected:
    """The rows, in order; `places` number them by the ORDER BY, ties alike; `limit` is how many are kept."""

    rows: list[Cells]
    places: list[int] | None
    limit: int | None
    ranked: bool  # by ROW_NUMBER, whose ties are all listed
    count: int  # of the statement as it stands


def expected(sql: str, today: date, run: Callable[[str], list[Cells]], numbers: Collection[str]) -> Expected:
    """Raises duckdb.Error where the statement does not run."""
    tree = _conventions(sqlglot.parse_one(sql, read="duckdb"), today)
    try:
        whole = run(tree.sql("duckdb"))
    except duckdb.Error:
        tree = _uncleaned(tree, numbers)
        whole = run(tree.sql("duckdb"))
    ranked = any(True for _ in tree.find_all(exp.RowNumber))
    limit = tree.args.get("limit")
    most = int(limit.expression.name) if limit is not None else None
    free = tree.copy()
    free.set("limit", None)
    for number in [*free.find_all(exp.RowNumber)]:
        number.replace(exp.Rank())
    keys = _with_keys(free)
    rows = run(free.sql("duckdb"))
    width = len(free.expressions) - len([one for one in keys if one >= _width(tree)]) if keys else 0
    places = _numbered(rows, keys) if keys else None
    drop = _dropped(tree)
    kept = [place for place in range(width or (len(rows[0]) if rows else 0)) if place not in drop]
    return Expected([tuple(row[place] for place in kept) for row in rows], places, most, ranked, len(whole))


def _width(tree: Any) -> int:
    return len(tree.expressions)


def _conventions(tree: Any, today: date) -> Any:
    def change(node: Any) -> Any:
        if isinstance(node, exp.CurrentDate) or (isinstance(node, exp.Anonymous) and node.name.lower() == "today"):
            return exp.cast(exp.Literal.string(today.isoformat()), "date")
        if isinstance(node, exp.CurrentTimestamp) or (isinstance(node, exp.Anonymous) and node.name.lower() == "now"):
            return exp.cast(exp.Literal.string(today.isoformat()), "timestamp")
        if isinstance(node, exp.TimeToStr) and node.args["format"].name in PERIODS:
            unit = exp.Literal.string(PERIODS[node.args["format"].name])
            return exp.cast(exp.Anonymous(this="date_trunc", expressions=[unit, node.this]), "date")
        if isinstance(node, exp.TimeToStr) and node.args["format"].name in PARTS:
            unit = exp.Literal.string(PARTS[node.args["format"].name])
            return exp.Anonymous(this="date_part", expressions=[unit, node.this])
        return node

    made = tree.transform(change)
    for total in [*made.find_all(exp.Sum, exp.CountIf)]:
        if isinstance(total, exp.CountIf) or isinstance(total.this, exp.Case):
            total.replace(_of_flags(total))
    for ratio in made.find_all(exp.Div):
        ratio.set("expression", exp.Nullif(this=exp.paren(ratio.expression), expression=exp.Literal.number(0)))
    return made


def _of_flags(node: Any) -> Any:
    """Of no rows, a sum of ones is 0, and so is one that begins with `ELSE 0`."""
    if isinstance(node, exp.CountIf):
        return exp.Coalesce(this=node.copy(), expressions=[exp.Literal.number(0)])
    case, branches = node.this, node.this.args["ifs"]
    default = case.args.get("default")
    zero = isinstance(default, exp.Literal) and default.name in ("0", "0.0")
    if len(branches) != 1 or not (default is None or zero or isinstance(default, exp.Null)):
        return node
    constant = isinstance(branches[0].args["true"], exp.Literal)
    if zero or constant:
        return exp.Coalesce(this=node.copy(), expressions=[exp.Literal.number(0)])
    return node


def _uncleaned(tree: Any, numbers: Collection[str]) -> Any:
    """Without text functions over columns that hold numbers or dates."""

    def change(node: Any) -> Any:
        if isinstance(node, exp.Replace | exp.RegexpReplace | exp.Trim | exp.Nullif | exp.Upper | exp.Lower):
            inner = node.this
            while isinstance(inner, exp.Paren):
                inner = inner.this
            named = isinstance(inner, exp.Column) and inner.name.casefold() in numbers
            if named and (not isinstance(node, exp.Nullif) or node.expression.is_string):
                return inner
        return node

    for _ in range(4):
        tree = tree.transform(change)
    return tree


def _with_keys(tree: Any) -> list[int]:
    """The places of the columns that the ORDER BY names; others are added."""
    order = tree.args.get("order")
    if order is None or not isinstance(tree, exp.Select):
        return []
    names = [one.alias_or_name.casefold() for one in tree.expressions]
    if any(one.is_star for one in tree.expressions):
        return []
    found: list[int] = []
    for one in order.expressions:
        key = one.this
        if isinstance(key, exp.Literal) and not key.is_string:
            found.append(int(key.name) - 1)
        elif isinstance(key, exp.Column) and not key.table and key.name.casefold() in names:
            found.append(names.index(key.name.casefold()))
        else:
            tree.append("expressions", exp.alias_(key.copy(), f"key {len(found)}", quoted=True))
            found.append(len(tree.expressions) - 1)
    return found


def _numbered(rows: Sequence[Cells], keys: Sequence[int]) -> list[int]:
    places: list[int] = []
    for number, row in enumerate(rows):
        now, before = ([one[key] for key in keys] for one in (row, rows[number - 1]))
        places.append(0 if number == 0 else places[-1] + (now != before))
    return places


def _dropped(tree: Any) -> set[int]:
    """Constant columns and numbers of a ranking, which a reading does not carry."""
    windows = {
        one.alias.casefold()
        for one in tree.find_all(exp.Alias)
        if isinstance(one.this, exp.Window) and isinstance(one.this.this, exp.RowNumber | exp.Rank | exp.DenseRank)
    }
    found = set()
    for place, one in enumerate(tree.expressions if isinstance(tree, exp.Select) else ()):
        inner = one.this if isinstance(one, exp.Alias) else one
        if isinstance(inner, exp.Literal | exp.Boolean) or one.alias_or_name.casefold() in windows:
            found.add(place)
    return found


def differs(ours: Sequence[Cells], theirs: Expected) -> str | None:
    """How our rows are not the statement's; columns may stand in another order, and there may be more of them."""
    rows = [tuple(map(plain, row)) for row in ours]
    wanted = [tuple(map(plain, row)) for row in theirs.rows]
    if not wanted or not rows:
        return None if len(rows) == theirs.count else f"{len(rows)} rows, not {theirs.count}"
    for assignment in _assignments(rows, wanted, theirs):
        shown = [tuple(row[place] for place in assignment) for row in rows]
        if _chosen(shown, wanted, theirs) and _in_order(shown, wanted, theirs):
            return None
    return f"other rows: {rows[:3]} and not {wanted[:3]} ({len(rows)} and {theirs.count})"


def _assignments(rows: Sequence[Cells], wanted: Sequence[Cells], theirs: Expected) -> list[list[int]]:
    """Which of our columns may be which of theirs."""
    exact = theirs.limit is None and not theirs.ranked
    options = []
    for place in range(len(wanted[0])):
        column = Counter(row[place] for row in wanted)
        fitting = []
        for own in range(len(rows[0])):
            mine = Counter(row[own] for row in rows)
            if mine == column if exact else mine <= column or not (mine.keys() - column.keys()):
                fitting.append(own)
        options.append(fitting)
    found: list[list[int]] = [[]]
    for fitting in options:
        found = [[*before, own] for before in found for own in fitting][:5_000]
    return found


def _chosen(shown: Sequence[Cells], wanted: Sequence[Cells], theirs: Expected) -> bool:
    """The same rows; of a cut, all before it and as many as fit of those that tie at it."""
    mine, all_ = Counter(shown), Counter(wanted)
    if theirs.limit is None or theirs.places is None:
        if theirs.ranked:
            return not mine - all_ and theirs.count <= len(shown)
        return mine == all_
    kept = min(theirs.limit, len(wanted))
    last = theirs.places[kept - 1]
    before = Counter(row for row, place in zip(wanted, theirs.places, strict=True) if place < last)
    tied = Counter(row for row, place in zip(wanted, theirs.places, strict=True) if place == last)
    if before - mine or (mine - before) - tied:
        return False
    return len(shown) >= kept if theirs.limit == 1 else len(shown) == kept


def _in_order(shown: Sequence[Cells], wanted: Sequence[Cells], theirs: Expected) -> bool:
    if theirs.places is None or theirs.ranked:
        return True
    places: dict[Cells, set[int]] = {}
    for row, place in zip(wanted, theirs.places, strict=True):
        places.setdefault(row, set()).add(place)
    last = -1
    for row in shown:
        later = [place for place in places.get(row, ()) if place >= last]
        if not later:
            return False
        last = min(later)
    return True


def plain(value: Any) -> Any:
    """One way to write each value; numbers to nine digits, infinite ones as missing."""
    match value:
        case bool() | None | str():
            return value
        case int() | float() | Decimal():
            number = float(value)
            return None if not math.isfinite(number) else 0.0 if number == 0 else float(f"{number:.9g}")
        case datetime():
            moment = value.replace(tzinfo=None)
            return moment.date().isoformat() if moment == datetime(*moment.timetuple()[:3]) else moment.isoformat()
        case date():
            return value.isoformat()
        case _:
            return str(value)
