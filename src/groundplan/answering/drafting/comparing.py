"""Checks each comparison of a sentence against the facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from groundplan.answering.drafting.binding import Chunk
from groundplan.answering.drafting.slots import At, Slot, SlotOffer
from groundplan.contracts.contract import Scalar

NEAR = 0.05  # how far a double may be from twice as much
MULTIPLES = {"half": 0.5, "double": 2.0, "triple": 3.0}
MOVES = ("rise", "fall", "level", "doubled", "halved")
CLAIMS = frozenset(
    {"high", "low", "more", "less", "than", "ahead", "behind", "follow", "majority", "minority", *MULTIPLES, *MOVES}
)


class Comparing:
    def __init__(self, chunks: Sequence[Chunk], offer: SlotOffer) -> None:
        self.chunks, self.offer = chunks, offer
        self._claimed: list[Chunk] = []  # what has been called the highest or lowest
        self.moves = any(chunk.kinds() & {*MOVES} for chunk in chunks)

    def problems(self) -> Iterator[str]:
        yield from self._rankings()
        for place, chunk in enumerate(self.chunks):
            kinds = chunk.kinds()
            if "than" in kinds:
                yield from self._than(place)
            elif kinds & {"more", "less"} and not self._compares_next(place):
                yield "a comparison must say than what: `more than`"
            for word, sign in (("ahead", 1), ("behind", -1)):
                if word in kinds:
                    yield from self._apart(place, sign)
            for word, times in MULTIPLES.items():
                if word in kinds:
                    yield from self._multiple(place, times)
            if kinds & {"majority", "minority"}:
                yield from self._half(place, "majority" in kinds)
            if kinds & {"first", "last"}:
                yield from self._ends(place, "first" in kinds)
        for clause in self._clauses():
            yield from self._moved(clause)

    # the highest, the lowest, and what follows them

    def _rankings(self) -> Iterator[str]:
        rank, downwards = 0, True
        last: list[At] = []
        for place, chunk in enumerate(self.chunks):
            kinds = chunk.kinds()
            extreme = kinds & {"high", "low"}
            if len(extreme) == 2:
                yield "`highest` and `lowest` stand in one part of the sentence"
            elif extreme:
                downwards, rank = "high" in extreme, 1
                told = self._about(place)
                if told is None:
                    yield "it is not clear what is the highest or lowest"
                    continue
                if self.moves and not any(
                    slot.sort == "value" and self.offer.axis in slot.at for slot in told.numbers()
                ):
                    yield "a rise or fall and a highest or lowest must stand in different sentences"
                self._claimed.append(told)
                last = _rows(told)
                yield from self._in_order(told, rank, downwards, place)
                rank += len(last) - 1
            elif "follow" in kinds or (rank and self._goes_on(chunk)):
                if not rank:
                    before = self._before(place)
                    rank = self._rank(self._column(place), before.subjects()[-1], downwards, before) if before else 0
                if not rank or self.moves:
                    yield "`followed by` needs something before it that it follows"
                    continue
                new = [at for at in chunk.subjects() if at not in last]
                if new:
                    last = _rows(chunk)
                    yield from self._in_order(chunk, rank + 1, downwards, place)
                    rank += len(last)
            elif chunk.units and (kinds & {"verb", "label"} or not rank):
                rank = 0

    def _in_order(self, chunk: Chunk, rank: int, downwards: bool, place: int) -> Iterator[str]:
        """The rows of the chunk have this rank and the next ones."""
        self._use(chunk)
        rows = _rows(chunk)
        if not rows:
            yield "it is not clear what is the highest or lowest"
        column = self._column(place, chunk)
        for more, at in enumerate(rows):
            if self._rank(column, at, downwards, chunk) != rank + more:
                yield "the order of the highest or lowest is not what the facts say"

    def _rank(self, column: str | None, at: At, downwards: bool, chunk: Chunk) -> int:
        """The place among its rivals; 0 if it is unknown or shared."""
        if column is None:
            return 0
        if self.offer.subject.kind == "ranking" and downwards != (
            self.offer.subject.params.get("direction", "top") == "top"
        ):
            return 0
        rivals = self.offer.rivals(column, at)
        mine = rivals.get(frozenset(at.items()))
        if mine is None:
            return 0
        axis, fixed = self.offer.axis, chunk.around
        if axis in at and len(at) > 1 and axis not in chunk.names() and fixed.get(axis) == at[axis]:
            rivals = {key: number for key, number in rivals.items() if dict(key)[axis] == at[axis]}
        elif not downwards and axis in at and at[axis] not in self.offer.partial:
            rivals = {key: number for key, number in rivals.items() if dict(key)[axis] not in self.offer.partial}
        numbers = list(rivals.values())
        better = sum(number > mine if downwards else number < mine for number in numbers)
        if self.offer.subject.kind != "ranking" and len(numbers) < 2:
            return 0
        return better + 1 if numbers.count(mine) == 1 else 0

    def _goes_on(self, chunk: Chunk) -> bool:
        """Whether it only adds to a list: names and numbers with words that say nothing."""
        return (
            bool(chunk.units)
            and not chunk.kinds() & {"verb", "label", "clause", "of_all", "share", "sum", "period"} - CLAIMS
            and not chunk.kinds() & CLAIMS
        )

    def _about(self, place: int) -> Chunk | None:
        """The chunk whose slots a comparison in this chunk is about; None if it could be one of two."""
        chunk = self.chunks[place]
        if chunk.units:
            return chunk
        before = next((one for one in reversed(self.chunks[:place]) if one.units), None)
        after = next((one for one in self.chunks[place:] if one.units), None)
        if before is None or after is None:
            return before or after
        if before.subjects() == after.subjects():
            return after
        labels = after is self.chunks[place + 1] and after.opens in ([":"], ["—"], ["–"])  # `maximum: {a}`
        apart = bool({";", "clause"} & {*chunk.opens}) or (chunk.opens == [","] and before in self._claimed)
        return after if labels and apart else None

    # one against another

    def _than(self, place: int) -> Iterator[str]:
        left = self._before(place, with_units=False)
        signs = [sign for word, sign in (("more", 1), ("less", -1)) if left and word in left.kinds()]
        if len(signs) != 1:
            yield "`than` must follow one comparison, such as `more`"
            return
        yield from self._apart(place, signs[0])

    def _apart(self, place: int, sign: int) -> Iterator[str]:
        sides = self._sides(place)
        if self.moves:
            yield "a rise or fall and another comparison must stand in different sentences"
        if sides is None:
            yield "it is not clear what is compared with what"
        elif (sides[0] - sides[1]) * sign <= 0:
            yield "the comparison is not what the facts say"

    def _multiple(self, place: int, times: float) -> Iterator[str]:
        sides = self._sides(place)
        if sides is None or sides[1] <= 0:
            yield "it is not clear what is a multiple of what"
        elif abs(sides[0] / sides[1] - times) > NEAR * times:
            yield "the multiple is not what the facts say"

    def _sides(self, place: int) -> tuple[float, float] | None:
        """The numbers of the two rows that are compared."""
        right, left = self.chunks[place], self._before(place)
        if left is None or not right.units:
            return None
        rows = left.subjects()[-1:], right.subjects()
        if len(rows[0]) != 1 or len(rows[1]) != 1 or {*rows[0][0]} != {*rows[1][0]} or rows[0] == rows[1]:
            return None
        if right.numbers() and not left.numbers():
            return None  # the number could be taken for that of the other row
        column = self._column(place, right if right.numbers() else left)
        values = self.offer.values.get(column or "", {})
        found = [values.get(frozenset(side[0].items())) for side in rows]
        self._use(left)
        self._use(right)
        return (found[0], found[1]) if found[0] is not None and found[1] is not None else None

    def _half(self, place: int, more: bool) -> Iterator[str]:
        """More or less than half of the total."""
        told = self.chunks[place] if self.chunks[place].subjects() else self._before(place)
        rows = told.subjects() if told else []
        column = self._column(place)
        whole = self.offer.values.get(column or "", {}).get(frozenset())
        mine = self.offer.values.get(column or "", {}).get(frozenset(rows[0].items())) if len(rows) == 1 else None
        if told is None or whole is None or mine is None or whole <= 0:
            yield "it is not clear what is more or less than half"
        elif (mine / whole > 0.5) != more or mine / whole == 0.5:
            yield "the half is not what the facts say"
        else:
            self._use(told)

    def _ends(self, place: int, first: bool) -> Iterator[str]:
        """The first or last point of time; of other names, the highest or the lowest rank."""
        told = self._about(place)
        rows = told.subjects() if told else []
        if told is None or len(rows) != 1:
            yield "it is not clear what is first or last"
            return
        self._use(told)
        axis = self.offer.axis
        if axis in rows[0]:
            if rows[0][axis] != (self.offer.order[0] if first else self.offer.order[-1]):
                yield "this is not the first or last in time"
        elif self._rank(self._column(place, told), rows[0], first, told) != 1:
            yield "this is not the first or last by rank"

    # rises and falls

    def _clauses(self) -> Iterator[list[Chunk]]:
        clause: list[Chunk] = []
        for chunk in self.chunks:
            if clause and {"clause", ";"} & {*chunk.opens}:
                yield clause
                clause = []
            clause.append(chunk)
        yield clause

    def _moved(self, clause: Sequence[Chunk]) -> Iterator[str]:
        words = {word for chunk in clause for word in MOVES if word in chunk.kinds()}
        changes = [slot for chunk in clause for slot in chunk.numbers() if self._is_change(slot)]
        if any("change" in chunk.kinds() for chunk in clause) and not changes:
            yield "a change needs a slot that is a change"
        for slot in changes:
            yield from self._spanned(slot, clause)
        if not words:
            return
        if len(words) > 1:
            yield "several rises or falls must stand in different sentences"
            return
        word = words.pop()
        points = list(self._points(clause))
        for slot in changes:
            if not _agrees(word, 1.0, 1.0 + _number(slot)):
                yield "the rise or fall is not what the facts say"
        if len({tuple(sorted((k, str(v)) for k, v in at.items() if k != self.offer.axis)) for at, _, _ in points}) > 1:
            yield "a rise or fall must be of one row"
            return
        yield from self._chronological(word, points, changes)

    def _points(self, clause: Sequence[Chunk]) -> Iterator[tuple[At, float, str]]:
        """The points of time of a clause, with their numbers and whether they are called the start or the end."""
        axis = self.offer.axis
        for chunk in clause:
            if chunk.kinds() & {"high", "low"}:
                continue
            for unit in chunk.units:
                for place, slot in enumerate(unit.slots):
                    mark = self._mark(chunk, unit.joints, place)
                    if unit.is_number and slot.sort == "value" and axis in slot.at and not self._is_change(slot):
                        yield slot.at, _number(slot), mark
                    elif not unit.is_number and slot.column == axis and not unit.used:
                        at = {**{k: v for k, v in chunk.around.items() if k != axis}, **slot.at}
                        number = self.offer.values.get(self._column(self.chunks.index(chunk)) or "", {}).get(
                            frozenset(at.items())
                        )
                        if number is not None:
                            unit.used = True
                            yield at, number, mark

    @staticmethod
    def _mark(chunk: Chunk, joints: Sequence[str], place: int) -> str:
        if place:
            return "to" if joints[place - 1] in ("to", "and", "–", "—") and {"from"} & {*chunk.opens} else ""
        return next((mark for mark in ("from", "against", "to") if mark in chunk.opens), "").replace("against", "from")

    def _chronological(self, word: str, points: list[tuple[At, float, str]], changes: list[Slot]) -> Iterator[str]:
        axis = self.offer.axis
        times = [self.offer.order.index(at[axis]) for at, _, _ in points]
        starts = [time for time, point in zip(times, points, strict=True) if point[2] == "from"]
        if len({*times}) < 2:
            if not changes:
                yield "a rise or fall needs two points of time, or a change"
            return
        if starts and {*starts} != {min(times)}:
            yield "the rise or fall begins at a later point than it ends"
        if not starts and times != sorted(times):
            yield "the points of a rise or fall are not in the order of time"
        told = sorted({time: point[1] for time, point in zip(times, points, strict=True)}.items())
        for (_, first), (_, last) in pairwise(told):
            if not _agrees(word, first, last):
                yield "the rise or fall is not what the facts say"

    def _spanned(self, slot: Slot, clause: Sequence[Chunk]) -> Iterator[str]:
        """The points of time that stand with a change are its own."""
        axis = self.offer.axis
        named: list[tuple[Scalar, str]] = []
        for chunk in clause:
            if chunk.kinds() & {"high", "low"}:
                continue
            for unit in chunk.units:
                for place, name in enumerate(unit.slots):
                    if not unit.is_number and name.column == axis:
                        named.append((name.at[axis], self._mark(chunk, unit.joints, place)))
                        unit.used = True
        first, last = slot.span or self._before_and_after(slot)
        if {value for value, _ in named} - {first, last}:
            yield f"{{{slot.id}}} is the change between other points of time"
        if any((mark == "from" and value != first) or (mark == "to" and value != last) for value, mark in named):
            yield f"{{{slot.id}}} is a change in the other direction"
        if slot.span and first not in {value for value, _ in named}:
            adjacent = self.offer.order.index(last) - self.offer.order.index(first) == 1
            if not adjacent or len(self.offer.order) > 2:
                yield f"{{{slot.id}}} needs the points of time between which it is the change"

    def _before_and_after(self, slot: Slot) -> tuple[Scalar, Scalar]:
        last = slot.at[self.offer.axis]
        place = self.offer.order.index(last)
        if self.offer.subject.params.get("against") == "year" or not place:
            return last, last
        return self.offer.order[place - 1], last

    def _is_change(self, slot: Slot) -> bool:
        subject = self.offer.subject
        return slot.sort == "change" or (subject.kind == "changes" and slot.column == subject.params["as"])

    # shared

    def _before(self, place: int, *, with_units: bool = True) -> Chunk | None:
        found = [chunk for chunk in self.chunks[:place] if not with_units or chunk.subjects()]
        return found[-1] if found else None

    def _compares_next(self, place: int) -> bool:
        return any({"than"} & chunk.kinds() for chunk in self.chunks[place + 1 : place + 2])

    def _column(self, place: int, chunk: Chunk | None = None) -> str | None:
        """The measure that is compared: that of the numbers, else the one that is named, else the only one."""
        numbers = [slot for slot in (chunk or self.chunks[place]).numbers() if slot.sort != "change"]
        if numbers:
            columns = {slot.column for slot in numbers}
            return columns.pop() if len(columns) == 1 else None
        named = [
            token.columns
            for one in (*self.chunks[: place + 1], *self.chunks[place + 1 :])
            for token in one.tokens
            if token.kind == "label" and token.columns & {*self.offer.values}
        ]
        columns = {column for found in named for column in found if column in self.offer.values}
        if len(columns) > 1:
            return None
        if columns:
            return columns.pop()
        return next(iter(self.offer.values)) if len(self.offer.told) == 1 and len(self.offer.values) == 1 else None

    @staticmethod
    def _use(chunk: Chunk) -> None:
        for unit in chunk.units:
            unit.used = True


def _rows(chunk: Chunk) -> list[At]:
    """The rows that the chunk speaks of, each once."""
    found = chunk.subjects()
    return [at for place, at in enumerate(found) if at not in found[:place]]


def _agrees(word: str, first: float, last: float) -> bool:
    match word:
        case "rise":
            return last > first
        case "fall":
            return last < first
        case "level":
            return last == first
        case "doubled":
            return first > 0 and abs(last / first - 2) <= NEAR * 2
        case _:
            return first > 0 and abs(last / first - 0.5) <= NEAR / 2


def _number(slot: Slot) -> float:
    value = slot.cite.value
    assert isinstance(value, int | float)
    return value
