"""What each filter keeps, as a condition in SQL, and when Tableau applies it.

Context filters come first; TOP and CONDITION choose their members from what the context left; ordinary filters on
rows follow, and filters on aggregates last, at the grain of the query.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from tests.sources.tableau.double.errors import refused
from tests.sources.tableau.double.expressions import Expression, Expressions

Filter = dict[str, Any]
UNITS = {"MINUTES": "minute", "HOURS": "hour", "DAYS": "day", "WEEKS": "week", "MONTHS": "month"}
UNITS |= {"QUARTERS": "quarter", "YEARS": "year"}


@dataclass
class Conditions:
    context: list[str] = field(default_factory=list)  # over the table
    context_members: list[str] = field(default_factory=list)  # TOP and CONDITION made context, over `in_context`
    members: list[str] = field(default_factory=list)  # TOP and CONDITION, over `context`
    rows: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)


def conditions(filters: list[Filter], expressions: Expressions) -> Conditions:
    found = Conditions()
    for asked in filters:
        in_context = asked.get("context", False)
        if asked["filterType"] in ("TOP", "CONDITION"):
            inside, place = ("in_context", found.context_members) if in_context else ("context", found.members)
            place.append(_chosen(asked, inside, expressions))
            continue
        target = expressions.of(asked["field"])
        if target.aggregates and in_context:
            raise refused("400803", "A filter on an aggregate can't be a context filter.")
        place = found.groups if target.aggregates else found.context if in_context else found.rows
        place.append(_condition(asked, target, expressions))
    return found


def _condition(asked: Filter, target: Expression, expressions: Expressions) -> str:
    match asked["filterType"]:
        case "SET":
            return _set(asked, target, expressions)
        case "MATCH":
            return _match(asked, target, expressions)
        case "DATE":
            return _or_null(_relative(asked, target.sql, expressions), target.sql, asked)
        case _:
            return _quantitative(asked, target, expressions)


def _set(asked: Filter, target: Expression, expressions: Expressions) -> str:
    """A null in the list means the missing values; leaving values out leaves the missing ones in."""
    wanted = [_value(value, target, expressions) for value in asked["values"] if value is not None]
    among = f"({target.sql} IN ({', '.join(wanted)}))" if wanted else "FALSE"
    missing = f"({target.sql} IS NULL)" if None in asked["values"] else "FALSE"
    kept = f"coalesce({among} OR {missing}, FALSE)"
    return f"(NOT {kept})" if asked.get("exclude") else kept


def _match(asked: Filter, target: Expression, expressions: Expressions) -> str:
    functions = {"contains": "contains", "startsWith": "starts_with", "endsWith": "ends_with"}
    text = f"lower({target.sql})"
    tests = [f"{sql}({text}, lower({expressions.bind(asked[key])}))" for key, sql in functions.items() if key in asked]
    kept = f"coalesce({' AND '.join(tests)}, FALSE)"
    return f"(NOT {kept})" if asked.get("exclude") else kept


def _quantitative(asked: Filter, target: Expression, expressions: Expressions) -> str:
    dates = asked["filterType"] == "QUANTITATIVE_DATE"
    if target.type not in (("DATE",) if dates else ("INTEGER", "REAL")):
        raise refused("400803", f"A {asked['filterType']} filter does not fit a field of type {target.type}.")
    low, high = ("minDate", "maxDate") if dates else ("min", "max")
    kind = asked["quantitativeFilterType"]
    if kind in ("ONLY_NULL", "ONLY_NON_NULL"):
        return f"({target.sql} IS {'' if kind == 'ONLY_NULL' else 'NOT '}NULL)"
    bounds = []
    if kind in ("RANGE", "MIN"):
        bounds.append(f"{target.sql} >= {_value(asked[low], target, expressions)}")
    if kind in ("RANGE", "MAX"):
        bounds.append(f"{target.sql} <= {_value(asked[high], target, expressions)}")
    return _or_null(" AND ".join(bounds), target.sql, asked)


def _relative(asked: Filter, sql: str, expressions: Expressions) -> str:
    """LASTN and NEXTN count the period of the anchor in; TODATE ends with the anchor's own day."""
    unit = UNITS[asked["periodType"]]
    anchor = date.fromisoformat(asked["anchorDate"]) if "anchorDate" in asked else date.today()
    day = f"CAST({expressions.bind(anchor)} AS TIMESTAMP)"
    here = f"date_trunc('{unit}', {day})"
    if asked["dateRangeType"] == "TODATE":
        return f"({sql} >= {here} AND {sql} < {day} + INTERVAL 1 day)"
    count = asked.get("rangeN", 0)
    spans = {"CURRENT": (0, 1), "LAST": (-1, 0), "NEXT": (1, 2), "LASTN": (1 - count, 1), "NEXTN": (0, count)}
    first, last = spans[asked["dateRangeType"]]
    return f"({sql} >= {here} + INTERVAL ({first}) {unit} AND {sql} < {here} + INTERVAL ({last}) {unit})"


def _chosen(asked: Filter, inside: str, expressions: Expressions) -> str:
    """The members of a field that an aggregate over the members' rows picks; a tie goes by the member itself."""
    member = expressions.of(asked["field"])
    if member.aggregates:
        raise refused("400803", f"A {asked['filterType']} filter chooses among the members of a dimension.")
    grouped = f"SELECT {member.sql} AS member FROM {inside} GROUP BY member"
    if asked["filterType"] == "TOP":
        measured = _aggregate(asked["fieldToMeasure"], expressions)
        direction = "ASC" if asked.get("direction") == "BOTTOM" else "DESC"
        grouped += f" ORDER BY {measured.sql} {direction} NULLS LAST, member LIMIT {asked['howMany']}"
    elif "calculation" in asked:
        grouped += f" HAVING {expressions.formula(asked['calculation']).sql}"
    else:
        told = asked["condition"]
        measured = _aggregate({name: told[name] for name in ("fieldCaption", "function")}, expressions)
        grouped += f" HAVING {measured.sql} {told['comparison']} {_value(told['value'], measured, expressions)}"
    return f"EXISTS (SELECT 1 FROM ({grouped}) chosen WHERE chosen.member IS NOT DISTINCT FROM {member.sql})"


def _aggregate(named: dict[str, Any], expressions: Expressions) -> Expression:
    measured = expressions.of(named)
    if not measured.aggregates:
        raise refused("400803", f"{named} must be an aggregate here.")
    return measured


def _or_null(condition: str, sql: str, asked: Filter) -> str:
    return f"({condition} OR {sql} IS NULL)" if asked.get("includeNulls") else f"({condition})"


def _value(value: object, target: Expression, expressions: Expressions) -> str:
    """A value of another type than the field's is refused, not turned into it."""
    fits = {
        "STRING": isinstance(value, str),
        "BOOLEAN": isinstance(value, bool),
        "INTEGER": isinstance(value, int | float) and not isinstance(value, bool),
        "REAL": isinstance(value, int | float) and not isinstance(value, bool),
        "DATE": isinstance(value, str),
    }
    if not fits[target.type]:
        raise refused("400803", f"The value {value!r} does not fit a field of type {target.type}.")
    if target.type in ("INTEGER", "REAL"):
        return expressions.bind(_number(value))
    return expressions.bind(_day(value) if target.type == "DATE" else value)


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        raise refused("400803", "A number is out of range.") from None


def _day(value: Any) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise refused("400803", f"{value!r} is not an RFC 3339 date.") from None
