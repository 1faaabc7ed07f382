"""Parses text or numbers as dates, in a given format or in the format that the values have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ibis
import ibis.expr.types as ir

from groundplan.contracts.facts import Item
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.handle import Ask, Handle, Params, ToolOutput, handle_on

YEAR, MONTH, DAY = "[0-9]{4}", "(0[1-9]|1[0-2])", "(0[1-9]|[12][0-9]|3[01])"
MINUTES, SECONDS = "[T ]([01][0-9]|2[0-3]):[0-5][0-9]", ":[0-5][0-9]([.][0-9]{1,6})?"
CLOCK = f"{MINUTES}({SECONDS})?"
ZONED = f"{MINUTES}{SECONDS}(Z|[+-][0-9]{{2}}:[0-9]{{2}})"  # not every engine reads 10:15+03:00 or 10:15:00+0300


@dataclass(frozen=True)
class Form:
    pattern: str
    read: Callable[[Any], ir.Value]


def _part(text: Any, start: int, length: int) -> Any:
    return text.substr(ibis.literal(start), ibis.literal(length))


def _joined(text: Any, year: int, month: int, day: int) -> ir.Value:
    parts = (_part(text, year, 4), _part(text, month, 2), _part(text, day, 2))
    return (parts[0] + "-" + parts[1] + "-" + parts[2]).cast("date")


def _since_1970(text: Any, unit: str) -> ir.Value:
    return ibis.timestamp("1970-01-01 00:00:00") + text.cast("int64").as_interval(unit)


FORMS: Mapping[str, Form] = {
    "YYYY-MM-DD": Form(f"^{YEAR}-{MONTH}-{DAY}$", lambda text: text.cast("date")),
    "moment": Form(f"^{YEAR}-{MONTH}-{DAY}({CLOCK})?$", lambda text: text.cast("timestamp")),
    "moment with a zone": Form(
        f"^{YEAR}-{MONTH}-{DAY}({CLOCK}|{ZONED})?$",
        lambda text: text.cast("timestamp('UTC')").cast("timestamp"),
    ),
    "YYYY-MM": Form(f"^{YEAR}-{MONTH}$", lambda text: (text + "-01").cast("date")),
    "YYYYMMDD": Form(f"^{YEAR}{MONTH}{DAY}$", lambda text: _joined(text, 0, 4, 6)),
    "DD.MM.YYYY": Form(f"^{DAY}[.]{MONTH}[.]{YEAR}$", lambda text: _joined(text, 6, 3, 0)),
    "DD/MM/YYYY": Form(f"^{DAY}/{MONTH}/{YEAR}$", lambda text: _joined(text, 6, 3, 0)),
    "MM/DD/YYYY": Form(f"^{MONTH}/{DAY}/{YEAR}$", lambda text: _joined(text, 6, 0, 3)),
    "YYYY": Form(f"^{YEAR}$", lambda text: (text + "-01-01").cast("date")),
    "unix_seconds": Form("^[0-9]{9,10}$", lambda text: _since_1970(text, "s")),
    "unix_milliseconds": Form("^[0-9]{12,13}$", lambda text: _since_1970(text, "ms")),
}
ISO_DAY = FORMS["YYYY-MM-DD"].pattern


def parse_datetime(handle: Handle, params: Params, ask: Ask) -> ToolOutput:
    """Values that are not dates become null; their number is reported as a fact."""
    name: str = params["column"]
    if handle.kind(name) == "time":
        return handle, ()
    text = _text(handle, name)
    counts = _counts(handle, text, ask)
    form = params["format"] if params["format"] != "auto" else _form(name, counts)
    if counts[form] == 0 and counts["values"] > 0:
        raise ToolError(f"no value of column {name!r} is written as {form}; choose another format")
    read = ibis.cases((text.re_search(FORMS[form].pattern), FORMS[form].read(text)))
    made = handle.table.mutate(**{name: read})
    return handle_on(made, handle.columns, handle.order), _unread(name, counts["values"] - counts[form])


def _text(handle: Handle, name: str) -> Any:
    column = handle.column(name)
    if handle.kind(name) == "number":
        return column.cast("int64").cast("string")
    return column.cast("string").strip()


def _counts(handle: Handle, text: Any, ask: Ask) -> dict[str, int]:
    """The number of values that match each format, in one query."""
    matches = {f"form_{place}": _matching(text, form) for place, form in enumerate(FORMS.values())}
    row = ask(handle.table.aggregate(values=text.count(), **matches))[0]
    counts = {form: int(row[f"form_{place}"] or 0) for place, form in enumerate(FORMS)}
    return {**counts, "values": int(row["values"])}


def _matching(text: Any, form: Form) -> ir.Value:
    return text.count(where=text.re_search(form.pattern))


def _form(name: str, counts: Mapping[str, int]) -> str:
    if counts["DD/MM/YYYY"] > 0 and counts["DD/MM/YYYY"] == counts["MM/DD/YYYY"]:
        raise ToolError(
            f"in column {name!r}, either the day or the month may come first; give the format: DD/MM/YYYY or MM/DD/YYYY"
        )
    best = max(FORMS, key=lambda form: counts[form])
    if counts[best] == 0 and counts["values"] > 0:
        raise ToolError(f"the values of column {name!r} have no known date format")
    return best


def _unread(name: str, count: int) -> tuple[Item, ...]:
    if count == 0:
        return ()
    return (Item(kind="unread", title=f"values of {name} that are not dates", value=count),)
