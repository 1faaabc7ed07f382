"""Text from data on one line, and so that it cannot act as markup."""

from __future__ import annotations

import re
import unicodedata

LONGEST_NAME = 80
ACTIVE = re.compile(r"[\[\]<>`]|://|\bwww\.")  # what Markdown would turn into a link, an image or a tag


def plain(text: str) -> str:
    """On one line, without invisible characters."""
    seen = "".join(" " if unicodedata.category(mark) in ("Cc", "Zl", "Zp") else mark for mark in text)
    seen = " ".join("".join(mark for mark in seen if unicodedata.category(mark) != "Cf").split())
    return seen if len(seen) <= LONGEST_NAME else seen[: LONGEST_NAME - 1].rstrip() + "…"


def as_code(text: str) -> str:
    return "`" + plain(text).replace("`", "'") + "`"
