"""Asks several variants the same questions in one run, turn by turn in rotating order.

So anything that slows the machine down affects all variants. Each variant has its own state folder, so that it cannot
reuse another's conversations or plans, and answers one warm-up question before measurements start.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import JsonValue

from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal
from groundplan.contracts.contract import Scalar
from groundplan.contracts.matching_rows import Rows, same_rows
from groundplan.errors import UsageError, WorldError
from groundplan.evaluation.comparing.conversations import Conversation, Truth, Turn
from groundplan.evaluation.comparing.figures import Comparison, Measured, difference, figures
from groundplan.evaluation.report import Miss

OnProgress = Callable[[int, int], None]
STATE = "GROUNDPLAN_STATE"
ROWS_OF_A_MISS = 20


@dataclass(frozen=True)
class Variant:
    """A way of answering: a function from a question in a thread to its outcome, with trace and usage."""

    name: str
    answer: Callable[[str, str], Awaitable[Outcome]]


async def compare(
    variants: Sequence[Variant],
    conversations: Sequence[Conversation],
    truth: Truth,
    on_progress: OnProgress = lambda done, total: None,
) -> Comparison:
    """Ask every variant every turn of every conversation; `truth` runs the SQL for the expected rows."""
    if len({variant.name for variant in variants}) < max(2, len(variants)):
        raise UsageError("a comparison needs at least two variants with different names")
    total = len(variants) * sum(len(conversation.turns) for conversation in conversations)
    measured: dict[str, list[Measured]] = {variant.name: [] for variant in variants}
    began = time.perf_counter()
    with TemporaryDirectory() as folder:
        await _warm_up(variants, conversations[0].turns[0], Path(folder))
        for place, (conversation, number, turn) in enumerate(_turns(conversations)):
            expected = turn.expected(truth)
            for variant in _rotated(variants, place):
                with _state_of(variant, Path(folder) / "asked"):
                    found = await _measure(variant, conversation, number, expected)
                measured[variant.name].append(found)
                on_progress(sum(map(len, measured.values())), total)
    return _compared(measured, len(conversations), time.perf_counter() - began)


def _turns(conversations: Sequence[Conversation]) -> Iterator[tuple[Conversation, int, Turn]]:
    for conversation in conversations:
        for number, turn in enumerate(conversation.turns):
            yield conversation, number, turn


def _rotated(variants: Sequence[Variant], place: int) -> list[Variant]:
    """The variants rotated, so that each goes first equally often."""
    first = place % len(variants)
    return [*variants[first:], *variants[:first]]


async def _warm_up(variants: Sequence[Variant], turn: Turn, folder: Path) -> None:
    for variant in variants:
        with _state_of(variant, folder / "warm"):
            await _outcome(variant, turn.ask, "warm-up")


@contextmanager
def _state_of(variant: Variant, folder: Path) -> Iterator[None]:
    """Set the variant's state folder in the environment. Turns run one at a time, so this is safe."""
    before = os.environ.get(STATE)
    os.environ[STATE] = str(folder / variant.name.replace(os.sep, "_"))
    try:
        yield
    finally:
        os.environ.pop(STATE)
        os.environ |= {STATE: before} if before is not None else {}


async def _measure(variant: Variant, conversation: Conversation, number: int, expected: Rows) -> Measured:
    question = conversation.turns[number].ask
    began = time.perf_counter()
    outcome = await _outcome(variant, question, conversation.id)
    ms = (time.perf_counter() - began) * 1000
    failure, why = _judged(outcome, expected)
    miss = None
    if failure:
        got = _few(outcome.tables[0].rows) if isinstance(outcome, Answer) and outcome.tables else None
        id_ = f"{conversation.id}/{number + 1}"
        miss = Miss(id=id_, question=question, expected=_few(expected), got=got, why=f"{failure}: {why}")
    ended = None if isinstance(outcome, WorldError) else outcome
    return Measured(conversation.id, number > 0, ms, ended, failure, miss)


async def _outcome(variant: Variant, question: str, thread: str) -> Outcome | WorldError:
    """The outcome; an external failure counts as a failure of this question and does not end the comparison."""
    try:
        return await variant.answer(question, thread)
    except WorldError as error:
        return error


def _judged(outcome: Outcome | WorldError, expected: Rows) -> tuple[str, str]:
    """The kind of failure and its details; both empty if the rows are correct."""
    match outcome:
        case WorldError():
            return type(outcome).__name__, str(outcome)
        case Clarification():
            return "clarification", outcome.text
        case Refusal():
            return f"refusal {outcome.issues[0].code}" if outcome.issues else "refusal", outcome.text
        case Answer(tables=()):
            return "no rows", outcome.text
        case Answer():
            right = same_rows(outcome.tables[0].rows, expected)
            return ("", "") if right else ("wrong rows", outcome.text)


def _few(rows: Rows) -> list[JsonValue]:
    return [[_json(cell) for cell in row] for row in rows[:ROWS_OF_A_MISS]]


def _json(cell: object) -> Scalar:
    return cell if isinstance(cell, str | int | float | bool | None) else str(cell)


def _compared(measured: dict[str, list[Measured]], conversations: int, seconds: float) -> Comparison:
    first, *others = measured
    return Comparison(
        conversations=conversations,
        questions=len(measured[first]),
        seconds=round(seconds, 1),
        variants=tuple(figures(name, found) for name, found in measured.items()),
        differences=tuple(difference(name, measured[name], first, measured[first]) for name in others),
    )
