"""A planner as a third party would write it: of a question for rows, show the first few and no chart."""

from __future__ import annotations

from groundplan.asking.route import Declined, Planner, PlanRequest
from groundplan.contracts.plan import Plan, Provenance, Step

ROWS = 5


class Preview(Planner):
    """`--strategy preview`; every other question is left to the planners that come with groundplan."""

    name, route, order = "preview", "tables", 5

    async def propose(self, request: PlanRequest) -> Plan | Declined:
        asked = request.reading.requirements
        if request.question.strategy != self.name or {r.label for r in asked} - {"analysis:detail", "output:table"}:
            return Declined("only rows as they are can be previewed")
        table = request.reading.tables[0]
        satisfied = tuple(requirement.id for requirement in asked)
        step = Step(id="preview", tool="show_table", params={"table": table, "limit": ROWS}, satisfies=satisfied)
        return Plan(strategy=self.name, steps=(step,), provenance=Provenance(reasoning=f"The first {ROWS} rows."))
