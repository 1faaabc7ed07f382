"""Checks that the words of a citation show its value: numbers and dates are parsed, names and labels compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from groundplan.answering.verifying.artefacts import without_artefacts
from groundplan.answering.verifying.readback import shows_age, shows_moment, shows_number, shows_percent
from groundplan.answering.verifying.record import Record
from groundplan.answering.writing.citing import is_number
from groundplan.answering.writing.display import (
    as_field,
    as_given,
    condition,
    escaped,
    exact,
    joined_by,
    named,
    period,
    where,
)
from groundplan.answering.writing.kept_groups import kept_groups
from groundplan.answering.writing.phrases import GRAINS, METHODS, RHYTHMS, headed
from groundplan.answering.writing.subjects import selects_groups
from groundplan.answering.writing.tracing import Cell, Column, Derived, Place, Trace
from groundplan.contracts.answer import Citation
from groundplan.contracts.contract import Language
from groundplan.contracts.expression import read_condition
from groundplan.text.names import worded
from groundplan.text.safe import as_code

CONDITION = re.compile(r"plan\.steps\.\d+\.params\.(conditions\.\d+|where)")
HOLDS_COLUMN_NAMES = {"left", "right", "column"}


def shows(citation: Citation, trace: Trace, record: Record, language: Language) -> bool:
    text = citation.text
    match trace:
        case Place(path):
            return _shows_place(text, path, record, language)
        case Column(_, column):
            measure = record.subject(trace).measures.get(column)
            known = (measure.label(language), measure.counted(language)) if measure else (worded(column),)
            return text.casefold() in [name.casefold() for name in known if name]
        case Cell():
            return _shows_cell(text, trace, record, language)
        case Derived(function="share" | "change"):
            return shows_percent(text, record.number(trace), language)
        case _:
            return shows_number(text, record.number(trace), _unit(trace, record), language)


def _shows_cell(text: str, cell: Cell, record: Record, language: Language) -> bool:
    value, subject = record.value(cell), record.subject(cell)
    column = subject.columns[cell.column]
    if is_number(value):
        as_name = cell.column in subject.keys or cell.column not in subject.measures
        if as_name and text == named(value, language, column.grain):
            return True
        return shows_percent(text, value, language) or shows_number(text, value, column.unit, language)
    if isinstance(value, str) and column.kind == "time":
        return shows_moment(text, value, column.grain, language)
    if isinstance(value, str) and cell.column in HOLDS_COLUMN_NAMES and text.casefold() == worded(value).casefold():
        return True
    return text == named(value, language, column=cell.column)


def _shows_place(text: str, path: str, record: Record, language: Language) -> bool:
    found: Any = record.place(path)
    if CONDITION.fullmatch(path) and selects_groups(record.plan, path):
        return text.casefold() == kept_groups(record.plan, path, found, language).casefold()
    for pattern, words in PLANNED.items():
        if re.fullmatch(rf"plan\.(steps\.\d+\.params|requirements)\.{pattern}", path):
            return text.casefold() == words(found, language).casefold()
    for pattern, test in TOLD.items():
        if re.fullmatch(rf"facts\.{pattern}", path):
            return test(text, found, language)
    if re.fullmatch(r"facts\.(items|groups\.\d+\.items)\.\d+\.value", path):
        return _shows_item(text, record.place(path.removesuffix(".value")), language)
    return False


PLANNED: Mapping[str, Callable[[Any, Language], str]] = {
    r"conditions\.\d+\.values": lambda found, language: period(found[0], found[1], language),
    r"conditions\.\d+\.values\.0": lambda found, language: named(found, language, is_time=True),
    r"conditions\.\d+": condition,
    "where": lambda found, language: where(read_condition(found), language),
    r"\d+\.value": lambda found, language: condition(found.model_dump(mode="json"), language),
    "(current|previous)": lambda found, language: period(found[0], found[1], language),
    "method": lambda found, language: METHODS[language][found],
    "(column|x|y)": lambda found, _: worded(found),
    "limit": lambda found, _: str(found),
    "(right|left|table)": lambda found, _: as_code(found),
    "on": lambda found, _: joined_by(found),
}
"""Words for values of the plan, by param."""

TOLD: Mapping[str, Callable[[str, Any, Language], bool]] = {
    r"(tables\.\w+|charts\.\w+\.table)\.columns\.\d+\.grain": lambda text, found, language: (
        text == RHYTHMS[language].get(found)
    ),
    r"(tables\.\w+|charts\.\w+\.table)\.columns\.\d+\.partial\.\d+\.at": lambda text, found, language: shows_moment(
        text, found, "day", language
    ),
    r"(groups\.\d+\.)?items\.\d+\.(title|text)": lambda text, found, _: _shows_text(text, without_artefacts(found)),
    r"groups\.\d+\.title": lambda text, found, language: text == without_artefacts(headed(found, language)),
    r"groups\.\d+\.count": lambda text, found, language: text == exact(found, language),
    r"(state\.reason|failures\.\d+\.issue\.problem)": lambda text, found, _: text in (found, found.rstrip(".")),
    r"state\.age_seconds": shows_age,
    r"steps\.\d+\.(step|tool)": lambda text, found, language: text == as_given(found, language),
    r"steps\.\d+\.because\.conditions\.\d+": lambda text, found, _: text == as_code(found),
    r"(items|steps\.\d+\.given)\.\d+": lambda text, found, language: text == as_field(found, language),
    r"files\.\d+": lambda text, found, _: text == PurePath(found).name,
}
"""How the value at a path in the facts is shown."""


def _shows_text(text: str, found: str) -> bool:
    """As it is, in a cell of a table, or before the full stop of a sentence."""
    return text in (found, escaped(found), found.rstrip("."))


def _shows_item(text: str, item: Any, language: Language) -> bool:
    if item.kind == "grain" and text == GRAINS[language].get(item.value):
        return True
    if is_number(item.value):
        return shows_number(text, item.value, item.unit, language)
    return text == " ".join(filter(None, [named(item.value, language, is_time=True), item.unit]))


def _unit(trace: Trace, record: Record) -> str | None:
    match trace:
        case Derived("sum", (Column(_, column) as summed,)):
            return record.subject(summed).columns[column].unit
        case _:
            return None
