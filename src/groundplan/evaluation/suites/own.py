"""The suite `own`: a tenant's questions whose right readings people have found, read again and compared."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import reduce

from groundplan.contracts.answer import Usage
from groundplan.contracts.feedback import Regression
from groundplan.evaluation.report import Miss, Report
from groundplan.evaluation.suites.judging import Verdict
from groundplan.project import AsyncProject
from groundplan.regressions import Reread, reread
from groundplan.text.read_back import read_as

VERDICTS: tuple[Verdict, ...] = ("right", "wrong", "refused", "asked")


async def evaluate(
    project: AsyncProject,
    items: Sequence[Regression],
    on_progress: Callable[[int, int], None] = lambda *_: None,
    strategy: str | None = None,
) -> Report:
    began = time.perf_counter()
    found = await reread(project, items, on_progress, strategy)
    counts = Counter(one.verdict for one in found)
    return Report(
        suite="own",
        n=len(found),
        scores={verdict: round(counts[verdict] / max(len(found), 1), 4) for verdict in VERDICTS},
        misses=tuple(map(_miss, (one for one in found if one.verdict != "right"))),
        usage=reduce(Usage.plus, (one.planned.usage for one in found), Usage()),
        seconds=round(time.perf_counter() - began, 1),
    )


def _miss(one: Reread) -> Miss:
    expected, got = read_as(one.item.reading), one.planned.why or one.planned.read_as
    return Miss(id=one.item.run, question=one.item.question, expected=expected, got=got[:500], why=one.verdict)
