"""Options of a run: what the caller allows, and callbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypedDict

from groundplan.contracts.bounds import Bounds
from groundplan.contracts.contract import Scalar
from groundplan.contracts.progress import Progress
from groundplan.contracts.verdict import ToApprove

Approve = bool | Callable[[ToApprove], bool]
"""Whether steps with an effect may run: a bool, or a function that decides on the calls, values included."""

OnUpdate = Callable[[str, Mapping[str, Any]], None]


class Options(TypedDict, total=False):
    """`RunOptions` as keyword arguments of a project's methods."""

    approve: Approve
    output: Path | None
    on_stage: Callable[[str], None]
    on_update: OnUpdate
    on_progress: Callable[[Progress], None]
    on_run: Callable[[str], None]


class PlanOptions(TypedDict, total=False):
    """The keyword arguments of `Project.plan`: those of `AsyncProject.plan`."""

    today: date | None
    timezone: str
    strategy: str | None
    bounds: Bounds
    inputs: Mapping[str, Scalar] | None


class AskOptions(PlanOptions, Options, total=False):
    """The keyword arguments of `Project.ask`: those of `AsyncProject.ask`."""

    thread: str | None
    run_id: str | None


class RunPlanOptions(Options, total=False):
    """The keyword arguments of `Project.run`: those of `AsyncProject.run`."""

    thread: str | None
    run_id: str | None
    bounds: Bounds
    inputs: Mapping[str, Scalar] | None


class ResumeOptions(Options, total=False):
    """The keyword arguments of `Project.resume`: those of `AsyncProject.resume`."""

    reply: str | None
    reply_to: str | None
    thread: str | None


@dataclass(frozen=True)
class RunOptions:
    approve: Approve = False
    output: Path | None = None  # the folder to which files may be written
    on_stage: Callable[[str], None] = lambda _: None
    on_update: OnUpdate = lambda _, __: None  # receives the stage and what it changed in the state, as JSON
    on_progress: Callable[[Progress], None] = lambda _: None
    on_run: Callable[[str], None] = lambda _: None  # receives the id of a run that can be resumed
