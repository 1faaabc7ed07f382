"""A tool as planners and the gate see it: metadata only."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.contract import Contract, JsonObject, Name, Text

ToolName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$")]
Label = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
PortKind = Literal["table", "chart", "facts"]
Effect = Literal["read", "write"]


class Port(Contract):
    """An input: filled by an earlier step, or by a param of the same name that names a table of the source."""

    name: Label
    kind: PortKind = "table"


class Output(Contract):
    """The output, described so that the gate can track columns without running anything.

    `columns`: `input` keeps every column; `kept` keeps the columns named by a param marked `x-keep`; `joined` has the
    columns of both inputs, with the suffix `_right` where names clash; `dynamic` depends on the data, so later steps
    cannot name columns.
    `adds` lists additional fixed columns. `retypes` changes the kind of the column that a param names. `key` lists the
    params whose columns identify a row. `table` is the table of the tool's own source whose rows are returned, filtered
    by the tool's `keeps`.
    """

    kind: PortKind
    table: Name | None = None
    columns: Literal["input", "kept", "joined", "dynamic"] = "input"
    adds: dict[str, ColumnKind] = {}
    retypes: dict[str, ColumnKind] = {}
    key: tuple[Label, ...] | None = None


class Keep(Contract):
    """Params that filter the table a tool reads by `column`; the source applies the filter.

    `between` takes two params, the first day and the day after the last. `when` lists values that other params must
    have for the filter to apply, and `unless` is the param value that keeps every row.
    """

    column: Name
    operator: Literal["=", "in", "between", "contains"]
    params: Annotated[tuple[Label, ...], Field(min_length=1, max_length=2)]
    when: dict[Label, str] = {}
    unless: str | None = None


class Phrase(Contract):
    """A way to ask for an analysis: `forecast {what} for the next {periods} {unit}`.

    `a|b` is one of them, `[a|b]` may be left out. A slot that is a param of the tool takes a number, `{unit}` a unit of
    time, and any other slot takes words. `read` is the plain question that gives the rows: `{what} by {unit}`.
    """

    say: Annotated[str, Field(min_length=1, max_length=200)]
    read: Annotated[str, Field(min_length=1, max_length=200)]


class OwnAnalysis(Contract):
    """An analysis that the tool brings with it: its label, how people ask for it and how its table is drawn.

    The tool works on the groups and measures of the plain question. `draws` are the params of the chart step: the name
    of a column of the output, or `$param` for a column that a param names.
    """

    label: Label
    phrases: Annotated[tuple[Phrase, ...], Field(min_length=1, max_length=32)]
    chart: Literal["line", "bar", "scatter", "band"] | None = None
    draws: dict[Label, Annotated[str, Field(max_length=64)]] = {}

    @property
    def requirement(self) -> str:
        return f"analysis:{self.label}"

    @property
    def capability(self) -> str:
        return f"does_{self.label}"


class Tool(Contract):
    """`params` is a JSON schema; the keywords `x-column`, `x-keep`, `x-names`, `x-new`, `x-role` are explained in
    docs/reference/tools.md."""

    name: ToolName
    description: Annotated[Text, Field(min_length=10)]
    source: Label
    capabilities: Annotated[tuple[Label, ...], Field(min_length=1)]
    inputs: tuple[Port, ...] = ()
    params: JsonObject
    output: Output
    returns: JsonObject = {}  # for a tool that returns facts: the JSON schema of its result
    keeps: tuple[Keep, ...] = ()
    effect: Effect = "write"  # the safe default for a tool that does not declare it
    repeatable: bool = False  # for a tool that writes: a second call with the same key has no further effect
    cost: Annotated[int, Field(ge=0, le=1_000)] = 1
    analysis: OwnAnalysis | None = None

    @property
    def is_query(self) -> bool:
        """Whether one call keeps, groups and measures rows: it takes the params of `filter_rows` and `aggregate`."""
        return {"filter", "aggregate"} <= {*self.capabilities}

    @property
    def is_action(self) -> bool:
        """Whether a task can call it directly: it returns facts, needs no table, and is not a model tool."""
        acts = not {"retrieve", "act"}.isdisjoint(self.capabilities)
        return self.output.kind == "facts" and not self.inputs and acts and self.source != "model"
