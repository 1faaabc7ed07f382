"""An answer as a folder: charts as PNG and SVG, tables as CSV, and the whole as JSON."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from groundplan.answering.chart import png, svg
from groundplan.contracts.answer import Answer, Refusal
from groundplan.contracts.contract import thaw


def write(outcome: Answer | Refusal, folder: Path) -> None:
    """Files are named after the steps that gave them."""
    (folder / "answer.json").write_text(outcome.model_dump_json(indent=2))
    if not isinstance(outcome, Answer):
        return
    for step, spec in zip(outcome.facts.charts, outcome.charts, strict=True):
        plain: Any = thaw(spec)
        (folder / f"{step}.png").write_bytes(png(plain))
        (folder / f"{step}.svg").write_text(svg(plain))
    for step, table in zip(outcome.facts.tables, outcome.tables, strict=True):
        with (folder / f"{step}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(table.columns)
            writer.writerows(table.rows)
