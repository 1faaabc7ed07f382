"""Parses a text into the sentence forms it consists of, by trying each form at the start of each sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from groundplan.answering.writing.forms import Form, Piece, Slot, forms, joint
from groundplan.contracts.answer import Citation
from groundplan.contracts.contract import Language


@dataclass(frozen=True)
class Fit:
    """A form that matches, with the citations in its slots."""

    form: Form
    slots: dict[str, tuple[Citation, ...]]
    end: int
    used: int


@dataclass
class Mismatch:
    """The furthest position that any form reached, and what it expected there."""

    at: int = 0
    expected: str | Citation = ""
    before: Citation | None = None


@dataclass
class Parsed:
    sentences: list[list[Fit]] = field(default_factory=list)  # for each sentence, every form that matches
    at: int = 0
    used: int = 0
    mismatch: Mismatch = field(default_factory=Mismatch)


def parse(text: str, citations: Sequence[Citation], language: Language) -> Parsed:
    """Parse as far as the text consists of known sentences; `at` equals its length if all of it does."""
    parsed = Parsed()
    while parsed.at < len(text):
        parsed.mismatch = Mismatch(parsed.at)
        found = list(_fits(text, parsed, citations, language))
        if not found:
            return parsed
        end = max(fit.end for fit in found)
        longest = [fit for fit in found if fit.end == end]
        parsed.sentences.append(longest)
        parsed.at, parsed.used = min(end + 1, len(text)), longest[0].used
    return parsed


def _fits(text: str, parsed: Parsed, citations: Sequence[Citation], language: Language) -> Iterator[Fit]:
    for form in forms().values():
        for variant in form.variants[language]:
            if isinstance(variant[0], str) and not text.startswith(variant[0], parsed.at):
                continue  # a cheap test that rules out most forms
            fit = _read(text, parsed, citations, form, variant, language)
            if fit and text[fit.end : fit.end + 1] in ("", " ", "\n"):
                yield fit


def _read(
    text: str,
    parsed: Parsed,
    citations: Sequence[Citation],
    form: Form,
    variant: Sequence[Piece],
    language: Language,
) -> Fit | None:
    walk = _Walk(text, parsed.at, citations, parsed.used, parsed.mismatch)
    slots: dict[str, tuple[Citation, ...]] = {}
    for piece in variant:
        if isinstance(piece, str):
            if not walk.takes(piece):
                return None
        else:
            slots[piece.name] = walk.cited(piece, joint(piece, language))
            if not slots[piece.name]:
                return None
    return Fit(form, slots, walk.at, walk.used)


@dataclass
class _Walk:
    text: str
    at: int
    citations: Sequence[Citation]
    used: int
    mismatch: Mismatch
    last: Citation | None = None

    def takes(self, words: str) -> bool:
        if self.text.startswith(words, self.at):
            self.at, self.last = self.at + len(words), None
            return True
        self._missed(words)
        return False

    def cited(self, slot: Slot, between: str) -> tuple[Citation, ...]:
        """One citation, or several with the slot's separator between them."""
        found: list[Citation] = []
        while self._takes_next():
            found.append(self.citations[self.used - 1])
            if not slot.joint or not self._another(between):
                return tuple(found)
        return ()

    def _takes_next(self) -> bool:
        if self.used >= len(self.citations):
            return False
        citation = self.citations[self.used]
        if not self.text.startswith(citation.text, self.at):
            self._missed(citation)
            return False
        self.at, self.used, self.last = self.at + len(citation.text), self.used + 1, citation
        return True

    def _another(self, between: str) -> bool:
        following = self.used < len(self.citations) and between + self.citations[self.used].text
        if following and self.text.startswith(following, self.at):
            self.at += len(between)
            return True
        return False

    def _missed(self, expected: str | Citation) -> None:
        if self.at > self.mismatch.at or (self.at == self.mismatch.at and isinstance(expected, Citation)):
            self.mismatch.at, self.mismatch.expected, self.mismatch.before = self.at, expected, self.last
