"""The figures of a comparison: estimates with intervals for each variant, and differences between variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from groundplan.contracts.answer import Answer, Outcome, Usage
from groundplan.contracts.contract import Contract
from groundplan.contracts.estimate import Estimate, wilson
from groundplan.evaluation.comparing.intervals import Array, bootstrap, quantile
from groundplan.evaluation.report import Miss

SCHEMA, REUSE, CHECK = "schema", "reuse", "check"
"""Trace stages: reading the source's schema, reusing an earlier plan, checking a plan."""


class Latency(Contract):
    """In milliseconds."""

    p50: Estimate
    p95: Estimate


class Figures(Contract):
    """The figures of one variant. Shares are from 0 to 1; tokens and calls are means over all questions."""

    variant: str
    questions: int
    right: Estimate  # the rows are as expected
    answered: Estimate  # there is an answer, right or wrong
    first_try: Estimate  # the first plan passed the gate and was answered
    retried: Estimate  # more than one plan went to the gate
    schema_fetched: Estimate  # the question read the source's schema
    reused: Estimate | None  # share of follow-up turns planned from an earlier turn; None if there are no follow-ups
    latency: Latency
    stages: dict[str, Latency]  # over the questions that reached the stage
    prompt_tokens: Estimate
    completion_tokens: Estimate
    calls: Estimate
    failures: dict[str, int]  # by kind
    misses: tuple[Miss, ...]


class Difference(Contract):
    """The change from one variant to another on the same questions; negative means less."""

    variant: str
    against: str
    right: Estimate  # difference of the shares
    latency_ms: Estimate  # median of the differences, question by question
    latency_p50: Estimate  # relative change of the P50: -0.2 is 20 % lower
    tokens: Estimate  # mean of the differences, prompt and completion together
    tokens_share: Estimate | None  # relative change; None if the other variant uses no tokens


class Comparison(Contract):
    conversations: int
    questions: int
    seconds: float
    variants: tuple[Figures, ...]
    differences: tuple[Difference, ...]  # each other variant against the first


@dataclass(frozen=True)
class Measured:
    """One variant's answer to one question."""

    conversation: str
    follows: bool  # not the first turn of its conversation
    ms: float
    outcome: Outcome | None  # None after an external failure
    failure: str = ""  # its kind; empty when the rows are right
    miss: Miss | None = None

    @property
    def right(self) -> bool:
        return not self.failure

    @property
    def answered(self) -> bool:
        return isinstance(self.outcome, Answer)

    @property
    def usage(self) -> Usage:
        return self.outcome.usage if self.outcome else Usage()

    @property
    def tokens(self) -> int:
        return self.usage.prompt_tokens + self.usage.completion_tokens

    @cached_property
    def stages(self) -> dict[str, float]:
        """Milliseconds by stage, summed over retries."""
        spent: dict[str, float] = {}
        for entry in self.outcome.trace if self.outcome else ():
            spent[entry.stage] = spent.get(entry.stage, 0.0) + entry.ms
        return spent

    @property
    def tries(self) -> int:
        return sum(entry.stage == CHECK for entry in self.outcome.trace) if self.outcome else 0

    @property
    def reused(self) -> bool:
        if not isinstance(self.outcome, Answer):
            return False
        reading = self.outcome.reading
        planned = (entry.thought for entry in self.outcome.trace if entry.stage == "plan")
        return REUSE in planned or (reading is not None and reading.follow_up)


def figures(variant: str, measured: Sequence[Measured]) -> Figures:
    stages = dict.fromkeys(stage for one in measured for stage in one.stages)
    return Figures(
        variant=variant,
        questions=len(measured),
        right=_share(measured, lambda one: one.right),
        answered=_share(measured, lambda one: one.answered),
        first_try=_share(measured, lambda one: one.answered and one.tries <= 1),
        retried=_share(measured, lambda one: one.tries > 1),
        schema_fetched=_share(measured, lambda one: SCHEMA in one.stages),
        reused=_held([one.reused for one in measured if one.follows]),
        latency=_latency(measured, lambda one: one.ms),
        stages={stage: _at_stage(measured, stage) for stage in stages},
        prompt_tokens=_mean(measured, lambda one: one.usage.prompt_tokens),
        completion_tokens=_mean(measured, lambda one: one.usage.completion_tokens),
        calls=_mean(measured, lambda one: one.usage.calls),
        failures=dict(Counter(one.failure for one in measured if one.failure).most_common()),
        misses=tuple(one.miss for one in measured if one.miss),
    )


def difference(variant: str, measured: Sequence[Measured], against: str, others: Sequence[Measured]) -> Difference:
    """Compare two variants on the same questions in the same order."""
    together = [one.conversation for one in measured]
    pairs = list(zip(measured, others, strict=True))
    ms = [(one.ms, other.ms) for one, other in pairs]
    tokens = [(one.tokens, other.tokens) for one, other in pairs]
    return Difference(
        variant=variant,
        against=against,
        right=bootstrap([(one.right, other.right) for one, other in pairs], together, _mean_change),
        latency_ms=bootstrap(ms, together, _median_change),
        latency_p50=bootstrap(ms, together, _change_of_median),
        tokens=bootstrap(tokens, together, _mean_change),
        tokens_share=bootstrap(tokens, together, _change_of_sum) if any(other for _, other in tokens) else None,
    )


def _held(told: Sequence[bool]) -> Estimate | None:
    return wilson(sum(told), len(told))


def _share(measured: Sequence[Measured], held: Callable[[Measured], bool]) -> Estimate:
    share = _held([held(one) for one in measured])
    assert share is not None
    return share


def _latency(measured: Sequence[Measured], milliseconds: Callable[[Measured], float]) -> Latency:
    together, spent = [one.conversation for one in measured], [milliseconds(one) for one in measured]
    return Latency(p50=bootstrap(spent, together, _p50), p95=bootstrap(spent, together, _p95))


def _at_stage(measured: Sequence[Measured], stage: str) -> Latency:
    return _latency([one for one in measured if stage in one.stages], lambda one: one.stages[stage])


def _mean(measured: Sequence[Measured], counted: Callable[[Measured], float]) -> Estimate:
    together = [one.conversation for one in measured]
    return bootstrap([counted(one) for one in measured], together, lambda rows: float(rows.mean()))


def _p50(rows: Array) -> float:
    return quantile(rows, 0.5)


def _p95(rows: Array) -> float:
    return quantile(rows, 0.95)


def _mean_change(pairs: Array) -> float:
    return float((pairs[:, 0] - pairs[:, 1]).mean())


def _median_change(pairs: Array) -> float:
    return _p50(pairs[:, 0] - pairs[:, 1])


def _change_of_median(pairs: Array) -> float:
    return _p50(pairs[:, 0]) / _p50(pairs[:, 1]) - 1


def _change_of_sum(pairs: Array) -> float:
    """NaN if a resample has no tokens to compare with; the interval ignores such resamples."""
    whole = pairs[:, 1].sum()
    return float(pairs[:, 0].sum() / whole - 1) if whole else float("nan")
