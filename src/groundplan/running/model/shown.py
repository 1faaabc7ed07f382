"""Facts as a model gets to see them: JSON of bounded size that cannot leave its place in the prompt."""

from __future__ import annotations

import json

from groundplan.contracts.contract import thaw

LONGEST_TEXT = 2_000  # characters of one text among the facts
MOST_ITEMS = 50  # of one list
LONGEST = 8_000  # characters of all
CUT = "… (cut)"


def shown(facts: object) -> tuple[str, str]:
    """The JSON, and what is missing from it; a `<` is written so that no text can close the part it stands in."""
    plain = thaw(facts)
    short = _shortened(plain)
    text = json.dumps(short, ensure_ascii=False).replace("<", "\\u003c")
    if len(text) > LONGEST:
        return f"{text[:LONGEST]}{CUT}", f"the model saw the first {LONGEST:,} of {len(text):,} characters of its facts"
    return text, "" if short == plain else "the model saw long texts and lists among its facts in part"


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
