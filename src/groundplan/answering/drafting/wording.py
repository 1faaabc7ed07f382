"""Checks the words around the slots: labels, functions, units of time, and what a change or a share is called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from groundplan.answering.drafting.binding import Chunk
from groundplan.answering.drafting.comparing import MOVES
from groundplan.answering.drafting.slots import PERIOD, Slot, SlotOffer
from groundplan.answering.drafting.tokens import Token

FUNCTIONS = {
    "sum": {"sum", "rows", "count"},
    "mean": {"mean"},
    "median": {"median"},
    "min": {"min"},
    "max": {"max"},
    "std": {"std"},
    "count": {"rows", "count", "count_distinct"},
    "distinct": {"count_distinct"},
}
"""The functions of columns that a word may be said of."""

MUST_BE_SAID = {"mean", "median", "min", "max", "std"}
GRAINS = {"year", "quarter", "month", "week", "day", "hour"}
TELLING = {*("was", "were", "is", "are", "has", "had", "have"), *("был", "была", "было", "были", "есть", "является")}
COUNTS = {"rows", "count", "count_distinct"}


class Wording:
    def __init__(self, tokens: Sequence[Token], chunks: Sequence[Chunk], offer: SlotOffer) -> None:
        self.tokens, self.chunks, self.offer = tokens, chunks, offer
        self.kinds = {token.kind for token in tokens}
        self.numbers = [slot for chunk in chunks for slot in chunk.numbers()]

    def problems(self) -> Iterator[str]:
        yield from self._labels()
        yield from self._keys()
        yield from self._functions()
        yield from self._times()
        yield from self._changes()
        yield from self._shares()
        yield from self._within()
        yield from self._pronouns()
        yield from self._conditions()

    def _labels(self) -> Iterator[str]:
        """Each number is called by the label of its own column."""
        several = len({slot.column for slot in self.offer.numbers()} - self._related()) > 1
        for place, token in enumerate(self.tokens):
            slot = self._slot(token)
            if slot is None or slot.kind != "number":
                continue
            label = self._label_before(place) or self._label_after(place)
            counts = self.offer.functions.get(slot.column) in COUNTS
            if label is None and (several or (counts and not self.kinds & {"rows", "count"})):
                yield f"say what {{{slot.id}}} is: the label of its column"
            elif label is not None and not label.columns & slot.labels:
                yield f"{{{slot.id}}} is not a number of {label.text!r}"
            after = self._label_after(place, near=True)
            if after is not None and not after.columns & slot.labels and not self._governs(after, place):
                yield f"{{{slot.id}}} is not a number of {after.text!r}"

    def _keys(self) -> Iterator[str]:
        """The label of a key stands only with names of that key."""
        slots = [self._slot(token) for token in self.tokens]
        named = {slot.column for slot in slots if slot and slot.kind in ("name", "condition")}
        for place, token in enumerate(self.tokens):
            if token.kind != "label" or token.columns & {*self.offer.values}:
                continue
            if any(slot and slot.kind == "name" for slot in slots) and not token.columns & named:
                yield f"{token.text!r} is not what these names are"
            near = [slot for slot in (*slots[max(0, place - 1) : place], *slots[place + 1 : place + 2]) if slot]
            if any(slot.column not in token.columns for slot in near if slot.kind in ("name", "condition")):
                yield f"{token.text!r} does not go with the name next to it"

    def _related(self) -> set[str]:
        """The share or change of a measure does not make it another measure."""
        subject = self.offer.subject
        return {subject.params.get("as", "share")} if subject.kind in ("shares", "changes") else set()

    def _label_before(self, place: int) -> Token | None:
        return next((token for token in reversed(self.tokens[:place]) if self._is_measure(token)), None)

    def _label_after(self, place: int, *, near: bool = False) -> Token | None:
        for token in self.tokens[place + 1 :]:
            if self._is_measure(token):
                return token
            if near and token.kind not in ("plain", "sum", "mean", "median", "count", "distinct"):
                return None
        return None

    def _governs(self, label: Token, place: int) -> bool:
        """Whether a number follows the label before the part of the sentence ends."""
        at = next(at for at, token in enumerate(self.tokens) if token is label and at > place)
        following = next((token for token in self.tokens[at + 1 :] if token.kind not in ("plain", "verb")), None)
        slot = self._slot(following) if following else None
        return slot is not None and slot.kind == "number"

    def _is_measure(self, token: Token) -> bool:
        return token.kind == "label" and bool(token.columns & {*self.offer.values})

    def _functions(self) -> Iterator[str]:
        """A function that is said is the one that was computed."""
        yield from self._functions_of_numbers()
        columns = {slot.column for slot in self.numbers if slot.sort != "share"} or {*self.offer.told}
        functions = {self.offer.functions.get(column) for column in columns}
        yield from self._totals(functions)
        for function in functions & MUST_BE_SAID:
            if function not in self.kinds:
                yield f"say that it is the {function}"
        if "rows" in self.kinds and "rows" not in functions:
            yield "these numbers do not count rows"

    def _functions_of_numbers(self) -> Iterator[str]:
        """The claims of each part of the sentence about its numbers."""
        for place, chunk in enumerate(self.chunks):
            said = [token.kind for token in chunk.tokens if token.kind in FUNCTIONS]
            for slot in self._meant(place) if said else ():
                has = self.offer.functions.get(slot.column) or ""
                fits = [kind for kind in said if has in FUNCTIONS[kind]]
                if [kind for kind in said if kind not in fits and not (kind == "count" and fits)]:
                    yield f"{{{slot.id}}} is not a {said[0]}"
            if "whole" in chunk.kinds():
                told = self._meant(place)
                if not told or any(slot.at and not slot.span for slot in told):
                    yield "`overall` and `all` can only be said of a total"

    def _totals(self, functions: Set[str | None]) -> Iterator[str]:
        """The functions that the whole sentence names for its numbers."""
        of_all = [token.text for token in self.tokens if token.kind == "of_all"]
        if any("total" in text or "общ" in text for text in of_all) and not functions <= {"sum", "rows", "count", None}:
            yield "there is no total of these numbers"
        if not self.numbers and self.kinds & {*FUNCTIONS}:
            allowed = [FUNCTIONS[kind] for kind in FUNCTIONS if kind in self.kinds]
            if not all(functions <= some for some in allowed):
                yield "the function is not the one that was computed"

    def _meant(self, place: int) -> list[Slot]:
        """The numbers that a word in this chunk is about."""
        after = [chunk.numbers() for chunk in self.chunks[place:] if chunk.numbers()]
        before = [chunk.numbers() for chunk in self.chunks[:place] if chunk.numbers()]
        return after[0] if after else before[-1] if before else []

    def _times(self) -> Iterator[str]:
        for place, token in enumerate(self.tokens):
            if token.kind in GRAINS:
                yield from self._grain(place, token)
            if token.kind == "period" and not (self.offer.axis or self.offer.grains):
                yield "nothing here is about a period"
            following = self._slot(self.tokens[place + 1]) if place + 1 < len(self.tokens) else None
            if following and (
                token.kind == "period" or (token.text == "by" and following.kind in ("name", "condition"))
            ):
                yield f"{token.text!r} cannot stand before a slot here"

    def _grain(self, place: int, token: Token) -> Iterator[str]:
        """`month` is said of numbers by month, or beside the month that it means."""
        axis, subject = self.offer.axis, self.offer.subject
        near = (*self.tokens[max(0, place - 1) : place], *self.tokens[place + 1 : place + 2])
        named = any(slot.kind in ("condition", "name") for one in near if (slot := self._slot(one)))
        if token.kind not in self.offer.grains:
            yield f"nothing here is by {token.kind}"
        elif named:
            return
        elif token.kind != (subject.columns[subject.time].grain if subject.time else None):
            yield f"{token.text!r} must stand next to the period that it means"
        elif axis != PERIOD:
            chunk = next(one for one in self.chunks if any(told is token for told in one.tokens))
            if any(axis not in slot.at and not slot.span for slot in chunk.numbers()):
                yield f"{token.text!r} cannot be said of a total over time"

    def _changes(self) -> Iterator[str]:
        """`rose by {a}` needs a change, and a change is called one."""
        subject = self.offer.subject
        for place, token in enumerate(self.tokens):
            slot = self._slot(token)
            if slot is None or slot.kind != "number":
                continue
            before = next((one for one in reversed(self.tokens[:place]) if one.kind not in ("plain", "verb")), None)
            led = before is not None and before.kind in (*MOVES, "change")
            grown = subject.kind == "changes" and slot.column == subject.params["as"]
            if led and slot.sort != "change" and not grown:
                yield f"{{{slot.id}}} is a value, not by how much it rose or fell"
            in_brackets = before is not None and before.text == "("
            after = self.tokens[place + 1].kind if place + 1 < len(self.tokens) else ""
            named = led or in_brackets or after in (*MOVES, "change")
            if slot.sort == "change" and not (named and self.kinds & {*MOVES, "change"}):
                yield f"{{{slot.id}}} is a change: say that it rose or fell by it"
            if grown:
                yield from self._growth(slot, before)

    def _growth(self, slot: Slot, before: Token | None) -> Iterator[str]:
        named = self.offer.subject.params.get("as")
        says = any(one.kind == "label" and named in one.columns for one in self.tokens)
        if not (self.kinds & {*MOVES, "change"} or says):
            yield f"{{{slot.id}}} is growth: say so"
        if before is not None and before.kind in ("from", "to"):
            yield f"{{{slot.id}}} is a change, not a value"

    def _shares(self) -> Iterator[str]:
        """A share is called one, and `of` stands between a part and its whole."""
        said = False
        for place, token in enumerate(self.tokens):
            slot = self._slot(token)
            if slot is None or slot.kind != "number":
                continue
            rest = self.tokens[place + 1 :]
            is_part = bool(rest) and (rest[0].kind == "of_all" or rest[0].text in ("of", "от"))
            said = said or is_part
            if slot.sort == "share" and not said and not self._says_share(place):
                yield f"{{{slot.id}}} is a share: say of what"
            if slot.sort != "share" and rest and rest[0].kind == "of_all" and self._slot_after(rest) is None:
                yield f"{{{slot.id}}} is a value, not a share"
            if place and self.tokens[place - 1].kind in ("high", "low", "more", "less"):
                yield f"{self.tokens[place - 1].text!r} cannot stand before {{{slot.id}}}"
            following = self._slot_after(rest)
            if following is not None and not self._is_whole(following, slot):
                yield f"{{{slot.id}}} is not a part of {{{following.id}}}"

    def _says_share(self, place: int) -> bool:
        """Whether a word before this place says that shares follow."""
        share = {self.offer.subject.params.get("as", "share")} if self.offer.subject.kind == "shares" else set()
        return any(token.kind in ("share", "majority") or token.columns & share for token in self.tokens[:place])

    def _slot_after(self, rest: Sequence[Token]) -> Slot | None:
        """The number that stands directly behind this one, after `of` and the like."""
        words: list[Token] = []
        for token in rest:
            slot = self._slot(token)
            if slot is not None:
                joined = any(
                    word.kind in ("plain", "of_all") and word.text not in ("or", "или", "with", "с", "at")
                    for word in words
                )
                return slot if slot.kind == "number" and (joined or any(word.text == "/" for word in words)) else None
            if token.kind not in ("plain", "of_all", "label", "sum") and token.text not in ("(", "/"):
                return None
            if token.text == "(":
                return None
            words.append(token)
        return None

    def _is_whole(self, whole: Slot, part: Slot) -> bool:
        divided = self.offer.wholes.values()
        if (part.column, whole.column) in divided and part.at == whole.at:
            return True
        if part.column in self.offer.wholes and whole.column in self.offer.wholes[part.column] and part.at == whole.at:
            return True
        same = part.column == whole.column or (part.sort == "share" and whole.column in part.labels)
        if same and not whole.at and part.at:
            return True
        return part.at == whole.at and part.column != whole.column and part.sort == whole.sort == "value"

    def _within(self) -> Iterator[str]:
        """`the highest revenue in {n1} was {v1}` would mean the highest within it."""
        for place, token in enumerate(self.tokens):
            at = place + 1
            while at < len(self.tokens) and self._is_silent(self.tokens[at]):
                at += 1
            slot = self._slot(self.tokens[at]) if at < len(self.tokens) else None
            following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
            named = slot is not None and slot.kind == "name" and following is not None and _tells(following)
            labelled = any(one.kind == "label" for one in self.tokens[place:at])
            if slot and named and labelled and token.kind in ("high", "low"):
                yield f"`{token.text} … in {{{slot.id}}}` could mean the {token.text} within it"

    @staticmethod
    def _is_silent(token: Token) -> bool:
        return token.kind == "label" or (token.kind == "plain" and not _tells(token))

    def _pronouns(self) -> Iterator[str]:
        """`it` must mean something that the sentence named before."""
        for token in self.tokens:
            slot = self._slot(token)
            if token.kind == "label" or (slot and slot.kind in ("name", "number")):
                return
            if token.kind == "back":
                keys = self.offer.subject.keys
                if len(keys) != 1 or any(not number.at for number in self.numbers):
                    yield f"{token.text!r} does not say what it means"
                return

    def _conditions(self) -> Iterator[str]:
        for place, token in enumerate(self.tokens):
            before = self.tokens[place - 1] if place else None
            slot = self._slot(token)
            if slot and slot.kind == "clause" and (before is None or before.kind != "where"):
                yield f"{{{slot.id}}} must stand after `where`"
            if before is not None and before.kind == "where" and not (slot and slot.kind == "clause"):
                yield "`where` must stand before a condition"

    def _slot(self, token: Token) -> Slot | None:
        return self.offer.slots.get(token.text) if token.kind == "slot" else None


def _tells(token: Token) -> bool:
    """Whether a word is the verb of its part of the sentence."""
    return token.kind == "verb" or token.text in TELLING
