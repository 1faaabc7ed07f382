"""A reading: the question as typed requirements, each with the words that ask for it."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, model_validator

from groundplan.contracts.columns import Function, Grain
from groundplan.contracts.contract import Contract, Name, Scalar, Text

Analysis = Literal[
    "total",
    "compare",
    "trend",
    "distribution",
    "anomaly",
    "correlation",
    "share",
    "ranking",
    "summary",
    "detail",
]
OutputLabel = Literal["chart", "table", "text", "file"]
ChartKind = Literal["line", "bar", "area", "scatter", "histogram", "box", "heatmap"]
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in", "not in", "between", "contains", "is null", "not null"]
Kind = Literal["metric", "group_by", "time", "analysis", "output", "filter", "rank", "intent", "goal", "constraint"]


class Evidence(Contract):
    """The words of the question that ask for a requirement, and their position."""

    text: Annotated[str, Field(min_length=1, max_length=500)]
    start: Annotated[int, Field(ge=0)] | None = None


class Metric(Contract):
    """A number to compute. `function` is None if the question does not name one."""

    kind: Literal["metric"] = "metric"
    column: Name | None = None  # None: count rows
    function: Function | None = None
    usual: Function | None = None  # the default function for such a column


class GroupBy(Contract):
    kind: Literal["group_by"] = "group_by"
    column: Name
    ordered: bool = False  # a year or month stored as a number: a time axis that is not a date


class Time(Contract):
    """A time axis. Without a grain, the time span of the data decides it when the plan runs."""

    kind: Literal["time"] = "time"
    column: Name
    grain: Grain | None = None


class AnalysisAsked(Contract):
    kind: Literal["analysis"] = "analysis"
    label: Analysis


class OutputAsked(Contract):
    kind: Literal["output"] = "output"
    label: OutputLabel
    chart: ChartKind | None = None


class Filter(Contract):
    """`between` is half-open: from the first value up to, not including, the second."""

    kind: Literal["filter"] = "filter"
    table: Name | None = None  # the table to filter, if the question mentions several
    column: Name
    operator: Operator
    values: tuple[Scalar, ...] = ()


class Rank(Contract):
    kind: Literal["rank"] = "rank"
    direction: Literal["top", "bottom"] = "top"
    limit: Annotated[int, Field(ge=1, le=10_000)]


class IntentAsked(Contract):
    kind: Literal["intent"] = "intent"
    intent: Name
    entity: Name | None = None
    path: tuple[Name, ...] = ()  # relations from the entity to the answer; `^name` goes backwards


class Goal(Contract):
    """Something to do. `when` is the id of the constraint that decides whether to do it, if any."""

    kind: Literal["goal"] = "goal"
    text: Text
    when: Annotated[str, Field(max_length=256)] | None = None
    holds: bool = True


class Constraint(Contract):
    """A condition to evaluate first; it may depend on another constraint."""

    kind: Literal["constraint"] = "constraint"
    text: Text
    when: Annotated[str, Field(max_length=256)] | None = None
    holds: bool = True


Value = Annotated[
    Metric | GroupBy | Time | AnalysisAsked | OutputAsked | Filter | Rank | IntentAsked | Goal | Constraint,
    Field(discriminator="kind"),
]


class Requirement(Contract):
    """One thing the question asks for, with its evidence in the words."""

    id: Annotated[str, Field(pattern=r"^[a-z_]+:\S.*$", max_length=256)]
    value: Value
    evidence: Evidence
    implied: bool = False  # it follows from the words, but they do not name it

    @model_validator(mode="after")
    def _id_names_its_kind(self) -> Requirement:
        if not self.id.startswith(f"{self.value.kind}:"):
            raise ValueError(f"the id {self.id!r} must begin with {self.value.kind!r} and a colon")
        return self

    @property
    def kind(self) -> Kind:
        return self.value.kind

    @property
    def label(self) -> str:
        """The key that the catalog maps to capabilities: `analysis:trend`, `group_by`."""
        match self.value:
            case AnalysisAsked(label=label) | OutputAsked(label=label):
                return f"{self.kind}:{label}"
            case _:
                return self.kind


class Intent(Contract):
    name: Name
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0


class Entity(Contract):
    id: Name
    type: Name
    name: Text = ""
    aliases: tuple[Name, ...] = ()
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0


class Period(Contract):
    """A half-open interval: `start` is included, `end` is not."""

    start: date
    end: date
    timezone: str = "UTC"
    phrase: str = ""


class Reading(Contract):
    """The question as planners see it. It contains nothing from rows, documents or tracker issues."""

    question: Text
    language: Literal["en", "ru", "other"] = "en"
    tables: tuple[Name, ...] = ()  # the tables it mentions
    requirements: Annotated[tuple[Requirement, ...], Field(max_length=64)]
    intents: tuple[Intent, ...] = ()
    entities: tuple[Entity, ...] = ()
    period: Period | None = None
    follow_up: bool = False
    unresolved: tuple[Text, ...] = ()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Reading:
        ids = [requirement.id for requirement in self.requirements]
        twice = sorted({id_ for id_ in ids if ids.count(id_) > 1})
        if twice:
            raise ValueError(f"requirement ids appear twice: {', '.join(twice)}")
        return self
