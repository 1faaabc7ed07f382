"""Table calculations as windows over the aggregated rows: `dimensions` address, the other dimensions partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.sources.tableau.double.errors import refused

Specification = dict[str, Any]
RANKS = {
    "COMPETITION": "rank() OVER ({partition} ORDER BY {by})",
    "MODIFIED COMPETITION": "count(*) OVER ({partition} ORDER BY {by} RANGE UNBOUNDED PRECEDING)",
    "DENSE": "dense_rank() OVER ({partition} ORDER BY {by})",
    "UNIQUE": "row_number() OVER ({partition} ORDER BY {by}, {order})",
}
OTHERS = {
    "PREVIOUS": "lag({value}) OVER ({partition} ORDER BY {order})",
    "NEXT": "lead({value}) OVER ({partition} ORDER BY {order})",
    "FIRST": "first_value({value}) OVER ({partition} ORDER BY {order})",
    "LAST": (
        "last_value({value}) OVER"
        " ({partition} ORDER BY {order} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
    ),
}


@dataclass(frozen=True)
class Shelf:
    """The dimensions of a query, as a table calculation refers to them, and the columns they became."""

    columns: dict[tuple[str, str | None], str]
    custom_sort: str | None = None  # the column that holds what `customSort` sorts by


def windowed(told: Specification, value: str, shelf: Shelf, additive: bool) -> str:
    """One calculation over the column `value`; what the manual leaves open is refused rather than guessed."""
    if "levelAddress" in told:
        raise refused("400803", "This server does not calculate at a level (levelAddress).")
    addressed = [_column(reference, shelf) for reference in told["dimensions"]]
    parts = _partition(told, addressed, shelf)
    direction = told.get("customSort", {}).get("direction", "ASC")
    sorted_by = [f"{shelf.custom_sort} {direction} NULLS FIRST"] if shelf.custom_sort else []
    names = {
        "value": value,
        "partition": f"PARTITION BY {', '.join(parts)}" if parts else "",
        "order": ", ".join([*sorted_by, *(f"{column} ASC NULLS FIRST" for column in addressed)]) or "1",
    }
    match told["tableCalcType"]:
        case "RANK" | "PERCENTILE":
            return _ranked(told, names)
        case "RUNNING_TOTAL":
            frame = "ROWS UNBOUNDED PRECEDING"
            return _over(told.get("aggregation", "SUM"), names, frame)
        case "PERCENT_OF_TOTAL":
            if not additive:
                raise refused("400803", "A percent of total needs a sum or a count.")
            return f"({value} / nullif(sum({value}) OVER ({names['partition']}), 0))"
        case "MOVING_CALCULATION":
            return _moving(told, names)
        case "DIFFERENCE_FROM" | "PERCENT_DIFFERENCE_FROM" | "PERCENT_FROM":
            return _compared(told, names)
        case kind:
            raise refused("400803", f"This server does not calculate {kind} table calculations.")


def _partition(told: Specification, addressed: list[str], shelf: Shelf) -> list[str]:
    """`restartEvery` begins anew with each value of its dimension and of those before it."""
    rest = [column for column in shelf.columns.values() if column not in addressed]
    if "restartEvery" not in told:
        return rest
    restarts = _column(told["restartEvery"], shelf)
    if restarts not in addressed:
        raise refused("400803", "restartEvery must name one of the dimensions.")
    return rest + addressed[: addressed.index(restarts) + 1]


def _column(reference: dict[str, Any], shelf: Shelf) -> str:
    key = (reference["fieldCaption"], reference.get("function"))
    if key not in shelf.columns:
        raise refused("400803", f"The table calculation refers to {key[0]}, which is no dimension of the query.")
    return shelf.columns[key]


def _ranked(told: Specification, names: dict[str, str]) -> str:
    percentile = told["tableCalcType"] == "PERCENTILE"
    direction = told.get("direction", "ASC" if percentile else "DESC")
    by = f"{names['value']} {direction} NULLS LAST"
    if percentile:
        parts = ", ".join(filter(None, [names["partition"].removeprefix("PARTITION BY "), f"{names['value']} IS NULL"]))
        ranked = f"percent_rank() OVER (PARTITION BY {parts} ORDER BY {by})"
    else:
        ranked = RANKS[told.get("rankType", "COMPETITION")].format(by=by, **names)
    return f"CASE WHEN {names['value']} IS NOT NULL THEN {ranked} END"


def _moving(told: Specification, names: dict[str, str]) -> str:
    """The manual's example counts the rows before as -2, the specification as 2: both mean two rows."""
    before, after = abs(told.get("previous", 2)), abs(told.get("next", 0))
    if max(before, after) > 1_000_000:
        raise refused("400803", "The window of a moving calculation is too wide.")
    current = told.get("includeCurrent", True)
    frame = f"ROWS BETWEEN {before} PRECEDING AND {after} FOLLOWING{'' if current else ' EXCLUDE CURRENT ROW'}"
    moved = _over(told.get("aggregation", "SUM"), names, frame)
    if not told.get("fillInNull"):
        return moved
    counted = f"count(*) OVER ({names['partition']} ORDER BY {names['order']} {frame})"
    return f"CASE WHEN {counted} = {before + after + int(current)} THEN {moved} END"


def _compared(told: Specification, names: dict[str, str]) -> str:
    """A missing value counts as zero, a missing row leaves nothing to compare with."""
    here = f"coalesce({names['value']}, 0)"
    other = OTHERS[told.get("relativeTo", "PREVIOUS")].format(**{**names, "value": here})
    if told["tableCalcType"] == "PERCENT_FROM":
        return f"({here} / nullif({other}, 0))"
    difference = f"({here} - {other})"
    return difference if told["tableCalcType"] == "DIFFERENCE_FROM" else f"({difference} / nullif(abs({other}), 0))"


def _over(aggregation: str, names: dict[str, str], frame: str) -> str:
    return f"{aggregation.lower()}({names['value']}) OVER ({names['partition']} ORDER BY {names['order']} {frame})"
