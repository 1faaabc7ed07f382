"""Progress events of a run."""

from __future__ import annotations

from typing import Literal

from groundplan.contracts.contract import Contract


class Progress(Contract):
    """One event of one step; `ms` is set when the step has ended."""

    run: str
    step: str
    status: Literal["started", "retrying", "finished", "failed", "blocked", "skipped"]
    ms: float | None = None
    detail: str = ""
