"""Encoders for text that comes from data, for each kind of output: a terminal, a prompt, Markdown, a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence

from groundplan.contracts.contract import Scalar
from groundplan.text.rounding import sure

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except line breaks and tabs
    "\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible, or change the direction
    "\ud800-\udfff\U000e0000-\U000e007f]"  # halves of characters, and invisible tags
)
MARKDOWN = re.compile(r"[\\`*\[\]|]|(?<=[a-z]):(?=//)|@|(?<=www)\.", re.IGNORECASE)
FORMULA = r"\A(\s*[=+\-@＝＋－＠]|[\t\r\n])"
_FORMULA = re.compile(FORMULA)
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def printable(text: str) -> str:
    r"""For a terminal: what would move the cursor, hide or reorder text is written out, as in `\u001b`.

    The escapes are those of JSON, so that the text of a JSON document stays the same document.
    """
    return HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def one_line(text: str, most: int) -> str:
    """For a line of a prompt: the first `most` characters, with single spaces and nothing hidden."""
    return " ".join(HIDDEN.sub(" ", text[: 4 * most]).split())[:most].rstrip()


def markdown(text: str) -> str:
    """For one line of Markdown: no markup, link, image or HTML of the text takes effect."""
    line = " ".join(printable(text).split())
    return MARKDOWN.sub(lambda found: f"\\{found[0]}", line.translate(_HTML))


def markdown_code(text: str) -> str:
    """For a code span in Markdown."""
    return "`" + " ".join(printable(text).replace("`", "'").replace("|", "¦").split()) + "`"


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Scalar]]) -> str:
    """A table as CSV that a spreadsheet can open safely."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    for row in (columns, *rows):
        writer.writerow([_in_file(value) for value in row])
    return file.getvalue()


def _in_file(value: Scalar) -> Scalar:
    match value:
        case str():
            return spreadsheet(value)
        case float():
            return sure(value)
        case _:
            return value


def spreadsheet(text: str) -> str:
    """For a cell of a CSV file: text that a spreadsheet would run as a formula gets an apostrophe."""
    return f"'{text}" if _FORMULA.match(text) else text
