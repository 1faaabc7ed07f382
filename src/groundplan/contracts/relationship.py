"""How the rows of one table point at the rows of another."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundplan.contracts.contract import Contract, Name


class Relationship(Contract):
    """Many rows of `table` point at one row of `to_table`: `columns` hold the values of its key `to_columns`.

    `proven`: the database enforces it. `declared`: a model file says so. `proposed`: found by names and values; it is
    used only where it is the only way from one table to the other.
    """

    table: Name
    columns: Annotated[tuple[Name, ...], Field(min_length=1, max_length=16)]
    to_table: Name
    to_columns: Annotated[tuple[Name, ...], Field(min_length=1, max_length=16)]
    known: Literal["proven", "declared", "proposed"] = "proposed"
    called: Name | None = None  # in a model file: placed_by
    orphans: int | None = None  # of a proposed one: values without a row in the other table

    @property
    def name(self) -> str:
        """What tells it from the other relationships of the table."""
        return self.called or "+".join(self.columns)

    @property
    def text(self) -> str:
        return f"{self.table} → {self.to_table} by {', '.join(self.columns)}"
