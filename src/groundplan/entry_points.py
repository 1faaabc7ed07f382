"""The entry points of groundplan and of packages that add to it, found once for all groups."""

from __future__ import annotations

import importlib.metadata
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any


def entry_points(group: str) -> tuple[EntryPoint, ...]:
    return tuple(_installed().select(group=group))


@cache
def _installed() -> Any:  # its type differs between versions of Python
    """Looks at every installed distribution, which takes tens of milliseconds."""
    return importlib.metadata.entry_points()
