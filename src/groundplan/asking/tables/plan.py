"""The strategy `rules`: no model; the same reading gives the same plan, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from groundplan.asking.remote_tables import Fetching
from groundplan.asking.tables.steps.analyses import ANALYSES, add_shares, compare_periods, own_analysis
from groundplan.asking.tables.steps.charts import draw
from groundplan.asking.tables.steps.draft import Draft, Joined
from groundplan.asking.tables.steps.joins import with_joins
from groundplan.contracts.plan import Plan, Provenance, Step
from groundplan.contracts.reading import AnalysisAsked, Filter, Metric, OutputAsked, Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool


def propose(
    reading: Reading,
    schema: SourceSchema,
    fetching: Fetching | None = None,
    analyses: Mapping[str, Tool] = MappingProxyType({}),
) -> Plan:
    """The steps that do what the reading asks for, each citing the requirements it serves.

    `analyses`: the tools that bring an analysis with them, by its label.
    """
    name = reading.tables[0] if reading.tables else schema.tables[0].name
    table = next(table for table in schema.tables if table.name == name)
    return Plan(
        strategy="rules",
        steps=_steps(with_joins(reading, table, schema), fetching, analyses),
        render="TABLE",
        confidence=1.0,
        provenance=Provenance(
            template=reading.intents[0].name if reading.intents else None,
            attempts=1,
            reasoning="The rows asked for, grouped, measured and shown as the question says.",
        ),
    )


def _steps(given: Joined, fetching: Fetching | None, analyses: Mapping[str, Tool]) -> tuple[Step, ...]:
    """Filter, group things, look at single values or measure groups, rank, draw and show."""
    reading, table = given.reading, given.table
    draft = Draft(reading, table, steps=[*given.steps], data=given.data, overall=given.overall, found=given.found)
    if fetching and table.name in fetching.tools:
        filters = [r for r, value in draft.asked(Filter) if value.condition is None and r not in draft.sides]
        draft.fetch(fetching, filters)
    draft.parse_dates()
    draft.filter_rows()
    draft.group_things()
    looks = [ANALYSES[value.label] for _, value in draft.asked(AnalysisAsked) if value.label in ANALYSES]
    if looks:
        looks[0](draft)
    elif draft.sides:
        compare_periods(draft)
    elif draft.asked(Metric) or draft.groups_rows():
        draft.aggregate()
        draft.rank_by_measure()
        draft.filter_groups()
        draft.keep_asked_columns()
        add_shares(draft)
        for requirement, value in draft.asked(AnalysisAsked):
            if value.label in analyses:
                own_analysis(draft, requirement, analyses[value.label])
    else:
        draft.compute_columns()
        draft.rank_by_column()
        draft.keep_columns()
    draft.rank()
    draw(draft)
    draft.show()
    files = [r for r, value in draft.asked(OutputAsked) if value.label == "file"]
    if files:
        draft.add("saved", "save_table", {"name": "table", "format": "csv"}, files, keep=False)
    return tuple(draft.steps)
