"""Words of a question that no requirement holds and that may still change its query: `growth`, `ascending`.

Only words that are known count: asked about others, a small model finds a meaning for each. Whether a known word means
it here, or nothing, is for whoever plans.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from groundplan.contracts.reading import Reading

Meaning = Literal[
    "RUNNING_TOTAL",
    "CHANGE_FROM_PREVIOUS",
    "MOVING_AVERAGE",
    "RANK",
    "ASCENDING",
    "DESCENDING",
    "NOTHING",
]
MOST_RUNS = 3

KNOWN: Mapping[Meaning, tuple[str, ...]] = {
    "RUNNING_TOTAL": ("running", "cumul", "cumsum", "accumul", "нараст", "накоп", "кумулят"),
    "CHANGE_FROM_PREVIOUS": ("change", "changing", "growth", "grew", "increas", "decreas", "прирост", "изменени"),
    "MOVING_AVERAGE": ("moving", "rolling", "smooth", "скольз", "сглаж"),
    "RANK": ("rank", "ранг", "ранж"),
    "ASCENDING": ("ascend", "возраст"),
    "DESCENDING": ("descend", "убыв"),
}
"""How words begin that mean it."""


@dataclass(frozen=True)
class Run:
    """Words that stand together, and what they may mean."""

    words: str
    means: tuple[Meaning, ...]


def loose_runs(reading: Reading) -> tuple[Run, ...]:
    """Words that are known to mean something, those that stand together as one; none if a model read the question."""
    if any(name != "words" for name in reading.read_by):
        return ()
    runs: list[Run] = []
    end = -2
    for word in _outside(reading):
        means = tuple(meaning for meaning, begins in KNOWN.items() if word[0].casefold().startswith(begins))
        if not means:
            continue
        if runs and word.start() <= end + 1 and runs[-1].means == means:
            runs[-1] = Run(f"{runs[-1].words} {word[0]}", means)
        else:
            runs.append(Run(word[0], means))
        end = word.end()
    return tuple({run.words: run for run in runs}.values())[:MOST_RUNS]


def _outside(reading: Reading) -> Iterator[re.Match[str]]:
    """The words that ask for no measure, group, time, filter or number of rows."""
    told = [quote for r in reading.requirements if r.kind != "analysis" for quote in r.quotes[:1]]
    spans = [(one.start, one.start + len(one.text)) for one in told if one.start is not None]
    for word in re.finditer(r"\w+", reading.question):
        if not any(first <= word.start() and word.end() <= last for first, last in spans):
            yield word
