"""The lexicon of the grammar: phrases by category, and what is known about words in the names of columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from groundplan.text.names import is_short_for, split_name
from groundplan.text.plain_yaml import load_yaml
from groundplan.text.stems import lower, stem
from groundplan.text.words import Word, texts_of

FILE = Path(__file__).with_name("lexicon.yaml")
Key = tuple[str, ...]
VOWELS = "aeiouаеиоуыэюя"
INFLECTED = re.compile("(?:[sedyаиыя]|es|ed|ing|ions?|al|er)?")  # how words of one family go on
LISTS = frozenset(
    {
        "things",
        "persons",
        "more_persons",
        "means",
        "abbreviations",
        "numbers",
        "structure",
        "formula_parts",
        "told_by_values",
        "multiples",
        "spelt_numbers",
        "row_verbs",
        "codes",
        "yes_no",
        "sex_values",
        "event_names",
        "misspelt",
        "no_noun_after",
        "translated",
    }
)


@dataclass(frozen=True)
class Saying:
    """A word that people say, and the words that names of columns use for it."""

    say: tuple[Key, ...]
    names: tuple[Key, ...]


@dataclass(frozen=True, eq=False)
class Lexicon:
    phrases: Mapping[Key, tuple[tuple[str, str], ...]]  # stems, or `=` and a word as written: category and value
    longest: int
    structure: frozenset[str]
    things: tuple[frozenset[str], ...]
    persons: frozenset[str]
    more_persons: frozenset[str]
    means: Mapping[str, tuple[tuple[Key, Saying], ...]]  # by the first word of what names of columns use
    spoken: frozenset[str]  # the words of these sayings
    abbreviations: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, frozenset[str]]
    formula_parts: Mapping[str, tuple[str, ...]]
    multiples: Mapping[str, int]
    spelt_numbers: Mapping[str, int]
    misspelt: Mapping[str, str]  # short words that are often written so: what is meant
    row_verbs: Mapping[str, frozenset[str]]  # stem of a noun: stems of the verbs that say what its rows are
    told_by_values: tuple[tuple[tuple[Key, ...], frozenset[str]], ...]  # what columns of such values are called
    no_noun_after: frozenset[str]
    codes: Mapping[str, frozenset[str]]  # stem of a name: the codes that stand for it
    vocabulary: frozenset[str]  # to correct spelling
    said: frozenset[Key]  # all that people say for columns
    kinds: frozenset[str]  # words for kinds of numbers
    values: Mapping[str, Mapping[str, frozenset[str]]]  # category: value: words, in lower case
    name_words: frozenset[str]  # general words that names of columns and tables are made of
    name_stems: frozenset[str]
    _written_out: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def written_out(self, part: str) -> tuple[str, ...]:
        """The words that a part of a name is short for: by the list, or else words of one family that it begins or
        has the consonants of. Empty for what is a word itself, or short for several."""
        if part in self.abbreviations:
            return self.abbreviations[part]
        if part not in self._written_out:
            self._written_out[part] = self._long_for(part)
        return self._written_out[part]

    def _long_for(self, part: str) -> tuple[str, ...]:
        if len(part) < 3 or not part.isalpha() or part in self.name_words or stem(part) in self.name_stems:
            return ()
        plain = not any(letter in VOWELS for letter in part[1:])
        long = {word for word in self.name_words if len(word) > 3 and is_short_for(part, word)}
        found = sorted(
            (word for word in long if plain or 2 * len(part) <= len(word)), key=lambda word: (len(word), word)
        )
        if not plain and len(part) < 4:
            return ()  # a car is no carrier
        roots = (found[0].removesuffix("e"), stem(found[0])) if found else ()
        family = any(all(w.startswith(root) and INFLECTED.fullmatch(w, len(root)) for w in found) for root in roots)
        return tuple(found) if family else ()

    def find(self, words: tuple[Word, ...], first: int, last: int) -> Iterable[tuple[str, str]]:
        """Category and value of the phrase that these words are."""
        span = words[first:last]
        found = [*self.phrases.get(tuple(word.stem for word in span), ())]
        if len(span) == 1:
            found += self.phrases.get((f"={span[0].lower}",), ())
        return found


@lru_cache(maxsize=20_000)
def stems_of(phrase: str) -> Key:
    return tuple(map(stem, texts_of(phrase)))


MOST = ("самый", "самая", "самое", "самой", "самого", "самых", "самую", "самые", "самым", "самом")


def _keys(text: str) -> Iterable[Key]:
    """As written behind `=`, otherwise by stems; the forms of `самый` have stems of their own."""
    if text.startswith("=") and len(text) > 1:
        return [(text,)]
    first, _, rest = text.partition(" ")
    return [stems_of(f"{form} {rest}") for form in MOST] if first == MOST[0] and rest else [stems_of(text)]


def _translations(raw: Mapping[str, Any]) -> Iterable[tuple[str, ...]]:
    """An English word of names, and the Russian ones for it."""
    return [(name, *said) for name, said in raw["translated"].items()]


@cache
def load() -> Lexicon:
    """The lexicon of lexicon.yaml, read once."""
    raw = load_yaml(FILE.read_text(encoding="utf-8"))
    phrases: dict[Key, list[tuple[str, str]]] = {}
    spelt: set[str] = set()
    for category, values in raw.items():
        if category in LISTS:
            continue
        for value, listed in values.items():
            for phrase in listed:
                text = str(phrase)
                for key in _keys(text):
                    phrases.setdefault(key, []).append((category, str(value)))
                spelt.update(word for word in map(lower, texts_of(text)) if len(word) > 4)
    sayings = [
        Saying(tuple(map(stems_of, one["say"])), tuple(tuple(map(stem, split_name(name))) for name in one["names"]))
        for one in (*raw["means"], *({"say": said, "names": [name]} for name, *said in _translations(raw)))
    ]
    name_words = frozenset(_name_words(raw))
    return Lexicon(
        name_words=name_words,
        name_stems=frozenset(map(stem, name_words)),
        phrases={key: tuple(dict.fromkeys(found)) for key, found in phrases.items()},
        longest=max(map(len, phrases)),
        structure=frozenset(lower(word) for line in raw["structure"] for word in line.split()),
        things=tuple(frozenset(map(stem, group)) for group in (*raw["things"], *_translations(raw))),
        persons=frozenset(map(stem, raw["persons"])),
        more_persons=frozenset(map(stem, raw["more_persons"])),
        means=_by_first_word(sayings),
        spoken=frozenset(word for saying in sayings for key in saying.say for word in key),
        abbreviations={
            lower(short): (long,) if isinstance(long, str) else tuple(long)
            for short, long in raw["abbreviations"].items()
        },
        numbers={kind: frozenset(map(stem, words)) for kind, words in raw["numbers"].items()},
        formula_parts={name: tuple(forms) for name, forms in raw["formula_parts"].items()},
        multiples=raw["multiples"],
        misspelt=raw["misspelt"],
        spelt_numbers=raw["spelt_numbers"],
        row_verbs={stem(noun): frozenset(map(stem, verbs)) for noun, verbs in raw["row_verbs"].items()},
        told_by_values=tuple(
            (tuple(map(stems_of, one["say"])), frozenset(map(lower, one["values"]))) for one in raw["told_by_values"]
        ),
        no_noun_after=frozenset(lower(word) for line in raw["no_noun_after"] for word in line.split()),
        codes={stem(name): frozenset(map(lower, codes)) for name, codes in raw["codes"].items()},
        values={
            category: {value: frozenset(lower(str(word)) for word in words) for value, words in raw[category].items()}
            for category in ("yes_no", "sex_values", "event_names")
        },
        vocabulary=frozenset(spelt),
        said=frozenset(stems_of(phrase) for one in raw["means"] for phrase in one["say"]),
        kinds=frozenset(stem(word) for words in raw["numbers"].values() for word in words),
    )


def _name_words(raw: Mapping[str, Any]) -> Iterable[str]:
    named = [name for one in raw["means"] for name in one["names"]]
    named += [word for group in (*raw["things"], raw["persons"]) for word in group]
    named += [word for words in (*raw["numbers"].values(), *raw["event_names"].values()) for word in words]
    return (word for name in named for word in split_name(str(name)))


def _by_first_word(sayings: Iterable[Saying]) -> Mapping[str, tuple[tuple[Key, Saying], ...]]:
    found: dict[str, list[tuple[Key, Saying]]] = {}
    for saying in sayings:
        for key in saying.names:
            found.setdefault(key[0], []).append((key, saying))
    return {word: tuple(named) for word, named in found.items()}
