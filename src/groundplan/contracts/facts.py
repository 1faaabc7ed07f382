"""Facts: the results of a run in one format for every source. Answers are written from facts only."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.contract import Contract, JsonObject, Scalar
from groundplan.contracts.issue import Issue, Repair
from groundplan.contracts.plan import Coverage
from groundplan.contracts.tool import Effect


class Complete(Contract):
    kind: Literal["complete"] = "complete"


class Truncated(Contract):
    kind: Literal["truncated"] = "truncated"
    reason: str


class Stale(Contract):
    kind: Literal["stale"] = "stale"
    age_seconds: float


State = Annotated[Complete | Truncated | Stale, Field(discriminator="kind")]


class Item(Contract):
    """One fact: a named value, or a text with its title."""

    kind: str
    title: str
    value: Scalar = None
    text: str = ""
    unit: str | None = None
    source: str | None = None  # the id of a cited source; ids never appear in the text


class Group(Contract):
    title: str
    items: tuple[Item, ...]
    count: int | None = None  # the total, if not all items are listed


class Cited(Contract):
    id: str
    label: str
    link: str | None = None


class PartialPeriod(Contract):
    """A period that the data covers only in part, because the data starts or ends inside it."""

    period: str  # as in the column's cells
    edge: Literal["starts", "ends"]
    at: str  # the first or the last day of the data


class TableColumn(Contract):
    name: str
    kind: ColumnKind
    unit: str | None = None
    grain: str | None = None  # of a time column that was truncated to it; `hour` of a number: an hour of the day
    partial: tuple[PartialPeriod, ...] = ()  # of a column with a grain
    ratio: bool = False  # a part of a whole or a relative change: shown as a percentage
    adds_up: bool = True  # False for averages, rates and the like: their sum has no meaning


class TableRef(Contract):
    """A table by reference: the query that returns it. Rows are never stored in the state."""

    source: str
    engine: str
    query: str
    columns: tuple[TableColumn, ...]
    row_count: int | None = None  # known once the table has been fetched


class Chart(Contract):
    """A Vega-Lite spec without data; the rows are fetched from `table` when the chart is drawn."""

    title: str
    spec: JsonObject
    table: TableRef


class StepFacts(Contract):
    """The result of one step, in plain JSON: it is checkpointed, and routers read it."""

    step: str
    given: JsonObject = {}  # for a step with an effect: the params that were sent
    found: bool = True
    rows: int | None = None
    first: JsonObject = {}  # the first row of a shown table
    listed: tuple[JsonObject, ...] = ()  # the items of a list, if a later step runs for each of them
    items: tuple[Item, ...] = ()
    groups: tuple[Group, ...] = ()
    table: TableRef | None = None
    shown: bool = False  # the table is part of the answer, not an intermediate result
    chart: Chart | None = None
    files: tuple[str, ...] = ()
    sources: tuple[Cited, ...] = ()
    sent: str = ""  # the query that a server was sent, in its own language
    state: State = Complete()


class Failure(Contract):
    """A step without a result."""

    step: str
    status: Literal["failed", "blocked", "skipped"]
    issue: Issue | None = None


class SkipReason(Contract):
    """Why a router skipped a step: the condition that held, or the conditions that did not."""

    conditions: Annotated[tuple[str, ...], Field(min_length=1)]
    held: bool


class StepEnd(Contract):
    """How a workflow step ended, for the user: what it did, or why it did not run."""

    step: str
    tool: str  # without the name of its source
    effect: Effect
    status: Literal["finished", "failed", "blocked", "skipped"]
    given: tuple[Item, ...] = ()  # params: as sent by a finished step with an effect, else as far as known
    because: SkipReason | None = None  # for a skipped step
    items: tuple[int, ...] = ()  # its results: indexes into `Facts.items`
    groups: tuple[int, ...] = ()  # and into `Facts.groups`


class Facts(Contract):
    """The result of a whole run: what was found, which steps cover which requirements, and whether it is complete."""

    run: str
    found: bool
    steps: tuple[StepEnd, ...] = ()  # for a workflow, in plan order: the steps whose tools return facts
    items: tuple[Item, ...] = ()
    groups: tuple[Group, ...] = ()
    tables: dict[str, TableRef] = {}  # by step
    charts: dict[str, Chart] = {}
    sent: dict[str, str] = {}  # by step: the query that a server was sent, in its own language
    files: tuple[str, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    sources: tuple[Cited, ...] = ()
    state: State = Complete()
    repairs: tuple[Repair, ...] = ()
    failures: tuple[Failure, ...] = ()
