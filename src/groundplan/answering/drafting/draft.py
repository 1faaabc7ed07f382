"""An answer whose text a model drafts with slots. Code proves and fills the draft; without a proof, the usual text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated

from pydantic import Field

from groundplan.answering.answer import RENDERED, answer
from groundplan.answering.drafting.items import FactOffer, FactSlot, left_out, offer_facts, prove_facts
from groundplan.answering.drafting.proving import problems, sentences_of
from groundplan.answering.drafting.slots import Slot, SlotOffer, offer
from groundplan.answering.drafting.slotting import slotted
from groundplan.answering.verifying.record import Record
from groundplan.answering.verifying.verify import untrue
from groundplan.answering.writing.cells import with_cells
from groundplan.answering.writing.text import text_of
from groundplan.answering.writing.write import remarks
from groundplan.contracts.answer import Answer, Citation, Refusal, ShownTable, TraceEntry
from groundplan.contracts.contract import Contract, Language
from groundplan.contracts.facts import Facts
from groundplan.contracts.plan import CheckedPlan
from groundplan.contracts.proposing import ModelAttempt
from groundplan.contracts.reading import Reading
from groundplan.llm.calls import Calls
from groundplan.llm.prompt import load_prompt
from groundplan.proposing.loop import Faults, propose

MAX_TOKENS = 300
LONGEST_QUESTION, LONGEST_VALUE, MOST_PROBLEMS = 300, 40, 5

ATTEMPTS = 2  # a refused draft is written once more
STRICTER = "write one or two very short sentences, and leave out whatever was wrong"
ENDS = (".", "!", "?")
SLOT = re.compile(r"\{(\w+)\}")
Text = tuple[str, tuple[Citation, ...]]
Prove = Callable[[Sequence[str]], tuple[list[str], list[str]]]


class Draft(Contract):
    """The sentences of the answer, with a slot for each number, name and date."""

    sentences: Annotated[tuple[Annotated[str, Field(max_length=600)], ...], Field(min_length=1, max_length=4)]


async def answer_with(
    plan: CheckedPlan,
    facts: Facts,
    shown: Mapping[str, ShownTable],
    trace: Sequence[TraceEntry],
    reading: Reading,
    read_as: str,
    calls: Calls,
    words: Iterable[str] = (),
    log: list[ModelAttempt] | None = None,
) -> tuple[Answer | Refusal, str]:
    """Like `answer`, with a proven draft as its text if the model writes one; and how the text came to be.

    `words` are those of the knowledge base for what was asked.
    """
    usual = answer(plan, facts, shown, trace, reading.language)
    if isinstance(usual, Refusal) or not usual.citations:
        return usual, RENDERED
    language: Language = "ru" if reading.language == "ru" else "en"
    offered = offer(plan, facts, shown, language)
    listed = offer_facts(plan, facts, usual, reading, words, language) if offered is None else None
    attempts = [] if log is None else log
    if offered is not None:
        prompt, prove = _prompt(offered, reading.question, read_as), partial(proven, offered=offered)
    elif listed is not None:
        prompt, prove = _facts_prompt(listed, reading.question), partial(prove_facts, offer=listed)
    else:
        return usual, f"{RENDERED}; a draft cannot speak of such an answer"
    drafted, how = await _drafted(prompt, prove, calls, attempts)
    text: Text | None = None
    if drafted and offered is not None:
        text = compose(drafted, offered, plan, facts, shown)
    elif drafted and listed is not None:
        text = compose_facts(drafted, listed, usual, Record(plan, facts, shown))
    if text is None:
        return usual, f"{RENDERED}; {how}"
    return usual.model_copy(update={"text": text[0], "citations": with_cells(text[1], shown)}), how


async def _drafted(prompt: str, prove: Prove, calls: Calls, log: list[ModelAttempt]) -> tuple[list[str], str]:
    """The proven sentences, or none. A refused draft goes back once, with what was wrong and a stricter rule."""

    async def check(draft: Draft) -> tuple[str, ...] | Faults:
        sentences, wrong = prove(draft.sentences)
        return Faults((*wrong[:MOST_PROBLEMS], STRICTER)) if wrong else tuple(sentences)

    begun = len(log)
    found = await propose(calls, prompt, Draft, check, log, max_tokens=MAX_TOKENS, attempts=ATTEMPTS)
    made = log[begun:]
    if found is not None:
        number = made[-1].number
        return [*found.value], f"drafted by {found.model} in attempt {number}, every word verified against the facts"
    if not any(attempt.proposal for attempt in made):
        return [], f"no draft came from {calls.model}"
    why = _short(made[-1].faults[0], LONGEST_QUESTION)
    return [], f"the draft of {calls.model} was refused {len(made)} times: {why}"


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


def compose_facts(sentences: Sequence[str], offered: FactOffer, usual: Answer, record: Record) -> Text | None:
    """The filled draft; the usual text follows if the draft leaves anything out. None if a citation is untrue."""
    text, citations = _filled(sentences, offered)
    if any(fault for citation in citations for fault in untrue(citation, record, offered.language)):
        return None
    if left_out(sentences, offered):
        text += "\n\n"
        moved = (cited.model_copy(update={"start": (cited.start or 0) + len(text)}) for cited in usual.citations)
        return text + usual.text, (*citations, *moved)
    return text, tuple(citations)


def _filled(sentences: Sequence[str], offered: SlotOffer | FactOffer) -> tuple[str, list[Citation]]:
    text, citations = "", list[Citation]()
    for sentence in sentences:
        ended = sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
        for place, part in enumerate(SLOT.split(f" {ended}" if text else ended)):
            if place % 2:
                citations.append(offered.slots[part].cite.model_copy(update={"start": len(text)}))
                text += citations[-1].text
            elif text.endswith(ENDS) and part.startswith(ENDS):
                text += part[1:]
            else:
                text += part
    return text, citations


def _prompt(offered: SlotOffer, question: str, read_as: str) -> str:
    return load_prompt("draft").fill(
        question=_short(question, LONGEST_QUESTION),
        read_as=_short(read_as, LONGEST_QUESTION),
        slots="\n".join(_lines(offered)),
    )


def _facts_prompt(offered: FactOffer, question: str) -> str:
    kinds = {"title": "name", "group": "heading of the names after it", "count": "count"}
    lines = (f"{_shown(slot)} ({kinds.get(slot.part, slot.part)})" for slot in offered.slots.values())
    return load_prompt("draft_facts").fill(question=_short(question, LONGEST_QUESTION), facts="\n".join(lines))


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


def _shown(slot: Slot | FactSlot) -> str:
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
