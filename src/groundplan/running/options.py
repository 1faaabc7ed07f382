"""How a question is run: what the caller allows and wants to be told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from groundplan.contracts.progress import Progress
from groundplan.contracts.verdict import Passed

Approve = bool | Callable[[Passed], bool]
"""Whether steps with an effect may run: yes, no, or a function that is shown the checked plan."""


class Options(TypedDict, total=False):
    """The same as keywords, for callers of a project."""

    approve: Approve
    output: Path | None
    on_stage: Callable[[str], None]
    on_progress: Callable[[Progress], None]
    on_run: Callable[[str], None]


@dataclass(frozen=True)
class RunOptions:
    approve: Approve = False
    output: Path | None = None  # the folder that files may be written to
    on_stage: Callable[[str], None] = lambda _: None
    on_progress: Callable[[Progress], None] = lambda _: None
    on_run: Callable[[str], None] = lambda _: None  # told the id of a run that can be resumed
