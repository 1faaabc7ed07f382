"""Finds the date column that the words of a question refer to: `shipped in May` refers to the ship date."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.contracts.schema import Column, Table
from groundplan.text.names import split_name
from groundplan.text.stems import stem
from groundplan.text.words import Word

TIME_UNITS = frozenset({"year", "month", "quarter", "week", "hour", "weekday", "год", "месяц", "квартал"})
_ENGLISH_SORTS = "date day time timestamp at on id key code number no uuid"
_RUSSIAN_SORTS = "дата время номер код"
_SORTS = frozenset(map(stem, f"{_ENGLISH_SORTS} {_RUSSIAN_SORTS}".split()))


def telling_stems(column: Column) -> frozenset[str]:
    """The words of a column's name that distinguish it from similar columns: `order` in `order_date`."""
    return frozenset(stem(word) for word in split_name(column.name)) - _SORTS


def dating_words(words: Sequence[Word], table: Table) -> list[tuple[int, Column]]:
    """The positions of words that name a date column: `shipped in May` and `ship month` both mean the ship date."""
    units = {place for place, word in enumerate(words[1:]) if word.lower.removesuffix("s") in TIME_UNITS}
    telling = [(i, word) for i, word in enumerate(words) if i in units or word.lower.endswith("ed")]
    dates = [column for column in table.columns if column.kind == "time" or column.role == "temporal"]
    return [(place, column) for place, word in telling for column in dates if word.stem in telling_stems(column)]


def dated_by(words: Sequence[Word], table: Table) -> list[Column]:
    """The date columns that the question's verbs name; if the table lists no verbs, column names are used."""
    if any(column.verbs for column in table.columns):
        own = split_name(table.name)  # `merge` in "merge requests" does not mean that they were merged
        stems = {word.stem for word in words if word.lower not in own}
        return [c for c in table.columns if c.verbs and stems & {stem(verb) for verb in c.verbs}]
    named = [column for _, column in dating_words(words, table)]
    return [column for column in table.columns if column in named]
