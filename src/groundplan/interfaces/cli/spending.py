"""The line on model usage after an answer, and the notes on model replies that were not used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from groundplan.contracts.answer import TraceEntry, Usage


def line(models: Sequence[str], usage: Usage, trace: Sequence[TraceEntry], *, planned: bool, failed: bool) -> str:
    """`qwen: 2 calls, 611 + 84 tokens, 9.8 s`, or why there was no call; `models` are the configured models."""
    if usage.calls:
        return f"{', '.join(usage.models)}: {counted(usage)}, {_seconds(trace):.1f} s"
    who = ", ".join(models)
    if failed:
        return f"{who}: no reply, so the rules decided"
    if any(entry.stage == "plan" and entry.thought.startswith("remember") for entry in trace):
        return f"{who}: not called, a stored plan was reused"
    return f"{who}: not called, the rules were enough" if planned else f"{who}: not called"


def counted(usage: Usage) -> str:
    calls = f"{usage.calls:,} call{'' if usage.calls == 1 else 's'}"
    return f"{calls}, {usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens"


def printable(notes: Sequence[str]) -> Iterator[str]:
    """Each note on one line, without control characters, because a note may quote a server."""
    for note in notes:
        yield " ".join("".join(sign if sign.isprintable() else " " for sign in note).split())


def _seconds(trace: Sequence[TraceEntry]) -> float:
    """The time of the stages that called a model; the others take milliseconds."""
    return sum(entry.ms for entry in trace if entry.tokens) / 1000
