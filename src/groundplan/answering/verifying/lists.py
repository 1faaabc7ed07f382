"""Checks that lists in a text are complete: every row or workflow step once, in order, up to the plan's limit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from groundplan.answering.verifying.parsing import Fit
from groundplan.answering.verifying.record import Record
from groundplan.answering.writing.citing import is_number
from groundplan.answering.writing.ends import is_done, is_gift, is_passed_by
from groundplan.answering.writing.subjects import Subject
from groundplan.answering.writing.tracing import Cell, find_trace
from groundplan.contracts.facts import Facts

DONE = frozenset({"done"})
PASSED_BY = frozenset({"met", "unmet", "passed_by"})
GIFTS = frozenset({"gave", "gave_list", "gave_text", "gave_nothing"})
LINES = frozenset({"place", "entry", "one_of_each", "share", "anomaly", "summary", "summary_of_text"})


def broken_lists(sentences: Sequence[Sequence[Fit]], record: Record) -> Iterator[str]:
    """The steps whose rows are missing, repeated or out of order."""
    listed: defaultdict[str, list[int]] = defaultdict(list)
    heading: Cell | None = None
    for fits in sentences:
        if fits[0].form.name == "ranked_group":
            heading = _first_cell(fits[0])
        cell = _cell(fits[0])
        if cell is not None:
            listed[cell.step].append(cell.row)
            if not _belongs(cell, heading, record):
                yield cell.step
    for step, rows in listed.items():
        weights = _weights(record.subjects[step]) if step in record.subjects else {}
        expected = sorted(weights.values(), reverse=True)[: record.plan.limits.items]
        if len(set(rows)) < len(rows) or [weights.get(row) for row in rows] != expected:
            yield step


def broken_steps(sentences: Sequence[Sequence[Fit]], facts: Facts) -> Iterator[str]:
    """The workflow steps that are missing, repeated or out of order."""
    paths = {f"facts.steps.{place}": end for place, end in enumerate(facts.steps)}
    expected = {
        DONE: [path for path, end in paths.items() if is_done(end)],
        PASSED_BY: [path for path, end in paths.items() if is_passed_by(end)],
        GIFTS: [path for path, end in paths.items() if is_gift(end, facts)],
    }
    for forms, all_of_them in expected.items():
        told = [path for fits in sentences if (path := _step(fits, forms)) in paths]
        if told and told != all_of_them:
            yield paths[next((path for path in all_of_them if told.count(path) != 1), told[0])].step


def _step(fits: Sequence[Fit], forms: frozenset[str]) -> str:
    """The path of the step that a line reports; empty for other lines."""
    line = next((fit for fit in fits if fit.form.name in forms), None)
    label = next(iter(line.slots.values()))[0].fact if line else ""
    return label.rpartition(".")[0]


def _cell(line: Fit) -> Cell | None:
    return _first_cell(line) if line.form.name in LINES else None


def _first_cell(line: Fit) -> Cell | None:
    traces = (find_trace(cited.fact) for cites in line.slots.values() for cited in cites)
    found = next(traces, None)
    return found if isinstance(found, Cell) else None


def _belongs(line: Cell, heading: Cell | None, record: Record) -> bool:
    """Whether a line of a ranking within groups stands under the heading of its group."""
    subject = record.subjects.get(line.step)
    within = subject.params.get("within", ()) if subject and subject.kind == "ranking" else ()
    if not within or subject is None or subject.params["limit"] == 1:
        return True
    if heading is None or heading.step != line.step or max(heading.row, line.row) >= len(subject.rows):
        return False
    return all(subject.rows[heading.row][name] == subject.rows[line.row][name] for name in within)


def _weights(subject: Subject) -> dict[int, float]:
    """The rows of a list of this kind with their weights, heaviest first."""
    match subject.kind:
        case "shares":
            shares = ((place, row[subject.params["as"]]) for place, row in enumerate(subject.rows))
            return {place: share for place, share in shares if is_number(share)}
        case "anomalies":
            marked = ((place, row["score"]) for place, row in enumerate(subject.rows) if row["anomaly"] is True)
            return {place: abs(score) for place, score in marked if is_number(score)}
        case _:
            return {place: -place for place in range(len(subject.rows))}
