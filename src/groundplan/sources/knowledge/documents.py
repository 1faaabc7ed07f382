"""Documents, and the pieces they are split into for search."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from groundplan.sources.knowledge.markdown import is_markdown, load_markdown
from groundplan.sources.knowledge.parsed_file import load_text

DOCUMENT = "document"  # the type of documents that are not nodes
LONGEST = 1_200  # characters of a piece: longer texts blur in one embedding
HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*)$", re.MULTILINE)  # the signs at its end are cut off without a pattern
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
    def search_text(self) -> str:
        """The text with its title: a piece of a page on Lisbon may not mention Lisbon."""
        return f"{self.document.title}\n{self.text}"


def load_document(path: Path, folder: Path) -> Document:
    """Load Markdown, with or without front matter, or plain text."""
    id_ = f"{DOCUMENT}:{path.relative_to(folder).as_posix()}"
    if not is_markdown(path):
        return Document(id_, DOCUMENT, path.stem.replace("-", " "), load_text(path))
    page = load_markdown(path)
    return Document(id_, DOCUMENT, page.title, page.body)


def pieces_of(document: Document) -> Iterator[Piece]:
    """Paragraphs of one section are joined up to the maximum length; sections are not mixed."""
    held = ""
    for part in _parts(document):
        heading = HEADING.match(part)
        if held and (heading or len(held) + len(part) > LONGEST):
            yield Piece(document, held)
            held = ""
        text = heading.group(1).rstrip("# \t") if heading else part
        if text != document.title:
            held = f"{held}\n\n{text}" if held else text
    if held:
        yield Piece(document, held)


def _parts(document: Document) -> Iterator[str]:
    """Headings and paragraphs; a paragraph that is too long is split into sentences."""
    apart = HEADING.sub(r"\n\g<0>\n", document.text)
    for paragraph in filter(None, (part.strip() for part in re.split(r"\n\s*\n", apart))):
        if len(paragraph) <= LONGEST:
            yield paragraph
            continue
        for sentence in SENTENCE_END.split(paragraph):
            yield from (sentence[start : start + LONGEST] for start in range(0, len(sentence), LONGEST))
