"""The facts that a sentence cites, by slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from groundplan.answering.verifying.record import Record, Untraceable
from groundplan.answering.writing.subjects import Subject
from groundplan.answering.writing.tracing import Cell, Trace
from groundplan.contracts.contract import Scalar


@dataclass(frozen=True)
class Stated:
    """The slots of a sentence, each with its cited facts."""

    record: Record
    slots: Mapping[str, tuple[Trace, ...]]

    def one(self, slot: str) -> Trace:
        if slot not in self.slots:
            raise Untraceable(f"{slot} cites no fact")
        return self.slots[slot][0]

    def several(self, slots: Sequence[str]) -> list[Trace]:
        return [trace for slot in slots for trace in self.slots.get(slot, ())]

    def number(self, slot: str) -> float:
        return self.record.number(self.one(slot))

    def subject(self, slot: str) -> Subject:
        return self.record.subject(self.one(slot))

    def column(self, slot: str) -> str:
        return self.record.home(self.one(slot))[1]

    def names(self, slot: str) -> dict[str, Scalar]:
        return {trace.column: self.record.value(trace) for trace in self.slots[slot] if isinstance(trace, Cell)}
