"""Words and phrases with a fixed meaning, and where they occur in a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from groundplan.text.plain_yaml import load_yaml
from groundplan.text.stems import stem
from groundplan.text.words import Word, words_of

FILE = Path(__file__).with_name("lexicon.yaml")


@dataclass(frozen=True)
class Cue:
    """A phrase that means something, from word `first` up to, not including, word `last`."""

    label: str
    first: int
    last: int


@dataclass(frozen=True)
class Phrases:
    """Labelled phrases, looked up by their first stem; the longest that fits wins."""

    by_first: dict[str, tuple[tuple[tuple[str, ...], str], ...]]

    def find(self, words: Sequence[Word]) -> tuple[Cue, ...]:
        """Every phrase in these words, from left to right, without overlaps."""
        return tuple(self._scan(words))

    def knowing(self, stems: tuple[str, ...], label: str) -> Phrases:
        """These phrases and one more."""
        at_first = sorted([*self.by_first.get(stems[0], ()), (stems, label)], key=lambda found: -len(found[0]))
        return Phrases({**self.by_first, stems[0]: tuple(at_first)})

    def _scan(self, words: Sequence[Word]) -> Iterator[Cue]:
        place = 0
        while place < len(words):
            cue = self._longest_at(words, place)
            if cue:
                yield cue
            place = cue.last if cue else place + 1

    def _longest_at(self, words: Sequence[Word], place: int) -> Cue | None:
        for stems, label in self.by_first.get(words[place].stem, ()):
            if tuple(word.stem for word in words[place : place + len(stems)]) == stems:
                return Cue(label, place, place + len(stems))
        return None


@dataclass(frozen=True)
class Lexicon:
    functions: Phrases
    groupings: Phrases
    analyses: Phrases
    rankings: Phrases
    orders: Phrases
    charts: Phrases
    outputs: Phrases
    grains: Phrases
    negations: Phrases
    comparisons: Phrases
    undrawn: Phrases
    changes: Phrases
    fillers: frozenset[str]

    @property
    def stems(self) -> frozenset[str]:
        """Of all words in it."""
        phrases = (getattr(self, name) for name in (*_LABELLED, *_LISTED))
        return self.fillers.union(*(words for one in phrases for found in one.by_first.values() for words, _ in found))


@cache
def load_lexicon() -> Lexicon:
    """The lexicon of lexicon.yaml, read once."""
    raw = load_yaml(FILE.read_text(encoding="utf-8"))
    return Lexicon(
        **{name: _labelled(raw[name]) for name in _LABELLED},
        **{name: _labelled({name: raw[name]}) for name in _LISTED},
        fillers=frozenset(stem(word) for line in raw["fillers"] for word in line.split()),
    )


_LISTED = ("groupings", "orders", "negations", "undrawn", "changes")
_LABELLED = ("functions", "analyses", "rankings", "charts", "outputs", "grains", "comparisons")


def _labelled(groups: dict[str, list[str]]) -> Phrases:
    by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for label, phrases in groups.items():
        for phrase in phrases:
            stems = _stems(phrase)
            by_first.setdefault(stems[0], []).append((stems, label))
    return Phrases({first: tuple(sorted(found, key=lambda f: -len(f[0]))) for first, found in by_first.items()})


def _stems(phrase: str) -> tuple[str, ...]:
    return tuple(word.stem for word in words_of(str(phrase)))
