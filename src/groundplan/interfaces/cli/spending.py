"""The line on model usage after an answer, the notes on model replies that were not used, and what a model would do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from groundplan.contracts.answer import Refusal, Spent, TraceEntry, Usage
from groundplan.contracts.contract import Language

REUSED = ("remember", "reuse")  # planners that found an earlier plan, if there was no call

UNREAD = ("reading/unread-word", "reading/no-question")
WITH_A_MODEL: Mapping[Language, str] = {
    "en": "With a model, more wordings are understood: groundplan doctor",
    "ru": "С моделью понятно больше формулировок: groundplan doctor",
}


def line(models: Sequence[str], usage: Usage, trace: Sequence[TraceEntry], *, planned: bool, failed: bool) -> str:
    """`qwen: 2 calls, 611 + 84 tokens, 9.8 s (read)`, or why there was no call; `models` are the configured models."""
    if usage.calls:
        return f"{', '.join(usage.models)}: {counted(usage)} ({_by_role(usage)})"
    who = ", ".join(models)
    if failed:
        return f"{who}: no reply, so the rules decided"
    if any(entry.stage == "plan" and entry.thought.startswith(REUSED) for entry in trace):
        return f"{who}: not called, a stored plan was reused"
    return f"{who}: not called, the rules were enough" if planned else f"{who}: not called"


def counted(spent: Spent) -> str:
    calls = f"{spent.calls:,} call{'' if spent.calls == 1 else 's'}"
    return f"{calls}, {spent.prompt_tokens:,} + {spent.completion_tokens:,} tokens, {spent.seconds:,.1f} s"


def _by_role(usage: Usage) -> str:
    if len(usage.roles) == 1:
        return next(iter(usage.roles))
    return "; ".join(f"{role}: {counted(spent)}" for role, spent in usage.roles.items())


def is_unread(refusal: Refusal) -> bool:
    """Whether the words were refused that a model might read."""
    return any(issue.code in UNREAD for issue in refusal.issues[:1])


def printable(notes: Sequence[str]) -> Iterator[str]:
    """Each note on one line, without control characters, because a note may quote a server."""
    for note in notes:
        yield " ".join("".join(sign if sign.isprintable() else " " for sign in note).split())
