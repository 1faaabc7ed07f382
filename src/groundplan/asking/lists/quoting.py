"""Requirements with the words of a question that ask for them."""

from __future__ import annotations

from groundplan.contracts.reading import Evidence, Requirement, Value


def quoted(id_: str, value: Value, text: str, *said: str) -> Requirement:
    """With the words that ask for it; implied if the text has none of them."""
    places = ((words, text.find(words)) for words in said if words)
    quotes = [Evidence(text=words[:500], start=start) for words, start in places if start >= 0]
    evidence = quotes[0] if quotes else None
    return Requirement(id=id_, value=value, evidence=evidence, also=tuple(quotes[1:]), implied=not quotes)


def implied(id_: str, value: Value) -> Requirement:
    return Requirement(id=id_, value=value, implied=True)
