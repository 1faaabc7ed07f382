"""How a query says what words such as `growth` and `rolling` add to a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from groundplan.contracts.reading import Kind
from groundplan.text.loose_words import Meaning

APPLIES: Mapping[Meaning, frozenset[Kind]] = {
    "RUNNING_TOTAL": frozenset({"time"}),
    "CHANGE_FROM_PREVIOUS": frozenset({"time"}),
    "MOVING_AVERAGE": frozenset({"time"}),
    "RANK": frozenset({"group_by"}),
    "ASCENDING": frozenset({"group_by"}),
    "DESCENDING": frozenset({"group_by"}),
    "NOTHING": frozenset(),
}
"""What must have been asked for beside it."""


@dataclass(frozen=True)
class TableCalculation:
    """How a meaning is written in a query; without functions any measure will do."""

    type: str
    called: str
    functions: tuple[str, ...] = ()
    over_time: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)


CALCULATIONS: Mapping[Meaning, TableCalculation] = {
    "RUNNING_TOTAL": TableCalculation("RUNNING_TOTAL", "running total of {}", ("SUM", "COUNT")),
    "CHANGE_FROM_PREVIOUS": TableCalculation("DIFFERENCE_FROM", "change of {}", settings={"relativeTo": "PREVIOUS"}),
    "MOVING_AVERAGE": TableCalculation(
        "MOVING_CALCULATION", "moving average of {}", settings={"aggregation": "AVG", "previous": 2, "next": 0}
    ),
    "RANK": TableCalculation("RANK", "rank", over_time=False, settings={"direction": "DESC"}),
}
