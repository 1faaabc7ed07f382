"""How workflow steps ended: which had an effect, which were skipped, and which returned something."""

from __future__ import annotations

from collections.abc import Collection

from groundplan.answering.verifying.artefacts import without_artefacts
from groundplan.contracts.facts import Facts, Item, StepEnd


def is_done(end: StepEnd) -> bool:
    """Whether the step made a change; failed steps are reported separately."""
    return end.status == "finished" and end.effect == "write"


def is_passed_by(end: StepEnd) -> bool:
    return end.status == "skipped"


def is_gift(end: StepEnd, facts: Facts) -> bool:
    """Whether the step's result is reported by itself; fields returned by an effect are reported with the effect."""
    listed = bool(end.groups) or len(fields(end, facts)) < len(end.items)
    return end.status == "finished" and (end.effect == "read" or listed)


def fields(end: StepEnd, facts: Facts) -> tuple[int, ...]:
    """The indexes of plain named values, which fit on one line."""
    return tuple(place for place in end.items if facts.items[place].value is not None and not facts.items[place].text)


def is_text(items: Collection[Item]) -> bool:
    """Whether there is exactly one item, and it is a text."""
    return len(items) == 1 and all(item.kind == "text" and bool(without_artefacts(item.text)) for item in items)


def of_steps(facts: Facts) -> tuple[frozenset[int], frozenset[int]]:
    """The indexes of all items and groups that are reported with their steps."""
    items, groups = ([place for end in facts.steps for place in getattr(end, name)] for name in ("items", "groups"))
    return frozenset(items), frozenset(groups)
