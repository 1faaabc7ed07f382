"""Questions on tiny tables, run for real: what an answer is written from, and the plans of each kind of question."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundplan.answering.answer import answer
from groundplan.answering.verifying.verify import verify
from groundplan.checking.gate import check
from groundplan.contracts.answer import Answer, Citation, ShownTable
from groundplan.contracts.contract import Language
from groundplan.contracts.facts import Facts
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import CheckedPlan, Limits, Plan
from groundplan.contracts.reading import RenderStyle
from groundplan.contracts.verdict import Passed
from groundplan.running.run import run
from groundplan.sources.tables.source import Tables
from tests.checking.asked import SCHEMA, asked, catalog

Question = tuple[list[str], list[dict[str, Any]]]


@dataclass(frozen=True)
class Run:
    """What came back from one question."""

    plan: CheckedPlan
    facts: Facts
    shown: Mapping[str, ShownTable]

    def answer(self, language: Language = "en") -> Answer:
        found = answer(self.plan, self.facts, self.shown, (), language)
        assert isinstance(found, Answer), found
        return found

    def text(self, language: Language = "en") -> str:
        found = self.answer(language)
        assert not found.issues, found.issues
        return found.text

    def faults(self, text: str, citations: Sequence[Citation]) -> tuple[Issue, ...]:
        return verify(text, self.facts, self.shown, citations, self.plan)


class Data:
    """One opened file, and questions to it."""

    def __init__(self, file: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._tables, self._catalog = Tables.open(file), catalog()
        self._schemas = {"tables": self._loop.run_until_complete(self._tables.describe())}

    def ask(self, question: Question, **limits: int) -> Run:
        asks, steps = question
        plan = Plan.model_validate({"strategy": "hand", "steps": steps, "limits": limits})
        verdict = check(plan, asked(*asks), self._catalog, self._schemas)
        assert isinstance(verdict, Passed), verdict
        return self._loop.run_until_complete(self._carry_out(verdict.plan))

    async def _carry_out(self, plan: CheckedPlan) -> Run:
        facts = await run(plan, {"tables": self._tables})
        refs = facts.tables | {step: chart.table for step, chart in facts.charts.items()}
        return Run(
            plan,
            facts,
            {step: await self._tables.fetch(ref, facts.run, plan.limits.rows, 60) for step, ref in refs.items()},
        )

    def close(self) -> None:
        self._loop.run_until_complete(self._tables.close())
        self._loop.close()


@contextmanager
def opened(file: Path) -> Iterator[Data]:
    data = Data(file)
    try:
        yield data
    finally:
        data.close()


def of_items(facts: Facts, render: RenderStyle = "BULLETS", limits: Limits | None = None) -> Run:
    """Facts that came without a table, as from documents, under a checked plan."""
    checked = _any_checked()
    fields = {name: getattr(checked, name) for name in CheckedPlan.model_fields}
    plan = CheckedPlan.model_validate(
        {**fields, "render": render, "limits": limits or Limits()}, context={"made_by": CheckedPlan.MADE_BY}
    )
    return Run(plan, facts, {})


def _any_checked() -> CheckedPlan:
    asks, steps = total("sales")
    verdict = check(
        Plan.model_validate({"strategy": "hand", "steps": steps}), asked(*asks), catalog(), {"tables": SCHEMA}
    )
    assert isinstance(verdict, Passed), verdict
    return verdict.plan


def _metric(function: str, column: str) -> dict[str, str]:
    return {"column": column, "function": function, "as": f"{function}_{column}"}


def _dates(table: str) -> dict[str, Any]:
    params = {"table": table, "column": "date"}
    return {"id": "dates", "tool": "parse_datetime", "params": params, "satisfies": ["time:date"]}


def total(table: str, function: str = "sum", column: str = "revenue") -> Question:
    return by_groups(table, (), function, column)


def by_groups(table: str, groups: Sequence[str], function: str = "sum", column: str = "revenue") -> Question:
    asks = [f"metric:{column}:{function}", *(f"group_by:{name}" for name in groups)]
    params = {"table": table, "group_by": list(groups), "metrics": [_metric(function, column)]}
    cites = [f"metric:{column}", *(f"group_by:{name}" for name in groups)]
    return asks, [{"id": "totals", "tool": "aggregate", "params": params, "satisfies": cites}]


def over_time(
    table: str, grain: str, groups: Sequence[str] = (), function: str = "sum", column: str = "revenue"
) -> Question:
    asked_grain = "" if grain == "auto" else f":{grain}"
    asks = [f"metric:{column}:{function}", f"time:date{asked_grain}", *(f"group_by:{name}" for name in groups)]
    params = {"group_by": ["date", *groups], "grain": grain, "metrics": [_metric(function, column)]}
    cites = [f"metric:{column}", "time:date", *(f"group_by:{name}" for name in groups)]
    totals = {"id": "totals", "tool": "aggregate", "needs": ["dates"], "params": params, "satisfies": cites}
    return asks, [_dates(table), totals]


def after(question: Question, tool: str, cites: str, asks: str | None = None, **params: Any) -> Question:
    """The question with one more step behind its totals."""
    step = {"id": "more", "tool": tool, "needs": ["totals"], "params": params, "satisfies": [cites]}
    return [*question[0], asks or cites], [*question[1], step]


def filtered(question: Question, column: str, operator: str, *values: Any) -> Question:
    """The question about only the rows that meet a condition."""
    asks, (totals,) = question[0], question[1]
    params = dict(totals["params"])
    conditions = [{"column": column, "operator": operator, "values": list(values)}]
    kept = {
        "id": "kept",
        "tool": "filter_rows",
        "params": {"table": params.pop("table"), "conditions": conditions},
        "satisfies": [f"filter:{column}"],
    }
    told = ":".join(["filter", column, operator, *map(str, values)])
    return [*asks, told], [kept, {**totals, "needs": ["kept"], "params": params}]


def single(tool: str, asks: Sequence[str], cites: Sequence[str], **params: Any) -> Question:
    return list(asks), [{"id": "told", "tool": tool, "params": params, "satisfies": list(cites)}]


def periods(table: str, current: list[str], previous: list[str], by: Sequence[str] = ()) -> Question:
    groups = [f"group_by:{name}" for name in by]
    params = {
        "time": "date",
        "by": list(by),
        "metric": {"column": "revenue", "function": "sum"},
        "current": current,
        "previous": previous,
    }
    cites = ["metric:revenue", "time:date", "analysis:compare", *groups]
    step = {"id": "sides", "tool": "compare_periods", "needs": ["dates"], "params": params, "satisfies": cites}
    return ["metric:revenue:sum", "time:date", "analysis:compare", *groups], [_dates(table), step]
