"""Confidence intervals at 95 % by the bootstrap; those of shares are in `contracts.estimate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundplan.contracts.estimate import Estimate, estimate

Array = NDArray[np.float64]
LEVEL = 0.95
RESAMPLES = 1_000
SEED = 20_250_101  # fixed, so that the same measurements give the same interval


def bootstrap(rows: Sequence[Any], together: Sequence[str], statistic: Callable[[Array], float]) -> Estimate:
    """A statistic of the rows with a cluster bootstrap interval; `together` has the cluster of each row.

    The turns of one conversation are correlated, so whole conversations are resampled; with a single one, its turns.
    """
    measured = np.asarray(rows, dtype=np.float64)
    varied = [statistic(measured[drawn]) for drawn in _draws(tuple(together))]
    low, high = np.nanquantile(varied, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return estimate(statistic(measured), float(low), float(high), len(measured))


def quantile(rows: Array, share: float) -> float:
    """Like numpy's, but ten times faster for few rows; it is called thousands of times."""
    ordered, place = np.sort(rows), share * (len(rows) - 1)
    below = int(place)
    least, most = ordered[below], ordered[min(below + 1, len(rows) - 1)]
    return float(least + (most - least) * (place - below))


@lru_cache(maxsize=16)
def _draws(together: tuple[str, ...]) -> list[NDArray[np.intp]]:
    """The row indexes of each resample, the same for every figure of the same questions."""
    names = np.asarray(together if len(set(together)) > 1 else [str(place) for place in range(len(together))])
    groups = [np.flatnonzero(names == name) for name in dict.fromkeys(names.tolist())]
    draws = np.random.default_rng(SEED).integers(0, len(groups), size=(RESAMPLES, len(groups)))
    return [np.concatenate([groups[place] for place in draw]) for draw in draws]
