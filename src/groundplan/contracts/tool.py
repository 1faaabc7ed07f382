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
    """An input: filled by an earlier step, or by a param of the same name that names a source's table."""

    name: Label
    kind: PortKind = "table"


class Output(Contract):
    """What comes out, told so that the gate can follow columns without running anything.

    `columns`: `input` passes every column on; `kept` only the columns that a param marked `x-keep` names;
    `joined` those of both inputs, a clashing name of the right one with `_right` behind it; `dynamic` depends
    on the data, so that no later step can name a column; `query` are the fields of a param of that name.
    `adds` are fixed further columns, `retypes` gives the column that a param names another kind, and `key`
    lists the params whose columns identify a row. `table` says whose rows they are: those of this table of the
    tool's own source, but for what the tool's `keeps` leave out.
    """

    kind: PortKind
    table: Name | None = None
    columns: Literal["input", "kept", "joined", "dynamic", "query"] = "input"
    adds: dict[str, ColumnKind] = {}
    retypes: dict[str, ColumnKind] = {}
    key: tuple[Label, ...] | None = None


class Keep(Contract):
    """Params that keep some rows of the table a tool reads: a filter on `column`, done where the rows lie.

    `between` takes two params, the first day and the day after the last. `when` says which params must have which
    value for it, and `unless` is the value of a param that keeps every row.
    """

    column: Name
    operator: Literal["=", "in", "between", "contains"]
    params: Annotated[tuple[Label, ...], Field(min_length=1, max_length=2)]
    when: dict[Label, str] = {}
    unless: str | None = None


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
    returns: JsonObject = {}  # of a tool that gives facts: the JSON schema of the object that later steps may refer to
    keeps: tuple[Keep, ...] = ()
    effect: Effect = "write"  # a tool that does not say is not trusted to be harmless
    repeatable: bool = False  # of one that writes: called again with the same key it does nothing more
    cost: Annotated[int, Field(ge=0, le=1_000)] = 1

    @property
    def is_action(self) -> bool:
        """Whether it does something for a task by itself: it gives facts, works on no table, and is no model's."""
        acts = not {"retrieve", "act"}.isdisjoint(self.capabilities)
        return self.output.kind == "facts" and not self.inputs and acts and self.source != "model"
