"""What a question says about time that cannot be decided: days that are not exact, dates that are not there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from groundplan.asking.tables.grammar.lexicon import load
from groundplan.asking.tables.grammar.meanings import meanings_of
from groundplan.contracts.answer import Clarification, Refusal, refused
from groundplan.contracts.reading import Period
from groundplan.contracts.schema import SourceSchema
from groundplan.text.periods.find import Found
from groundplan.text.words import Word, language_of

TIMED = frozenset({"over_time", "grain"})
PERIODS = {
    "en": {
        "none": "'{}' cannot be read as exact days. Which ones do you mean?",
        "several": "'{}' could mean {} or {}. Which one do you mean?",
        "one": "'{}' is not exact. Do you mean {}{}?",
    },
    "ru": {
        "none": "«{}» не задаёт точных дней. Какие дни имеются в виду?",
        "several": "«{}» может значить {} или {}. Что имеется в виду?",
        "one": "«{}» неточно. Имеется в виду {}{}?",
    },
}


def unclear_period(text: str, periods: Sequence[Found], schema: SourceSchema) -> Clarification | None:
    """`on 03/04/2025`: the third of April or the fourth of March?"""
    texts = PERIODS["ru" if language_of(text) == "ru" else "en"]
    for found in periods if has_dates(schema) else ():
        words = text[found.start : found.end]
        spans = tuple(map(_span, found.candidates))
        if found.period is None and not spans:
            return Clarification(text=texts["none"].format(words), missing=words, open=True)
        if spans:
            asks = texts["several" if len(spans) > 1 else "one"].format(words, ", ".join(spans[:-1]), spans[-1])
            return Clarification(text=asks, missing=words, candidates=spans)
    return None


def no_time(text: str, words: tuple[Word, ...], periods: Sequence[Found], schema: SourceSchema) -> Refusal | None:
    """A period or a trend, where the data has no dates; periods that no question keeps together."""
    whole = [found for found in periods if found.period]
    if has_dates(schema):
        problem = "several periods that do not touch cannot be kept together"
        return refused("reading/periods", problem, "ask for one at a time") if len(whole) > 2 else None
    said = [text[found.start : found.end] for found in whole] or _timed(text, words)
    if not said:
        return None
    problem = f"the data has no dates, so {said[0]!r} cannot be told"
    return refused("reading/no-time", problem, f"ask without {said[0]!r}")


def has_dates(schema: SourceSchema) -> bool:
    """Dates, or years as numbers."""
    return any(meaning in ("date", "year") for table in schema.tables for meaning in meanings_of(table, {}).of.values())


def _timed(text: str, words: tuple[Word, ...]) -> list[str]:
    """Words for a trend or a grain: over time, monthly."""
    lexicon = load()
    return [
        text[words[first].start : words[last - 1].end]
        for first in range(len(words))
        for last in range(first + 1, min(first + lexicon.longest, len(words)) + 1)
        if any(category in TIMED for category, _ in lexicon.find(words, first, last))
    ]


def _span(period: Period) -> str:
    """One day, or the first and the last."""
    last = period.end - timedelta(days=1)
    return period.start.isoformat() if last == period.start else f"from {period.start} to {last}"
