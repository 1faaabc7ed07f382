"""A share with its confidence interval."""

from __future__ import annotations

from math import sqrt

from groundplan.contracts.contract import Contract

NORMAL = 1.959964  # the quantile of the normal distribution for 95 %
DIGITS = 4


class Estimate(Contract):
    """A figure with its 95 % confidence interval."""

    value: float
    low: float
    high: float
    n: int  # measurements behind it


def wilson(held: int, n: int) -> Estimate | None:
    """The share `held / n` with Wilson's interval, which also works for small samples; None if empty."""
    if n == 0:
        return None
    share, weight = held / n, NORMAL**2 / n
    middle = (share + weight / 2) / (1 + weight)
    reach = NORMAL / (1 + weight) * sqrt(share * (1 - share) / n + weight / (4 * n))
    return estimate(share, max(0.0, middle - reach), min(1.0, middle + reach), n)


def estimate(value: float, low: float, high: float, n: int) -> Estimate:
    return Estimate(value=round(value, DIGITS), low=round(low, DIGITS), high=round(high, DIGITS), n=n)
