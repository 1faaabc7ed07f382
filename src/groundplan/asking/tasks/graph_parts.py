"""The parts of a task with the tools that may serve each: what a graph written in one call is held against."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from groundplan.asking.tasks.choose import PartRequest
from groundplan.asking.tasks.fill import Made, choices_of, compatible, linked
from groundplan.asking.tasks.task_words import glossed, stems
from groundplan.asking.tasks.values import TextValue, values_in
from groundplan.catalog.catalog import Catalog
from groundplan.contracts.bounds import NO_BOUNDS, Bounds
from groundplan.contracts.reading import Constraint, Goal, Reading, Requirement
from groundplan.contracts.references import FROM, read_reference
from groundplan.contracts.tool import Tool

OFFERED = 8  # tools to choose from, per part
MOST_TOOLS = 12  # in one graph
MOST_PLACES = 12  # steps of one graph
WRITE, CHOOSE, WORK = "model.write", "model.choose", "model.work"
COPIED = ("email", "quoted", "code")  # kinds of value that a step for the part must have as they are

Search = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True)
class GraphPart:
    """One goal or constraint, and the tools that the search finds for it."""

    requirement: Requirement
    offered: tuple[Tool, ...]

    @property
    def label(self) -> str:
        """`g1` or `c1`: how the model names it."""
        return self.requirement.id.rpartition(":")[2]

    @property
    def value(self) -> Goal | Constraint:
        value = self.requirement.value
        assert isinstance(value, Goal | Constraint)
        return value

    @property
    def text(self) -> str:
        return self.value.text

    @property
    def request(self) -> PartRequest:
        return PartRequest(self.text, self.offered, ())

    @property
    def values(self) -> tuple[TextValue, ...]:
        return tuple(one for one in values_in(self.text) if one.kind in COPIED)

    def may_be_done_by(self, tool: Tool) -> bool:
        """Whether the words allow this tool for what is to be done; a model only writes, decides or looks up."""
        fitting = self.request.fitting
        if tool.name in (WRITE, CHOOSE, WORK):
            return all(one.effect == "read" for one in fitting[:1])
        return isinstance(self.value, Goal) and tool.name in {one.name for one in fitting}


@dataclass(frozen=True)
class GraphOffer:
    """What a graph may be made of."""

    question: str
    parts: tuple[GraphPart, ...]
    tools: tuple[Tool, ...]
    model_tools: tuple[Tool, ...]
    subjects: int  # addresses and codes in the task
    places: int

    def most_times(self, part: GraphPart) -> int:
        """How often a part may be done: once, or once for each of the subjects or of the values in a list."""
        groups = [one.group for one in values_in(part.text)]
        return max(1, self.subjects, *(groups.count(group) for group in groups))

    def find(self, name: str) -> Tool | None:
        return next((tool for tool in (*self.tools, *self.model_tools) if tool.name == name), None)

    def part(self, label: str) -> GraphPart | None:
        return next((part for part in self.parts if part.label == label), None)

    @property
    def looking_up(self) -> tuple[Tool, ...]:
        """The tools that an agent may have."""
        return tuple(tool for tool in self.tools if tool.effect == "read")


def offer_for(reading: Reading, catalog: Catalog, search: Search, bounds: Bounds = NO_BOUNDS) -> GraphOffer:
    """The tools of every part; the best of each before the second best of any."""
    wanted = [one for one in reading.requirements if isinstance(one.value, Goal | Constraint)]
    found = [search(glossed(one.value.text), OFFERED) for one in wanted if isinstance(one.value, Goal | Constraint)]
    parts = tuple(
        GraphPart(requirement, tuple(catalog.tools[name] for name in names))
        for requirement, names in zip(wanted, found, strict=True)
    )
    ranked = dict.fromkeys(name for rank in zip_longest(*found) for name in rank if name)
    subjects = {one.text for one in values_in(reading.question) if one.kind in COPIED and one.kind != "quoted"}
    return GraphOffer(
        reading.question,
        parts,
        tuple(catalog.tools[name] for name in [*ranked][:MOST_TOOLS]),
        tuple(tool for name in (WRITE, CHOOSE, WORK) if (tool := catalog.tools.get(name)) and bounds.allows(tool)),
        len(subjects),
        min(2 * len(parts) + len(subjects), bounds.steps or MOST_PLACES, MOST_PLACES),
    )


def fields_for(name: str, wanted: Mapping[str, Any], question: str, earlier: Sequence[Made]) -> Iterator[str]:
    """`s1.email`: the fields of earlier steps that a param may take; none for a param with a list of its own."""
    said = set(stems(question))
    for made in () if choices_of(wanted) else earlier:
        for given, told in made.fields.items():
            field = f"{made.step.id}.{given}"
            close = linked(name, True, given, made, said) > 0 or bool(set(stems(given)) & said)
            if (close or len(made.fields) == 1) and compatible(told, wanted) and read_reference({FROM: field}):
                yield field
