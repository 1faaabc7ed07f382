"""The suites by name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, get_args

from groundplan.contracts.question import NO_MODEL
from groundplan.contracts.roles import Accept, Roles
from groundplan.errors import UsageError
from groundplan.evaluation.asking import Asking
from groundplan.evaluation.report import Report
from groundplan.evaluation.suites.sampling import spread
from groundplan.project import AsyncProject
from groundplan.settings import load_models, load_settings
from groundplan.state.database import Database, local_tenant
from groundplan.state.feedback import Ratings
from groundplan.state.opening import open_database

SUITES = ("questions", "sql")
OWN = "own"
OnProgress = Callable[[int, int], None]


def evaluate(
    suite: str,
    folder: Path,
    sample: int | None,
    on_progress: OnProgress,
    model: str | None = None,
    strategy: str | None = None,
    replies: Sequence[Path] = (),
    record: Path | None = None,
    accept: str | None = None,
) -> Report:
    """Score a folder in the suite's format; `model` is as in `--model`.

    The files in `replies` stand for models that read the questions; `record` is written with the model's replies.
    `accept` is as in [roles]. By default, one file of replies is taken at its word, and two have to agree.
    """
    if suite not in SUITES:
        raise UsageError(f"there is no suite {suite!r}; there are {', '.join((*SUITES, OWN))}")
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; name one in the format of the suite {suite!r}")
    if replies and (record or model not in (None, "none") or strategy not in (None, NO_MODEL)):
        raise UsageError("--replies stand for the model; omit --model, --strategy and --record")
    if accept not in (None, *get_args(Accept)):
        raise UsageError(f"--accept {accept}: use {', '.join(get_args(Accept))}")
    return asyncio.run(_ask(suite, folder, sample, on_progress, model, strategy, replies, record, accept))


def evaluate_own(
    folder: Path,
    sample: int | None,
    on_progress: OnProgress,
    model: str | None = None,
    strategy: str | None = None,
    database: str | None = None,
    tenant: str | None = None,
) -> Report:
    """Read the tenant's own questions again, with the data and settings of this folder.

    Without a database: those that this machine keeps, of the command line or of the service for one person.
    """
    return asyncio.run(_own(folder, sample, on_progress, model, strategy, database, tenant))


async def _own(
    folder: Path,
    sample: int | None,
    on_progress: OnProgress,
    model: str | None,
    strategy: str | None,
    url: str | None,
    tenant: str | None,
) -> Report:
    from groundplan.evaluation.suites import own

    settings, models = load_settings(folder), () if strategy == NO_MODEL else load_models(folder, model)
    data = settings.data(None, "write `source` into groundplan.toml")
    async with _store(url, tenant, data) as store:
        items = spread(await Ratings(store).regressions(), sample)
        columns, roles = settings.columns_of(data), settings.roles_of(models)
        project = await AsyncProject.open(data, settings.embeddings, models, columns, store, roles)
        try:
            return await own.evaluate(project, items, on_progress, strategy)
        finally:
            await project.close()


@asynccontextmanager
async def _store(url: str | None, tenant: str | None, data: Any) -> AsyncIterator[Database]:
    if url is not None and tenant is None:
        raise UsageError("name the tenant: --tenant NAME")
    async with open_database(url) as opened:
        if tenant is not None:
            yield opened.of(tenant)
            return
        served = opened.of(local_tenant(data))
        yield served if await Ratings(served).regressions() else opened


async def _ask(
    suite: str,
    folder: Path,
    sample: int | None,
    on_progress: OnProgress,
    model: str | None,
    strategy: str | None,
    replies: Sequence[Path],
    record: Path | None,
    accept: str | None,
) -> Report:
    """Ask the questions of a suite with a model, with recorded replies or with neither."""
    from groundplan.evaluation.suites import questions, sql

    run = questions.evaluate if suite == "questions" else sql.evaluate
    if replies:
        from groundplan.evaluation.replies import Replayed

        replayed = Replayed(replies)
        roles = Roles.model_validate({"accept": accept or ("first" if len(replies) == 1 else "agreed")})
        return await run(folder, sample, on_progress, Asking(replayed.endpoints, roles=roles, tape=replayed))
    models = () if strategy == NO_MODEL else load_models(Path.cwd(), model)
    roles = load_settings(Path.cwd()).roles_of(models)
    roles = roles.model_copy(update={"accept": accept}) if accept else roles
    strategy = strategy if models else NO_MODEL
    if record is None:
        return await run(folder, sample, on_progress, Asking(models, strategy, roles))
    if not models:
        raise UsageError("--record needs a model whose replies are written; name it with --model")
    from groundplan.evaluation.replies import recording

    async with recording(record) as recorder:
        return await run(folder, sample, on_progress, Asking(models, strategy, roles, recorder))
