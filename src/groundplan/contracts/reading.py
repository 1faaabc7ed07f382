"""A reading: the question as typed requirements, each with the words that ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Literal

from pydantic import Field, model_validator

from groundplan.contracts.columns import Function, Grain
from groundplan.contracts.contract import Contract, Name, Scalar, Text
from groundplan.contracts.defaults import Default
from groundplan.contracts.expression import Condition, Expression, Sort, Ties
from groundplan.contracts.relationship import Relationship

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
RenderStyle = Literal["SHORT", "BULLETS", "GROUPED_BULLETS", "TABLE"]
ChartKind = Literal["line", "bar", "area", "scatter", "histogram", "box", "heatmap"]
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in", "not in", "between", "contains", "is null", "not null"]
Kind = Literal[
    "metric",
    "group_by",
    "time",
    "analysis",
    "output",
    "filter",
    "rank",
    "columns",
    "each",
    "intent",
    "goal",
    "constraint",
]


class Evidence(Contract):
    """The words of the question that ask for a requirement, and their position."""

    text: Annotated[str, Field(min_length=1, max_length=500)]
    start: Annotated[int, Field(ge=0)] | None = None
    chosen: bool = False  # by hand: the question does not say it

    def covers(self, other: Evidence) -> bool:
        """Whether the words of the other are among these."""
        if self.start is None or other.start is None:
            return False
        return self.start <= other.start and other.start + len(other.text) <= self.start + len(self.text)


class Metric(Contract):
    """A number to compute; without a function the question did not say which.

    `expression` says what a function of one column cannot: a rate, a count under a condition, a change.
    """

    kind: Literal["metric"] = "metric"
    table: Name | None = None
    column: Name | None = None  # None: rows themselves are counted
    function: Function | None = None
    usual: Function | None = None  # what one takes of such a column when the question does not say
    expression: Expression | None = None
    name: Name | None = None  # what the question calls it

    @model_validator(mode="after")
    def _is_written_once(self) -> Metric:
        if self.expression is not None and (self.column or self.function or self.usual):
            raise ValueError("a metric is an expression, or a function of a column: not both")
        return self


class GroupBy(Contract):
    """A column, or an expression under a name."""

    kind: Literal["group_by"] = "group_by"
    table: Name | None = None
    column: Name  # with an expression: the name of its column in the result
    ordered: bool = False  # a year or month as a number: an axis of time that is no date
    expression: Expression | None = None


class Time(Contract):
    """A time axis. Without a grain, the time span of the data decides it when the plan runs."""

    kind: Literal["time"] = "time"
    table: Name | None = None
    column: Name
    grain: Grain | None = None


class AnalysisAsked(Contract):
    """One of the built-in analyses, or one that a tool brings with it, with the settings that the question names."""

    kind: Literal["analysis"] = "analysis"
    label: Analysis | Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    settings: tuple[tuple[Name, int], ...] = ()  # params of the tool


class OutputAsked(Contract):
    kind: Literal["output"] = "output"
    label: OutputLabel
    chart: ChartKind | None = None


class Filter(Contract):
    """A comparison of a column with values, or any condition; one on measures selects groups.

    `between` is half-open: from the first value up to, not including, the second.
    """

    kind: Literal["filter"] = "filter"
    table: Name | None = None  # where a question speaks of several: the one whose rows it keeps
    column: Name | None = None
    operator: Operator | None = None
    values: tuple[Scalar, ...] = ()
    condition: Condition | None = None

    @model_validator(mode="after")
    def _is_written_once(self) -> Filter:
        short = self.column is not None and self.operator is not None
        if short == (self.condition is not None) or (self.condition is not None and (self.column or self.values)):
            raise ValueError("a filter is a condition, or a column with an operator: one of them")
        return self


class Rank(Contract):
    """An order of the result, and how much of it is kept: of everything, or of each group that `within` names.

    What it orders by may be a column, a measure or a formula that nobody asked to see. Without `shown` it is left
    out of the result; what `then` orders by is always left out. Of a first place all that share it are kept.
    """

    kind: Literal["rank"] = "rank"
    direction: Literal["top", "bottom"] = "top"
    limit: Annotated[int, Field(ge=1, le=10_000)] | None = None
    by: Expression | None = None  # None: the first measure
    within: tuple[Name, ...] = ()
    then: Annotated[tuple[Sort, ...], Field(max_length=8)] = ()  # in turn, those that tie
    shown: bool = True
    ties: Ties = "cut"


class EachMeasure(Contract):
    name: Name
    expression: Expression


class ColumnsAsked(Contract):
    """The rows themselves, by these columns; `computed` defines those that are not the table's own."""

    kind: Literal["columns"] = "columns"
    columns: Annotated[tuple[Name, ...], Field(min_length=1, max_length=100)]
    distinct: bool = False
    computed: Annotated[tuple[EachMeasure, ...], Field(max_length=100)] = ()


class Each(Contract):
    """One row for each thing, with measures of its own: what is then counted, averaged or compared are things.

    A receipt with its total, a patient with the number of visits. Other requirements name the measures as columns.
    `computed` defines the keys that are no columns of the table itself: a month of a date, a customer's country.
    """

    kind: Literal["each"] = "each"
    keys: Annotated[tuple[Name, ...], Field(min_length=1, max_length=8)]
    measures: Annotated[tuple[EachMeasure, ...], Field(max_length=8)] = ()
    computed: Annotated[tuple[EachMeasure, ...], Field(max_length=8)] = ()

    @model_validator(mode="after")
    def _computes_keys(self) -> Each:
        if not {one.name for one in self.computed} <= {*self.keys} - {one.name for one in self.measures}:
            raise ValueError("`computed` defines keys, and a key is no measure")
        return self


class IntentAsked(Contract):
    kind: Literal["intent"] = "intent"
    intent: Name
    entity: Name | None = None
    path: tuple[Name, ...] = ()  # relations from the entity to the answer; `^name` goes backwards
    style: RenderStyle | None = None  # None: as the knowledge base describes it
    limit: Annotated[int, Field(ge=1, le=1_000)] | None = None  # how many to show; None: as many as described
    offset: Annotated[int, Field(ge=0, le=1_000_000)] = 0  # how many were shown before
    groups: Annotated[int, Field(ge=1, le=100)] | None = None  # how many groups to show; None: as many as described
    paragraphs: Annotated[int, Field(ge=1, le=20)] | None = None  # of a long text, or passages; None: as described
    polar: bool = False  # the question is answered by yes, if anything is found
    fallback: tuple[Literal["NO_RESULTS", "LOW_COVERAGE"], ...] = ("NO_RESULTS", "LOW_COVERAGE")  # to search documents


class Goal(Contract):
    """Something to do. `when` is the id of the constraint that decides whether to do it, if any.

    `each`: it is to be done for each of several, as `close each of them` says.
    """

    kind: Literal["goal"] = "goal"
    text: Text
    when: Annotated[str, Field(max_length=256)] | None = None
    holds: bool = True
    each: bool = False


class Constraint(Contract):
    """A condition to evaluate first; it may depend on another constraint."""

    kind: Literal["constraint"] = "constraint"
    text: Text
    when: Annotated[str, Field(max_length=256)] | None = None
    holds: bool = True


Value = Annotated[
    Metric
    | GroupBy
    | Time
    | AnalysisAsked
    | OutputAsked
    | Filter
    | Rank
    | ColumnsAsked
    | Each
    | IntentAsked
    | Goal
    | Constraint,
    Field(discriminator="kind"),
]


class Requirement(Contract):
    """One thing the question asks for, with the words that name it. What nobody said is implied and quotes nothing."""

    id: Annotated[str, Field(pattern=r"^[a-z_]+:\S.*$", max_length=256)]
    value: Value
    evidence: Evidence | None = None
    also: tuple[Evidence, ...] = ()  # further words that ask for it
    implied: bool = False  # a default, what follows from the rest, or a choice of a model
    assumed: tuple[Default, ...] = ()  # the defaults that made it, or a part of it

    @model_validator(mode="before")
    @classmethod
    def _implied_quotes_nothing(cls, given: object) -> object:
        """Earlier versions let it quote the words of something else."""
        if isinstance(given, Mapping) and given.get("implied"):
            return {key: value for key, value in given.items() if key not in ("evidence", "also")}
        return given

    @model_validator(mode="after")
    def _has_words_or_is_implied(self) -> Requirement:
        if not self.implied and self.evidence is None:
            raise ValueError(f"{self.id!r} has no evidence; quote the words that ask for it, or mark it as implied")
        return self

    @model_validator(mode="after")
    def _id_names_its_kind(self) -> Requirement:
        if not self.id.startswith(f"{self.value.kind}:"):
            raise ValueError(f"the id {self.id!r} must begin with {self.value.kind!r} and a colon")
        return self

    @property
    def kind(self) -> Kind:
        return self.value.kind

    @property
    def quotes(self) -> tuple[Evidence, ...]:
        """All words that ask for it."""
        return (*((self.evidence,) if self.evidence else ()), *self.also)

    @property
    def words(self) -> str:
        """The first words that ask for it; empty if it is implied."""
        return self.evidence.text if self.evidence else ""

    @property
    def start(self) -> int:
        """Where its first words begin; 0 if that is not known."""
        return (self.evidence.start or 0) if self.evidence else 0

    @property
    def named(self) -> str:
        """The id, with the words that ask for it."""
        return f"{self.id!r} ({self.words!r})" if self.evidence else f"{self.id!r}"

    @property
    def chosen(self) -> bool:
        """True if it was put there by hand."""
        return self.evidence is not None and self.evidence.chosen

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
    called: Text = ""  # in the language of the question


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
    joins: Annotated[tuple[Relationship, ...], Field(max_length=16)] = ()  # that only its reader names, each by a key
    requirements: Annotated[tuple[Requirement, ...], Field(max_length=64)]
    intents: tuple[Intent, ...] = ()
    entities: tuple[Entity, ...] = ()
    period: Period | None = None
    follow_up: bool = False
    replaced: tuple[Evidence, ...] = ()  # words of a conversation that ask for nothing any more, or took that back
    unresolved: tuple[Text, ...] = ()
    read_by: tuple[Name, ...] = ()  # where a model read it: who read it alike, the words and models by their names
    assumes: Annotated[tuple[Text, ...], Field(max_length=8)] = ()  # choices of a model that the question leaves open
    also: Annotated[tuple[Reading, ...], Field(max_length=7)] = ()  # what else the question asks for

    @property
    def asks(self) -> tuple[Reading, ...]:
        """Each thing that the question asks for, as a reading of its own."""
        return (self.model_copy(update={"also": ()}), *self.also) if self.also else (self,)

    @model_validator(mode="after")
    def _asks_are_single(self) -> Reading:
        if any(ask.also for ask in self.also):
            raise ValueError("what a question also asks for is one thing each")
        return self

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Reading:
        ids = [requirement.id for requirement in self.requirements]
        twice = sorted({id_ for id_ in ids if ids.count(id_) > 1})
        if twice:
            raise ValueError(f"requirement ids appear twice: {', '.join(twice)}")
        return self


def asks_yes_or_no(reading: Reading) -> bool:
    """True if each look-up is about one entity, and is answered by yes if anything is found."""
    asked = [value for r in reading.requirements if isinstance(value := r.value, IntentAsked)]
    return bool(asked) and all(one.polar for one in asked)
