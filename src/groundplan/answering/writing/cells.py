"""The cells behind each citation, for whoever wants to look at them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from groundplan.answering.writing.tracing import Cell, Column, Derived, Trace, find_trace
from groundplan.contracts.answer import Citation, CitedCell, ShownTable

MOST = 100  # for one citation


def with_cells(citations: Sequence[Citation], shown: Mapping[str, ShownTable]) -> tuple[Citation, ...]:
    rows = _Rows(shown)
    return tuple(
        citation.model_copy(update={"cells": tuple(islice(_cells(find_trace(citation.fact), rows), MOST))})
        for citation in citations
    )


class _Rows:
    """Which rows of a shown table are alike in some columns; each table is gone through once for these columns."""

    def __init__(self, shown: Mapping[str, ShownTable]) -> None:
        self.shown = shown
        self._found: dict[tuple[str, tuple[int, ...]], Mapping[tuple[object, ...], Sequence[int]]] = {}

    def alike(self, step: str, columns: Sequence[tuple[str, int]]) -> Sequence[int]:
        table = self.shown[step]
        places = tuple(table.columns.index(name) for name, _ in columns)
        if (step, places) not in self._found:
            found = defaultdict[tuple[object, ...], list[int]](list)
            for number, cells in enumerate(table.rows):
                found[tuple(cells[place] for place in places)].append(number)
            self._found[step, places] = found
        wanted = tuple(table.rows[row][place] for place, (_, row) in zip(places, columns, strict=True))
        return self._found[step, places].get(wanted, ())


def _cells(trace: Trace | int | None, rows: _Rows) -> Iterator[CitedCell]:
    match trace:
        case Cell(step=step, row=row, column=column) if step in rows.shown:
            yield CitedCell(step=step, row=row, column=column)
        case Column(step=step, column=column, alike=alike) if step in rows.shown:
            for number in rows.alike(step, alike):
                yield CitedCell(step=step, row=number, column=column)
        case Derived(arguments=arguments):
            for argument in arguments:
                yield from _cells(argument, rows)
