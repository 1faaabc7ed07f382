"""Rows that a plan of DuckDB reads, by its own estimates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KEPT_BY_FILTER = 0.2  # of the rows of a file, as DuckDB guesses where it has no statistics
MOST_SHOWN = 100_000  # rows of one step: the plan does not say how many its LIMIT is
LIMITS = ("LIMIT", "STREAMING_LIMIT")


def rows_read(node: Mapping[str, Any], sizes: Mapping[str, int]) -> int:
    """Of all scans; of tables by their sizes, of files by what is left of them after pruning."""
    told, inner = node.get("extra_info", {}), node.get("children", ())
    if inner:
        read = sum(rows_read(one, sizes) for one in inner)
        return min(read, MOST_SHOWN) if _stops(node) else read
    kept = int(told.get("Estimated Cardinality", 0))
    if "Table" in told:
        return max(kept, sizes.get(told["Table"], 0))
    return round(kept / KEPT_BY_FILTER) if told.get("Filters") else kept


def _stops(node: Mapping[str, Any]) -> bool:
    """True for the first rows of what is neither sorted, grouped nor filtered."""
    if node["name"].strip() not in LIMITS:
        return False
    while node.get("children"):
        (node, *others) = node["children"]
        if others or node["name"].strip() not in (*LIMITS, "PROJECTION", "SEQ_SCAN", "READ_PARQUET"):
            return False
    return not node.get("extra_info", {}).get("Filters")
