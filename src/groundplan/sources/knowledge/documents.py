"""Documents, and the pieces of them that are searched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from groundplan.sources.knowledge.markdown import is_markdown, load_markdown
from groundplan.sources.knowledge.written import load_text

DOCUMENT = "document"  # the type of what is no node
LONGEST = 1_200  # characters of a piece: about what one embedding still tells apart
HEADING = re.compile(r"^#{1,6}\s+(.+?)[\s#]*$", re.MULTILINE)
SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")


@dataclass(frozen=True)
class Document:
    id: str
    type: str
    title: str
    text: str


@dataclass(frozen=True)
class Piece:
    """A few paragraphs of one document."""

    document: Document
    text: str

    @property
    def searched(self) -> str:
        """With its title: a piece of a page on Lisbon need not name Lisbon again."""
        return f"{self.document.title}\n{self.text}"


def load_document(path: Path, folder: Path) -> Document:
    """Markdown, with or without a head, or plain text."""
    id_ = f"{DOCUMENT}:{path.relative_to(folder).as_posix()}"
    if not is_markdown(path):
        return Document(id_, DOCUMENT, path.stem.replace("-", " "), load_text(path))
    page = load_markdown(path)
    return Document(id_, DOCUMENT, page.title, page.body)


def pieces_of(document: Document) -> Iterator[Piece]:
    """Section by section: paragraphs put together while they fit, and none with another section's."""
    held = ""
    for part in _parts(document):
        heading = HEADING.match(part)
        if held and (heading or len(held) + len(part) > LONGEST):
            yield Piece(document, held)
            held = ""
        said = heading.group(1) if heading else part
        if said != document.title:
            held = f"{held}\n\n{said}" if held else said
    if held:
        yield Piece(document, held)


def _parts(document: Document) -> Iterator[str]:
    """Headings and paragraphs; a paragraph that is too long is cut between sentences."""
    apart = HEADING.sub(r"\n\g<0>\n", document.text)
    for paragraph in filter(None, (part.strip() for part in re.split(r"\n\s*\n", apart))):
        if len(paragraph) <= LONGEST:
            yield paragraph
            continue
        for sentence in SENTENCE_END.split(paragraph):
            yield from (sentence[start : start + LONGEST] for start in range(0, len(sentence), LONGEST))
