"""Questions to trackers without a model: intents by their words, projects by name, dates, statuses and providers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from math import prod
from pathlib import Path

import yaml

from groundplan.contracts.retrieval import Reasoning, TrackerIntent
from groundplan.contracts.schema import SourceSchema
from groundplan.telemetry.audit import AgentContract, Capabilities, agent
from groundplan.text.entities import CASED, Mention, Registry, build_registry
from groundplan.text.lexicon import Cue, Phrases, load_lexicon
from groundplan.text.periods.find import Found, find_periods
from groundplan.text.stems import stem
from groundplan.text.words import Word, normalise, words_of

FILE = Path(__file__).with_name("trackers.yaml")
UNKNOWN = "unknown"
PROJECT = "project"  # the type of a name in the registry
NAME = re.compile(r"[^\s,;?!\"'«»()]+")


@dataclass(frozen=True)
class TrackerWords:
    """What `trackers.yaml` says. Intents are found family by family, so that one word may speak of two."""

    intents: Mapping[str, Phrases]  # a phrase's label is how sure it makes the intent
    yields_to: Mapping[str, frozenset[str]]
    unknown: float
    yields_from: float
    yielding: float
    statuses: Phrases
    providers: Phrases
    naming: Phrases
    negations: frozenset[str]
    between: frozenset[str]
    nameless: frozenset[str]


@cache
def load_tracker_words(file: Path = FILE) -> TrackerWords:
    """Read once for each file."""
    raw = yaml.safe_load(file.read_text(encoding="utf-8"))
    return TrackerWords(
        intents={name: _phrases(intent["words"]) for name, intent in raw["intents"].items()},
        yields_to={name: frozenset(intent.get("yields_to", ())) for name, intent in raw["intents"].items()},
        unknown=raw["unknown"],
        yields_from=raw["yielding"]["to"],
        yielding=raw["yielding"]["leaves"],
        statuses=_phrases(raw["statuses"]),
        providers=_phrases(raw["providers"]),
        naming=_phrases({"naming": raw["naming"]}),
        negations=frozenset(raw["negations"].split()),
        between=frozenset(map(stem, raw["between"].split())),
        nameless=frozenset(map(stem, raw["nameless"].split())),
    )


def read_projects(schemas: Iterable[SourceSchema]) -> Registry | None:
    """The projects of trackers by name, with all that they are called; None where no table tells of projects."""
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
    """Intents, the surest first, and what the question names; `projects` holds the names that are set up."""
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
    """One question, with the projects it names."""

    text: str
    words: tuple[Word, ...]
    known: TrackerWords
    names: tuple[Mention, ...]

    def intents(self) -> Iterator[TrackerIntent]:
        heard = {name: (_together(cues), cues[0]) for name, cues in self._heard()}
        strong = {name for name, (confidence, _) in heard.items() if confidence >= self.known.yields_from}
        found = [(TrackerIntent(type=UNKNOWN, confidence=self.known.unknown), 0)]
        for name, (confidence, cue) in heard.items():
            stays = self.known.yielding if self.known.yields_to[name] & strong else 1
            said = self._spoken(cue.first, cue.last)
            found.append((TrackerIntent(type=name, confidence=round(confidence * stays, 2), said=said), cue.first))
        if any(intent.confidence >= self.known.unknown for intent, _ in found[1:]):
            del found[0]
        for intent, _ in sorted(found, key=lambda item: (-item[0].confidence, item[1], item[0].type)):
            yield intent

    def entities(self, dates: Sequence[Found]) -> Iterator[tuple[str, tuple[str, ...]]]:
        yield "projects", _each_once(mention.entity.id for mention in self.names)
        yield "dates", _each_once(self.text[found.start : found.end] for found in dates)
        yield (
            "statuses",
            _each_once(label for cue in self._said(self.known.statuses) for label in cue.label.split(", ")),
        )
        yield "providers", _each_once(cue.label for cue in self._said(self.known.providers))

    def said(self, dates: Sequence[Found]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The words behind `entities`."""
        yield "projects", _each_once(self._spoken(mention.first, mention.last) for mention in self.names)
        yield "dates", _each_once(self.text[found.start : found.end] for found in dates)
        yield "statuses", _each_once(self._spoken(cue.first, cue.last) for cue in self._said(self.known.statuses))

    def unexplained(self, dates: Sequence[Found]) -> tuple[str, ...]:
        """Words that are neither a name, a date or a phrase of trackers nor said only to ask."""
        known = load_lexicon().fillers | self.known.between | self.known.nameless
        places = [
            place
            for place, word in enumerate(self.words)
            if word.stem not in known and not self._is_named(place) and not self._means(place)
        ]
        naming = {i for cue in self.known.naming.find(self.words) for i in range(cue.first, cue.last)}
        return _each_once(self.words[i].text for i in places if i not in naming and not self._is_dated(i, dates))

    def unresolved(self, dates: Sequence[Found]) -> tuple[str, ...]:
        """Dates with two meanings, statuses to leave out, and what stands where a project's name would."""
        doubtful = [self.text[found.start : found.end] for found in dates if not found.period]
        denied = [self._quoted(cue) for cue in self.known.statuses.find(self.words) if self._denied(cue)]
        strange = [self._as_written(place) for place in self._places_of_names() if self._is_strange(place, dates)]
        return _each_once([*doubtful, *denied, *strange])

    def is_in_a_name(self, found: Found) -> bool:
        spans = [(self.words[name.first].start, self.words[name.last - 1].end) for name in self.names]
        return any(start < found.end and found.start < end for start, end in spans)

    def _heard(self) -> Iterator[tuple[str, tuple[Cue, ...]]]:
        for name, phrases in self.known.intents.items():
            cues = self._said(phrases)
            if cues:
                yield name, cues

    def _said(self, phrases: Phrases) -> tuple[Cue, ...]:
        """Outside of names, and not denied."""
        return tuple(cue for cue in phrases.find(self.words) if not self._is_named(cue.first) and not self._denied(cue))

    def _denied(self, cue: Cue) -> bool:
        return cue.first > 0 and self.words[cue.first - 1].lower in self.known.negations

    def _spoken(self, first: int, last: int) -> str:
        return self.text[self.words[first].start : self.words[last - 1].end]

    def _quoted(self, cue: Cue) -> str:
        """With the word that denies it."""
        return self._spoken(cue.first - 1, cue.last)

    def _is_named(self, place: int) -> bool:
        return any(name.first <= place < name.last for name in self.names)

    def _places_of_names(self) -> Iterator[int]:
        """Behind a phrase that announces one, or with a capital before it: project Zeta, the Zeta project."""
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

    def _is_strange(self, place: int, dates: Sequence[Found]) -> bool:
        word = self.words[place]
        known = self._is_named(place) or word.stem in self.known.nameless or self._means(place)
        return not (known or self._is_dated(place, dates))

    def _is_dated(self, place: int, dates: Sequence[Found]) -> bool:
        word = self.words[place]
        return any(found.start < word.end and word.start < found.end for found in dates)

    def _means(self, place: int) -> bool:
        """Whether a phrase of the trackers' own words covers the place."""
        known = (*self.known.intents.values(), self.known.statuses, self.known.providers)
        return any(cue.first <= place < cue.last for phrases in known for cue in phrases.find(self.words))

    def _as_written(self, place: int) -> str:
        found = NAME.match(self.text, self.words[place].start)
        return found.group().rstrip(".:") if found else self.words[place].text


def _names(mentions: Iterable[Mention], words: Sequence[Word], known: TrackerWords) -> tuple[Mention, ...]:
    """Projects, without everyday words that a name is only near to: "issues" is not the project Issues."""
    cues = {cue.first for phrases in known.intents.values() for cue in phrases.find(words)}
    return tuple(
        mention
        for mention in mentions
        if mention.entity.type == PROJECT
        and (mention.confidence > CASED or mention.last - mention.first > 1 or mention.first not in cues)
    )


def _together(cues: Sequence[Cue]) -> float:
    """Each other word that speaks for an intent takes away some of the doubt that is left."""
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
