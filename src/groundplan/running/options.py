"""Options of a run: what the caller allows, and callbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from groundplan.contracts.progress import Progress
from groundplan.contracts.verdict import Passed

Approve = bool | Callable[[Passed], bool]
"""Whether steps with an effect may run: a bool, or a function that decides on the checked plan."""

OnUpdate = Callable[[str, Mapping[str, Any]], None]


class Options(TypedDict, total=False):
    """`RunOptions` as keyword arguments of a project's methods."""

    approve: Approve
    output: Path | None
    on_stage: Callable[[str], None]
    on_update: OnUpdate
    on_progress: Callable[[Progress], None]
    on_run: Callable[[str], None]


@dataclass(frozen=True)
class RunOptions:
    approve: Approve = False
    output: Path | None = None  # the folder to which files may be written
    on_stage: Callable[[str], None] = lambda _: None
    on_update: OnUpdate = lambda _, __: None  # receives the stage and what it changed in the state, as JSON
    on_progress: Callable[[Progress], None] = lambda _: None
    on_run: Callable[[str], None] = lambda _: None  # receives the id of a run that can be resumed
