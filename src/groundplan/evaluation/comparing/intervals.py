"""How sure a figure is: Wilson's interval for a share, the bootstrap for everything else. Both at 95 %."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundplan.contracts.contract import Contract

Array = NDArray[np.float64]
LEVEL, NORMAL = 0.95, 1.959964  # and the quantile of the normal distribution that belongs to it
RESAMPLES = 1_000
SEED = 20_250_101  # fixed, so that the same measurements give the same interval
DIGITS = 4


class Estimate(Contract):
    """A figure and the interval that holds the true one in 95 of 100 such runs."""

    value: float
    low: float
    high: float
    n: int  # measurements behind it


def wilson(held: Sequence[bool]) -> Estimate | None:
    """The share of what held; None of nothing. Stays within 0 and 1, and is honest about few and about none."""
    n = len(held)
    if n == 0:
        return None
    share, weight = sum(held) / n, NORMAL**2 / n
    middle = (share + weight / 2) / (1 + weight)
    reach = NORMAL / (1 + weight) * sqrt(share * (1 - share) / n + weight / (4 * n))
    return _estimate(share, max(0.0, middle - reach), min(1.0, middle + reach), n)


def bootstrap(rows: Sequence[Any], together: Sequence[str], statistic: Callable[[Array], float]) -> Estimate:
    """A statistic of the rows, and how it varies when the groups that belong `together` are drawn again.

    The turns of one conversation resemble each other, so conversations are drawn, not turns; of a single one its turns.
    """
    measured = np.asarray(rows, dtype=np.float64)
    varied = [statistic(measured[drawn]) for drawn in _draws(tuple(together))]
    low, high = np.nanquantile(varied, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return _estimate(statistic(measured), float(low), float(high), len(measured))


def quantile(rows: Array, share: float) -> float:
    """As numpy's, at a tenth of the time for so few rows; it is taken some ten thousand times."""
    ordered, place = np.sort(rows), share * (len(rows) - 1)
    below = int(place)
    least, most = ordered[below], ordered[min(below + 1, len(rows) - 1)]
    return float(least + (most - least) * (place - below))


@lru_cache(maxsize=16)
def _draws(together: tuple[str, ...]) -> list[NDArray[np.intp]]:
    """The places of the rows in each drawn sample: the same for every figure of the same questions."""
    names = np.asarray(together if len(set(together)) > 1 else [str(place) for place in range(len(together))])
    groups = [np.flatnonzero(names == name) for name in dict.fromkeys(names.tolist())]
    draws = np.random.default_rng(SEED).integers(0, len(groups), size=(RESAMPLES, len(groups)))
    return [np.concatenate([groups[place] for place in draw]) for draw in draws]


def _estimate(value: float, low: float, high: float, n: int) -> Estimate:
    return Estimate(value=round(value, DIGITS), low=round(low, DIGITS), high=round(high, DIGITS), n=n)
