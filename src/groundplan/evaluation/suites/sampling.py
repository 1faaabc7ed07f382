"""Which items a smaller run takes: the same for every suite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def spread(items: Sequence[Item], sample: int | None) -> list[Item]:
    """So many items, evenly spread and always the same: neighbours in a file are often alike."""
    if sample is None or sample >= len(items):
        return list(items)
    return [items[place * len(items) // sample] for place in range(sample)]
