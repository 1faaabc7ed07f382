"""Facts as JSON for a prompt: of bounded size, and escaped so that they cannot close their section."""

from __future__ import annotations

import json

from groundplan.contracts.contract import thaw

LONGEST_TEXT = 2_000  # characters in one text
MOST_ITEMS = 50  # in one list
LONGEST = 8_000  # characters in total
CUT = "… (cut)"


def facts_json(facts: object) -> tuple[str, str]:
    """The JSON, and a note on what was cut. Each `<` is escaped so that no text can close its section of the prompt."""
    plain = thaw(facts)
    short = _shortened(plain)
    text = json.dumps(short, ensure_ascii=False).replace("<", "\\u003c")
    if len(text) > LONGEST:
        return (
            f"{text[:LONGEST]}{CUT}",
            f"the model saw only the first {LONGEST:,} of {len(text):,} characters of its facts",
        )
    return text, "" if short == plain else "the model saw only a part of the long texts and lists in its facts"


def _shortened(value: object) -> object:
    match value:
        case str() if len(value) > LONGEST_TEXT:
            return f"{value[:LONGEST_TEXT]}{CUT}"
        case list() if len(value) > MOST_ITEMS:
            return [*map(_shortened, value[:MOST_ITEMS]), f"{CUT} {len(value)} in all"]
        case list():
            return [*map(_shortened, value)]
        case dict():
            return {key: _shortened(inner) for key, inner in value.items()}
        case _:
            return value
