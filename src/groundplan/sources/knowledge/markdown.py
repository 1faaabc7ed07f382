"""Loads Markdown with front matter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from groundplan.sources.knowledge.parsed_file import ParsedFile, load_text, read_yaml

FENCE = "---"
WRAPPED = re.compile(r"(?<=\S)[ \t]*\n(?=[^\s\-*+#>|\d`])")  # a line break before text that is not a list or table
HEADING = re.compile(r"^#[ \t]+(\S.*)$", re.MULTILINE)  # the signs at its end are cut off without a pattern


@dataclass(frozen=True)
class Page:
    """`body` has one line for each paragraph; the file's own line wrapping is removed."""

    head: ParsedFile
    body: str

    @property
    def title(self) -> str:
        """The title in the front matter, else the first heading, else the name of the file."""
        title = self.head.value.get("title")
        heading = HEADING.search(self.body)
        found = str(title) if title else heading.group(1).rstrip("# \t") if heading else ""
        return found or self.head.path.stem.replace("-", " ")


def is_markdown(path: Path) -> bool:
    return path.suffix.lower() in (".md", ".markdown")


def load_markdown(path: Path) -> Page:
    text = load_text(path).removeprefix("\ufeff")
    lines = text.splitlines()
    if lines[:1] != [FENCE] or FENCE not in lines[1:]:
        return Page(ParsedFile(path, {}), _unwrapped(text))
    end = lines.index(FENCE, 1)
    head = read_yaml(path, "\n".join(lines[1:end]), lines_above=1)
    return Page(head, _unwrapped("\n".join(lines[end + 1 :])))


def _unwrapped(text: str) -> str:
    """Headings and code blocks keep their line breaks."""
    blocks = re.split(r"(^#.*$|^```[\s\S]*?^```)", text, flags=re.MULTILINE)
    return "".join(block if block.startswith(("#", "```")) else WRAPPED.sub(" ", block) for block in blocks).strip()
