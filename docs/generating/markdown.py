"""The little Markdown that generated pages are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

MADE = "<!-- Made by docs/generate.py: change what it is made from, then run `make docs`. -->"


def document(lines: Iterable[str]) -> str:
    return "\n".join([MADE, "", *lines]).rstrip() + "\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield row(header)
    yield row(["---"] * len(header))
    for cells in rows:
        yield row(cells)


def row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def code(text: str) -> str:
    return f"`{text}`" if text else ""
