"""Cleans text from servers for display: removes hidden characters and control characters."""

from __future__ import annotations

import unicodedata

# Invisible although their category is letter or mark: they can hide text from a reader.
UNSEEN = frozenset(
    chr(code)
    for first, last in (
        (0x034F, 0x034F),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),
        (0xFFA0, 0xFFA0),
        (0xE0100, 0xE01EF),
    )
    for code in range(first, last + 1)
)


def is_plain(text: str) -> bool:
    """Whether all characters are visible and on one line."""
    return all(map(_is_seen, text))


def one_line(text: str, most: int) -> str:
    """The first visible characters, with single spaces between words."""
    words = "".join(" " if letter.isspace() else letter for letter in text[: 8 * most] if _kept(letter)).split()
    return " ".join(words)[:most].rstrip()


def lines(text: str, most: int) -> str:
    """The first visible characters, with line breaks and tabs kept."""
    return "".join(letter for letter in text[: 8 * most] if letter in "\n\t" or _is_seen(letter)).strip()[:most]


def readable(field: str) -> str:
    """The name of a field for people: `customer id` for `customer_id`."""
    return one_line(field.replace("_", " "), 100)


def _kept(letter: str) -> bool:
    return letter.isspace() or _is_seen(letter)


def _is_seen(letter: str) -> bool:
    category = unicodedata.category(letter)
    return letter == " " or (category[0] not in "CZ" and letter not in UNSEEN) or category == "Zs"
