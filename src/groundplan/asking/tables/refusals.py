"""What no table answers, said in words of its own: refused by name, because passing over it would change the result."""

from __future__ import annotations

import re
from collections.abc import Sequence

from groundplan.contracts.answer import Refusal, refused
from groundplan.contracts.reading import Requirement
from groundplan.contracts.schema import SourceSchema
from groundplan.text.lexicon import Phrases, load_lexicon
from groundplan.text.names import split_name
from groundplan.text.stems import stem
from groundplan.text.words import Word, normalise, texts_of, words_of

ORDINALS = frozenset(
    map(
        stem,
        ["second", "third", "fourth", "fifth", "2nd", "3rd", "4th", "5th", "второй", "третий", "четвертый", "пятый"],
    )
)
LONGEST = 2_000  # characters of a question
MOST_WORDS, LONGEST_WORD = 350, 200
JUDGED = re.compile(
    r"^(?:is|are|was|were|how)\b(?!\s+(?:many|much)).*?\b(?P<said>good|bad|okay|healthy)\b"
    r"(?=\s*[?.!]*$|\s+(?:is|are|was|were|in|for|at|this|last|by|now)\b)|^(?P<ru>хорош\w*|плох\w*) ли\b",
    re.IGNORECASE,
)
TAKEN_OF = re.compile(
    r"\b(?:average|avg|mean|median|total|sum|share|средн\w+|медиан\w*|сумм\w*|общ\w+|дол[яиюе]\w*)\b", re.IGNORECASE
)
KINDS = "bar, line, area, scatter, histogram, box or heat map"


def unaskable(text: str, words: Sequence[Word]) -> Refusal | None:
    """No question at all, one too long to read, or one for a judgement that no number gives."""
    if not words:
        return refused(
            "reading/empty", "the question has no words", "ask for something, such as: total revenue by region"
        )
    judged = JUDGED.search(text)
    if judged:
        problem = f"whether something is {(judged['said'] or judged['ru'])!r} is a judgement, and no number says it"
        return refused("reading/judgement", problem, "ask for what it can be held against: another period or group")
    return too_long(text)


def too_long(text: str) -> Refusal | None:
    """The time of the grammar grows with the square of the length."""
    if len(text) > LONGEST:
        return refused("reading/too-long", f"the question has {len(text)} characters", f"ask in at most {LONGEST}")
    words = texts_of(text)
    if len(words) > MOST_WORDS:
        return refused("reading/too-long", f"the question has {len(words)} words", f"ask in at most {MOST_WORDS}")
    if any(len(word) > LONGEST_WORD for word in words):
        return refused("reading/too-long", "a word of the question is too long", f"use at most {LONGEST_WORD} letters")
    return None


def unreadable_table(text: str, schema: SourceSchema) -> Refusal | None:
    """The question names a table that could not be read, or none could be: its words must not be tried on another."""
    said = {word.stem for word in words_of(normalise(text))}
    columns = {_stems(column.name) for table in schema.tables for column in table.columns}
    for table in schema.tables:
        names = {_stems(name) for name in (table.name, *table.synonyms)} - columns
        if table.unreadable and (not columns or any(name and name <= said for name in names)):
            problem = f"the table {table.name!r} cannot be read: {table.unreadable}"
            return refused("reading/unreadable-table", problem, "repair it, or ask about another table")
    return None


def aggregated_again(text: str, schema: SourceSchema) -> Refusal | None:
    """An average, a total or a share of a field that its data source aggregates: it has a value for each group only."""
    said = {word.stem for word in words_of(text)}
    fields = [column.name for table in schema.tables for column in table.columns if column.aggregated]
    named = next((name for name in fields if _stems(name) <= said), None)
    taken = TAKEN_OF.search(text)
    if named is None or taken is None:
        return None
    problem = f"{named!r} is computed for each group by its data source, so there is no {taken[0]!r} of it"
    return refused("reading/aggregated-again", problem, f"ask for {named!r} as it is, for all rows or by groups")


def unfounded(requirement: Requirement) -> Refusal:
    """The quoted words do not name what is asked for."""
    problem = f"the words {requirement.words!r} do not name {requirement.id!r}, which was read from them"
    return refused("reading/unfounded", problem, "name the column, the value or what to compute")


def _stems(name: str) -> frozenset[str]:
    return frozenset(map(stem, split_name(name)))


def find_refusal(text: str, words: Sequence[Word]) -> Refusal | None:
    """A change of data, a chart that is not drawn, one place of a ranking, or a file."""
    lexicon = load_lexicon()
    changes, undrawn = _first(lexicon.changes, text, words), _first(lexicon.undrawn, text, words)
    if changes:
        problem = f"{changes!r} asks for a change, and data is only read here"
        return refused("reading/change", problem, "ask what it holds")
    if undrawn:
        return refused("reading/chart", f"a {undrawn} is not drawn here", f"ask for a {KINDS}; bars show shares well")
    file = next((cue for cue in lexicon.outputs.find(words) if cue.label == "file"), None)
    if file:
        problem = f"files ({text[words[file.first].start : words[file.last - 1].end]!r}) are not part of an answer"
        hint = "leave it out and name a folder with --output: tables and charts go there"
        return refused("reading/file", problem, hint)
    return _nth(text, words)


def asks_for_change(outcome: object) -> bool:
    return isinstance(outcome, Refusal) and outcome.issues[0].code == "reading/change"


def _first(phrases: Phrases, text: str, words: Sequence[Word]) -> str:
    """The words of the first of these phrases."""
    return next((text[words[cue.first].start : words[cue.last - 1].end] for cue in phrases.find(words)), "")


def _nth(text: str, words: Sequence[Word]) -> Refusal | None:
    """`the second highest` is not the highest."""
    for cue in load_lexicon().rankings.find(words):
        if cue.first and words[cue.first - 1].stem in ORDINALS:
            said = text[words[cue.first - 1].start : words[cue.last - 1].end]
            return refused(
                "reading/rank-nth", f"one place of a ranking ({said!r}) is not read yet", "ask for the top 5"
            )
    return None
