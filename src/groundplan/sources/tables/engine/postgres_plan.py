"""Rows that a plan of PostgreSQL reads, by the planner's own estimates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from groundplan.sources.tables.files.quoting import quoted

Plan = Mapping[str, Any]
WORKERS = 2.4  # as PostgreSQL counts two workers and their leader, who share a scan


def rows_read(node: Plan, plan_of: Callable[[str], Plan], times: float = 1.0, share: float = 1.0) -> float:
    """Of all scans: each is repeated so many times, and a LIMIT takes only a share of what is not collected first."""
    if "Relation Name" in node:
        return times * share * _scanned(node, plan_of)
    inner = node.get("Plans", ())
    match node["Node Type"]:
        case "Limit":
            share *= min(1.0, node["Total Cost"] / max(inner[0]["Total Cost"], 1e-9))
        case "Nested Loop":
            outer, repeated = inner
            again = 1.0 if repeated["Node Type"] == "Materialize" else max(outer["Plan Rows"], 1.0)
            return rows_read(outer, plan_of, times, share) + rows_read(repeated, plan_of, times * again, share)
        case "Sort" | "Hash" | "Aggregate":
            share = 1.0
    return sum(rows_read(one, plan_of, times, share) for one in inner)


def _scanned(node: Plan, plan_of: Callable[[str], Plan]) -> float:
    """A scan of the whole table reads also the rows that it drops."""
    kept = float(node["Plan Rows"])
    if node["Node Type"] != "Seq Scan" or not ("Filter" in node or node.get("Parallel Aware")):
        return kept
    whole = plan_of(f"SELECT FROM ONLY {quoted(node['Schema'])}.{quoted(node['Relation Name'])}")
    while "Relation Name" not in whole:  # rows that several workers share
        whole = whole["Plans"][0]
    return max(kept, float(whole["Plan Rows"]) * (WORKERS if whole.get("Parallel Aware") else 1.0))
