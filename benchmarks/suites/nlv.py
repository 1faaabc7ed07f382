"""The suite `nlv`: questions with gold charts, scored by fields, aggregate, grouping, mark and result table.

The folder has `questions.jsonl`, `gold_specs.jsonl`, `tables/*.csv` and `gold_tables/*.csv`. Only single utterances are
scored. The checked plan is scored, so a refusal or a clarification misses everything.
"""

from __future__ import annotations

import csv
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.suites.cost import took, usage_of

from groundplan.contracts.answer import Answer
from groundplan.contracts.contract import Scalar
from groundplan.contracts.plan import Plan, Proposal, Step
from groundplan.contracts.reading import OutputAsked, Reading
from groundplan.errors import UsageError
from groundplan.evaluation.report import Miss, Report
from groundplan.evaluation.suites.sampling import spread
from groundplan.project import AsyncProject, Planned
from groundplan.settings import Endpoint

MARKS = {
    "plot_line": "line",
    "plot_bar": "bar",
    "plot_area": "area",
    "plot_scatter": "point",
    "plot_histogram": "bar",
    "plot_box": "boxplot",
    "plot_heatmap": "rect",
}
PARTS = ("fields", "aggregate", "grouping", "mark")


@dataclass(frozen=True)
class Shown:
    """What a plan shows, in the terms of the gold charts."""

    fields: frozenset[str]
    aggregate: str | None
    grouping: frozenset[str]
    mark: str | None


@dataclass(frozen=True)
class Scored:
    """One question: its plan, the planning time, and which parts are correct."""

    planned: Planned
    seconds: float
    right: dict[str, bool]
    same_table: bool | None  # None if there is no gold table
    miss: Miss | None


async def evaluate(
    folder: Path,
    sample: int | None,
    on_progress: Callable[[int, int], None],
    models: Sequence[Endpoint] = (),
    strategy: str | None = None,
) -> Report:
    """Score every single-utterance question, or an evenly spread `sample`."""
    questions = spread([q for q in _lines(folder / "questions.jsonl") if not q["sequential"]], sample)
    specs = {spec["gold"]: spec for spec in _lines(folder / "gold_specs.jsonl")}
    names = sorted({q["table"] for q in questions})
    async with AsyncExitStack() as opened:
        projects = {name: await _opened(opened, folder / "tables" / f"{name}.csv", models) for name in names}
        began, scored = time.perf_counter(), list[Scored]()
        for place, question in enumerate(questions):
            spec, project = specs[question["gold"]], projects[question["table"]]
            scored.append(await _score(question, spec, project, strategy, folder))
            on_progress(place + 1, len(questions))
    plans = [one.planned for one in scored]
    return Report(
        suite="nlv",
        n=len(questions),
        scores=_scores(scored),
        misses=tuple(one.miss for one in scored if one.miss),
        usage=usage_of(plans),
        seconds=round(time.perf_counter() - began, 2),
        extra=took(plans, [one.seconds for one in scored], with_a_model=bool(models)),
    )


async def _opened(stack: AsyncExitStack, table: Path, models: Sequence[Endpoint]) -> AsyncProject:
    project = await AsyncProject.open(table, models=models)
    stack.push_async_callback(project.close)
    return project


async def _score(
    question: dict[str, Any], spec: dict[str, Any], project: AsyncProject, strategy: str | None, folder: Path
) -> Scored:
    began = time.perf_counter()
    planned = await project.plan(question["utterances"][0], strategy=strategy)
    seconds = time.perf_counter() - began
    shown = shown_by(planned.plan) if planned.plan else None
    right = _judged(shown, spec, planned)
    gold = spec.get("gold_table")
    return Scored(
        planned=planned,
        seconds=seconds,
        right=right,
        same_table=await _same_table(project, planned, folder / gold) if gold else None,
        miss=None if right["all"] else _miss(question, spec, shown, right, planned),
    )


def _scores(scored: Sequence[Scored]) -> dict[str, float]:
    scores = {part: fmean(float(one.right[part]) for one in scored) for part in (*PARTS, "mark_exact", "all")}
    tables = [float(one.same_table) for one in scored if one.same_table is not None]
    scores["table"] = fmean(tables) if tables else 0.0
    return {name: round(score, 4) for name, score in scores.items()}


def shown_by(plan: Plan) -> Shown:
    """The fields, aggregate, grouping and mark of a plan."""
    chart = next((s for s in plan.steps if s.tool in MARKS), None)
    mark = MARKS[chart.tool] if chart and chart.tool else None
    totals = next((s for s in plan.steps if s.tool == "aggregate"), None)
    if totals:
        metric: Any = totals.params["metrics"][0]  # type: ignore[index]
        groups = frozenset(_names(totals, "group_by"))
        measured = frozenset({metric["column"]} if metric.get("column") else ())
        return Shown(groups | measured, metric.get("function"), groups, mark)
    spread = next((s for s in plan.steps if s.tool in ("distribution_stats", "plot_histogram")), None)
    if spread:
        fields = frozenset(_names(spread, "column", "x", "by", "color"))
        return Shown(fields, "count", fields, mark)
    drawn = frozenset(_names(chart, "x", "y", "color", "facet")) if chart else frozenset[str]()
    return Shown(drawn, None, frozenset(), mark)


def _names(step: Step, *params: str) -> Iterator[str]:
    for param in params:
        value = step.params.get(param)
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, str))


def _judged(shown: Shown | None, spec: dict[str, Any], planned: Planned) -> dict[str, bool]:
    if shown is None:
        return dict.fromkeys((*PARTS, "mark_exact", "all"), False)
    fields = shown.fields == set(spec["fields"])
    aggregate = shown.aggregate == spec["aggregate"]
    exact = shown.mark == spec["mark"]
    unnamed = fields and aggregate and shown.mark is not None and not _names_a_chart(planned.reading)
    got = {
        "fields": fields,
        "aggregate": aggregate,
        "grouping": shown.grouping == set(spec["group_by"]),
        "mark": exact or unnamed,
        "mark_exact": exact,
    }
    return {**got, "all": all(got[part] for part in PARTS)}


def _names_a_chart(reading: Reading | None) -> bool:
    asked = reading.requirements if reading else ()
    return any(isinstance(r.value, OutputAsked) and r.value.chart is not None for r in asked)


def _miss(
    question: dict[str, Any], spec: dict[str, Any], shown: Shown | None, got: dict[str, bool], planned: Planned
) -> Miss:
    wanted = {"fields": sorted(spec["fields"]), "aggregate": spec["aggregate"], "mark": spec["mark"]}
    found = {"fields": sorted(shown.fields), "aggregate": shown.aggregate, "mark": shown.mark} if shown else {}
    why = "+".join(part for part in PARTS if not got[part]) if shown else f"no plan: {planned.why}"
    return Miss(
        id=question["id"],
        question=question["utterances"][0],
        expected=wanted,
        got=found,
        why=why,
    )


async def _same_table(project: AsyncProject, planned: Planned, gold: Path) -> bool:
    """Whether the result has the gold rows, regardless of column names and order."""
    if planned.plan is None or planned.reading is None:
        return False
    answer = await project.run(Proposal(reading=planned.reading, plan=planned.plan))
    if not isinstance(answer, Answer) or not answer.tables:
        return False
    with gold.open(newline="") as file:
        wanted = [tuple(_plain(cell) for cell in row) for row in list(csv.reader(file))[1:]]
    table = answer.tables[0]
    kept = [i for i, name in enumerate(table.columns) if name not in ("rank", "share")]
    got = [tuple(_plain(row[i]) for i in kept) for row in table.rows]
    return _equal(got, wanted)


def _plain(cell: Scalar) -> str | float:
    """Numbers as numbers, months as YYYY-MM, everything else as text."""
    text = str(cell)
    try:
        return float(text)
    except ValueError:
        return text[:7] if len(text) >= 10 and text[4:5] == "-" and text[8:10] == "01" else text


def _equal(got: list[tuple[str | float, ...]], wanted: list[tuple[str | float, ...]]) -> bool:
    if len(got) != len(wanted) or not wanted or len(got[0]) != len(wanted[0]):
        return False

    def key(row: tuple[str | float, ...]) -> list[str]:
        return sorted(f"{c:.6g}" if isinstance(c, float) else c for c in row)

    return all(
        all(_close(a, b) for a, b in zip(sorted(one, key=_sortable), sorted(other, key=_sortable), strict=True))
        for one, other in zip(sorted(got, key=key), sorted(wanted, key=key), strict=True)
    )


def _sortable(cell: str | float) -> tuple[bool, float, str]:
    return (isinstance(cell, str), 0.0 if isinstance(cell, str) else cell, cell if isinstance(cell, str) else "")


def _close(one: str | float, other: str | float) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    return one == other


def _lines(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        raise UsageError(f"{file} is missing; the suite nlv reads questions.jsonl, gold_specs.jsonl and tables/")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
