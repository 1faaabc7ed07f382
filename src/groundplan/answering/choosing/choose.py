"""An answer whose sentences a model has chosen, held to the same verification; without one, the usual answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from groundplan.answering.answer import answer
from groundplan.answering.choosing.candidates import MOST_CHOSEN, Offer, Text, choose, find_offer
from groundplan.contracts.answer import Answer, Refusal, ShownTable, TraceEntry
from groundplan.contracts.contract import Contract
from groundplan.contracts.facts import Facts
from groundplan.contracts.plan import CheckedPlan
from groundplan.llm.calls import Calls, Failed
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import UnusableReply

SECONDS = 30.0  # a text is there already: nobody waits longer for its order
MAX_TOKENS = 40  # four numbers and the brackets around them
LONGEST_QUESTION, LONGEST_CANDIDATE, LONGEST_PROBLEM = 300, 64, 120  # characters that a model gets to see


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
    """As `answer`, which stays when there is nothing to choose, no model answers or its choice cannot be used."""
    usual = answer(plan, facts, shown, trace, language)
    if isinstance(usual, Refusal) or not usual.citations:
        return usual
    offer = find_offer(plan, facts, shown, "ru" if language == "ru" else "en")
    chosen = await _chosen_in_time(offer, question, calls) if offer else None
    return usual.model_copy(update={"text": chosen[0], "citations": chosen[1]}) if chosen else usual


async def _chosen_in_time(offer: Offer, question: str, calls: Calls) -> Text | None:
    try:
        async with asyncio.timeout(SECONDS):
            return await _chosen(offer, question, calls)
    except TimeoutError:
        calls.failures.append(Failed(calls.model, f"it did not choose the answer's sentences within {SECONDS:.3g} s"))
        return None


async def _chosen(offer: Offer, question: str, calls: Calls) -> Text | None:
    """Asked at most twice, the second time with what was wrong the first time."""
    first = _prompt(offer, question)
    told = await _ask(first, offer, calls)
    if isinstance(told, str):
        again = load_prompt("answer_again").fill(problem=_short(told, LONGEST_PROBLEM))
        told = await _ask(f"{first}\n\n{again}", offer, calls)
    return told if isinstance(told, tuple) else None


def _prompt(offer: Offer, question: str) -> str:
    sentences = (f"{number}. {_short(text, LONGEST_CANDIDATE)}" for number, text in enumerate(offer.texts(), 1))
    asked = _short(question, LONGEST_QUESTION)
    return load_prompt("answer").fill(question=asked, sentences="\n".join(sentences))


async def _ask(prompt: str, offer: Offer, calls: Calls) -> Text | str | None:
    """A text that holds, what is wrong with the choice, or nothing when no answer came."""
    numbers = [str(number) for number in range(1, len(offer.candidates) + 1)]
    told = await calls.ask(prompt, Choice, {"sentences": numbers}, max_tokens=MAX_TOKENS)
    match told:
        case Failed():
            return None
        case UnusableReply(problem=problem):
            return problem
        case _:
            return choose(offer, [int(number) for number in told.value.sentences])


def _short(text: str, most: int) -> str:
    """On one line: what stands in a sentence cannot look like another one."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
