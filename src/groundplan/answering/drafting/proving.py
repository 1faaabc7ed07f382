"""Proves a drafted text: every word of it is accounted for by the facts, or the text is not shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from groundplan.answering.drafting.binding import Binding, chunks_of
from groundplan.answering.drafting.comparing import Comparing
from groundplan.answering.drafting.slots import SlotOffer
from groundplan.answering.drafting.tokens import Token, tokens
from groundplan.answering.drafting.wording import Wording

MOST_SENTENCES, LONGEST = 6, 400
END = re.compile(r"(?<=[.!?])\s+")


def problems(sentences: Sequence[str], offer: SlotOffer) -> list[str]:
    """The faults of the text; empty if every sentence of it is proven."""
    told = sentences_of(sentences)
    if not 1 <= len(told) <= MOST_SENTENCES or any(len(sentence) > LONGEST for sentence in told):
        return [f"write between one and {MOST_SENTENCES} short sentences"]
    read = [_read(sentence, offer) for sentence in told]
    found = [
        f"{problem} (in: {sentence})"
        for sentence, words in zip(told, read, strict=True)
        for problem in _of(words, offer)
    ]
    return list(dict.fromkeys([*found, *_left_out(read, offer)]))


def sentences_of(texts: Sequence[str]) -> list[str]:
    return [" ".join(part.split()) for text in texts for part in END.split(text.strip()) if part.strip()]


def _read(sentence: str, offer: SlotOffer) -> list[Token]:
    """The tokens. Where no column is a maximum, `maximum` means the highest; `с … до` is `from … to`."""
    functions = {*offer.functions.values()}
    meant = {kind: word for kind, word in (("max", "high"), ("min", "low")) if kind not in functions}
    found = tokens(sentence.removesuffix("."), offer.labels, offer.language)
    for place, token in enumerate(found[:-1]):
        if (
            token.text in ("с", "со")
            and found[place + 1].kind == "slot"
            and any(one.kind == "to" for one in found[place:])
        ):
            found[place] = replace(token, kind="from")
    return [replace(token, kind=meant[token.kind]) if token.kind in meant else token for token in found]


def _of(words: Sequence[Token], offer: SlotOffer) -> Iterator[str]:
    unknown = [token.text for token in words if token.kind == "unknown" or token.text == "."]
    missing = [token.text for token in words if token.kind == "slot" and token.text not in offer.slots]
    if unknown or missing:
        yield from (f"{text!r} cannot be checked: leave it out, or say it with a slot" for text in unknown)
        yield from (f"there is no slot {{{text}}}" for text in missing)
        return
    if not any(token.kind == "slot" for token in words):
        yield "the sentence has no slot"
        return
    chunks = chunks_of(words, offer)
    yield from Binding(chunks, offer).problems()
    yield from Comparing(chunks, offer).problems()
    yield from Wording(words, chunks, offer).problems()
    for chunk in chunks:
        for unit in chunk.units:
            if not unit.is_number and not unit.used:
                yield f"nothing is said of {{{unit.slots[0].id}}}"


def _left_out(read: Sequence[Sequence[Token]], offer: SlotOffer) -> Iterator[str]:
    """The direct answer, and the conditions under which it holds."""
    used = [offer.slots[token.text] for words in read for token in words if token.text in offer.slots]
    for slot in offer.slots.values():
        if slot.kind in ("condition", "clause") and slot not in used:
            yield f"the condition {{{slot.id}}} is left out"
    if offer.subject.kind == "ranking":
        for slot in offer.slots.values():
            if slot.kind == "name" and slot not in used:
                yield f"{{{slot.id}}} is left out"
        return
    for column in offer.told:
        said = any(slot.kind == "number" and slot.column == column for slot in used)
        if not said and not (offer.subject.keys and any(slot.kind == "name" for slot in used)):
            yield "the number that was asked for is left out"
