"""Resolves fact ids to values, recomputed from the cells of a run, and finds the values to compare them with."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

from groundplan.answering.writing.citing import is_number
from groundplan.answering.writing.render import distinct, told
from groundplan.answering.writing.subjects import Row, Subject, subjects
from groundplan.answering.writing.tracing import Cell, Column, Derived, Place, Rows, Trace, flat
from groundplan.contracts.answer import ShownTable
from groundplan.contracts.contract import Contract, Scalar
from groundplan.contracts.facts import Facts, Item
from groundplan.contracts.plan import CheckedPlan
from groundplan.contracts.reading import Filter


class Untraceable(LookupError):
    """An id that does not exist in this run, or a value that cannot be computed."""


class Record:
    def __init__(self, plan: CheckedPlan, facts: Facts, shown: Mapping[str, ShownTable]) -> None:
        self.plan, self.facts = plan, facts
        self.subjects = {subject.step: subject for subject in subjects(plan, facts, shown)}
        self._sums: dict[Column, float] = {}  # cached, as several claims use the same sum
        self._alike: dict[tuple[str, tuple[str, ...]], dict[tuple[Scalar, ...], list[Row]]] = {}

    def subject(self, trace: Trace) -> Subject:
        step, _ = self.home(trace)
        if step not in self.subjects:
            raise Untraceable(f"no step {step!r} shows a table")
        return self.subjects[step]

    def home(self, trace: Trace) -> tuple[str, str]:
        """The step and the column from which a number or a name comes."""
        match trace:
            case Cell(step, _, column) | Column(step, column):
                return step, column
            case Rows(step):
                return step, ""
            case Derived(_, (Column() | Cell() | Derived() | Rows() as first, *_)):
                return self.home(first)
            case _:
                raise Untraceable(f"{trace} does not come from a table")

    def value(self, trace: Trace) -> Scalar:
        match trace:
            case Cell(_, row, column):
                return self._cell(self.subject(trace), row, column)
            case Column(_, column):
                self._has(self.subject(trace), column)
                return column
            case Rows(_, which):
                table = self.subject(trace).table
                return table.row_count if which == "rows" else len(table.rows)
            case Place(path):
                return self._flat(path)
            case Derived():
                return self._derived(trace)

    def place(self, path: str) -> object:
        found: object = {"facts": self.facts, "plan": self.plan}
        for key in path.split("."):
            found = _entered(found, key)
        return found

    def number(self, trace: Trace) -> float:
        value = self.value(trace)
        if not is_number(value):
            raise Untraceable(f"{trace} is not a number")
        assert isinstance(value, int | float)
        return value

    def selection(self, trace: Trace) -> dict[str, Scalar]:
        """The key values that identify this number within its column."""
        subject = self.subject(trace)
        match trace:
            case Cell(_, row, _):
                return {key: self._cell(subject, row, key) for key in subject.keys}
            case Derived("sum", (Column(alike=alike),)):
                return {column: self._cell(subject, row, column) for column, row in alike}
            case _:
                raise Untraceable(f"{trace} cannot be identified by keys")

    def rivals(self, trace: Trace, *, full: bool = False) -> list[float]:
        """All numbers with which it can be compared, including itself; with `full`, without partial periods."""
        subject = self.subject(trace)
        if not subject.complete:
            raise Untraceable(f"step {subject.step!r} shows only some of its rows")
        _, column = self.home(trace)
        numbered = [(row, _float(row[column])) for row in subject.rows if is_number(row[column])]
        if full and subject.time in self.selection(trace):
            whole = [item for item in numbered if item[0][subject.time] not in subject.incomparable]
            numbered = whole or numbered
        if isinstance(trace, Cell):
            return [number for _, number in numbered]
        sums: defaultdict[tuple[Scalar, ...], list[float]] = defaultdict(list)
        keys = self.selection(trace)
        for row, number in numbered:
            sums[tuple(row[key] for key in keys)].append(number)
        return [math.fsum(numbers) for numbers in sums.values()]

    def alike(self, trace: Column) -> list[Row]:
        """The rows that match the trace's rows in the columns it names; all rows if it names none."""
        subject, names = self.subject(trace), tuple(name for name, _ in trace.alike)
        like = tuple(self._cell(subject, row, name) for name, row in trace.alike)
        if (subject.step, names) not in self._alike:
            found = self._alike[subject.step, names] = defaultdict(list)
            for row in subject.rows:
                found[tuple(row[name] for name in names)].append(row)
        return self._alike[subject.step, names].get(like, [])

    def _derived(self, trace: Derived) -> Scalar:
        match trace:
            case Derived("sum", (Column() as column,)):
                return self._sum(column)
            case Derived("share", (Cell() | Derived() as part, Derived() as whole)):
                return self._ratio(self.number(part), self.number(whole))
            case Derived("change", (Cell() | Derived() as first, Cell() | Derived() as last)):
                before = self.number(first)
                return self._ratio(self.number(last) - before, before)
            case Derived("count", (Column(_, column) as marked,)):
                self._has(self.subject(marked), column)
                return sum(row[column] is True for row in self.subject(marked).rows)
            case Derived("rest", (Rows() | Derived() as all_of_them, int() as listed)):
                return int(self.number(all_of_them)) - listed
            case Derived("rest", (Place(path), int() as listed)):
                return self._many(path) - listed
            case _:
                raise Untraceable(f"{trace} is not a known computation")

    def _sum(self, trace: Column) -> float:
        if trace not in self._sums:
            self._sums[trace] = self._added(trace)
        return self._sums[trace]

    def _added(self, trace: Column) -> float:
        """A sum, if the measure is additive and every row is present."""
        subject = self.subject(trace)
        self._has(subject, trace.column)
        measure = subject.measures.get(trace.column)
        counts = subject.kind in ("bins", "distribution") and trace.column == "count"
        if not subject.complete or not (counts or (measure and measure.additive)):
            raise Untraceable(f"{trace} cannot be summed")
        numbers = [_float(row[trace.column]) for row in self.alike(trace) if is_number(row[trace.column])]
        return sum(numbers) if all(isinstance(number, int) for number in numbers) else math.fsum(numbers)

    def _flat(self, path: str) -> Scalar:
        found = self.place(path)
        if isinstance(found, Item):
            return flat(found)
        if isinstance(found, Filter):
            return flat(found.model_dump(mode="json"))
        if isinstance(found, Contract | set):
            raise Untraceable(f"{path} is not a single value")
        return flat(found)

    def _many(self, path: str) -> int:
        """The number of distinct items in a list of facts."""
        found = told(self.facts).values() if path == "facts.items" else self.place(path)
        if isinstance(found, int):
            return found
        if not isinstance(found, Iterable):
            raise Untraceable(f"{path} is not a list")
        return len(set(distinct(item for item in found if isinstance(item, Item)))) or len(tuple(found))

    def _cell(self, subject: Subject, row: int, column: str) -> Scalar:
        self._has(subject, column)
        if row >= len(subject.rows):
            raise Untraceable(f"step {subject.step!r} shows no row {row}")
        return subject.rows[row][column]

    @staticmethod
    def _has(subject: Subject, column: str) -> None:
        if column not in subject.table.columns:
            raise Untraceable(f"step {subject.step!r} shows no column {column!r}")

    @staticmethod
    def _ratio(part: float, whole: float) -> float:
        if whole <= 0:
            raise Untraceable("the share or growth of zero is undefined")
        return part / whole


def _entered(found: object, key: str) -> object:
    try:
        match found:
            case Mapping():
                return found[key]
            case Contract() if key in type(found).model_fields:
                return getattr(found, key)
            case tuple() | list():
                return found[int(key)]
    except (LookupError, ValueError) as error:
        raise Untraceable(f"there is no {key!r} there") from error
    raise Untraceable(f"there is no {key!r} there")


def _float(value: Scalar) -> float:
    assert isinstance(value, int | float)
    return value
