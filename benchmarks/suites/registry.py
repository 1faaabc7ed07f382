"""The suites by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Literal, assert_never, get_args

from groundplan.catalog.search import vectors
from groundplan.errors import UsageError
from groundplan.evaluation.report import Report
from groundplan.settings import load_models, load_settings

Suite = Literal["nlv", "tools", "metaqa", "ruqa", "webtables", "workflow"]
SUITES: tuple[Suite, ...] = get_args(Suite)
OnProgress = Callable[[int, int], None]


def evaluate(
    suite: str,
    folder: Path,
    sample: int | None,
    on_progress: OnProgress,
    model: str | None = None,
    strategy: str | None = None,
) -> Report:
    """Score a folder in the suite's format; `model` and `strategy` are as in `groundplan ask`."""
    if suite not in SUITES:
        raise UsageError(f"there is no suite {suite!r}; there are {', '.join(SUITES)}")
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; name one in the format of the suite {suite!r}")
    if suite == "workflow" and strategy:
        raise UsageError("the suite 'workflow' has only one strategy; omit --strategy")
    if suite not in ("nlv", "workflow") and (model not in (None, "none") or strategy not in (None, "rules")):
        raise UsageError(f"the suite {suite!r} uses no model and has only one strategy; omit --model and --strategy")
    return _evaluate(suite, folder, sample, on_progress, model, strategy)


def _evaluate(
    suite: Suite, folder: Path, sample: int | None, on_progress: OnProgress, model: str | None, strategy: str | None
) -> Report:
    """Import the suite, which may need an extra, only when it is run."""
    match suite:
        case "nlv":
            from benchmarks.suites import nlv

            models = () if strategy == "rules" else load_models(Path.cwd(), model)
            return asyncio.run(nlv.evaluate(folder, sample, on_progress, models, strategy))
        case "tools":
            from benchmarks.suites import tools

            embeddings = load_settings(Path.cwd()).embeddings
            return tools.evaluate(folder, sample, vectors.installed(), on_progress, embeddings)
        case "metaqa":
            from benchmarks.suites import metaqa

            return metaqa.evaluate(folder, sample, on_progress)
        case "ruqa":
            from benchmarks.suites import ruqa

            return ruqa.evaluate(folder, sample, on_progress)
        case "webtables":
            from benchmarks.suites import webtables

            return webtables.evaluate(folder, sample, on_progress)
        case "workflow":
            from benchmarks.suites import workflow

            models, embeddings = load_models(Path.cwd(), model), load_settings(Path.cwd()).embeddings
            found = workflow.evaluate(folder, sample, vectors.installed(), on_progress, models, embeddings)
            return asyncio.run(found)
        case _:
            assert_never(suite)
