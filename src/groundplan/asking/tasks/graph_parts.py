"""The parts of a task by its words, with the tools found for each: what a model's graph is held against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from groundplan.asking.tasks.task_words import first_of, glossed, load_compose_words, stems, tool_words
from groundplan.asking.tasks.values import TextValue, values_in
from groundplan.catalog.catalog import Catalog
from groundplan.contracts.bounds import NO_BOUNDS, Bounds
from groundplan.contracts.reading import Constraint, Goal, Reading, Requirement
from groundplan.contracts.tool import Tool
from groundplan.text.names import name_words
from groundplan.text.stems import stem

OFFERED = 8  # tools to choose from, per part
MOST_TOOLS = 12  # in one graph
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
        """`g1` or `c1`."""
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
    def values(self) -> tuple[TextValue, ...]:
        return tuple(one for one in values_in(self.text) if one.kind in COPIED)

    @property
    def verb(self) -> str:
        return first_of(name_words(self.text))

    @property
    def acting(self) -> tuple[Tool, ...]:
        """The tools with an effect that the first word names."""
        verbs = {stem(word) for word in glossed(self.verb).split()}
        return tuple(
            one for one in self.offered if one.effect == "write" and verbs & {*map(stem, tool_words(one.name))}
        )

    @property
    def only_reads(self) -> bool:
        return self.verb in load_compose_words().reading

    @property
    def needs_effect(self) -> bool:
        """Whether only a tool with an effect does what the part says."""
        return isinstance(self.value, Goal) and not self.only_reads and (bool(self.acting) or self._changes_unnamed)

    @property
    def _changes_unnamed(self) -> bool:
        """Whether the first word says a change that no tool is named for."""
        verbs = {stem(word) for word in glossed(self.verb).split()}
        named = any(verbs & {*map(stem, tool_words(one.name))} for one in self.offered)
        return self.verb in load_compose_words().changing and not named

    def may_be_done_by(self, tool: Tool) -> bool:
        """Whether the words allow this tool, which has an effect: a part that looks something up changes nothing."""
        if not isinstance(self.value, Goal) or self.only_reads:
            return False
        if self.acting or not self._changes_unnamed:
            return tool in self.acting or not self.acting
        return bool({*map(stem, tool_words(tool.name)[1:])} & {*stems(self.text)})


@dataclass(frozen=True)
class GraphOffer:
    """What a graph may be made of."""

    question: str
    catalog: Catalog
    parts: tuple[GraphPart, ...]
    tools: tuple[Tool, ...]  # that are shown
    model_tools: tuple[Tool, ...]
    subjects: int  # addresses and codes in the task

    def most_times(self, part: GraphPart) -> int:
        """How often a part may be done: once, or once for each of the subjects or of the values in a list."""
        groups = [one.group for one in values_in(part.text)]
        return max(1, self.subjects, *(groups.count(group) for group in groups))

    def find(self, name: str) -> Tool | None:
        """A tool that an agent may have, by its name or its last part."""
        tools = self.catalog.tools.values()
        return next((one for one in tools if name in (one.name, one.name.rsplit(".", 1)[-1]) and one.is_action), None)


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
        catalog,
        parts,
        tuple(catalog.tools[name] for name in [*ranked][:MOST_TOOLS]),
        tuple(tool for name in (WRITE, CHOOSE, WORK) if (tool := catalog.tools.get(name)) and bounds.allows(tool)),
        len(subjects),
    )
