"""Sampling of items, the same for every suite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def spread(items: Sequence[Item], sample: int | None) -> list[Item]:
    """A deterministic, evenly spread sample, because adjacent items in a file are often similar."""
    if sample is None or sample >= len(items):
        return list(items)
    return [items[place * len(items) // sample] for place in range(sample)]
