"""Which names each number of a sentence goes with: those of its own row, and no others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from groundplan.answering.drafting.slots import At, Slot, SlotOffer
from groundplan.answering.drafting.tokens import Token
from groundplan.contracts.contract import Scalar

OPENING = frozenset(
    {
        "and",
        "to",
        "from",
        "against",
        "clause",
        "than",
        "ahead",
        "behind",
        "follow",
        "of_all",
        "half",
        "double",
        "triple",
    }
)
LISTING = frozenset({"and", "to", "against", ",", "–", "—"})
PARTING = frozenset(",;:–—-")


@dataclass
class Unit:
    """A slot, or several of one kind in a list: `{n1}, {n2} and {n3}`."""

    slots: list[Slot]
    joints: list[str] = field(default_factory=list)  # the last word or mark before each further slot
    used: bool = False  # of names: a number or a comparison is about them

    @property
    def is_number(self) -> bool:
        return self.slots[0].kind == "number"


@dataclass
class Chunk:
    """A part of a sentence without a boundary inside: what stands in it belongs together."""

    opens: list[str] = field(default_factory=list)  # the words and marks that begin it
    tokens: list[Token] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    around: dict[str, Scalar] = field(default_factory=dict)  # names said before that hold here

    def kinds(self) -> set[str]:
        return {token.kind for token in self.tokens}

    def numbers(self) -> list[Slot]:
        return [slot for unit in self.units if unit.is_number for slot in unit.slots]

    def names(self) -> dict[str, list[Scalar]]:
        found: defaultdict[str, list[Scalar]] = defaultdict(list)
        for unit in self.units:
            for slot in () if unit.is_number else unit.slots:
                found[slot.column].append(slot.at[slot.column])
        return found

    def subjects(self) -> list[At]:
        """The rows that it speaks of, in the order of the text."""
        told = [slot.at for slot in self.numbers() if slot.sort != "change" and "of_all" not in self.opens]
        if told:
            return told
        names = self.names()
        most = max((len(values) for values in names.values()), default=0)
        if not most or any(len(values) not in (1, most) for values in names.values()):
            return []
        return [
            {**self.around, **{column: values[min(place, len(values) - 1)] for column, values in names.items()}}
            for place in range(most)
        ]


def chunks_of(tokens: Sequence[Token], offer: SlotOffer) -> list[Chunk]:
    found, place = [Chunk()], 0
    while place < len(tokens):
        token = tokens[place]
        slot = offer.slots.get(token.text) if token.kind == "slot" else None
        if slot and slot.kind in ("name", "number"):
            place = _list(tokens, place, found[-1], offer)
            continue
        if token.kind in OPENING or (token.kind == "mark" and token.text in PARTING):
            if found[-1].units or any(one.kind not in OPENING and one.kind != "mark" for one in found[-1].tokens):
                found.append(Chunk())
            found[-1].opens.append(token.kind if token.kind != "mark" else token.text)
        found[-1].tokens.append(token)
        place += 1
    return found


def _list(tokens: Sequence[Token], place: int, chunk: Chunk, offer: SlotOffer) -> int:
    """Put the slot, and those that continue its list, into the chunk; where the list ends."""
    unit = Unit([offer.slots[tokens[place].text]])
    chunk.units.append(unit)
    chunk.tokens.append(tokens[place])
    place += 1
    while (found := _continued(tokens, place, unit.slots[0], offer)) is not None:
        unit.joints.append(tokens[found - 1].kind if tokens[found - 1].kind != "mark" else tokens[found - 1].text)
        unit.slots.append(offer.slots[tokens[found].text])
        chunk.tokens.extend(tokens[place : found + 1])
        place = found + 1
    return place


def _continued(tokens: Sequence[Token], place: int, first: Slot, offer: SlotOffer) -> int | None:
    at = place
    while at < len(tokens) and (
        tokens[at].kind in LISTING or (tokens[at].kind == "mark" and tokens[at].text in LISTING)
    ):
        at += 1
    if at == place or at >= len(tokens) or tokens[at].kind != "slot":
        return None
    found = offer.slots.get(tokens[at].text)
    same = found is not None and found.kind == first.kind
    return at if same and found and (found.kind == "number" or found.column == first.column) else None


class Binding:
    """Goes through the chunks of a sentence in order."""

    def __init__(self, chunks: Sequence[Chunk], offer: SlotOffer) -> None:
        self.chunks, self.offer = chunks, offer
        self.pending: list[Unit] = []
        self.recent: defaultdict[str, list[Scalar]] = defaultdict(list)
        self.waiting: list[Unit] = []

    def problems(self) -> Iterator[str]:
        for place, chunk in enumerate(self.chunks):
            chunk.around.update({column: values[-1] for column, values in self.recent.items()})
            names = [unit for unit in chunk.units if not unit.is_number]
            numbers = [unit for unit in chunk.units if unit.is_number]
            if len({unit.slots[0].column for unit in names}) < len(names):
                yield "two names of one kind stand in one part of the sentence"
            if not numbers:
                yield from self._only_names(names)
            following = self.chunks[place + 1] if place + 1 < len(self.chunks) else None
            waits = not names and following is not None and bool(following.names()) and not following.numbers()
            for unit in numbers:
                wrong = list(self._number(unit, names, chunk))
                if wrong and waits:
                    self.waiting.append(unit)
                else:
                    yield from wrong
            if numbers and not self.waiting:
                self._spend(names)
            for unit in names:
                for slot in unit.slots:
                    self.recent[slot.column].append(slot.at[slot.column])
        for unit in self.waiting:
            yield f"{{{unit.slots[0].id}}} stands without the name of its row"

    def _only_names(self, names: list[Unit]) -> Iterator[str]:
        if not (self.waiting and names):
            self.pending += names
            return
        for unit in self.waiting:
            yield from self._number(unit, names, Chunk())
        self.waiting = []
        self._spend(names)

    def _spend(self, names: Sequence[Unit]) -> None:
        for unit in (*names, *self.pending):
            unit.used = True
        self.pending = []

    def _number(self, unit: Unit, names: Sequence[Unit], chunk: Chunk) -> Iterator[str]:
        own, before = _by_column(names), _by_column(self.pending)
        for place, slot in enumerate(unit.slots):
            for column, value in slot.at.items():
                given = own.get(column) or before.get(column) or self.recent.get(column) or []
                is_recent = column not in own and column not in before
                yield from self._fits(slot, column, value, given, place, len(unit.slots), is_recent)
            yield from self._foreign(slot, own, before, chunk, alone=len(unit.slots) == 1)

    def _fits(
        self, slot: Slot, column: str, value: Scalar, given: Sequence[Scalar], place: int, many: int, is_recent: bool
    ) -> Iterator[str]:
        known = {dict(key).get(column) for key in self.offer.values[slot.column]} - {None}
        if not given:
            if len(known) > 1 or self.offer.subject.kind == "ranking":
                yield f"{{{slot.id}}} stands without the name of its row"
            return
        if len(given) == many:
            found = given[place]
        elif is_recent:
            found = given[place - 2] if many == 2 else given[-1]
        elif len(given) == 1:
            found = given[0]
        else:
            yield f"it is not clear which of the names {{{slot.id}}} belongs to"
            return
        if found != value:
            yield f"{{{slot.id}}} does not belong to the name it stands with"

    def _foreign(
        self, slot: Slot, own: dict[str, list[Scalar]], before: dict[str, list[Scalar]], chunk: Chunk, *, alone: bool
    ) -> Iterator[str]:
        """Names that the number has nothing to do with."""
        allowed = {*slot.at, *([self.offer.axis] if slot.span else [])}
        near = {**before, **own}
        for column, values in near.items():
            ranged = (
                bool(self.offer.order)
                and column == self.offer.axis
                and values == [self.offer.order[0], self.offer.order[-1]]
            )
            ranged = ranged and alone and slot.sort == "value" and not {"from", "to"} & {*chunk.opens}
            if column not in allowed and not ranged:
                yield f"{{{slot.id}}} is not a number of the name it stands with"
        past = {*self.recent} - {*near} - allowed
        if past and not (slot.at == {} and "of_all" in chunk.opens):
            yield f"{{{slot.id}}} could be taken for a number of a name said before"


def _by_column(units: Sequence[Unit]) -> dict[str, list[Scalar]]:
    found: defaultdict[str, list[Scalar]] = defaultdict(list)
    for unit in units:
        for slot in unit.slots:
            found[slot.column].append(slot.at[slot.column])
    return dict(found)
