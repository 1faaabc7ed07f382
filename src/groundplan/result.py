"""An outcome as Python code and notebooks hold it: text, frames and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from groundplan.charts.picture import png, svg
from groundplan.contracts.answer import Answer, Outcome, ShownTable, TraceEntry
from groundplan.contracts.contract import thaw
from groundplan.contracts.plan import Plan
from groundplan.errors import UsageError


class Asked:
    """What came of a question; `outcome` is the contract, everything else is taken from it."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome

    @property
    def kind(self) -> str:
        return self.outcome.kind

    @property
    def text(self) -> str:
        return self.outcome.text

    @property
    def plan(self) -> Plan | None:
        return getattr(self.outcome, "plan", None)

    @property
    def trace(self) -> tuple[TraceEntry, ...]:
        return self.outcome.trace

    @cached_property
    def tables(self) -> tuple[Any, ...]:
        """As pandas frames."""
        return tuple(_frame(table) for table in self.outcome.tables) if isinstance(self.outcome, Answer) else ()

    @property
    def table(self) -> Any:
        """The first table as a pandas frame, or None."""
        return self.tables[0] if self.tables else None

    @cached_property
    def charts(self) -> tuple[Picture, ...]:
        return tuple(Picture(spec) for spec in self.outcome.charts) if isinstance(self.outcome, Answer) else ()

    @property
    def chart(self) -> Picture | None:
        return self.charts[0] if self.charts else None

    def __repr__(self) -> str:
        return f"<{self.kind}: {self.text}>"

    def _repr_markdown_(self) -> str:
        return self.text


class Picture:
    """A chart with its data; `spec` is Vega-Lite."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.spec: Any = thaw(spec)

    def save(self, path: str | Path) -> None:
        """As the ending says: .png, .svg or .json (Vega-Lite)."""
        import json

        file = Path(path)
        match file.suffix.lower():
            case ".png":
                file.write_bytes(png(self.spec))
            case ".svg":
                file.write_text(svg(self.spec), encoding="utf-8")
            case ".json":
                file.write_text(json.dumps(self.spec, ensure_ascii=False, indent=2), encoding="utf-8")
            case other:
                raise UsageError(f"a chart is saved as .png, .svg or .json, not {other or 'without an ending'}")

    def _repr_png_(self) -> bytes:
        return png(self.spec)


def _frame(table: ShownTable) -> Any:
    import pandas  # comes with Ibis; heavy, so only when a frame is wanted

    return pandas.DataFrame([list(row) for row in table.rows], columns=list(table.columns))
