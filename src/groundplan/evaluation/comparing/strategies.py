"""Strategies and models as variants of a comparison."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from groundplan.asking.route import known_strategy
from groundplan.contracts.answer import Outcome
from groundplan.contracts.question import NO_MODEL
from groundplan.errors import UsageError
from groundplan.evaluation.comparing.compare import OnProgress, Variant, compare
from groundplan.evaluation.comparing.conversations import load_conversations, sql_over
from groundplan.evaluation.comparing.figures import Comparison
from groundplan.project import AsyncProject
from groundplan.settings import load_models, load_settings


@dataclass(frozen=True)
class Way:
    """A strategy (None for the default) and models as in `--model` (None for those of the settings)."""

    strategy: str | None
    model: str | None

    @property
    def name(self) -> str:
        return " ".join(part for part in (self.strategy or "usual", self.model) if part)


def compare_folder(
    folder: Path,
    where: Any,
    on_progress: OnProgress,
    strategies: Sequence[str] = (),
    models: Sequence[str] = (),
    *,
    today: date | None = None,
    timezone: str = "UTC",
) -> Comparison:
    """Compare every strategy with every model, on the conversations of a folder over one source."""
    ways = find_ways(strategies, models)
    if len(ways) < 2:
        raise UsageError("a comparison needs two variants; pass --strategy or --model twice")
    return asyncio.run(_compare(folder, where, on_progress, ways, today=today, timezone=timezone))


def find_ways(strategies: Sequence[str], models: Sequence[str]) -> list[Way]:
    """All combinations; `rules` uses no model, so it occurs once."""
    named: list[str | None] = [known_strategy(name) for name in strategies] or [None]
    wanted = [Way(one, model) for one in named for model in (models if one != NO_MODEL else ()) or (None,)]
    return list(dict.fromkeys(wanted))


async def _compare(folder: Path, where: Any, on_progress: OnProgress, ways: Sequence[Way], **clock: Any) -> Comparison:
    conversations = load_conversations(folder)
    async with AsyncExitStack() as opened:
        data = await open_data(opened, where)
        variants = [open_variant(opened, data, way, **clock) for way in ways]
        return await compare(variants, conversations, sql_over(folder), on_progress)


async def open_data(opened: AsyncExitStack, where: Any) -> AsyncProject:
    project = await AsyncProject.open(where, load_settings(Path.cwd()).embeddings)
    opened.push_async_callback(project.close)
    return project


def open_variant(opened: AsyncExitStack, data: AsyncProject, way: Way, **clock: Any) -> Variant:
    """A variant on the shared connection, because a second sign-in with the same token may end the first session."""
    models = () if way.strategy == NO_MODEL else load_models(Path.cwd(), way.model)
    project = AsyncProject(data.sources, data.schemas, data.catalog, data.embeddings, models)
    opened.push_async_callback(project.close)
    return Variant(way.name, partial(_ask, project, way.strategy, clock))


async def _ask(
    project: AsyncProject, strategy: str | None, clock: dict[str, Any], question: str, thread: str
) -> Outcome:
    return await project.ask(question, thread=thread, strategy=strategy, **clock)
