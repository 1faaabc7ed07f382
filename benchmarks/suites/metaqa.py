"""The suite `metaqa`: questions over one, two and three hops of a graph, without a model; the answers must be exact.

The folder has `questions.jsonl` and `kb.tsv.gz`. The names of relations are in its `knowledge.yaml`, or in the
description that comes with the benchmarks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import fmean, median

from pydantic import BaseModel

from groundplan.asking.lookup.read import read_lookup
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.knowledge import KnowledgeSchema
from groundplan.contracts.reading import IntentAsked, Reading
from groundplan.evaluation.report import Miss, Report
from groundplan.evaluation.suites.rows import load_rows
from groundplan.evaluation.suites.sampling import spread
from groundplan.sources.knowledge.description import FILE, load_description
from groundplan.sources.knowledge.graph import Graph
from groundplan.sources.knowledge.loading import GraphBuilder
from groundplan.text.entities import Registry, build_registry

HOLDS = "questions.jsonl and kb.tsv.gz"
DESCRIPTION = Path(__file__).with_name("metaqa.yaml")
TODAY = date(2026, 1, 1)  # no question depends on it


class Step(BaseModel):
    relation: str
    direction: str

    @property
    def hop(self) -> str:
        return ("^" if self.direction == "in" else "") + self.relation


class Question(BaseModel):
    id: str
    hops: int
    question: str
    topic_entity: str
    gold_path: tuple[Step, ...]
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Base:
    schema: KnowledgeSchema
    graph: Graph
    registry: Registry


@dataclass(frozen=True)
class Scored:
    hops: int
    right: bool
    milliseconds: float
    miss: Miss | None


def evaluate(folder: Path, sample: int | None, on_progress: Callable[[int, int], None]) -> Report:
    """Score every question, or an even `sample` of them."""
    began = time.perf_counter()
    questions = spread(load_rows(folder / "questions.jsonl", Question, HOLDS), sample)
    base = _load_base(folder)
    loaded = time.perf_counter() - began
    scored: list[Scored] = []
    for question in questions:
        scored.append(_score(question, base))
        on_progress(len(scored), len(questions))
    return Report(
        suite="metaqa",
        n=len(questions),
        scores={f"hops{hops}": _share(scored, hops) for hops in sorted({one.hops for one in scored})},
        misses=tuple(one.miss for one in scored if one.miss),
        seconds=round(time.perf_counter() - began, 1),
        extra={
            "median_ms": round(median(one.milliseconds for one in scored), 2),
            "slowest_ms": round(max(one.milliseconds for one in scored), 2),
            "load_seconds": round(loaded, 2),
        },
    )


def _load_base(folder: Path) -> Base:
    described = folder / FILE if (folder / FILE).exists() else DESCRIPTION
    schema = load_description(described).schema
    loaded = GraphBuilder(schema)
    loaded.add_file(folder / "kb.tsv.gz")
    graph = loaded.finish()
    rows = ((node.id, node.type, node.name, node.aliases) for node in graph.nodes.values())
    return Base(schema, graph, build_registry(rows))


def _score(question: Question, base: Base) -> Scored:
    began = time.perf_counter()
    read = read_lookup(question.question, base.schema, base.registry, today=TODAY)
    milliseconds = (time.perf_counter() - began) * 1000
    got = sorted(_answers(read, base.graph)) if isinstance(read, Reading) else []
    right = set(got) == set(question.answers)
    miss = None if right else _miss(question, got, _why(read, question))
    return Scored(question.hops, right, milliseconds, miss)


def _answers(reading: Reading, graph: Graph) -> set[str]:
    return {
        graph.nodes[place].name
        for asked in _asked(reading)
        if asked.entity and asked.path
        for place in graph.walk([asked.entity], asked.path, without=asked.entity)
    }


def _asked(reading: Reading) -> list[IntentAsked]:
    return [requirement.value for requirement in reading.requirements if isinstance(requirement.value, IntentAsked)]


def _why(read: Reading | Clarification | Refusal, question: Question) -> str:
    if not isinstance(read, Reading):
        return f"{read.kind}: {read.text}"
    gold = tuple(step.hop for step in question.gold_path)
    wrong = []
    if not any(entity.name == question.topic_entity for entity in read.entities):
        wrong.append(
            f"entity {', '.join(entity.id for entity in read.entities) or 'none'}, not {question.topic_entity}"
        )
    if not any(asked.path == gold for asked in _asked(read)):
        wrong.append(f"path {'; '.join(asked.intent for asked in _asked(read))}, not {'/'.join(gold)}")
    return "; ".join(wrong) or "the same path leads elsewhere"


def _miss(question: Question, got: Sequence[str], why: str) -> Miss:
    return Miss(id=question.id, question=question.question, expected=sorted(question.answers), got=list(got), why=why)


def _share(scored: Sequence[Scored], hops: int) -> float:
    return round(fmean(one.right for one in scored if one.hops == hops), 4)
