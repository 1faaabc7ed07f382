"""The input of every rule: a plan and what it is checked against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from groundplan.catalog.catalog import Catalog
from groundplan.checking.lineage import OUT, Column, Origin, Shape, follow
from groundplan.checking.params import as_used
from groundplan.checking.relation import Relation
from groundplan.checking.relations import relations
from groundplan.checking.wiring import Wiring
from groundplan.contracts.bounds import NO_BOUNDS, Bounds
from groundplan.contracts.expression import FoundGroup, walk
from groundplan.contracts.join_paths import NoPath, rooted_reading
from groundplan.contracts.meaning import has_meaning, is_extended
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.reading import Filter, GroupBy, Metric, OutputAsked, Reading, Requirement, Time
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import SourceSchema, Table
from groundplan.contracts.tool import Tool

SHOWING = ("show_table", "save_table", "plot_")


@dataclass(frozen=True)
class Draft:
    """A plan with its reading, the catalog and the schemas. Derived views are computed once and shared by all rules."""

    plan: Plan
    reading: Reading
    catalog: Catalog
    schemas: Mapping[str, SourceSchema]
    bounds: Bounds = NO_BOUNDS  # what the caller allows

    @cached_property
    def wiring(self) -> Wiring:
        return Wiring(self.plan)

    @cached_property
    def tools(self) -> Mapping[str, Tool | None]:
        """The tool of each step; None if it has none or names an unknown one."""
        known = self.catalog.tools
        return {s.id: as_used(s, known[s.tool]) if s.tool and s.tool in known else None for s in self.wiring.steps}

    @cached_property
    def shapes(self) -> Mapping[str, Mapping[str, Shape]]:
        return follow(self.wiring, self.tools, self.schemas)

    @cached_property
    def relations(self) -> Mapping[str, Relation]:
        return relations(self.wiring, self.tools, self.shapes, self.relationships)

    @cached_property
    def relationships(self) -> tuple[Relationship, ...]:
        known = (link for schema in self.schemas.values() for link in schema.relationships)
        return tuple(dict.fromkeys((*known, *self.reading.joins)))

    @cached_property
    def rooted(self) -> Reading:
        """The reading with its join paths, or as it is where one is not clear: `flow/ambiguous-path` reports that."""
        try:
            return rooted_reading(self.reading, self.relationships)
        except NoPath:
            return self.reading

    @cached_property
    def shown(self) -> tuple[Step, ...]:
        """The steps whose tables a person sees: the ends, and what is drawn, shown or saved on the way."""
        return tuple(s for s in self.wiring.steps if s in self.wiring.ends or (s.tool or "").startswith(SHOWING))

    @cached_property
    def is_compared(self) -> bool:
        """Whether `meaning/differs` compares all that is shown; otherwise rules look at each requirement by itself."""
        followed = has_meaning(self.reading) and all(step.id in self.relations for step in self.shown)
        return followed or is_extended(self.reading)

    @cached_property
    def requirements(self) -> Mapping[str, Requirement]:
        return {requirement.id: requirement for requirement in self.reading.requirements}

    @cached_property
    def labels(self) -> frozenset[str]:
        """The labels of the requirements, as in the catalog; a named chart kind is included, and a rank of groups."""
        asked = self.reading.requirements
        kinds = {f"output:chart:{r.value.chart}" for r in asked if isinstance(r.value, OutputAsked) and r.value.chart}
        ranks = {"rank" for r in asked for part in walk(r.value) if isinstance(part, FoundGroup) and part.order}
        return frozenset(r.label for r in asked) | kinds | ranks

    @cached_property
    def asked_columns(self) -> frozenset[str]:
        columns = (
            r.value.column for r in self.reading.requirements if isinstance(r.value, Metric | GroupBy | Time | Filter)
        )
        return frozenset(column for column in columns if column)

    def tables(self, name: str) -> list[Table]:
        return [table for schema in self.schemas.values() for table in schema.tables if table.name == name]

    def tool_steps(self) -> Iterator[tuple[int, Step, Tool]]:
        """Index, step and tool, for the steps with a known tool."""
        for index, step in enumerate(self.plan.steps):
            if self.wiring.by_id[step.id] is step and (tool := self.tools[step.id]):
                yield index, step, tool

    def citing(self, requirement: str) -> Iterator[tuple[Step, Tool]]:
        return ((step, tool) for _, step, tool in self.tool_steps() if requirement in step.satisfies)

    def serves(self, tool: Tool, label: str) -> bool:
        """Whether a capability of the tool serves a requirement with this label."""
        wanted = self.catalog.serving(label)
        return any((self.catalog.capability(name) or name) in wanted for name in tool.capabilities)

    def input_shape(self, step: Step, tool: Tool, port: str | None = None) -> Shape | None:
        """The shape of a step's input: the named port, or the first."""
        name = port or (tool.inputs[0].name if tool.inputs else OUT)
        return self.shapes[step.id].get(name)

    def input_column(self, step: Step, tool: Tool, name: object, port: str | None = None) -> Column | None:
        shape = self.input_shape(step, tool, port)
        return (shape.columns or {}).get(name) if shape and isinstance(name, str) else None

    def comes_from(self, step: Step, tool: Tool, name: object, column: str) -> bool:
        """Whether the input column `name` is, or derives from, the source's `column`."""
        found = self.input_column(step, tool, name)
        return bool(found) and column in names(found.origins if found else frozenset())


def names(origins: frozenset[Origin]) -> frozenset[str]:
    return frozenset(column for _, column in origins)
