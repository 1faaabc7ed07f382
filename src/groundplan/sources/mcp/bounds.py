"""Limits on what a server may send; beyond them the connection is closed."""

from __future__ import annotations

from dataclasses import dataclass

LIST_BYTES = 8_000_000  # bytes of one page of tools
MOST_UNASKED = 10_000  # unsolicited messages during one call
TOO_MUCH = "sent too much"
STOPPED = "stopped"


@dataclass
class Bounds:
    """`most` limits the next answer, `largest` any answer; `broken` says why the connection was closed."""

    most: int
    largest: int
    broken: str = ""
    strays: int = 0

    @classmethod
    def of(cls, result: int) -> Bounds:
        return cls(most=LIST_BYTES, largest=max(result, LIST_BYTES))

    def expect(self, most: int) -> None:
        """Set the limit of the next answer and reset the count of unsolicited messages."""
        self.most, self.strays = most, 0

    def take(self, size: int) -> None:
        if size > self.most:
            self.end(TOO_MUCH)

    def unasked(self) -> None:
        self.strays += 1
        if self.strays > MOST_UNASKED:
            self.end("keeps sending unsolicited messages")

    def end(self, why: str) -> None:
        self.broken = self.broken or why
