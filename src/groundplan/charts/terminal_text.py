"""Characters for a terminal: what fits, what is safe to print, and how numbers are kept short."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

BOX_TO_ASCII = str.maketrans("─│┌┐└┘├┤┬┴┼…·→█", "-|+++++++++~.>#")


@dataclass(frozen=True)
class Screen:
    width: int
    height: int
    colour: bool = True
    ascii_only: bool = False

    @property
    def block(self) -> str:
        return "#" if self.ascii_only else "█"

    @property
    def shades(self) -> str:
        """From least to greatest, one character each."""
        return ".:-=+*#%@" if self.ascii_only else "▁▂▃▄▅▆▇█"


def plain_text(text: str) -> str:
    """Without control characters: text from data must not move the cursor or change the colours."""
    return "".join(" " if unicodedata.category(character)[0] in "CZ" else character for character in text)


def to_ascii(line: str) -> str:
    return line.translate(BOX_TO_ASCII).encode("ascii", "replace").decode("ascii")


def cells(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return sum(_cell(character) for character in text)


def fitted(text: str, width: int) -> str:
    """Exactly so many columns: cut with an ellipsis, or filled with spaces."""
    clean = plain_text(text)
    if cells(clean) > width:
        while clean and cells(clean) > width - 1:
            clean = clean[:-1]
        clean += "…" if width > 0 else ""
    return clean + " " * (width - cells(clean))


def compact(value: float) -> str:
    """1234567 as 1.23M."""
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.9995 * size:  # what rounds up to it is written as it
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def _cell(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
