"""Reads questions about trackers without a model: finds intents, project names, dates, statuses and providers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from math import prod
from pathlib import Path

from groundplan.contracts.retrieval import Reasoning, TrackerIntent
from groundplan.contracts.schema import SourceSchema
from groundplan.telemetry.audit import AgentContract, Capabilities, agent
from groundplan.text.entities import CASED, Mention, Registry, build_registry
from groundplan.text.lexicon import Cue, Phrases, load_lexicon
from groundplan.text.periods.find import Found, find_periods
from groundplan.text.plain_yaml import load_yaml
from groundplan.text.stems import stem
from groundplan.text.words import Word, normalise, words_of

FILE = Path(__file__).with_name("trackers.yaml")
UNKNOWN = "unknown"
PROJECT = "project"  # the type of a name in the registry
NAME = re.compile(r"[^\s,;?!\"'«»()]+")


@dataclass(frozen=True)
class TrackerWords:
    """The contents of `trackers.yaml`. Each intent is searched for separately, so one word may count for two."""

    intents: Mapping[str, Phrases]  # a phrase's label is the confidence it gives the intent
    yields_to: Mapping[str, frozenset[str]]
    unknown: float
    yields_from: float
    yielding: float
    statuses: Phrases
    providers: Phrases
    people: Phrases
    naming: Phrases
    negations: frozenset[str]
    between: frozenset[str]
    nameless: frozenset[str]


@cache
def load_tracker_words(file: Path = FILE) -> TrackerWords:
    """Each file is read once."""
    raw = load_yaml(file.read_text(encoding="utf-8"))
    return TrackerWords(
        intents={name: _phrases(intent["words"]) for name, intent in raw["intents"].items()},
        yields_to={name: frozenset(intent.get("yields_to", ())) for name, intent in raw["intents"].items()},
        unknown=raw["unknown"],
        yields_from=raw["yielding"]["to"],
        yielding=raw["yielding"]["leaves"],
        statuses=_phrases(raw["statuses"]),
        providers=_phrases(raw["providers"]),
        people=_phrases(raw["people"]),
        naming=_phrases({"naming": raw["naming"]}),
        negations=frozenset(raw["negations"].split()),
        between=frozenset(map(stem, raw["between"].split())),
        nameless=frozenset(map(stem, raw["nameless"].split())),
    )


def read_projects(schemas: Iterable[SourceSchema]) -> Registry | None:
    """A registry of project names and their aliases; None if no table has a project column."""
    called: dict[str, dict[str, None]] = {}
    for column in (found for schema in schemas for table in schema.tables if (found := table.find(PROJECT))):
        for project in column.called:
            called.setdefault(project.value, {}).update(dict.fromkeys(project.words))
    return build_registry([(name, PROJECT, name, tuple(words)) for name, words in called.items()]) if called else None


@agent(
    AgentContract(
        id="intent_detection",
        version="1.0.0",
        needs=("question",),
        gives=("reasoning.intents", "reasoning.entities"),
        capabilities=Capabilities(parallel=True, retry=True, needs_model=False, deterministic=True, expected_ms=5),
    )
)
def detect_intents(
    question: str, projects: Registry, known: TrackerWords, *, today: date, timezone: str = "UTC"
) -> Reasoning:
    """The intents, most confident first, and the names in the question; `projects` holds the configured projects."""
    text = normalise(question)
    words = words_of(text)
    scan = _Scan(text, words, known, _names(projects.find(text, words), words, known))
    dates = [found for found in find_periods(text, today, timezone) if not scan.is_in_a_name(found)]
    return Reasoning(
        intents=tuple(scan.intents()),
        entities={name: values for name, values in scan.entities(dates) if values},
        said={name: words for name, words in scan.said(dates) if words},
        periods=tuple(found.period for found in dates if found.period),
        unexplained=scan.unexplained(dates),
        unresolved=scan.unresolved(dates),
    )


@dataclass(frozen=True)
class _Scan:
    """One question and the projects it names."""

    text: str
    words: tuple[Word, ...]
    known: TrackerWords
    names: tuple[Mention, ...]

    def intents(self) -> Iterator[TrackerIntent]:
        cued = {name: (_combined_confidence(cues), cues[0]) for name, cues in self._cues_by_intent()}
        strong = {name for name, (confidence, _) in cued.items() if confidence >= self.known.yields_from}
        found = [(TrackerIntent(type=UNKNOWN, confidence=self.known.unknown), 0)]
        for name, (confidence, cue) in cued.items():
            factor = self.known.yielding if self.known.yields_to[name] & strong else 1
            said = self._text_of(cue.first, cue.last)
            found.append((TrackerIntent(type=name, confidence=round(confidence * factor, 2), said=said), cue.first))
        if any(intent.confidence >= self.known.unknown for intent, _ in found[1:]):
            del found[0]
        for intent, _ in sorted(found, key=lambda item: (-item[0].confidence, item[1], item[0].type)):
            yield intent

    def entities(self, dates: Sequence[Found]) -> Iterator[tuple[str, tuple[str, ...]]]:
        yield "projects", _each_once(mention.entity.id for mention in self.names)
        yield "dates", _each_once(self.text[found.start : found.end] for found in dates)
        yield (
            "statuses",
            _each_once(label for cue in self._cues(self.known.statuses) for label in cue.label.split(", ")),
        )
        yield "providers", _each_once(cue.label for cue in self._cues(self.known.providers))
        yield from self._people_said(dates)

    def said(self, dates: Sequence[Found]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The question's words for each of `entities`."""
        yield "projects", _each_once(self._text_of(mention.first, mention.last) for mention in self.names)
        yield "dates", _each_once(self.text[found.start : found.end] for found in dates)
        yield "statuses", _each_once(self._text_of(cue.first, cue.last) for cue in self._cues(self.known.statuses))
        yield from self._people_said(dates)

    def _people_said(self, dates: Sequence[Found]) -> Iterator[tuple[str, tuple[str, ...]]]:
        found = [*self.people(dates)]
        for role in dict.fromkeys(role for role, _, _ in found):
            yield role, _each_once(self._text_of(first, last) for own, first, last in found if own == role)

    def people(self, dates: Sequence[Found]) -> Iterator[tuple[str, int, int]]:
        """Who is named after `by` or `assigned to`, and where: capitalised words that name nothing else."""
        for cue in self.known.people.find(self.words):
            last = cue.last
            while last < min(len(self.words), cue.last + 3) and self._is_a_person(last, dates):
                last += 1
            if last > cue.last:
                yield cue.label, cue.last, last

    def _is_a_person(self, place: int, dates: Sequence[Found]) -> bool:
        return self.words[place].text[0].isupper() and self._is_unknown(place, dates)

    def unexplained(self, dates: Sequence[Found]) -> tuple[str, ...]:
        """Words that are not part of a name, a date or a tracker phrase, and not filler."""
        known = load_lexicon().fillers | self.known.between | self.known.nameless
        places = [
            place
            for place, word in enumerate(self.words)
            if word.stem not in known and not self._is_named(place) and not self._is_tracker_word(place)
        ]
        naming = {i for cue in self.known.naming.find(self.words) for i in range(cue.first, cue.last)}
        naming |= {i for cue in self.known.people.find(self.words) for i in range(cue.first, cue.last)}
        naming |= {i for _, first, last in self.people(dates) for i in range(first, last)}
        return _each_once(self.words[i].text for i in places if i not in naming and not self._is_dated(i, dates))

    def unresolved(self, dates: Sequence[Found]) -> tuple[str, ...]:
        """Ambiguous dates, negated statuses, and unknown words in the place of a project name."""
        doubtful = [self.text[found.start : found.end] for found in dates if not found.period]
        negated = [self._with_negation(cue) for cue in self.known.statuses.find(self.words) if self._is_negated(cue)]
        unknown = [self._as_written(place) for place in self._name_places() if self._is_unknown(place, dates)]
        return _each_once([*doubtful, *negated, *unknown])

    def is_in_a_name(self, found: Found) -> bool:
        spans = [(self.words[name.first].start, self.words[name.last - 1].end) for name in self.names]
        return any(start < found.end and found.start < end for start, end in spans)

    def _cues_by_intent(self) -> Iterator[tuple[str, tuple[Cue, ...]]]:
        for name, phrases in self.known.intents.items():
            cues = self._cues(phrases)
            if cues:
                yield name, cues

    def _cues(self, phrases: Phrases) -> tuple[Cue, ...]:
        """The phrases found outside of names and not negated."""
        found = phrases.find(self.words)
        return tuple(cue for cue in found if not self._is_named(cue.first) and not self._is_negated(cue))

    def _is_negated(self, cue: Cue) -> bool:
        return cue.first > 0 and self.words[cue.first - 1].lower in self.known.negations

    def _text_of(self, first: int, last: int) -> str:
        return self.text[self.words[first].start : self.words[last - 1].end]

    def _with_negation(self, cue: Cue) -> str:
        return self._text_of(cue.first - 1, cue.last)

    def _is_named(self, place: int) -> bool:
        return any(name.first <= place < name.last for name in self.names)

    def _name_places(self) -> Iterator[int]:
        """Where a project name is expected: after a naming phrase (project Zeta) or, capitalised, before it."""
        for cue in self.known.naming.find(self.words):
            before, after = cue.first - 1, self._after(cue)
            if before > 0 and self.words[before].text[0].isupper():
                yield before
            elif after < len(self.words) and not self._is_named(before):
                yield after

    def _after(self, cue: Cue) -> int:
        place = cue.last
        while place < len(self.words) and self.words[place].stem in self.known.between and not self._is_named(place):
            place += 1
        return place

    def _is_unknown(self, place: int, dates: Sequence[Found]) -> bool:
        word = self.words[place]
        known = self._is_named(place) or word.stem in self.known.nameless or self._is_tracker_word(place)
        return not (known or self._is_dated(place, dates))

    def _is_dated(self, place: int, dates: Sequence[Found]) -> bool:
        word = self.words[place]
        return any(found.start < word.end and word.start < found.end for found in dates)

    def _is_tracker_word(self, place: int) -> bool:
        """Whether the word is part of a phrase for an intent, a status or a provider."""
        known = (*self.known.intents.values(), self.known.statuses, self.known.providers)
        return any(cue.first <= place < cue.last for phrases in known for cue in phrases.find(self.words))

    def _as_written(self, place: int) -> str:
        found = NAME.match(self.text, self.words[place].start)
        return found.group().rstrip(".:") if found else self.words[place].text


def _names(mentions: Iterable[Mention], words: Sequence[Word], known: TrackerWords) -> tuple[Mention, ...]:
    """The projects named, without everyday words that only resemble a name: "issues" is not the project Issues."""
    cues = {cue.first for phrases in known.intents.values() for cue in phrases.find(words)}
    return tuple(
        mention
        for mention in mentions
        if mention.entity.type == PROJECT
        and (mention.confidence > CASED or mention.last - mention.first > 1 or mention.first not in cues)
    )


def _combined_confidence(cues: Sequence[Cue]) -> float:
    """Noisy-or: every further cue for an intent reduces the remaining doubt."""
    return 1 - prod(1 - float(label) for label in {cue.label for cue in cues})


def _each_once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _phrases(groups: Mapping[object, Sequence[str]]) -> Phrases:
    by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for label, phrases in groups.items():
        for phrase in phrases:
            stems = tuple(word.stem for word in words_of(phrase))
            by_first.setdefault(stems[0], []).append((stems, str(label)))
    return Phrases({first: tuple(sorted(found, key=lambda f: -len(f[0]))) for first, found in by_first.items()})
