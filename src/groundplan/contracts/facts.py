"""What came back: one payload for every source, the only thing an answer may be written from."""

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
    """A fact for a person: a value with its name, or a piece of text with its title."""

    kind: str
    title: str
    value: Scalar = None
    text: str = ""
    unit: str | None = None
    source: str | None = None  # the id of a cited source; ids never reach the text


class Group(Contract):
    title: str
    items: tuple[Item, ...]
    count: int | None = None  # how many there are in all, where not every one is listed


class Cited(Contract):
    id: str
    label: str
    link: str | None = None


class TableColumn(Contract):
    name: str
    kind: ColumnKind
    unit: str | None = None
    grain: str | None = None  # of a time column that was cut to one


class TableRef(Contract):
    """A table by reference: the query that gives it. Rows never enter the state."""

    source: str
    engine: str
    query: str
    columns: tuple[TableColumn, ...]
    row_count: int | None = None  # known once something has shown it


class Chart(Contract):
    """Vega-Lite without its data; `table` gives the rows when it is drawn."""

    title: str
    spec: JsonObject
    table: TableRef


class StepFacts(Contract):
    """What one step leaves behind, in plain JSON: checkpointed, and read by routers."""

    step: str
    given: JsonObject = {}  # of a step with an effect: the params as they were sent
    found: bool = True
    rows: int | None = None
    first: JsonObject = {}  # the first row of a shown table
    items: tuple[Item, ...] = ()
    groups: tuple[Group, ...] = ()
    table: TableRef | None = None
    shown: bool = False  # the table is an answer, not a way station
    chart: Chart | None = None
    files: tuple[str, ...] = ()
    sources: tuple[Cited, ...] = ()
    state: State = Complete()


class Failure(Contract):
    """A step that did not give facts."""

    step: str
    status: Literal["failed", "blocked", "skipped"]
    issue: Issue | None = None


class Because(Contract):
    """Why a router passed a step by: the one condition that held, or those that did not."""

    conditions: Annotated[tuple[str, ...], Field(min_length=1)]
    held: bool


class StepEnd(Contract):
    """How a step of a workflow ended, for a person: what it did, or why not."""

    step: str
    tool: str  # by its own name, without that of its source
    effect: Effect
    status: Literal["finished", "failed", "blocked", "skipped"]
    given: tuple[Item, ...] = ()  # params: as sent by a finished step with an effect, else as far as they are known
    because: Because | None = None  # of a step that was skipped
    items: tuple[int, ...] = ()  # what it gave: places in `Facts.items`
    groups: tuple[int, ...] = ()  # and in `Facts.groups`


class Facts(Contract):
    """The whole run: what was found, what covers what, and whether it is all there."""

    run: str
    found: bool
    steps: tuple[StepEnd, ...] = ()  # of a workflow, in plan order: those whose tools give facts
    items: tuple[Item, ...] = ()
    groups: tuple[Group, ...] = ()
    tables: dict[str, TableRef] = {}  # by the step that shows it
    charts: dict[str, Chart] = {}
    files: tuple[str, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    sources: tuple[Cited, ...] = ()
    state: State = Complete()
    repairs: tuple[Repair, ...] = ()
    failures: tuple[Failure, ...] = ()
