"""What was asked of a column's rows, as one filter of a typed query."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.expression import Aggregate, Column, Compare, Condition, Constant, Contains
from groundplan.contracts.query_meaning import FUNCTIONS
from groundplan.contracts.reading import Filter
from groundplan.contracts.wording import in_words

Json = dict[str, Any]


class Inexpressible(Exception):
    """What one query cannot say."""


def said_in_one(filters: Sequence[Filter], kind: ColumnKind) -> Json:
    """One filter for all that is said of a column; both bounds of a range are in, as the query has it."""
    told = [*dict.fromkeys(filters)]
    bounds, values = {one.operator: one.values for one in told}, told[0].values
    if kind == "number" and len(told) == 2 and set(bounds) == {">=", "<="}:
        return _number("RANGE", min=bounds[">="][0], max=bounds["<="][0])
    if len(told) > 1:
        raise Inexpressible(f"several conditions on {told[0].column!r}")
    match told[0].operator, kind:
        case (("=" | "in"), _):
            return {"filterType": "SET", "values": list(values)}
        case (("!=" | "not in"), _):
            return {"filterType": "SET", "values": [*values, None], "exclude": True}
        case "is null", _:
            return {"filterType": "SET", "values": [None]}
        case "not null", _:
            return {"filterType": "SET", "values": [None], "exclude": True}
        case "contains", "text":
            return {"filterType": "MATCH", "contains": values[0]}
        case ">=", "number":
            return _number("MIN", min=values[0])
        case "<=", "number":
            return _number("MAX", max=values[0])
        case ">=", "time":
            return _days("MIN", minDate=_whole(values[0]))
        case "<=", "time":
            return _days("MAX", maxDate=_whole(values[0]))
        case "between", "time":
            first, end = _whole(values[0]), _whole(values[1])
            if first < end:
                return _days("RANGE", minDate=first, maxDate=end - timedelta(days=1))
    raise Inexpressible(f"{told[0].column!r} {told[0].operator} {', '.join(map(str, values))}".strip())


def filter_of(condition: Condition, table: str, grouped: Sequence[Json]) -> Json:
    """A filter for how a text begins or ends, or for the members of the only group by what their rows add up to."""
    match condition:
        case Contains(
            of=Column(name=name, table=owner, via=None), text=text, place="start" | "end" as place, cased=False
        ):
            if owner in (None, table):
                key = "startsWith" if place == "start" else "endsWith"
                return {"field": {"fieldCaption": name}, "filterType": "MATCH", key: text}
        case Compare(
            left=Aggregate(function=function, of=Column(name=name, table=owner, via=None), where=None),
            operator=operator,
            right=Constant(value=int() | float() as value),
        ):
            plain = len(grouped) == 1 and "function" not in grouped[0]
            if plain and function != "percentile" and owner in (None, table):
                comparison = "<>" if operator == "!=" else operator
                told = {"fieldCaption": name, "function": FUNCTIONS[function], "comparison": comparison, "value": value}
                field = {"fieldCaption": grouped[0]["fieldCaption"]}
                return {"field": field, "filterType": "CONDITION", "condition": told}
    raise Inexpressible(f"the condition {in_words(condition)!r}")


def _number(kind: str, **bounds: object) -> Json:
    return {"filterType": "QUANTITATIVE_NUMERICAL", "quantitativeFilterType": kind, **bounds}


def _days(kind: str, **bounds: date) -> Json:
    told = {name: day.isoformat() for name, day in bounds.items()}
    return {"filterType": "QUANTITATIVE_DATE", "quantitativeFilterType": kind, **told}


def _whole(value: object) -> date:
    """A filter by the moment of a day has no word in a query."""
    day = find_day(value)
    if day is None or len(str(value)) > len("2025-01-31"):
        raise Inexpressible(f"the moment {value}")
    return day


def find_day(value: object) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None
