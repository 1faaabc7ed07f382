"""An answer whose sentences a model chooses. It is verified like any other; without a choice, the default answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from groundplan.answering.answer import answer
from groundplan.answering.choosing.candidates import MOST_CHOSEN, CandidateSentences, Text, choose, find_candidates
from groundplan.answering.writing.cells import with_cells
from groundplan.contracts.answer import Answer, Refusal, ShownTable, TraceEntry
from groundplan.contracts.contract import Contract
from groundplan.contracts.facts import Facts
from groundplan.contracts.plan import CheckedPlan
from groundplan.llm.calls import Calls, Failed
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import UnusableReply

MAX_TOKENS = 40  # four numbers and the brackets around them
LONGEST_QUESTION, LONGEST_CANDIDATE, LONGEST_PROBLEM = 300, 64, 120  # characters in the prompt


class Choice(Contract):
    """The numbers of the sentences that answer the question, the most direct one first."""

    sentences: Annotated[tuple[str, ...], Field(min_length=1, max_length=MOST_CHOSEN)]


async def answer_with(
    plan: CheckedPlan,
    facts: Facts,
    shown: Mapping[str, ShownTable],
    trace: Sequence[TraceEntry],
    question: str,
    calls: Calls,
    language: Literal["en", "ru", "other"] = "en",
) -> Answer | Refusal:
    """Like `answer`, and the result is the same if there is nothing to choose or the model gives no usable choice."""
    usual = answer(plan, facts, shown, trace, language)
    if isinstance(usual, Refusal) or not usual.citations:
        return usual
    offered = find_candidates(plan, facts, shown, "ru" if language == "ru" else "en")
    chosen = await _chosen(offered, question, calls) if offered else None
    if not chosen:
        return usual
    return usual.model_copy(update={"text": chosen[0], "citations": with_cells(chosen[1], shown)})


async def _chosen(offered: CandidateSentences, question: str, calls: Calls) -> Text | None:
    """Ask as often as the role allows; each further prompt says what was wrong."""
    first = _prompt(offered, question)
    told = await _ask(first, offered, calls)
    for _ in range(calls.limits.attempts - 1):
        if not isinstance(told, str):
            break
        again = load_prompt("answer_again").fill(problem=_short(told, LONGEST_PROBLEM))
        told = await _ask(f"{first}\n\n{again}", offered, calls)
    return told if isinstance(told, tuple) else None


def _prompt(offered: CandidateSentences, question: str) -> str:
    sentences = (f"{number}. {_short(text, LONGEST_CANDIDATE)}" for number, text in enumerate(offered.texts(), 1))
    asked = _short(question, LONGEST_QUESTION)
    return load_prompt("answer").fill(question=asked, sentences="\n".join(sentences))


async def _ask(prompt: str, offered: CandidateSentences, calls: Calls) -> Text | str | None:
    """The chosen text, what is wrong with the choice, or None if there was no reply."""
    numbers = [str(number) for number in range(1, len(offered.candidates) + 1)]
    told = await calls.ask(prompt, Choice, {"sentences": numbers}, max_tokens=MAX_TOKENS)
    match told:
        case Failed():
            return None
        case UnusableReply(problem=problem):
            return problem
        case _:
            return choose(offered, [int(number) for number in told.value.sentences])


def _short(text: str, most: int) -> str:
    """On one line, so that no text inside a sentence can look like another sentence."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
