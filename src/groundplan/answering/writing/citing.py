"""Values of one table, each with its citation."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from groundplan.answering.writing.display import brief, decimals, exact, moment, named, percent, with_unit
from groundplan.answering.writing.phrases import RHYTHMS
from groundplan.answering.writing.subjects import ShownMeasure, Subject
from groundplan.answering.writing.tracing import Cell, Column, Derived, Place, Rows, Trace, total
from groundplan.contracts.answer import Citation
from groundplan.contracts.contract import Language, Scalar
from groundplan.text.names import stands_for, worded

Cites = tuple[Citation, ...]


@dataclass(frozen=True)
class Figure:
    """A number, its origin, and a row whose keys identify it."""

    value: float
    trace: Trace
    row: int
    column: str


@dataclass(frozen=True)
class Citing:
    subject: Subject
    language: Language

    def figures(self, column: str, by: Sequence[str]) -> list[Figure]:
        """The column's numbers: cells if `by` identifies a row, else sums over the rows with the same `by`."""
        rows: defaultdict[tuple[Scalar, ...], list[int]] = defaultdict(list)
        for place, row in enumerate(self.subject.rows):
            if is_number(row[column]):
                rows[tuple(row[name] for name in by)].append(place)
        told = self._cell_figure if set(by) == set(self.subject.keys) else self._sum_figure
        return [told(column, by, places) for places in rows.values()]

    def _cell_figure(self, column: str, by: Sequence[str], places: Sequence[int]) -> Figure:
        first = places[0]
        return Figure(self.number(first, column), Cell(self.subject.step, first, column), first, column)

    def _sum_figure(self, column: str, by: Sequence[str], places: Sequence[int]) -> Figure:
        trace = total(self.subject.step, column, *((name, places[0]) for name in by))
        return Figure(_added([self.number(place, column) for place in places]), trace, places[0], column)

    def number(self, row: int, column: str) -> float:
        value = self.subject.rows[row][column]
        assert is_number(value)
        return value

    def cell(self, row: int, column: str) -> Cites:
        """A cell: a number with its unit for a measure, else a name."""
        value = self.subject.rows[row][column]
        if not is_number(value):
            return self.name(row, column)
        return self.figure(Figure(value, Cell(self.subject.step, row, column), row, column))

    def figure(self, figure: Figure, *, fully: bool = False) -> Cites:
        """A number with its unit; a change has its sign."""
        column = self.subject.columns[figure.column]
        signed = self._is_change(figure.column)
        if column.ratio:
            text = percent(figure.value, self.language, signed=signed, fine=True)
            return self._cites(text, figure.trace, figure.value)
        text = exact(figure.value, self.language) if fully else brief(figure.value, self.language)
        text = f"+{text}" if signed and figure.value > 0 else text
        return self._cites(with_unit(text, column.unit, self.language), figure.trace, figure.value)

    def _is_change(self, column: str) -> bool:
        told = self.subject.measures.get(column)
        grows = told is not None and told.quotient is not None and told.quotient.kind == "growth"
        return grows or (self.subject.kind == "changes" and column == self.subject.params["as"])

    def name(self, row: int, column: str) -> Cites:
        value, told = self.subject.rows[row][column], self.subject.columns[column]
        text = named(value, self.language, told.grain, is_time=told.kind == "time", column=column)
        return self._cites(text, Cell(self.subject.step, row, column), value)

    def names(self, row: int, columns: Sequence[str]) -> Cites:
        return tuple(cite for column in self.telling(columns) for cite in self.name(row, column))

    def telling(self, columns: Sequence[str]) -> Sequence[str]:
        """Without ids for which a name beside them stands."""
        pairs = ((id_, name) for id_ in columns for name in columns if name != id_)
        spared = {id_ for id_, name in pairs if stands_for(name, id_, self.subject.rows)}
        return [column for column in columns if column not in spared]

    def label(self, column: str) -> Cites:
        measure = self.subject.measures.get(column)
        text = measure.label(self.language) if measure else worded(column)
        return self._cites(text, Column(self.subject.step, column), column)

    def counted(self, measure: ShownMeasure) -> Cites:
        """The things that a measure counts."""
        text = measure.counted(self.language)
        return self._cites(text, Column(self.subject.step, measure.column), measure.column) if text else ()

    def labels(self, columns: Sequence[str]) -> Cites:
        return tuple(cite for column in columns for cite in self.label(column))

    def word(self, value: str, trace: Trace) -> Cites:
        """A column name that is a cell value or part of the plan."""
        return self._cites(worded(value), trace, value)

    def share(self, part: Figure, whole: Figure, *, fine: bool = False) -> Cites:
        ratio = part.value / whole.value
        return self._cites(percent(ratio, self.language, fine=fine), Derived("share", (part.trace, whole.trace)), ratio)

    def change(self, first: Figure, last: Figure) -> Cites:
        """The relative change; empty if the first value is zero."""
        if first.value <= 0:
            return ()
        ratio = (last.value - first.value) / first.value
        if not math.isfinite(ratio):
            return ()
        text = percent(ratio, self.language, signed=True)
        return self._cites(text, Derived("change", (first.trace, last.trace)), ratio)

    def partial(self, place: int) -> Cites:
        """The day on which the data starts or ends."""
        assert self.subject.time is not None
        at = self.subject.partial[place].at
        path = f"{self.subject.column_path(self.subject.time)}.partial.{place}.at"
        return placed(moment(at, "day", self.language), path, at)

    def ratio(self, row: int, column: str, *, signed: bool = False) -> Cites:
        value = self.subject.rows[row][column]
        if not is_number(value):
            return ()
        return self._cites(percent(value, self.language, signed=signed), Cell(self.subject.step, row, column), value)

    def strength(self, row: int, column: str) -> Cites:
        """A correlation, to two decimals."""
        value = self.number(row, column)
        return self._cites(decimals(value, 2, self.language), Cell(self.subject.step, row, column), value)

    def rhythm(self, column: str) -> Cites:
        grain = self.subject.columns[column].grain
        return (
            placed(RHYTHMS[self.language][grain], f"{self.subject.column_path(column)}.grain", grain) if grain else ()
        )

    def rows(self) -> Cites:
        count = self.subject.table.row_count
        return self._cites(exact(count, self.language), Rows(self.subject.step), count)

    def shown(self) -> Cites:
        count = len(self.subject.rows)
        return self._cites(exact(count, self.language), Rows(self.subject.step, "shown"), count)

    def rest(self, listed: int) -> Cites:
        trace = Derived("rest", (Rows(self.subject.step), listed))
        rest = self.subject.table.row_count - listed
        return self._cites(exact(rest, self.language), trace, rest)

    def _cites(self, text: str, trace: Trace, value: Scalar) -> Cites:
        return (Citation(text=text, fact=str(trace), value=value),)


def placed(text: str, path: str, value: Scalar) -> Cites:
    """A value at a path in the facts or the plan."""
    return (Citation(text=text, fact=str(Place(path)), value=value),)


def is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _added(numbers: Sequence[float]) -> float:
    """The sum; whole numbers stay whole."""
    return sum(numbers) if all(isinstance(number, int) for number in numbers) else math.fsum(numbers)
