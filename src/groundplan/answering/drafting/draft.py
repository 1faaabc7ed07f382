"""An answer whose text a model drafts with slots. Code proves and fills the draft; without a proof, the usual text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from groundplan.answering.answer import RENDERED, answer
from groundplan.answering.drafting.proving import problems, sentences_of
from groundplan.answering.drafting.slots import Slot, SlotOffer, offer
from groundplan.answering.drafting.slotting import slotted
from groundplan.answering.verifying.record import Record
from groundplan.answering.verifying.verify import untrue
from groundplan.answering.writing.cells import with_cells
from groundplan.answering.writing.text import text_of
from groundplan.answering.writing.write import remarks
from groundplan.contracts.answer import Answer, Citation, Refusal, ShownTable, TraceEntry
from groundplan.contracts.contract import Contract
from groundplan.contracts.facts import Facts
from groundplan.contracts.plan import CheckedPlan
from groundplan.llm.calls import Calls, Failed
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import UnusableReply

MAX_TOKENS = 300
LONGEST_QUESTION, LONGEST_VALUE, MOST_PROBLEMS = 300, 40, 5

SLOT = re.compile(r"\{(\w+)\}")
Text = tuple[str, tuple[Citation, ...]]


class Draft(Contract):
    """The sentences of the answer, with a slot for each number, name and date."""

    sentences: Annotated[tuple[Annotated[str, Field(max_length=600)], ...], Field(min_length=1, max_length=4)]


async def answer_with(
    plan: CheckedPlan,
    facts: Facts,
    shown: Mapping[str, ShownTable],
    trace: Sequence[TraceEntry],
    question: str,
    read_as: str,
    calls: Calls,
    language: Literal["en", "ru", "other"] = "en",
) -> tuple[Answer | Refusal, str]:
    """Like `answer`, with a proven draft as its text if the model writes one; and how the text came to be."""
    usual = answer(plan, facts, shown, trace, language)
    if isinstance(usual, Refusal) or not usual.citations:
        return usual, RENDERED
    offered = offer(plan, facts, shown, "ru" if language == "ru" else "en")
    if offered is None:
        return usual, f"{RENDERED}; a draft cannot speak of such a table"
    drafted, how = await _drafted(offered, question, read_as, calls)
    text = compose(drafted, offered, plan, facts, shown) if drafted else None
    if text is None:
        return usual, f"{RENDERED}; {how}"
    return usual.model_copy(update={"text": text[0], "citations": with_cells(text[1], shown)}), how


async def _drafted(offered: SlotOffer, question: str, read_as: str, calls: Calls) -> tuple[list[str], str]:
    """The proven sentences, or none; each further prompt says what was wrong."""
    first = prompt = _prompt(offered, question, read_as)
    refused = "no draft was usable"
    sentences: list[str]
    for attempt in range(1, calls.limits.attempts + 1):
        told = await calls.ask(prompt, Draft, max_tokens=MAX_TOKENS)
        if isinstance(told, Failed):
            return [], f"no draft came from {told.model}"
        if isinstance(told, UnusableReply):
            sentences, wrong = [], [told.problem]
        else:
            sentences, wrong = proven(told.value.sentences, offered)
        if not wrong:
            return sentences, f"drafted by {calls.model} in attempt {attempt}, every word verified against the facts"
        refused = f"the draft of {calls.model} was refused {attempt} times: {_short(wrong[0], LONGEST_QUESTION)}"
        listed = "\n".join(f"- {_short(problem, LONGEST_QUESTION)}" for problem in wrong[:MOST_PROBLEMS])
        again = load_prompt("draft_again").fill(draft=_short(" ".join(sentences), LONGEST_QUESTION), problems=listed)
        prompt = f"{first}\n\n{again}"
    return [], refused


def proven(written: Sequence[str], offered: SlotOffer) -> tuple[list[str], list[str]]:
    """The sentences with slots, and what is wrong with them; nothing if a way to take them is proven."""
    ways = [(sentences_of(way), problems(way, offered)) for way in slotted(written, offered)]
    return min(ways, key=lambda way: len(way[1]))


def compose(
    sentences: Sequence[str], offered: SlotOffer, plan: CheckedPlan, facts: Facts, shown: Mapping[str, ShownTable]
) -> Text | None:
    """The filled draft with its citations, then scope and caveats; None if a citation does not show its fact."""
    text, citations = _filled(sentences, offered)
    record = Record(plan, facts, shown)
    if any(fault for citation in citations for fault in untrue(citation, record, offered.language)):
        return None
    rest, further = text_of(list(remarks(plan, facts, [offered.subject], offered.language)), offered.language)
    if rest:
        text += "\n"
        citations += [cited.model_copy(update={"start": (cited.start or 0) + len(text)}) for cited in further]
    return text + rest, tuple(citations)


def _filled(sentences: Sequence[str], offered: SlotOffer) -> tuple[str, list[Citation]]:
    text, citations = "", list[Citation]()
    for sentence in sentences:
        ended = sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
        for place, part in enumerate(SLOT.split(f" {ended}" if text else ended)):
            if place % 2:
                citations.append(offered.slots[part].cite.model_copy(update={"start": len(text)}))
                text += citations[-1].text
            else:
                text += part
    return text, citations


def _prompt(offered: SlotOffer, question: str, read_as: str) -> str:
    return load_prompt("draft").fill(
        question=_short(question, LONGEST_QUESTION),
        read_as=_short(read_as, LONGEST_QUESTION),
        slots="\n".join(_lines(offered)),
    )


def _lines(offered: SlotOffer) -> Iterator[str]:
    """A line for each row: its names, then its numbers with their labels."""
    slots = offered.slots.values()
    rows: dict[frozenset[tuple[str, object]], list[Slot]] = {}
    for slot in slots:
        if slot.kind == "number":
            rows.setdefault(frozenset(slot.at.items()), []).append(slot)
    for at, numbers in rows.items():
        names = [slot for slot in slots if slot.kind == "name" and {*slot.at.items()} <= at]
        told = ", ".join(f"{_shown(slot)} ({_label(slot, offered)})" for slot in numbers)
        yield f"{', '.join(map(_shown, names)) or 'all rows'}: {told}"
    for slot in slots:
        if slot.kind == "condition":
            yield f"only counted, must be said: {_shown(slot)}"
        elif slot.kind == "clause":
            yield f"only counted, must be said after the word where: {_shown(slot)}"


def _shown(slot: Slot) -> str:
    return f"{{{slot.id}}} = {_short(slot.cite.text, LONGEST_VALUE)}"


def _label(slot: Slot, offered: SlotOffer) -> str:
    label = offered.subject.measures[slot.column].label(offered.language)
    if slot.sort == "share" and offered.subject.kind != "shares":
        return f"share of the total {label}"
    if slot.span:
        ends = [name.id for end in slot.span for name in offered.slots.values() if name.at == {offered.axis: end}]
        return f"change of {label} from {{{ends[0]}}} to {{{ends[-1]}}}"
    return label


def _short(text: str, most: int) -> str:
    """On one line, so that no text inside a value can look like another line."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
