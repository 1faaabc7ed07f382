"""Segments of things by their measures: k-means over standardised values, with the same result every time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from groundplan.errors import ToolError

FEWEST = 5  # things for each segment
ROUNDS = 100


def cluster(table: pa.Table, params: Mapping[str, Any]) -> pa.Table:
    """Each thing with the number of its segment; segment 1 has the highest first measure on average."""
    columns, count = params["columns"], params["count"]
    if len(columns) < 2:
        raise ToolError("segments need at least two measures; with one, ask for its distribution")
    kept = table.select([*params["by"], *columns]).drop_null()
    if kept.num_rows < count * FEWEST:
        raise ToolError(f"{kept.num_rows} things are too few for {count} segments; it needs {count * FEWEST}")
    values = np.column_stack([kept[name].to_numpy().astype(float) for name in columns])
    spread = values.std(axis=0)
    if not np.isfinite(values).all() or not (spread > 0).all():
        raise ToolError("a measure is the same for all, or has values that are no numbers, so nothing tells them apart")
    found = _grouped((values - values.mean(axis=0)) / spread, count)
    means = [values[found == place, 0].mean() if (found == place).any() else -np.inf for place in range(count)]
    ranks = {place: rank for rank, place in enumerate(sorted(range(count), key=lambda one: -means[one]), 1)}
    named = [f"segment {ranks[int(place)]}" for place in found]
    return kept.append_column("segment", pa.array(named, pa.string()))


def _grouped(points: np.ndarray, count: int) -> np.ndarray:
    """The nearest of the centres for each point; the first centres lie as far apart as possible."""
    centres = points[[int(np.argmin((points**2).sum(axis=1)))]]
    while len(centres) < count:
        distance = ((points[:, None] - centres[None]) ** 2).sum(axis=2).min(axis=1)
        centres = np.vstack([centres, points[int(np.argmax(distance))]])
    found = np.full(len(points), -1)
    for _ in range(ROUNDS):
        nearest = ((points[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        if (nearest == found).all():
            break
        found = nearest
        for place in range(count):
            if (found == place).any():
                centres[place] = points[found == place].mean(axis=0)
    return found
