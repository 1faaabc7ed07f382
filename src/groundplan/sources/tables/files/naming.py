"""Column names that every file can have: none is empty, none occurs twice, none is too long."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
LONGEST_NAME = 128  # characters, the limit in the contract

Notes = Mapping[str, str]
"""What loading changed, by column name."""


def column_names(titles: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """A name for each title, and a note on each name that is not the file's own.

    >>> column_names(["a", "", "a"])[0]
    ['a', 'column1', 'a_1']
    """
    if any("\0" in title for title in titles):
        raise ValueError("a column's name contains a NUL character")
    plain = [" ".join(CONTROL.sub(" ", title).split()) for title in titles]
    names: list[str] = []
    notes: dict[str, str] = {}
    for place, title in enumerate(plain):
        name = title
        if not title or len(title) > LONGEST_NAME or title.lower() in map(str.lower, names):
            name = _numbered(title or f"column{place}", {*map(str.lower, (*names, *plain))})
            notes[name] = _note(title, place)
        names.append(name)
    return names, notes


def joined(*all_notes: Notes) -> dict[str, str]:
    """The notes of several steps; a column may have one from each."""
    names = dict.fromkeys(name for notes in all_notes for name in notes)
    return {name: "; ".join(notes[name] for notes in all_notes if name in notes) for name in names}


def _numbered(wanted: str, taken: set[str]) -> str:
    name, number = wanted[:LONGEST_NAME], 0
    while name.lower() in taken:
        number += 1
        ending = f"_{number}"
        name = wanted[: LONGEST_NAME - len(ending)] + ending
    return name


def _note(title: str, place: int) -> str:
    if not title:
        return f"column {place + 1} of the file has no name"
    if len(title) > LONGEST_NAME:
        return f"the name of column {place + 1} of the file was longer than {LONGEST_NAME} characters and is cut"
    return f"column {place + 1} of the file has the same name as an earlier one"
