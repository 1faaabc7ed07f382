"""What an answer says about names that are counted: some differ only in case or spaces, and namesakes are one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groundplan.asking.tables.values import Values
from groundplan.contracts.expression import Aggregate, Column, walk
from groundplan.contracts.meaning import measure_of
from groundplan.contracts.reading import GroupBy, Metric, Reading
from groundplan.text.names import split_name
from groundplan.text.stems import lower

NAMING = frozenset({"name", "surname", "имя", "фамилия", "название", "наименование", "фио"})
TEXTS = {
    "en": "{} values of {!r} differ from others only in capital letters or spaces; they are counted apart",
    "ru": "значения, которые отличаются от других только регистром или пробелами, считаются отдельно: {} в {!r}",
}
NAMESAKES = {
    "en": "{!r} holds names, and names are counted: two of the same name are one",
    "ru": "в {!r} имена, и считаются имена: тёзки учтены один раз",
}


def counted_apart(reading: Reading, values: Mapping[str, Values]) -> tuple[str, ...]:
    """A note for each column whose different values are counted or make groups; columns with many are not known."""
    text = TEXTS["ru" if reading.language == "ru" else "en"]
    known = {name: listed for table in reading.tables for name, listed in values.get(table, {}).items()}
    names = dict.fromkeys(name for requirement in reading.requirements for name in _told_apart(requirement.value))
    several = {name: len(known[name]) - len({*map(_folded, known[name])}) for name in names if name in known}
    apart = tuple(text.format(more, name) for name, more in several.items() if more)
    return (*apart, *(NAMESAKES["ru" if reading.language == "ru" else "en"].format(name) for name in _names(reading)))


def _names(reading: Reading) -> Iterator[str]:
    """The columns of names whose different values are counted."""
    metrics = [requirement.value for requirement in reading.requirements if isinstance(requirement.value, Metric)]
    counted = dict.fromkeys(name for metric in metrics for name in _told_apart(metric))
    yield from (name for name in counted if NAMING & {*split_name(name)[-1:]})


def _told_apart(value: object) -> Iterator[str]:
    if isinstance(value, GroupBy) and value.expression is None:
        yield value.column
    if isinstance(value, Metric):
        for node in walk(measure_of(value)):
            if isinstance(node, Aggregate) and node.function == "count_distinct" and isinstance(node.of, Column):
                yield node.of.name


def _folded(value: str) -> str:
    return " ".join(lower(value).split())
