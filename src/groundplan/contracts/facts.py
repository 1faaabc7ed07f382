"""What came back: one payload for every source, the only thing an answer may be written from."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.contract import Contract, JsonObject, Scalar
from groundplan.contracts.issue import Issue, Repair
from groundplan.contracts.plan import Coverage


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


class Facts(Contract):
    """The whole run: what was found, what covers what, and whether it is all there."""

    run: str
    found: bool
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
