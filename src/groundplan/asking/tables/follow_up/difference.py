"""What two readings ask for that the other does not, and whether an edit may make that difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from groundplan.asking.tables.follow_up.fragments import Fragment
from groundplan.asking.tables.follow_up.splice import Splice
from groundplan.contracts.reading import AnalysisAsked, Metric, Rank, Reading, Requirement
from groundplan.text.lexicon import load_lexicon
from groundplan.text.similar import content_stems
from groundplan.text.words import words_of

GUARDED = frozenset({"metric", "group_by", "time", "filter", "rank"})
PASSING = frozenset({"total", "compare", "trend"})  # analyses that come and go with what they are of


@dataclass(frozen=True)
class Difference:
    """Requirement ids, sorted; `changed` ask for something else under the same id. So are `tables` and `intents`."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def difference(before: Reading, after: Reading) -> Difference:
    """What the second asks for that the first does not, and the other way round; words and order do not count."""
    old, new = _asked_for(before), _asked_for(after)
    return Difference(
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        changed=tuple(sorted(id_ for id_ in old.keys() & new.keys() if old[id_] != new[id_])),
    )


def find_surprise(before: Reading, after: Reading, splice: Splice, fragment: Fragment) -> str | None:
    """What the edit would do that nobody asked for; None where it does what was said and no more."""
    return next(chain(_lost(before, after, splice, fragment), _unasked(before, after, fragment)), None)


def _lost(before: Reading, after: Reading, splice: Splice, fragment: Fragment) -> Iterator[str]:
    """What went though no word took it out."""
    old, new = _asked_for(before), _asked_for(after)
    exchanged = fragment.metric and not fragment.adds
    for r in before.requirements:
        if r.kind == "metric" and exchanged:
            continue
        if _is_guarded(r) and new.get(r.id) != old[r.id] and not splice.concerns(r.evidence):
            yield f"{r.evidence.text!r} would be lost"


def _unasked(before: Reading, after: Reading, fragment: Fragment) -> Iterator[str]:
    """What came though the fragment does not ask for it, and what it asks for that did not come."""
    old, spoken = _asked_for(before), content_stems(fragment.scan.text)
    for r in after.requirements:
        named = spoken & content_stems(r.evidence.text) or (r.kind == "metric" and fragment.metric)
        if r.kind in GUARDED and r.id not in old and not named:
            yield f"{r.evidence.text!r} would be read in another way"
    if not fragment.drops and not _is_taken_up(fragment, after):
        yield f"{fragment.scan.text!r} does not fit it"


def _is_taken_up(fragment: Fragment, after: Reading) -> bool:
    """Whether all that it asks for came of it: the reader passes over what does not go together."""
    ids = {requirement.id for requirement in after.requirements}
    values = [requirement.value for requirement in after.requirements]
    functions = {value.function for value in values if isinstance(value, Metric)}
    computed = fragment.function is None or fragment.function.label in functions
    ranked = fragment.rank is None or "analysis:ranking" in ids or any(isinstance(value, Rank) for value in values)
    return fragment.wanted <= ids and computed and ranked


def _is_guarded(requirement: Requirement) -> bool:
    value = requirement.value
    lasting = isinstance(value, AnalysisAsked) and value.label not in PASSING
    return not requirement.implied and (requirement.kind in GUARDED or lasting)


def _asked_for(reading: Reading) -> dict[str, object]:
    whole = {"tables": reading.tables, "intents": tuple(intent.name for intent in reading.intents)}
    return whole | {
        requirement.id: (requirement.value, *_direction(requirement)) for requirement in reading.requirements
    }


def _direction(requirement: Requirement) -> tuple[str, ...]:
    """`the lowest` and `the highest` ask for one analysis; only their words tell them apart."""
    if requirement.id != "analysis:ranking":
        return ()
    return tuple(cue.label for cue in load_lexicon().rankings.find(words_of(requirement.evidence.text)))
