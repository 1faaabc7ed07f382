"""What a question asked of models, in one quiet line, and what they said that was not taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from groundplan.contracts.answer import TraceEntry, Usage


def line(models: Sequence[str], usage: Usage, trace: Sequence[TraceEntry], *, planned: bool, failed: bool) -> str:
    """`qwen: 2 calls, 611 + 84 tokens, 9.8 s`, or why there was no call; `models` are those that were set up."""
    if usage.calls:
        return f"{', '.join(usage.models)}: {counted(usage)}, {_seconds(trace):.1f} s"
    who = ", ".join(models)
    if failed:
        return f"{who}: no answer, so words and rules stand"
    if any(entry.stage == "plan" and entry.thought.startswith("remember") for entry in trace):
        return f"{who}: not asked, a plan for the same was kept"
    return f"{who}: not asked, the words were enough" if planned else f"{who}: not asked"


def counted(usage: Usage) -> str:
    calls = f"{usage.calls:,} call{'' if usage.calls == 1 else 's'}"
    return f"{calls}, {usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens"


def printable(notes: Sequence[str]) -> Iterator[str]:
    """One line each: a note may carry a server's own words, and those must not steer a terminal."""
    for note in notes:
        yield " ".join("".join(sign if sign.isprintable() else " " for sign in note).split())


def _seconds(trace: Sequence[TraceEntry]) -> float:
    """Of the stages that asked: the words and the rules beside it take milliseconds."""
    return sum(entry.ms for entry in trace if entry.tokens) / 1000
