"""Markdown with front matter: a head of keys and values, a body for people."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from groundplan.sources.knowledge.written import Written, load_text, read_yaml

FENCE = "---"
WRAPPED = re.compile(r"(?<=\S)[ \t]*\n(?=[^\s\-*+#>|\d`])")  # a line that goes on, and begins no list or table
HEADING = re.compile(r"^#\s+(.+?)\s*#*$", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """`body` has a line for each paragraph, however its file is wrapped."""

    head: Written
    body: str

    @property
    def title(self) -> str:
        """What the page calls itself: in its head, in its first heading, or by its file's name."""
        said = self.head.value.get("title")
        heading = HEADING.search(self.body)
        return str(said) if said else heading.group(1) if heading else self.head.path.stem.replace("-", " ")


def is_markdown(path: Path) -> bool:
    return path.suffix.lower() in (".md", ".markdown")


def load_markdown(path: Path) -> Page:
    text = load_text(path).removeprefix("\ufeff")
    lines = text.splitlines()
    if lines[:1] != [FENCE] or FENCE not in lines[1:]:
        return Page(Written(path, {}), _unwrapped(text))
    end = lines.index(FENCE, 1)
    head = read_yaml(path, "\n".join(lines[1:end]), lines_above=1)
    return Page(head, _unwrapped("\n".join(lines[end + 1 :])))


def _unwrapped(text: str) -> str:
    """Headings and blocks of code keep their lines."""
    blocks = re.split(r"(^#.*$|^```[\s\S]*?^```)", text, flags=re.MULTILINE)
    return "".join(block if block.startswith(("#", "```")) else WRAPPED.sub(" ", block) for block in blocks).strip()
