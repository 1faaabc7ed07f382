"""Which rules and words of the grammar questions use, and how each set scores without what it alone uses.

    python benchmarks/grammar_use.py FOLDER... [--unused]

The folders have the format of `groundplan eval questions`; no model reads. A set is scored as one that the grammar was
never taught by: without all rules, phrases and words that no other set uses. That is a lower bound for a new table.
`--unused` lists the rules and words that no set uses.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from groundplan.asking.tables.grammar import lexicon, read, rules
from groundplan.asking.tables.grammar.chart import Cover
from groundplan.asking.tables.grammar.phrases import Item, Rule
from groundplan.asking.tables.grammar.rules import Builders
from groundplan.asking.tables.grammar.senses import Senses
from groundplan.asking.tables.grammar.state import DoesNotCompose, NeedsClarification, State, Unsound
from groundplan.evaluation.report import Report
from groundplan.evaluation.suites.questions import evaluate

Part = tuple[str, ...]
"""A rule, or a word or phrase of a section of the lexicon."""
WORDS = ("structure", "no_noun_after")
SAID = ("means", "translated", "things")


def main(folders: Sequence[Path], unused: bool) -> None:
    used: dict[str, set[Part]] = {}
    whole: dict[str, Report] = {}
    for folder in folders:
        with recorded() as found:
            whole[folder.name] = asyncio.run(evaluate(folder, None, lambda *_: None))
        used[folder.name] = found
    print(f"{'set':28} {'questions':>9}  right wrong   without its own: right wrong   of its own")
    for folder in folders:
        name = folder.name
        elsewhere = set[Part]().union(*(parts for other, parts in used.items() if other != name))
        own = used[name] - elsewhere
        with without(own):
            left = asyncio.run(evaluate(folder, None, lambda *_: None))
        print(f"{name:28} {left.n:9}  {_told(whole[name])}   {_told(left):>28}   {len(own):10}", flush=True)
    if unused:
        for part in sorted({*parts()} - set[Part]().union(*used.values())):
            print(*part, sep="\t")


def _told(report: Report) -> str:
    return f"{report.scores['right']:.3f} {report.scores['wrong']:.3f}"


def parts() -> Iterator[Part]:
    """All rules, phrases and words."""
    yield from (("rule", *rule[:3]) for rule in rules.RULES)
    for section, content in _raw().items():
        yield from ((section, *line) for line in _lines(section, content))


def _raw() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(lexicon.FILE.read_text(encoding="utf-8"))
    return found


def _lines(section: str, content: Any) -> Iterator[Part]:
    if section in WORDS:
        yield from ((word,) for line in content for word in line.split())
    elif section == "things":
        yield from ((word,) for group in content for word in group)
    elif section == "means":
        yield from ((one["names"][0], str(word)) for one in content for word in one["say"])
    elif section not in lexicon.LISTS or section in ("translated", "row_verbs"):
        yield from ((str(value), str(word)) for value, words in content.items() for word in words)


@contextmanager
def without(taken: set[Part]) -> Iterator[None]:
    """The grammar without these parts."""
    all_rules, file = rules.RULES, lexicon.FILE
    raw = {section: _kept(section, content, taken) for section, content in _raw().items()}
    with TemporaryDirectory() as folder:
        lexicon.FILE = Path(folder) / "lexicon.yaml"
        lexicon.FILE.write_text(yaml.safe_dump(raw, allow_unicode=True), encoding="utf-8")
        rules.RULES = tuple(rule for rule in all_rules if ("rule", *rule[:3]) not in taken)
        _forget()
        try:
            yield
        finally:
            rules.RULES, lexicon.FILE = all_rules, file
            _forget()


def _forget() -> None:
    lexicon.load.cache_clear()
    rules._parsed.cache_clear()


def _kept(section: str, content: Any, taken: set[Part]) -> Any:
    if section in WORDS:
        return [" ".join(word for word in line.split() if (section, word) not in taken) for line in content]
    if section == "things":
        return [[word for word in group if (section, word) not in taken] for group in content]
    if section == "means":
        return [
            one | {"say": [word for word in one["say"] if (section, one["names"][0], str(word)) not in taken]}
            for one in content
        ]
    if section in lexicon.LISTS and section not in ("translated", "row_verbs"):
        return content
    return {
        value: [word for word in words if (section, str(value), str(word)) not in taken]
        for value, words in content.items()
    }


@contextmanager
def recorded() -> Iterator[set[Part]]:
    """What the readings use from here on."""
    found: set[Part] = set()
    reading: Any = read
    best = reading._best

    def best_of(covers: list[Cover], senses: Senses, builders: Builders, wide: Any) -> Any:
        derived = best(covers, senses, builders, wide)
        cover = _winner(covers, senses, builders)
        if cover is not None and (derived.reading or derived.unsaid):
            found.update(_parts_of(cover, senses))
        return derived

    reading._best = best_of
    try:
        yield found
    finally:
        reading._best = best


def _winner(found: list[Cover], senses: Senses, builders: Builders) -> Cover | None:
    """The first complete cover that makes a reading."""
    for cover in found:
        for compose in read.ways_to_compose(cover, senses.words) if cover.found and not cover.unread else ():
            with suppress(DoesNotCompose, NeedsClarification, Unsound):
                compose(State(cover, senses.words, senses.text, builders))
                return cover
    return None


def _parts_of(cover: Cover, senses: Senses) -> Iterator[Part]:
    known, covered = senses.meanings.lexicon, set[int]()
    leaves: list[Item] = []
    waiting = [*cover.found]
    while waiting:
        item = waiting.pop()
        covered.update(range(item.first, item.last))
        if item.rule is None:
            leaves.append(item)
            continue
        yield ("rule", item.rule.result, " ".join(item.rule.parts), _line(item.rule))
        waiting += item.parts
    leaves += [i for i in senses.items if i.category == "filler" and covered.isdisjoint(range(i.first, i.last))]
    said = {tuple(word.stem for word in senses.words[leaf.first : leaf.last]) for leaf in leaves}
    said |= {(f"={senses.words[leaf.first].lower}",) for leaf in leaves if leaf.length == 1}
    inner = {key[i:j] for key in said for i in range(len(key)) for j in range(i + 1, len(key) + 1)}
    skipped = {word.lower for place, word in enumerate(senses.words) if place not in covered}
    skipped_stems = {(word.stem,) for place, word in enumerate(senses.words) if place not in covered}
    for section, content in _sections():
        for line in _lines(section, content):
            text = line[-1]
            if section in WORDS:
                used = text in skipped
            elif section in SAID:
                used = lexicon.stems_of(text) in inner
            elif section == "row_verbs":
                used = lexicon.stems_of(text) in inner | skipped_stems
            else:
                used = any(key in said for key in lexicon._keys(text))
            if used and (section in lexicon.LISTS or _is_found(line[0], section, known, text)):
                yield (section, *line)


def _is_found(value: str, section: str, known: lexicon.Lexicon, text: str) -> bool:
    return any((section, value) in known.phrases.get(key, ()) for key in lexicon._keys(text))


_RAW: list[tuple[str, Any]] = []


def _sections() -> list[tuple[str, Any]]:
    if not _RAW:
        _RAW.extend(_raw().items())
    return _RAW


def _line(rule: Rule) -> str:
    return " ".join((rule.build.__name__, *map(str, rule.takes)))


if __name__ == "__main__":
    given = [one for one in sys.argv[1:] if not one.startswith("--")]
    main([Path(one) for one in given], "--unused" in sys.argv)
