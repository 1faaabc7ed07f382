"""A comparison as text: one line per figure, one column per variant, intervals in brackets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from groundplan.contracts.estimate import Estimate
from groundplan.evaluation.comparing.figures import Comparison, Difference, Figures

Line = tuple[str, Callable[[Figures], Estimate | None], Callable[[float], str]]


def percent(share: float) -> str:
    return f"{share:.0%}"


def signed(share: float) -> str:
    return f"{share:+.0%}"


def plain(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:,.1f}"


LINES: tuple[Line, ...] = (
    ("right", lambda one: one.right, percent),
    ("answered", lambda one: one.answered, percent),
    ("at the first try", lambda one: one.first_try, percent),
    ("tried again", lambda one: one.retried, percent),
    ("schema fetched", lambda one: one.schema_fetched, percent),
    ("reused in later turns", lambda one: one.reused, percent),
    ("ms, P50", lambda one: one.latency.p50, plain),
    ("ms, P95", lambda one: one.latency.p95, plain),
    ("calls a question", lambda one: one.calls, plain),
    ("prompt tokens", lambda one: one.prompt_tokens, plain),
    ("completion tokens", lambda one: one.completion_tokens, plain),
)


def lines(comparison: Comparison) -> Iterator[str]:
    """The lines of the text; the JSON document also has the misses."""
    variants, asked = comparison.variants, comparison.questions
    yield f"questions: {asked}, conversations: {comparison.conversations}, seconds: {comparison.seconds:.0f}"
    yield ""
    rows = [["", *(one.variant for one in variants)]]
    rows += [[label, *(_shown(of(one), form) for one in variants)] for label, of, form in LINES]
    rows += [[f"  {stage}, P50", *(_stage(one, stage) for one in variants)] for stage in _stages(variants)]
    yield from _aligned(rows)
    for one in variants:
        told = ", ".join(f"{kind} {count}" for kind, count in one.failures.items())
        yield f"{one.variant} misses: {told or 'none'}"
    for change in comparison.differences:
        yield from _difference(change)


def _stages(variants: Sequence[Figures]) -> list[str]:
    return list(dict.fromkeys(stage for one in variants for stage in one.stages))


def _stage(one: Figures, stage: str) -> str:
    return _shown(one.stages[stage].p50, plain) if stage in one.stages else "-"


def _shown(estimate: Estimate | None, form: Callable[[float], str]) -> str:
    if estimate is None:
        return "-"
    return f"{form(estimate.value)} [{form(estimate.low)}, {form(estimate.high)}]"


def _difference(change: Difference) -> Iterator[str]:
    yield ""
    yield f"{change.variant} against {change.against}"
    yield f"  right {_shown(change.right, signed)}"
    yield f"  latency, P50 {_shown(change.latency_p50, signed)}; a question {_shown(change.latency_ms, plain)} ms"
    if change.tokens_share:
        yield f"  tokens {_shown(change.tokens_share, signed)}; a question {_shown(change.tokens, plain)}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        first, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join([first, *others]).rstrip()
