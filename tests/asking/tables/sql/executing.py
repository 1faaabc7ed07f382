"""Plans a reading, passes it through the gate and runs its steps on the tables of an open project."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from groundplan.asking.tables.plan import propose
from groundplan.checking.gate import check
from groundplan.checking.wiring import Wiring
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.verdict import Passed
from groundplan.project import load_catalog
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.executing import Executor, Work
from groundplan.sources.tables.engine.handle import Handle, arranged, handle_on
from groundplan.sources.tables.source import _made, with_defaults
from groundplan.sources.tables.tools.sinks import _order

CATALOG = load_catalog()
MOST = 100_000


class GateRefused(Exception):
    """The gate does not let the plan pass."""


@dataclass
class Tables:
    executor: Executor
    handles: dict[str, Handle] = field(default_factory=dict)

    def table(self, name: str) -> Handle:
        if name not in self.handles:
            self.handles[name] = handle_on(self.executor.engine.table(name, CancelScope()))
        return self.handles[name]

    def answer(self, reading: Reading, schema: SourceSchema) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The columns and rows that the reading's plan shows; raises GateRefused."""
        plan = propose(reading, schema)
        verdict = check(plan, reading, CATALOG, {"tables": schema})
        if not isinstance(verdict, Passed):
            raise GateRefused("; ".join(f"{issue.code}: {issue.problem}" for issue in verdict.issues)[:600])
        return self.run(verdict.plan)

    def run(self, plan: Plan) -> tuple[list[str], list[tuple[Any, ...]]]:
        wiring, found, hidden, last = Wiring(plan), dict[str, Handle](), tuple[str, ...](), ""
        work = Work(self.executor, "", MOST, CancelScope())
        for step in wiring.steps:
            tool = CATALOG.tools[step.tool or ""]
            given = [
                self.table(origin) if isinstance(origin, str) else found[origin[0]]
                for origin in wiring.inputs(step, tool).values()
            ]
            params = with_defaults(tool, step.params)
            if step.tool == "show_table":
                made = Handle(given[0].table, given[0].columns, _order(given[0], params))
                hidden = tuple(params["hide"])
            else:
                made, _ = _made(step.tool or "", given, params, work.ask)
            found[step.id], last = made, step.id
        rows = self._fetch(arranged(found[last].table, found[last].order))
        names = [name for name in found[last].table.columns if name not in hidden]
        return names, [tuple(row[name] for name in names) for row in rows]

    def _fetch(self, table: Any) -> list[dict[str, Any]]:
        fetched: list[dict[str, Any]] = self.executor.run(table, MOST, CancelScope()).table.to_pylist()
        return fetched
