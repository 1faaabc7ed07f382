"""Makes comparisons of Ibis expressions thread-safe.

Ibis 12 caches the result of every comparison in one global dictionary, keyed by `id`, and removes it when an
expression is destroyed. Two threads that do this at once raise `KeyError` in `__del__` and leave entries behind. A
later expression with the same id then gets the wrong result.
"""

from __future__ import annotations

import threading
from typing import Any

from ibis.common.bases import Comparable


def make_comparisons_thread_safe() -> None:
    """Replaces Ibis's cache with one for each comparison. Safe to call again."""
    if Comparable.__eq__ is not _equal:
        Comparable.__eq__ = _equal
        del Comparable.__del__
        Comparable.__cache__.clear()


class _Comparison(threading.local):
    """The parts compared so far in this thread's comparison, kept alive so that their ids stay unique."""

    known: dict[tuple[int, int], tuple[bool, Any, Any]] | None = None


_comparison = _Comparison()


def _equal(self: Any, other: Any) -> bool:
    """Each pair of parts is compared once: expressions share parts, so there are far more paths than parts."""
    if self is other:
        return True
    if type(self) is not type(other):
        return False
    if _comparison.known is not None:
        return _equal_part(self, other, _comparison.known)
    _comparison.known = {}
    try:
        return bool(self.__equals__(other))
    finally:
        _comparison.known = None


def _equal_part(self: Any, other: Any, known: dict[tuple[int, int], tuple[bool, Any, Any]]) -> bool:
    key = (id(self), id(other))
    if key not in known:
        known[key] = bool(self.__equals__(other)), self, other
    return known[key][0]
