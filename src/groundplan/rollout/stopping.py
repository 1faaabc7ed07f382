"""When a trial stops by itself: a sequential test that may be looked at after every question.

For each kind of failure, with an acceptable share p0 and an unacceptable one p1, the likelihood ratio of `k` failures
in `n` questions is (p1/p0)^k ((1-p1)/(1-p0))^(n-k), as in Wald's sequential probability ratio test (A. Wald, Sequential
Tests of Statistical Hypotheses, Annals of Mathematical Statistics 16, 1945). While the true share is at most p0, the
ratio is a non-negative supermartingale, so the chance that it ever reaches 1/alpha is at most alpha (J. Ville, 1939;
S. R. Howard and others, Time-uniform Chernoff bounds via nonnegative supermartingales, 2020). There is no lower bound
at which the test would accept: it goes on for as long as the trial does. The kinds of failure share FALSE_ALARMS, so a
trial whose shares are all acceptable is ever stopped with a chance of at most five percent, however often one looks.
Thumbs that come late leave this as it is: a failure that is not known yet only lowers the ratio.
"""

from __future__ import annotations

from math import log

from groundplan.contracts.rollout import Bound, Counts, StopBounds

FALSE_ALARMS = 0.05  # the chance that an acceptable trial is ever stopped
KINDS = ("errors", "thumbs down", "slow")


def why_stop(counts: Counts, bounds: StopBounds) -> str | None:
    """What the trial does too badly, in words; None while nothing is proven."""
    limit = log(len(KINDS) / FALSE_ALARMS)
    found = ((counts.errors, bounds.errors), (counts.bad, bounds.thumbs_down), (counts.slow, bounds.slow))
    for kind, (failures, bound) in zip(KINDS, found, strict=True):
        if log_ratio(failures, counts.n, bound) >= limit:
            return f"{kind}: {failures} of {counts.n} questions, where {bound.acceptable:.1%} are acceptable"
    return None


def log_ratio(failures: int, n: int, bound: Bound) -> float:
    """The logarithm of the likelihood ratio of the unacceptable share to the acceptable one."""
    p0, p1 = bound.acceptable, bound.unacceptable
    return failures * log(p1 / p0) + (n - failures) * log((1 - p1) / (1 - p0))
