"""Text for a terminal: fitted to a width, safe to print, with short numbers."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from groundplan.contracts.contract import Language

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
        """Shade characters from least to greatest."""
        return ".:-=+*#%@" if self.ascii_only else "▁▂▃▄▅▆▇█"


def plain_text(text: str) -> str:
    """The text without control characters, so that data cannot move the cursor or change colours."""
    return "".join(" " if unicodedata.category(character)[0] in "CZ" else character for character in text)


def to_ascii(line: str) -> str:
    return line.translate(BOX_TO_ASCII).encode("ascii", "replace").decode("ascii")


def cells(text: str) -> int:
    """The width of the text in terminal columns."""
    return sum(_cell(character) for character in text)


def fitted(text: str, width: int) -> str:
    """The text in exactly `width` columns, truncated with an ellipsis or padded."""
    clean = plain_text(text)
    if cells(clean) > width:
        while clean and cells(clean) > width - 1:
            clean = clean[:-1]
        clean += "…" if width > 0 else ""
    return clean + " " * (width - cells(clean))


SIZES: Mapping[Language, Mapping[float, str]] = {
    "en": {1e12: "T", 1e9: "B", 1e6: "M", 1e3: "k"},
    "ru": {1e12: " трлн", 1e9: " млрд", 1e6: " млн", 1e3: " тыс."},
}


def compact(value: float, language: Language = "en") -> str:
    """1234567 as 1.23M."""
    fitting = (size for size in SIZES[language] if abs(value) >= 0.9995 * size)  # include numbers that round up to it
    size = next(fitting, 1)
    return point(f"{value / size:.3g}", language) + SIZES[language].get(size, "")


def point(number: str, language: Language) -> str:
    return number if language == "en" else number.replace(".", ",")


def _cell(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
