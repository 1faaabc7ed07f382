"""Reports content words that no requirement cites."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from groundplan.asking.tables.follow_up.fragment import load_edit_words
from groundplan.asking.tables.grammar.lexicon import load
from groundplan.asking.tables.grammar.meanings import meanings_of
from groundplan.asking.tables.grammar.names import Names
from groundplan.asking.tables.nearest import nearest
from groundplan.asking.tables.nouns import may_name
from groundplan.asking.tables.values import Values
from groundplan.contracts.answer import Refusal, UnknownWord, refused
from groundplan.contracts.asks import cited_as
from groundplan.contracts.explanation import Fate, WordFate
from groundplan.contracts.reading import (
    AnalysisAsked,
    Evidence,
    Filter,
    GroupBy,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Requirement,
    Time,
    Value,
)
from groundplan.contracts.schema import SourceSchema, Table
from groundplan.text.lexicon import Phrases, load_lexicon
from groundplan.text.names import split_name, things_of
from groundplan.text.stems import stem
from groundplan.text.words import Word, words_of

LONGEST_NAME = 5  # words
FEW = 20  # groups that are read at a glance
GROUPING = frozenset(map(stem, ("which", "group", "split", "breakdown", "change", "best")))


def unread_words(reading: Reading, schema: SourceSchema) -> tuple[str, ...]:
    """The words that the reading does not account for."""
    return tuple(word.text for word in word_fates(reading, schema) if word.fate == "not understood")


def word_fates(reading: Reading, schema: SourceSchema) -> tuple[WordFate, ...]:
    """The fate of each word of the question, in order; in any of the things that it asks for."""
    if reading.also:
        told = [word_fates(ask, schema) for ask in reading.asks]
        return tuple(_of_all(fates) for fates in zip(*told, strict=True))
    words = words_of(reading.question)
    asking = [tuple(_asked_by(word, reading)) for word in words]
    evident = {place for place, word in enumerate(words) if asking[place] or _is_in_period(word, reading)}
    beside = _named(words, reading, evident) | _things(words, schema) | _again(words, reading, schema)

    def fate(place: int) -> Fate:
        if place not in evident and _is_structure(words[place]):
            return "structure"
        if place not in evident and any(covers(evidence, words[place]) for evidence in reading.replaced):
            return "replaced"
        if reading.follow_up and words[place].stem in load_edit_words().polish:
            return "structure"
        return "used" if place in evident | beside else "not understood"

    return tuple(
        WordFate(text=word.text, start=word.start, fate=fate(place), requirements=asking[place])
        for place, word in enumerate(words)
    )


def _asked_by(word: Word, reading: Reading) -> Iterator[str]:
    """The requirements that the word is evidence of. What only follows from them counts if nothing else does."""
    found = [r for r in reading.requirements if any(covers(e, word) for e in r.quotes)]
    yield from (r.id for r in found if not r.implied or all(other.implied for other in found))


def covers(evidence: Evidence, word: Word) -> bool:
    start = evidence.start
    return start is not None and start <= word.start and word.end <= start + len(evidence.text)


def _is_in_period(word: Word, reading: Reading) -> bool:
    phrase = reading.period.phrase if reading.period else ""
    start = reading.question.find(phrase)
    return bool(phrase) and start >= 0 and start <= word.start and word.end <= start + len(phrase)


def _is_structure(word: Word) -> bool:
    """Words such as `the` and `by`, and marks: they say nothing by themselves."""
    structure = load().structure
    if word.lower in structure or word.plain in structure:
        return True
    return not word.is_number and (len(word.lower) == 1 or not any(letter.isalpha() for letter in word.lower))


def _things(words: tuple[Word, ...], schema: SourceSchema) -> set[int]:
    """Words for the rows themselves, and those that only say of what kind a column is."""
    nouns = {stem(part) for table in schema.tables for part in split_name(table.name)}
    nouns |= {
        stem(part)
        for table in schema.tables
        for column in table.columns
        if column.role in ("id", "temporal")
        for part in split_name(column.name)
    }
    nouns |= {stem(word) for word in ("model", "record", "row", "item", "number", "amount", "name")}
    alike = [group for group in load().things if group & nouns]
    nouns = nouns.union(*alike)
    return {place for place, word in enumerate(words) if word.stem in nouns}


def _of_all(fates: Sequence[WordFate]) -> WordFate:
    used = [cited_as(id_, place) for place, word in enumerate(fates) for id_ in word.requirements]
    fate = next((word.fate for word in fates if word.fate != "not understood"), "not understood")
    fate = next((word.fate for word in fates if word.fate == "used"), fate)
    return fates[0].model_copy(update={"fate": fate, "requirements": tuple(used)})


def _is_drawn(values: Iterable[object]) -> bool:
    return any(isinstance(value, GroupBy | Time) for value in values)


def _again(words: tuple[Word, ...], reading: Reading, schema: SourceSchema) -> set[int]:
    """Words that name a column once more: `sales` in `sales and profit, with sales on the x axis`."""
    used = {name for requirement in reading.requirements for name in _columns(requirement)}
    table = next((table for table in schema.tables if table.name in reading.tables), None)
    if table is None:
        return set()
    names, size = Names(meanings_of(table, {})), len(words)
    windows = [(i, j) for i in range(size) for j in range(i + 1, min(i + LONGEST_NAME, size) + 1)]
    return {
        place
        for first, last in windows
        if any(column.name in used for _, column in names.find(words[first:last]))
        for place in range(first, last)
    }


def _columns(requirement: Requirement) -> Iterable[str]:
    name = getattr(requirement.value, "column", None)
    return (name,) if name else ()


def _named(words: tuple[Word, ...], reading: Reading, evident: set[int]) -> set[int]:
    """Words of the lexicon that say what the reading has: a function, an analysis, a chart, an order."""
    values = [requirement.value for requirement in reading.requirements]
    looking = GROUPING if len(values) > 2 and _is_drawn(values) else frozenset[str]()
    extra = {place for place, word in enumerate(words) if word.stem in looking}
    return extra | {
        place
        for phrases, labels in _phrases_for(values)
        for cue in phrases.find(words)
        if labels is None or cue.label in labels or (cue.label == "count" and {cue.last, cue.last + 1} & evident)
        for place in range(cue.first, cue.last)
    }


def _phrases_for(values: Sequence[Value]) -> Iterator[tuple[Phrases, Iterable[str] | None]]:
    """The phrases that may say one of these, each with the labels that do; None for all of them."""
    lexicon, kinds = load_lexicon(), {type(value) for value in values}
    analyses = _analyses_in(values)
    functions = {value.function or value.usual or "count" for value in values if isinstance(value, Metric)}
    yield lexicon.analyses, analyses
    yield lexicon.functions, functions | ({"count"} if "distribution" in analyses else set())
    yield from ((phrases, None) for phrases in (lexicon.groupings, lexicon.charts, lexicon.outputs))
    if Rank in kinds or "ranking" in analyses:
        yield lexicon.rankings, None
    if Time in kinds:
        yield lexicon.grains, None
    if Filter in kinds:
        yield from ((phrases, None) for phrases in (lexicon.comparisons, lexicon.negations))
    charts = any(isinstance(value, OutputAsked) and value.label == "chart" for value in values)
    if charts or Rank in kinds or "ranking" in analyses:
        yield lexicon.orders, None


def _analyses_in(values: Sequence[Value]) -> set[str]:
    """Those that are asked for, and those that what is asked for may be called."""
    found: set[str] = {value.label for value in values if isinstance(value, AnalysisAsked)}
    if _is_drawn(values) or sum(isinstance(value, Metric) for value in values) > 1:
        found |= {"distribution", "compare", "correlation"}
    if any(isinstance(v, Time) or (isinstance(v, GroupBy) and v.ordered) for v in values):
        found.add("trend")
    return found


def is_named(phrases: Iterable[str], schema: SourceSchema) -> bool:
    """Whether a table or a column has one of the words in its name: then it is known, but not understood."""
    names = [name for table in schema.tables for name in (table.name, *(column.name for column in table.columns))]
    stems = {stem(part) for name in names for part in split_name(name)}
    return any(stem(word.lower()) in stems for phrase in phrases for word in phrase.split())


def not_understood(
    words: Iterable[str], schema: SourceSchema, text: str = "", values: Mapping[str, Values] | None = None
) -> Refusal:
    """A refusal that names the words, the nearest things that the data has, and the setting that teaches the word."""
    said = _phrases_of(words, text)
    missing = _uncomputed(text, schema)
    if missing and all(is_named([phrase], schema) for phrase in said):
        said = missing
    if not said:
        problem = "I recognise every word but cannot tell what to compute"
        return refused(
            "reading/no-question", problem, f"say what to compute, of what, and by what{_as_example(schema, text)}"
        )
    quoted = ", ".join(repr(word) for word in said[:6])
    closed = [f"{table.name} cannot be read: {table.unreadable}" for table in schema.tables if table.unreadable][:3]
    known = is_named(said, schema)
    own = {phrase.lower() for phrase in said}
    near = [one for one in nearest(said, schema, values or {}) if one.told.lower() not in own]
    if near:
        hint = f"the nearest {'is' if len(near) == 1 else 'are'} {', '.join(one.told for one in near)}"
    else:
        hint = f"ask for what is there{_as_example(schema, text)}"
    problem = f"I do not understand {quoted} here" if known else f"the data has nothing called {quoted}"
    hints = "; ".join([*closed, hint])
    names = [phrase for phrase in said if may_name(phrase, text)]
    word, taught = _taught(names, schema, values or {}) if near or not names else (names[0], "COLUMN")
    if known or not taught:
        return refused("reading/unread-word", problem, hints)
    named, called = (json.dumps(name, ensure_ascii=False) for name in (taught, word))
    setting = f"; called = [{called}] under [columns.{named}] in groundplan.toml teaches the word"
    unknown = UnknownWord(word=word, setting=setting)
    return refused("reading/unread-word", problem, hints + setting).model_copy(update={"unknown": unknown})


def _taught(names: Sequence[str], schema: SourceSchema, values: Mapping[str, Values]) -> tuple[str, str | None]:
    """The first word that is near a column, and the column."""
    for word in names:
        columns = (one.column for one in nearest([word], schema, values) if one.column and one.value is None)
        if column := next(columns, None):
            return word, column
    return "", None


def _phrases_of(words: Iterable[str], text: str) -> list[str]:
    """The words, those that stand side by side together; words such as `by` part them."""
    lexicon, said, beside = load(), list[str](), ""
    for word in dict.fromkeys(words):
        if word.lower() in lexicon.structure | lexicon.no_noun_after:
            beside = ""
        elif beside and f"{beside} {word}" in text:
            said[-1] = beside = f"{beside} {word}"
        else:
            said.append(word)
            beside = word
    return said


def _uncomputed(text: str, schema: SourceSchema) -> list[str]:
    """Calculations of the field that the question names and no column is called like: profit, turnover."""
    words, find = words_of(text), load().find
    spans = ((first, last) for first in range(len(words)) for last in range(first + 1, min(first + 3, len(words)) + 1))
    formulas = [span for span in spans if any(kind == "formula" for kind, _ in find(words, *span))]
    phrases = [text[words[first].start : words[last - 1].end] for first, last in formulas]
    return [phrase for phrase in phrases if not is_named([phrase], schema)]


def _as_example(schema: SourceSchema, text: str) -> str:
    example = example_question(schema, text)
    return f": {example}" if example else ""


def _different(table: Table, name: str) -> int:
    column = table.find(name)
    return (column and column.cardinality) or 0


def example_question(schema: SourceSchema, text: str = "") -> str:
    """A question that the table which the words are about answers; else the first with a number and a category."""
    structure = load().structure | load().no_noun_after
    said = {word.stem for word in words_of(text) if word.lower not in structure}
    about = {table.name: _said_of(table, said) for table in schema.tables}
    most = max(about.values(), default=0)
    meant = [table for table in schema.tables if most and about[table.name] == most]
    for table in (*(meant if len(meant) == 1 else ()), *schema.tables):
        of = meanings_of(table, {}).of
        numbers = [name for name, meaning in of.items() if meaning in ("amount", "count")]
        rates = [name for name, meaning in of.items() if meaning == "rate"]
        by = [name for name, meaning in of.items() if meaning in ("category", "flag")]
        numbers.sort(key=lambda name: of[name] != "amount")
        by.sort(key=lambda name: not 2 <= _different(table, name) <= FEW)
        for names in (numbers, rates, by):
            names.sort(key=lambda name: not {stem(word) for word in split_name(name)} & said)
        added = [*(f"total {name}" for name in numbers), *(f"average {name}" for name in rates)]
        added += [f"number of {things}"] if [table] == meant and (things := things_of(table.name)) else []
        if added and by:
            return f"{added[0]} by {by[0]}"
    return ""


def _said_of(table: Table, said: Set[str]) -> int:
    """How much of what it is called was said; its own name weighs more than those of all its columns."""
    names = [split_name(column.name) for column in table.columns]
    columns = sum(bool({stem(word) for word in name} & said) for name in names)
    return columns + (len(names) + 1) * bool({stem(word) for word in split_name(table.name)} & said)
