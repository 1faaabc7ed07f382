"""The stages, in order: check, run, answer. Read this first; each stage is a package of its own."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from groundplan.answering.answer import answer, refuse
from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.answer import Answer, Refusal, ShownTable, TraceEntry
from groundplan.contracts.facts import Facts
from groundplan.contracts.plan import CheckedPlan, Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.verdict import Refused
from groundplan.running.run import run
from groundplan.sources.interface import Source


async def carry_out(
    plan: Plan,
    reading: Reading,
    catalog: Catalog,
    sources: Mapping[str, Source],
    schemas: Mapping[str, SourceSchema],
    **running: Any,
) -> Answer | Refusal:
    """A proposed plan to an answer: nothing runs that the gate has not passed, and only facts are answered from."""
    trace = Trace()
    verdict = check(plan, reading, catalog, schemas)
    trace.stage("check")
    if isinstance(verdict, Refused):
        return refuse(plan, verdict.issues, trace.entries)
    facts = await run(verdict.plan, sources, **running)
    trace.stage("run")
    shown = await _fetch_shown(facts, sources, verdict.plan)
    trace.stage("fetch")
    return answer(verdict.plan, facts, shown, trace.entries)


async def _fetch_shown(facts: Facts, sources: Mapping[str, Source], plan: CheckedPlan) -> dict[str, ShownTable]:
    """The rows of every table and chart that a person gets to see, by step."""
    refs = facts.tables | {step: chart.table for step, chart in facts.charts.items()}
    limits = plan.limits
    return {step: await sources[ref.source].fetch(ref, limits.rows, limits.step_seconds) for step, ref in refs.items()}


class Trace:
    """How long each stage took."""

    def __init__(self) -> None:
        self.entries: list[TraceEntry] = []
        self._since = time.perf_counter()

    def stage(self, name: str) -> None:
        now = time.perf_counter()
        self.entries.append(TraceEntry(stage=name, ms=round((now - self._since) * 1000, 1)))
        self._since = now
