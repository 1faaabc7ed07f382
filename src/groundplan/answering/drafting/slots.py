"""What a drafted text may speak of: numbers, names and conditions of one table, each a slot that code fills."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from groundplan.answering.drafting.tokens import kinds_of
from groundplan.answering.writing.citing import Cites, Citing, Figure, placed
from groundplan.answering.writing.display import condition_of, named, period, where
from groundplan.answering.writing.subjects import ShownMeasure, Subject, selects_groups, subjects
from groundplan.answering.writing.tracing import flat
from groundplan.contracts.answer import Citation, ShownTable
from groundplan.contracts.contract import Language, Scalar
from groundplan.contracts.facts import Facts
from groundplan.contracts.plan import CheckedPlan
from groundplan.contracts.reading import GroupBy, Metric, Time
from groundplan.text.names import worded
from groundplan.text.period_names import whole_period
from groundplan.text.stems import stem

MOST_ROWS, MOST_SLOTS, MOST_KEYS = 15, 60, 2
PERIOD = "period compared"  # the key that tells the two sides of a comparison apart
KINDS = frozenset({"measured", "ranking", "shares", "periods", "changes"})
At = Mapping[str, Scalar]
Key = frozenset[tuple[str, Scalar]]
Sort = Literal["value", "share", "change"]


@dataclass(frozen=True)
class Slot:
    id: str
    kind: Literal["number", "name", "condition", "clause"]
    cite: Citation
    column: str = ""  # of a number: its measure; of a name: its key
    at: At = field(default_factory=dict)  # the names of the row, or of the rows that are summed
    sort: Sort = "value"
    span: tuple[Scalar, Scalar] | None = None  # of a change: the two points of time
    labels: frozenset[str] = frozenset()  # the columns by whose label a number may be called


@dataclass(frozen=True)
class SlotOffer:
    """The slots of one table, and all its numbers for comparisons."""

    subject: Subject
    language: Language
    slots: Mapping[str, Slot]
    values: Mapping[str, Mapping[Key, float]]  # by column; by the names of the row or the rows that are summed
    axis: str  # the key that is ordered in time; empty if there is none
    order: tuple[Scalar, ...]  # its values, in order
    partial: frozenset[Scalar]  # the points of time with too little data to be called the lowest
    labels: Mapping[tuple[str, ...], frozenset[str]]  # stems of a label, and the columns that have it
    functions: Mapping[str, str | None]
    grains: frozenset[str]
    told: tuple[str, ...]  # the columns that were asked for
    wholes: Mapping[str, tuple[str, str]]  # a rate, and the columns that it divides

    def numbers(self) -> list[Slot]:
        return [slot for slot in self.slots.values() if slot.kind == "number"]

    def misleads(self, name: str) -> bool:
        """Whether a name in the data would read as a word of the sentence: `not`, `highest`, `about`."""
        slot = self.slots[name]
        words = re.findall(r"[^\W\d_]+", slot.cite.text)
        said = (word.lower() in REFUSED or kinds_of(word, self.language) for word in words)
        return slot.kind in ("name", "condition") and bool(words) and slot.column != self.axis and all(said)

    def rivals(self, column: str, at: At) -> dict[Key, float]:
        """The numbers with the same keys, itself included."""
        return {key: number for key, number in self.values[column].items() if {name for name, _ in key} == {*at}}


def offer(plan: CheckedPlan, facts: Facts, shown: Mapping[str, ShownTable], language: Language) -> SlotOffer | None:
    """None if the answer is not about one table of a kind that drafts can speak of."""
    about = subjects(plan, facts, shown)
    if len(about) != 1 or facts.steps or facts.groups or not about[0].rows:
        return None
    subject = about[0]
    whole = subject.complete and (subject.keys or len(subject.rows) == 1)
    if subject.kind not in KINDS or not whole or len(subject.keys) > MOST_KEYS or subject.params.get("within"):
        return None
    made = _Offering(plan, Citing(subject, language))
    found = made.offer()
    if found is None or not found.numbers() or len(found.slots) > MOST_SLOTS or any(map(found.misleads, found.slots)):
        return None
    return found


@dataclass(frozen=True)
class _Number:
    column: str
    at: At
    figure: Figure


class _Offering:
    def __init__(self, plan: CheckedPlan, cite: Citing) -> None:
        self.plan, self.cite, self.subject = plan, cite, cite.subject
        self.slots: dict[str, Slot] = {}
        self._ids: dict[str, str] = {}
        compares = self.subject.kind == "periods"
        self.axis = PERIOD if compares else self.subject.time or ""
        times = {row[self.axis] for row in self.subject.rows} if self.axis and not compares else set()
        self.order: tuple[Scalar, ...] = (
            ("previous", "current") if compares else tuple(sorted(filter(None, times), key=str))
        )

    def offer(self) -> SlotOffer | None:
        columns = self._columns()
        labels = self._labels(columns)
        if labels is None:
            return None
        numbers = [number for column in columns for number in self._numbers(column)]
        values: defaultdict[str, dict[Key, float]] = defaultdict(dict)
        for number in numbers:
            values[number.column][frozenset(number.at.items())] = number.figure.value
        for number in self._worth_telling(numbers, values):
            self._tell(number, values[number.column])
        self._conditions()
        measures = self.subject.measures
        return SlotOffer(
            subject=self.subject,
            language=self.cite.language,
            slots=self.slots,
            values=values,
            axis=self.axis,
            order=self.order,
            partial=self.subject.incomparable if self.axis != PERIOD else frozenset(),
            labels=labels,
            functions={column: self._function(column) for column in columns},
            grains=frozenset(self._grains()),
            told=tuple(self._told(columns)),
            wholes={
                name: (told.quotient.part, told.quotient.whole) for name, told in measures.items() if told.quotient
            },
        )

    def _columns(self) -> list[str]:
        kind, params = self.subject.kind, self.subject.params
        if kind == "periods":
            return ["current"]
        if kind == "ranking":
            return [params["by"]]
        if kind in ("shares", "changes"):
            return [params["column"], params.get("as", "share")]
        return [name for name in self.subject.measures if name not in self.subject.keys]

    def _told(self, columns: Sequence[str]) -> list[str]:
        kind, params, measures = self.subject.kind, self.subject.params, self.subject.measures
        if kind in ("shares", "changes"):
            return [params.get("as", "share")]
        return [name for name in columns if measures[name].quotient] or list(columns)

    def _function(self, column: str) -> str | None:
        measure = self.subject.measures[column]
        return "rows" if measure.function == "count" and measure.of is None else measure.function

    def _numbers(self, column: str) -> Iterator[_Number]:
        subject, measure = self.subject, self.subject.measures[column]
        for shown, side in (
            (("previous", "previous"), ("current", "current")) if self.axis == PERIOD else ((column, None),)
        ):
            told = {PERIOD: side} if side else {}
            keys = subject.keys or (subject.naming if subject.kind == "ranking" else ())
            for figure in self.cite.figures(shown, keys) if keys or len(subject.rows) == 1 else ():
                yield _Number(column, {**_names(subject, figure.row, keys), **told}, figure)
            if not measure.additive or not subject.keys or subject.kind in ("ranking", "changes"):
                continue
            for size in range(len(subject.keys)):
                for by in combinations(subject.keys, size):
                    for figure in self.cite.figures(shown, by):
                        yield _Number(column, {**_names(subject, figure.row, by), **told}, figure)

    def _worth_telling(self, numbers: Sequence[_Number], values: Mapping[str, Mapping[Key, float]]) -> list[_Number]:
        """All numbers of a short table; of a long one the ends of each series, the highest and the lowest."""
        found = []
        for number in numbers:
            rivals = [
                rival.figure.value for rival in numbers if rival.column == number.column and {*rival.at} == {*number.at}
            ]
            ends = self.axis in number.at and number.at[self.axis] in (self.order[0], self.order[-1])
            if len(rivals) <= MOST_ROWS or number.figure.value in (max(rivals), min(rivals)) or ends:
                found.append(number)
        return found

    def _tell(self, number: _Number, values: Mapping[Key, float]) -> None:
        figure, measure = number.figure, self.subject.measures[number.column]
        for column, value in number.at.items():
            self._name(column, value, figure.row)
        share = self.subject.kind == "shares" and number.column != self.subject.params["column"]
        labels = frozenset(
            {number.column, self.subject.params["column"]}
            if self.subject.kind in ("shares", "changes")
            else {number.column}
        )
        cites = self.cite.ratio(figure.row, number.column) if share else self.cite.figure(figure, fully=not number.at)
        self._add("number", cites, number.column, number.at, "share" if share else "value", labels)
        if not measure.additive or self.subject.kind not in ("measured", "periods"):
            return
        if len(number.at) == 1 and self.axis not in number.at and min(values.values()) >= 0:
            whole = self.cite.figures(number.column, ())[0]
            if whole.value > 0:
                self._add("number", self.cite.share(figure, whole), number.column, number.at, "share", labels)
        self._change(number, labels)

    def _change(self, number: _Number, labels: frozenset[str]) -> None:
        """The change from the first point of time to this one, if it is the last."""
        if not self.order or number.at.get(self.axis) != self.order[-1] or len(self.order) < 2:
            return
        if {self.order[0], self.order[-1]} & {*(self.subject.incomparable if self.axis != PERIOD else ())}:
            return
        others = {name: value for name, value in number.at.items() if name != self.axis}
        first = self._first(number, others)
        cites = self.cite.change(first, number.figure) if first else ()
        if cites and not self.subject.columns[number.figure.column].ratio:
            self._add("number", cites, number.column, others, "change", labels, (self.order[0], self.order[-1]))

    def _first(self, number: _Number, others: At) -> Figure | None:
        wanted = {**others, self.axis: self.order[0]}
        return next((one.figure for one in self._numbers(number.column) if one.at == wanted), None)

    def _name(self, column: str, value: Scalar, row: int) -> None:
        if column == PERIOD:
            start, end = self.subject.params[str(value)]
            cites = placed(
                period(start, end, self.cite.language), f"{self.subject.params_path}.{value}", flat((start, end))
            )
        else:
            known = [place for place, told in enumerate(self.subject.rows) if told[column] == value]
            cites = self.cite.name(known[0], column)
        self._add("name", cites, column, {column: value})

    def _conditions(self) -> None:
        for path, told in self.subject.filters.items():
            operator, values = told.get("operator"), told.get("values", ())
            if selects_groups(self.plan, path):
                continue  # the remarks say which groups are shown
            simple = path.rpartition(".")[0].endswith(".conditions")
            if simple and operator == "=" and len(values) == 1:
                cites = placed(named(values[0], self.cite.language, is_time=True), f"{path}.values.0", values[0])
                self._add("condition", cites, str(told["column"]))
            elif simple and operator == "between" and _is_whole(values):
                cites = placed(
                    period(str(values[0]), str(values[1]), self.cite.language), f"{path}.values", flat(values)
                )
                self._add("condition", cites, str(told["column"]))
            else:
                words = where(condition_of(path, told), self.cite.language)
                self._add("clause", placed(words, path, flat(told)))

    def _add(
        self,
        kind: Literal["number", "name", "condition", "clause"],
        cites: Cites,
        column: str = "",
        at: At | None = None,
        sort: Sort = "value",
        labels: frozenset[str] = frozenset(),
        span: tuple[Scalar, Scalar] | None = None,
    ) -> None:
        if not cites or cites[0].fact in self._ids:
            return
        letter = {"number": "v", "name": "n", "condition": "c", "clause": "c"}[kind]
        number = 1 + sum(name.startswith(letter) for name in self.slots)
        made = Slot(f"{letter}{number}", kind, cites[0], column, at or {}, sort, span, labels)
        self._ids[cites[0].fact] = made.id
        self.slots[made.id] = made

    def _grains(self) -> Iterator[str]:
        if self.subject.time and (grain := self.subject.columns[self.subject.time].grain):
            yield grain
        spans = [told.get("values", ()) for told in self.subject.filters.values() if told.get("operator") == "between"]
        if self.axis == PERIOD:
            spans += [self.subject.params[side] for side in ("current", "previous")]
        for span in spans:
            if _is_whole(span):
                yield str(whole_period(*span))

    def _labels(self, columns: Sequence[str]) -> dict[tuple[str, ...], frozenset[str]] | None:
        """The words for each column: its name, and what the question calls it. None if one could be a claim."""
        found: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
        for column in columns:
            measure = self.subject.measures[column]
            name = measure.name or measure.of or ("" if measure.function == "count" else column)
            for phrase in (worded(name), *self._called(measure)):
                found[_stems(phrase)].add(column)
        for key in (*self.subject.keys, *(self.subject.naming if self.subject.kind == "ranking" else ())):
            words = worded(key).split()
            for phrase in (worded(key), words[-1] if words else "", *self._asked(key)):
                found[_stems(phrase)].add(key)
        for told in self.subject.filters.values():
            if isinstance(kept := told.get("column"), str):
                for phrase in (worded(kept), *self._asked(kept)):
                    found[_stems(phrase)].add(kept)
        found.pop((), None)
        growing = {self.subject.params["as"]} if self.subject.kind == "changes" else set()
        if growing:
            found[_stems("growth")], found[_stems("рост")] = growing, growing
        known = {phrase: frozenset(names) for phrase, names in found.items()}
        return None if any(self._claims(name) for name in {*columns, *self.subject.keys} - growing) else known

    def _claims(self, column: str) -> bool:
        """Whether a column's name has a word that would be a comparison: `lowest price`, `change`."""
        measure = self.subject.measures.get(column)
        name = (measure.name or measure.of or "") if measure else column
        risky = {"high", "low", "more", "less", "rise", "fall", "first", "last", "change", "half", "double", "level"}
        return any(kinds_of(word, self.cite.language) & risky for word in worded(name).split())

    def _called(self, measure: ShownMeasure) -> Iterator[str]:
        """The question's name for the measure."""
        asked = [one for one in self.plan.requirements if isinstance(one.value, Metric)]
        for requirement in asked:
            value = requirement.value
            assert isinstance(value, Metric)
            same = value.name == measure.name if value.expression else value.column == measure.of
            if same and not requirement.chosen:
                for evidence in requirement.quotes:
                    alone = len(asked) == 1 and not value.expression
                    yield from self._content(evidence.text) if alone else [evidence.text]

    def _asked(self, column: str) -> Iterator[str]:
        for requirement in self.plan.requirements:
            value = requirement.value
            if isinstance(value, GroupBy | Time) and value.column == column and not requirement.chosen:
                others = {part for other in self.subject.keys if other != column for part in _stems(worded(other))}
                yield from (word for word in self._content(requirement.words) if stem(word) not in others)

    def _content(self, text: str) -> Iterator[str]:
        """The words of the question that mean the column: without those that the list knows."""
        words = [word.strip(".,;:!?\"'«»()") for word in text.split()]
        for word in words:
            if (
                word.isalpha()
                and len(word) > 2
                and not kinds_of(word, self.cite.language)
                and word.lower() not in REFUSED
            ):
                yield word


REFUSED = frozenset(
    [
        "not",
        "no",
        "never",
        "without",
        "except",
        "excluding",
        "only",
        "because",
        "due",
        "since",
        "therefore",
        "caused",
        "will",
        "would",
        "may",
        "might",
        "could",
        "expected",
        "probably",
        "likely",
        "about",
        "almost",
        "nearly",
        "roughly",
        "around",
        "than",
        "не",
        "нет",
        "без",
        "кроме",
        "только",
        "из-за",
        "потому",
        "поэтому",
        "будет",
        "может",
        "вероятно",
        "около",
        "почти",
        "примерно",
    ]
)
"""Words that a question may use and a draft must not."""


def _names(subject: Subject, row: int, keys: Iterable[str]) -> At:
    return {key: subject.rows[row][key] for key in keys}


def _stems(phrase: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in phrase.replace("-", " ").split() if word.isalpha())


def _is_whole(values: Sequence[Scalar]) -> bool:
    try:
        return len(values) == 2 and whole_period(str(values[0]), str(values[1])) is not None
    except ValueError:
        return False
