"""What a server may send before the connection with it is ended."""

from __future__ import annotations

from dataclasses import dataclass

OF_A_LIST = 8_000_000  # bytes of one page of tools
MOST_UNASKED = 10_000  # messages that nobody asked for, during one call
TOO_MUCH = "sent more than it may"
STOPPED = "stopped"


@dataclass
class Bounds:
    """`most` holds for the next answer, `largest` for any; `broken` says what ended the connection."""

    most: int
    largest: int
    broken: str = ""
    strays: int = 0

    @classmethod
    def of(cls, result: int) -> Bounds:
        return cls(most=OF_A_LIST, largest=max(result, OF_A_LIST))

    def expect(self, most: int) -> None:
        """A new answer is waited for."""
        self.most, self.strays = most, 0

    def take(self, size: int) -> None:
        if size > self.most:
            self.end(TOO_MUCH)

    def unasked(self) -> None:
        self.strays += 1
        if self.strays > MOST_UNASKED:
            self.end("sends messages without end that nobody asked for")

    def end(self, why: str) -> None:
        self.broken = self.broken or why
