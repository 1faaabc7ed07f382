"""Names that differ only in case or spaces: the answer says that they are counted apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groundplan.asking.tables.values import Values
from groundplan.contracts.expression import Aggregate, Column, walk
from groundplan.contracts.meaning import measure_of
from groundplan.contracts.reading import GroupBy, Metric, Reading
from groundplan.text.stems import lower

TEXTS = {
    "en": "{} values of {!r} differ from others only in capital letters or spaces; they are counted apart",
    "ru": "значения, которые отличаются от других только регистром или пробелами, считаются отдельно: {} в {!r}",
}


def counted_apart(reading: Reading, values: Mapping[str, Values]) -> tuple[str, ...]:
    """A note for each column whose different values are counted or make groups; columns with many are not known."""
    text = TEXTS["ru" if reading.language == "ru" else "en"]
    known = {name: listed for table in reading.tables for name, listed in values.get(table, {}).items()}
    names = dict.fromkeys(name for requirement in reading.requirements for name in _told_apart(requirement.value))
    several = {name: len(known[name]) - len({*map(_folded, known[name])}) for name in names if name in known}
    return tuple(text.format(more, name) for name, more in several.items() if more)


def _told_apart(value: object) -> Iterator[str]:
    if isinstance(value, GroupBy) and value.expression is None:
        yield value.column
    if isinstance(value, Metric):
        for node in walk(measure_of(value)):
            if isinstance(node, Aggregate) and node.function == "count_distinct" and isinstance(node.of, Column):
                yield node.of.name


def _folded(value: str) -> str:
    return " ".join(lower(value).split())
