"""Plans retrieval by rules: intents become plans and queries for sources, deterministically and without a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from groundplan.asking.remote_tables import Fetching
from groundplan.contracts.columns import Grain
from groundplan.contracts.contract import Contract, Language, Name, Text
from groundplan.contracts.plan import Fallback, Limits, Plan, Provenance, Step
from groundplan.contracts.reading import Filter, IntentAsked, Reading
from groundplan.contracts.retrieval import (
    FilterName,
    Filters,
    Hypothesis,
    Reasoning,
    Retrieval,
    RetrievalCondition,
    RetrievalPlan,
    RetrievalQuery,
    TrackerIntent,
    no_filters,
)
from groundplan.errors import CatalogError
from groundplan.telemetry.audit import AgentContract, Capabilities, agent
from groundplan.text.plain_yaml import load_yaml

FILE = Path(__file__).with_name("retrieval.yaml")
UNKNOWN = "unknown"
LIST_LENGTH = 10  # items shown of each list: the latest; the count covers the rest
BY_RULES = Capabilities(parallel=False, retry=True, needs_model=False, deterministic=True, expected_ms=80)


class TableRule(Contract):
    """The columns that a plan's filters apply to. `statuses` maps each status to the table's own word for it.

    `states` is for a status that is a part of another one: the column and value that tell it.
    """

    projects: Name
    dates: Name
    status: Name | None = None
    author: Name | None = None
    assignee: Name | None = None
    statuses: dict[str, str] = {}
    states: dict[str, tuple[Name, Text]] = {}


class PlanRule(Contract):
    """One plan of an intent; `otherwise` is the default of a filter that the question does not mention."""

    hypothesis: Text
    description: Text
    sources: Annotated[tuple[Name, ...], Field(min_length=1)]
    table: Name | None = None
    by: Name | None = None  # the date column to filter, if not the table's usual one
    instead: Name | None = None  # the table to read if this one is unavailable
    filters: tuple[FilterName, ...] = ()
    otherwise: Filters = Field(default_factory=no_filters)
    priority: int


class NumberRule(Contract):
    """A number of an intent: the rows of a period, or the mean days from `since` to `by`."""

    table: Name
    by: Name  # the date column that decides which period a row belongs to
    grain: Grain | None = None  # with it, along time; without it, beside the period before
    since: Name | None = None
    called: dict[Language, Name] = {}


class IntentRule(Contract):
    plans: Annotated[tuple[PlanRule, ...], Field(min_length=1)]
    lists: bool = False  # the answer is the lists themselves, not a count or a chart of them
    numbers: tuple[NumberRule, ...] = ()  # the answer is these numbers, not the lists
    period: Text = ""  # of the numbers, if the question names none
    conclusion: Text = ""  # the hypothesis that needs the results of all its plans


class RetrievalRules(Contract):
    threshold: Annotated[float, Field(ge=0, le=1)]
    sources: dict[Name, Literal["structured", "unstructured"]]
    tables: dict[Name, TableRule] = {}
    intents: dict[Name, IntentRule]

    @model_validator(mode="after")
    def _names_exist(self) -> RetrievalRules:
        faults = [*self._faults()]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def of(self, intent: str) -> IntentRule:
        """The rule of an intent, or the rule of `unknown` if it has none."""
        return self.intents.get(intent) or self.intents[UNKNOWN]

    def _faults(self) -> Iterator[str]:
        if UNKNOWN not in self.intents:
            yield f"the intent {UNKNOWN!r} is missing; add it for questions that no other intent covers"
        for name, intent in self.intents.items():
            for rule in intent.plans:
                for source in sorted({*rule.sources} - {*self.sources}):
                    yield f"intent {name!r} asks the source {source!r}, which is not among the sources"
                for filter_ in sorted({*rule.otherwise} - {*rule.filters}):
                    yield f"intent {name!r} fills {filter_!r}, which is not among its filters"
                named = {rule.table, rule.instead, *(number.table for number in intent.numbers)}
                for table in sorted(named - {None, *self.tables}, key=str):
                    yield f"intent {name!r} reads the table {table!r}, which is not among the tables"


@cache
def load_rules(file: Path = FILE) -> RetrievalRules:
    """Each file is read once."""
    try:
        return RetrievalRules.model_validate(load_yaml(file.read_text(encoding="utf-8")))
    except (yaml.YAMLError, ValidationError) as error:
        raise CatalogError(f"{file}: the retrieval rules are invalid: {error}; correct the file") from error


@agent(
    AgentContract(
        id="reasoning_structure",
        version="1.0.0",
        needs=("reasoning.intents",),
        gives=("reasoning.hypotheses",),
        after=("intent_detection",),
        capabilities=BY_RULES,
    )
)
def structure_reasoning(reasoning: Reasoning, rules: RetrievalRules) -> Reasoning:
    """Add one hypothesis for each plan of an intent, and one for the intent's conclusion."""
    found: list[Hypothesis] = []
    for intent in reasoning.intents:
        rule, first = rules.of(intent.type), len(found)
        found.extend(Hypothesis(id=f"h{first + n}", description=p.hypothesis) for n, p in enumerate(rule.plans))
        if rule.conclusion:
            needed = tuple(hypothesis.id for hypothesis in found[first:])
            found.append(Hypothesis(id=f"h{len(found)}", description=rule.conclusion, depends_on=needed))
    return reasoning.model_copy(update={"hypotheses": tuple(found)})


@agent(
    AgentContract(
        id="retrieval_planner",
        version="1.0.0",
        needs=("reasoning.intents", "reasoning.hypotheses"),
        gives=("retrieval.plans", "retrieval.queries"),
        after=("intent_detection", "reasoning_structure"),
        capabilities=BY_RULES,
    )
)
def plan_retrieval(reasoning: Reasoning, rules: RetrievalRules) -> Retrieval:
    """The plans of every confident intent, without duplicates, by priority and then in the order of the intents."""
    chosen = [rule for intent in _confident(reasoning, rules) for rule in rules.of(intent.type).plans]
    ordered = sorted(_deduplicate(chosen), key=lambda rule: -rule.priority)
    plans = tuple(_plan(f"plan{place}", rule, reasoning.entities, rules) for place, rule in enumerate(ordered))
    return Retrieval(plans=plans, queries=tuple(query for plan in plans for query in _queries(plan)))


def _confident(reasoning: Reasoning, rules: RetrievalRules) -> list[TrackerIntent]:
    return [intent for intent in reasoning.intents if intent.confidence >= rules.threshold]


def _deduplicate(chosen: list[PlanRule]) -> list[PlanRule]:
    """Keep the first of the rules that fetch the same data, even if they serve different intents."""
    first: dict[object, PlanRule] = {}
    for rule in chosen:
        fetched = (rule.description, rule.sources, rule.filters, tuple(rule.otherwise.items()), rule.priority, rule.by)
        first.setdefault(fetched, rule)
    return [*first.values()]


def _plan(id_: str, rule: PlanRule, entities: Filters, rules: RetrievalRules) -> RetrievalPlan:
    filters = {name: values for name in rule.filters if (values := entities.get(name) or rule.otherwise.get(name))}
    return RetrievalPlan(
        id=id_,
        description=rule.description,
        sources=rule.sources,
        filters=filters,
        priority=rule.priority,
        table=rule.table,
        conditions=tuple(_conditions(filters, rule, rules.tables)),
    )


def _conditions(
    filters: Mapping[str, tuple[str, ...]], rule: PlanRule, tables: Mapping[str, TableRule]
) -> Iterator[RetrievalCondition]:
    """The conditions on the plan's table, and on the table to read instead of it."""
    for name, by in ((rule.table, rule.by), (rule.instead, None)):
        if name:
            yield from _table_conditions(filters, name, tables[name], by)


def _table_conditions(
    filters: Mapping[str, tuple[str, ...]], name: str, table: TableRule, by: str | None
) -> Iterator[RetrievalCondition]:
    columns = {
        "projects": table.projects,
        "dates": by or table.dates,
        "statuses": table.status,
        "author": table.author,
        "assignee": table.assignee,
    }
    for kind, values in filters.items():
        column = columns.get(kind)
        if kind == "statuses" and len(values) == 1 and values[0] in table.states:
            column, value = table.states[values[0]]
            values = (value,)
        elif kind == "statuses":  # drop the statuses that the table has no word for, or that are part of another
            values = tuple(dict.fromkeys(own for value in values if (own := table.statuses.get(value))))
        if column:
            yield RetrievalCondition(filter=kind, table=name, column=column, values=values)


def _queries(plan: RetrievalPlan) -> Iterator[RetrievalQuery]:
    text = _query_text(plan)
    for id_, source in zip(_ids(plan), plan.sources, strict=True):
        yield RetrievalQuery(id=id_, query_string=text, source=source, filters=plan.filters)


def _ids(plan: RetrievalPlan) -> list[str]:
    one = len(plan.sources) == 1
    return [f"{plan.id}_query" if one else f"{plan.id}_query_{source}" for source in plan.sources]


def _query_text(plan: RetrievalPlan) -> str:
    """The description, then each filter as `name:value,value`."""
    return " ".join([plan.description, *(f"{name}:{','.join(values)}" for name, values in plan.filters.items())])


def described(retrieval: Retrieval) -> tuple[str, ...]:
    """A line for each query, as people read it: its plan, priority, source and text."""
    priorities = {query: plan.priority for plan in retrieval.plans for query in _ids(plan)}
    return tuple(
        f"{query.id}: priority {priorities[query.id]}, {query.source}: {query.query_string}"
        for query in retrieval.queries
    )


def propose(reading: Reading, fetching: Fetching, rules: RetrievalRules, log: tuple[str, ...] = ()) -> Plan:
    """One independent step for each requested list; the fallback steps read the lists to use instead."""
    lists = {r.value.intent: r.id for r in reading.requirements if isinstance(r.value, IntentAsked)}
    about = {r.value.table for r in reading.requirements if isinstance(r.value, Filter)}
    every = (rule for intent in rules.intents.values() for rule in intent.plans if rule.table in lists)
    spare = {rule.instead: lists[rule.table] for rule in every if rule.table and rule.instead in about - lists.keys()}
    steps = [_fetch(table, cited, reading, fetching) for table, cited in lists.items()]
    others = [
        _fetch(table, cited, reading, fetching) for table, cited in spare.items() if table and table in fetching.tools
    ]
    return Plan(
        strategy="rules",
        steps=(*steps, *others),
        fallback=Fallback(when=("FAILED",), steps=tuple(step.id for step in others)) if others else None,
        limits=Limits(items=LIST_LENGTH),
        render="GROUPED_BULLETS",
        confidence=min((i.confidence for i in reading.intents if i.confidence >= rules.threshold), default=1.0),
        provenance=Provenance(template="retrieval", attempts=1, log=log),
    )


def _fetch(table: str, cited: str, reading: Reading, fetching: Fetching) -> Step:
    about = [r for r in reading.requirements if isinstance(r.value, Filter) and r.value.table == table]
    return fetching.step(table, table, about, [cited])
