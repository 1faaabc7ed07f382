"""Whether two variants read a question with the same meaning."""

from __future__ import annotations

from groundplan.contracts.alike import alike
from groundplan.contracts.reading import Reading


def same_meaning(one: Reading, other: Reading) -> bool:
    """True if both ask for the same; what is no question about tables is compared requirement by requirement."""
    return alike(one, other) or _requirements(one) == _requirements(other)


def _requirements(reading: Reading) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    asked = [r for ask in reading.asks for r in ask.requirements]
    values = frozenset(r.value.model_dump_json() for r in asked)
    return values, frozenset(intent.name for intent in reading.intents), frozenset(reading.tables)
