"""The verified sentences from which a model may choose, and the text that results from its choice.

Lists stay complete, the text covers everything that the default text covers, and scope and caveats are always stated.
So a bad choice can only change the order and omit detail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from groundplan.answering.verifying.verify import verify
from groundplan.answering.writing.forms import Sentence
from groundplan.answering.writing.subjects import subjects
from groundplan.answering.writing.text import HEADS, LISTS, text_of
from groundplan.answering.writing.tracing import Cell, Column, Derived, Trace, find_trace
from groundplan.answering.writing.write import findings, further_findings, remarks
from groundplan.contracts.answer import Citation, ShownTable
from groundplan.contracts.contract import Language
from groundplan.contracts.facts import Facts
from groundplan.contracts.plan import CheckedPlan

FEWEST_OFFERED, MOST_OFFERED, MOST_CHOSEN = 4, 12, 4
LISTED = LISTS | {"most_often", "most_frequent", "box", "short", "short_of_text"}
"""Forms that list rows one by one; omitting a row would suggest that it does not exist."""

Text = tuple[str, tuple[Citation, ...]]
Aspect = tuple[str | None, str]


@dataclass(frozen=True)
class Candidate:
    """A sentence, or a list with its heading."""

    sentences: tuple[Sentence, ...]
    aspects: frozenset[Aspect]  # each column it mentions, with its measure


@dataclass(frozen=True)
class CandidateSentences:
    plan: CheckedPlan
    facts: Facts
    shown: Mapping[str, ShownTable]
    language: Language
    usual: tuple[Candidate, ...]
    candidates: tuple[Candidate, ...]  # the default ones first; a choice refers to them by number, from 1
    remarks: tuple[Sentence, ...]

    def texts(self) -> list[str]:
        return [text_of(candidate.sentences, self.language)[0] for candidate in self.candidates]


def find_candidates(
    plan: CheckedPlan, facts: Facts, shown: Mapping[str, ShownTable], language: Language
) -> CandidateSentences | None:
    """The candidate sentences; None if there is too little to choose from."""
    about = subjects(plan, facts, shown)
    told = findings(plan, facts, about, language)
    more = _unsaid(islice(further_findings(about, language), MOST_OFFERED), told, language)
    text, citations = text_of(more, language)
    holds = not verify(text, facts, shown, citations, plan)
    usual = tuple(_candidates(told))
    offered = (*usual, *_candidates(more if holds else ()))
    candidates = tuple(candidate for candidate in offered if candidate.aspects)[:MOST_OFFERED]
    if len(candidates) < FEWEST_OFFERED or all(_is_needed(candidate, usual) for candidate in candidates):
        return None
    return CandidateSentences(
        plan, facts, shown, language, usual, candidates, tuple(remarks(plan, facts, about, language))
    )


def choose(offered: CandidateSentences, numbers: Sequence[int]) -> Text | str:
    """The verified text of these candidates, or what is wrong with the choice."""
    if not 1 <= len(numbers) <= MOST_CHOSEN:
        return f"{len(numbers)} sentences were chosen"
    if len({*numbers}) < len(numbers):
        return "a sentence was chosen twice"
    if not {*numbers} <= {*range(1, len(offered.candidates) + 1)}:
        return "a sentence was chosen that is not there"
    text, citations = text_of(_composed(offered, numbers), offered.language)
    if verify(text, offered.facts, offered.shown, citations, offered.plan):
        return "these sentences cannot stand together in this order"
    return text, citations


def _unsaid(more: Iterable[Sentence], told: Sequence[Sentence], language: Language) -> list[Sentence]:
    said = {text_of([sentence], language)[0] for sentence in told}
    texts = {text_of([sentence], language)[0]: sentence for sentence in more}
    return [sentence for text, sentence in texts.items() if text not in said]


def _composed(offered: CandidateSentences, numbers: Iterable[int]) -> list[Sentence]:
    """The chosen sentences, then default sentences for anything that they do not cover."""
    said = [offered.candidates[number - 1] for number in numbers]
    spoken = {aspect for candidate in said if candidate in offered.usual for aspect in candidate.aspects}
    for candidate in offered.usual:
        if candidate not in said and (not candidate.aspects or candidate.aspects - spoken):
            said.append(candidate)
            spoken |= candidate.aspects
    return [*(sentence for candidate in said for sentence in candidate.sentences), *offered.remarks]


def _is_needed(candidate: Candidate, usual: Sequence[Candidate]) -> bool:
    """Whether the candidate is always part of the text."""
    others = {aspect for other in usual if other is not candidate for aspect in other.aspects}
    return candidate in usual and bool(candidate.aspects - others)


def _candidates(told: Sequence[Sentence]) -> Iterator[Candidate]:
    run: list[Sentence] = []
    for sentence in told:
        if run and not (sentence.form in LISTED and run[-1].form in LISTED | HEADS):
            yield _candidate(run)
            run = []
        run.append(sentence)
    if run:
        yield _candidate(run)


def _candidate(run: Sequence[Sentence]) -> Candidate:
    return Candidate(tuple(run), frozenset(aspect for sentence in run for aspect in _aspects(sentence)))


def _aspects(sentence: Sentence) -> Iterator[Aspect]:
    measure = next((column for cited in sentence.slots.get("measure", ()) for column in _columns(cited)), None)
    for cites in sentence.slots.values():
        for cited in cites:
            yield from ((measure, column) for column in _columns(cited))


def _columns(citation: Citation) -> Iterator[str]:
    yield from _homes(find_trace(citation.fact))


def _homes(trace: Trace | int | None) -> Iterator[str]:
    """The columns, with their steps, from which a value comes."""
    match trace:
        case Cell(step, _, column) | Column(step, column):
            yield str(Column(step, column))
        case Derived(_, arguments):
            for argument in arguments:
                yield from _homes(argument)
