"""Table calculations: windows over grouped rows, ordered by their `dimensions`, partitioned by the other groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ibis
import ibis.expr.types as ir

from groundplan.contracts.query import Calculation, Difference, MovingCalculation, PercentOfTotal, Ranking, RunningTotal
from groundplan.errors import ToolError
from groundplan.sources.tables.engine.handle import sort_key
from groundplan.sources.tables.tools.expressions import ratio

AGGREGATED = {"SUM": "sum", "AVG": "mean", "MIN": "min", "MAX": "max"}


@dataclass(frozen=True)
class Window:
    value: Any  # the column to calculate with
    along: Sequence[ir.Column]
    within: Sequence[ir.Column]

    @property
    def order(self) -> list[ir.Value]:
        """Nulls come first, as in Tableau."""
        return [ibis.asc(column, nulls_first=True) for column in self.along]

    def over(self, value: Any, **frame: Any) -> Any:
        return value.over(ibis.window(group_by=list(self.within), order_by=self.order or None, **frame))


def calculated(calculation: Calculation, window: Window) -> Any:
    match calculation:
        case Ranking():
            return _ranked(calculation, window)
        case PercentOfTotal():
            return ratio(window.value, window.value.sum().over(group_by=list(window.within)))
        case RunningTotal():
            return window.over(_aggregate(calculation.aggregation, window), preceding=None, following=0)
        case MovingCalculation():
            return window.over(
                _aggregate(calculation.aggregation, window), preceding=calculation.previous, following=calculation.next
            )
        case Difference(table_calc_type="DIFFERENCE_FROM"):
            return window.value - _other(calculation, window)
        case _:
            raise ToolError("this table calculation is not supported; see `groundplan catalog show query_table`")


def _aggregate(name: str, window: Window) -> Any:
    return getattr(window.value, AGGREGATED[name])()


def _other(calculation: Difference, window: Window) -> Any:
    match calculation.relative_to:
        case "PREVIOUS":
            return window.over(window.value.lag())
        case "NEXT":
            return window.over(window.value.lead())
        case "FIRST":
            return window.over(window.value.first(include_null=True), preceding=None, following=None)
        case "LAST":
            return window.over(window.value.last(include_null=True), preceding=None, following=None)


def _ranked(calculation: Ranking, window: Window) -> Any:
    """The greatest value ranks first unless the direction is ASC; a null has no rank."""
    descending = calculation.direction != "ASC"
    by = sort_key(window.value, descending)
    within = list(window.within)
    match calculation.rank_type:
        case "COMPETITION":
            place = ibis.rank().over(group_by=within, order_by=by) + 1
        case "DENSE":
            place = ibis.dense_rank().over(group_by=within, order_by=by) + 1
        case "UNIQUE":
            place = ibis.row_number().over(group_by=within, order_by=[by, *window.order]) + 1
        case "MODIFIED COMPETITION":  # tied rows share the last rank of their group
            later = ibis.rank().over(group_by=within, order_by=sort_key(window.value, not descending))
            place = window.value.count().over(group_by=within) - later
    return ibis.cases((window.value.notnull(), place))
