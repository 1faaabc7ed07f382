"""The suites by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from groundplan.errors import UsageError
from groundplan.evaluation.report import Report
from groundplan.settings import load_settings


def evaluate(suite: str, folder: Path, sample: int | None, on_progress: Callable[[int, int], None]) -> Report:
    """Score a folder of the suite's shape."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; name one of the shape that the suite {suite!r} reads")
    match suite:
        case "nlv":
            from groundplan.evaluation import nlv

            return asyncio.run(nlv.evaluate(folder, sample, on_progress))
        case "tools":
            from groundplan.evaluation import tools
            from groundplan.narrowing import vectors

            model = load_settings(Path.cwd()).embeddings
            return tools.evaluate(folder, sample, vectors.installed(), on_progress, model)
        case _:
            raise UsageError(f"there is no suite {suite!r}; there are nlv and tools")
