"""Questions to issue trackers: what they ask about, and what to fetch from which tracker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated

from pydantic import AfterValidator, Field, PlainSerializer, model_validator

from groundplan.contracts.contract import Contract, Name, Text
from groundplan.contracts.reading import Period

FilterName = Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")]
Words = Annotated[tuple[Annotated[Text, Field(min_length=1)], ...], Field(max_length=1_000)]
Filters = Annotated[
    Mapping[FilterName, Words],
    AfterValidator(lambda filters: MappingProxyType(dict(filters))),
    PlainSerializer(
        lambda filters: {name: list(values) for name, values in filters.items()}, return_type=dict[str, list[str]]
    ),
]
"""Filter values by filter name (projects, dates, statuses, providers), read-only and in order."""


def no_filters() -> Filters:
    return MappingProxyType({})


class TrackerIntent(Contract):
    type: Name
    confidence: Annotated[float, Field(ge=0, le=1)]
    said: Text = ""  # the words that ask for it


class Hypothesis(Contract):
    """One thing to find out, after those that it depends on."""

    id: Name
    description: Text
    depends_on: tuple[Name, ...] = ()


class Reasoning(Contract):
    """How the question was understood, before fetching. Dates are words in `entities` and intervals in `periods`."""

    intents: Annotated[tuple[TrackerIntent, ...], Field(max_length=64)] = ()
    hypotheses: Annotated[tuple[Hypothesis, ...], Field(max_length=512)] = ()
    entities: Filters = Field(default_factory=no_filters)
    said: Filters = Field(default_factory=no_filters)  # the words that name them
    periods: tuple[Period, ...] = ()
    unexplained: tuple[Text, ...] = ()  # words that were not understood
    unresolved: tuple[Text, ...] = ()  # words that cannot be used: an unknown project, an ambiguous date

    @model_validator(mode="after")
    def _depend_on_earlier_ones(self) -> Reasoning:
        known: set[str] = set()
        for hypothesis in self.hypotheses:
            missing = [id_ for id_ in hypothesis.depends_on if id_ not in known]
            if missing or hypothesis.id in known:
                fault = f"depends on {missing[0]!r}, which does not come before it" if missing else "appears twice"
                raise ValueError(f"hypothesis {hypothesis.id!r} {fault}")
            known.add(hypothesis.id)
        return self


class RetrievalCondition(Contract):
    """A filter in terms of rows: a column and its allowed values; dates are still words."""

    filter: FilterName
    table: Name
    column: Name
    values: Words


class RetrievalPlan(Contract):
    """What to fetch. `table` and `conditions` repeat `sources` and `filters` in terms of rows; they are not printed."""

    id: Name
    description: Text
    sources: Annotated[tuple[Name, ...], Field(min_length=1)]
    filters: Filters
    priority: int  # higher goes first
    table: Annotated[Name | None, Field(exclude=True)] = None
    conditions: Annotated[tuple[RetrievalCondition, ...], Field(exclude=True)] = ()


class RetrievalQuery(Contract):
    """One plan for one source. `query_string` is for display; sources use only the filters."""

    id: Name
    query_string: str
    source: Name
    filters: Filters


class Retrieval(Contract):
    plans: tuple[RetrievalPlan, ...] = ()
    queries: tuple[RetrievalQuery, ...] = ()

    @model_validator(mode="after")
    def _is_in_order_and_whole(self) -> Retrieval:
        faults = [*self._faults()]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def _faults(self) -> Iterator[str]:
        priorities = [plan.priority for plan in self.plans]
        if priorities != sorted(priorities, reverse=True):
            yield "the plans are not sorted by priority"
        for what, ids in (("plans", [p.id for p in self.plans]), ("queries", [q.id for q in self.queries])):
            if len(set(ids)) < len(ids):
                yield f"two {what} have the same id"
        planned = [source for plan in self.plans for source in plan.sources]
        if planned != [query.source for query in self.queries]:
            yield "the queries are not one for each source of each plan"
