"""How the steps of a workflow ended: which did something, which were passed by, which gave something, and what."""

from __future__ import annotations

from collections.abc import Collection

from groundplan.answering.verifying.artefacts import without_artefacts
from groundplan.contracts.facts import Facts, Item, StepEnd


def is_done(end: StepEnd) -> bool:
    """It changed something; what failed is told by its failure."""
    return end.status == "finished" and end.effect == "write"


def is_passed_by(end: StepEnd) -> bool:
    return end.status == "skipped"


def is_gift(end: StepEnd, facts: Facts) -> bool:
    """The fields that an effect gives back are told with it."""
    listed = bool(end.groups) or len(fields(end, facts)) < len(end.items)
    return end.status == "finished" and (end.effect == "read" or listed)


def fields(end: StepEnd, facts: Facts) -> tuple[int, ...]:
    """The places of values that have a name and nothing else: they fit on one line."""
    return tuple(place for place in end.items if facts.items[place].value is not None and not facts.items[place].text)


def is_text(items: Collection[Item]) -> bool:
    """One piece of text and no more."""
    return len(items) == 1 and all(item.kind == "text" and bool(without_artefacts(item.text)) for item in items)


def of_steps(facts: Facts) -> tuple[frozenset[int], frozenset[int]]:
    """The places of all items and groups that are told with their steps."""
    items, groups = ([place for end in facts.steps for place in getattr(end, name)] for name in ("items", "groups"))
    return frozenset(items), frozenset(groups)
