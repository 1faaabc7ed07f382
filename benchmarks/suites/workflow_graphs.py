"""Workflows as graphs of tools, and their overlap with the expected graph by tools, edges and arguments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benchmarks.suites.workflow_files import Node, Request

from groundplan.contracts.plan import Step
from groundplan.contracts.references import read_join, read_reference, references

TAKEN = "\0"  # stands for a reference to another step
_REFERENCE = re.compile(r"\$[A-Za-z]\w*(?:\.[^$]*)?\$|\bAPI_call_\d+\b")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Overlap:
    """The overlap of an expected and a proposed set."""

    common: int
    wanted: int
    given: int

    def __add__(self, other: Overlap) -> Overlap:
        return Overlap(self.common + other.common, self.wanted + other.wanted, self.given + other.given)

    @property
    def f1(self) -> float:
        """The F1 score; 1 if both sets are empty."""
        return 2 * self.common / (self.wanted + self.given) if self.wanted + self.given else 1.0

    @property
    def exact(self) -> bool:
        return self.common == self.wanted == self.given


@dataclass(frozen=True)
class Graph:
    """The tools, each as often as it is called, and the data flow between them."""

    tools: Counter[str]
    edges: frozenset[tuple[str, str]]

    def overlap(self, wanted: Graph) -> tuple[Overlap, Overlap]:
        """The overlap in tools and in edges."""
        tools = Overlap((self.tools & wanted.tools).total(), wanted.tools.total(), self.tools.total())
        return tools, Overlap(len(self.edges & wanted.edges), len(wanted.edges), len(self.edges))


def wanted_graph(request: Request) -> Graph:
    tools = {node.id: node.name for node in request.nodes}
    edges = frozenset((tools[edge.source], tools[edge.target]) for edge in request.edges)
    return Graph(Counter(tools.values()), edges)


def proposed_graph(steps: Sequence[Step]) -> Graph:
    """The graph of a plan. Routers are not calls, and needs without data are not edges."""
    tools = {step.id: step.tool for step in steps if step.tool}
    taken = ((reference.step, step.id) for step in steps for _, reference in references(step.params))
    edges = frozenset((tools[giving], tools[taking]) for giving, taking in taken if {giving, taking} <= tools.keys())
    return Graph(Counter(tools.values()), edges)


def chain(tools: Sequence[str]) -> Graph:
    """A chain in which each tool takes something from the one before."""
    return Graph(Counter(tools), frozenset(pairwise(tools)))


def has_arguments(node: Node, steps: Sequence[Step]) -> bool:
    """Whether a step calls the same tool with exactly these arguments; all references count as equal."""
    wanted = _plain(node.arguments)
    return any(step.tool == node.name and _plain(step.params) == wanted for step in steps)


def _plain(value: Any) -> object:
    """A value normalised for comparison: ignores case, surrounding spaces and quotes around numbers."""
    if read_reference(value):
        return TAKEN
    if join := read_join(value):
        return _plain("".join(part if isinstance(part, str) else TAKEN for part in join.parts))
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return float(value)
        case str():
            said = _REFERENCE.sub(TAKEN, value).strip().lower()
            return float(said) if _NUMBER.fullmatch(said) else said
        case Mapping():
            return {key: _plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
    return value
