"""The claims of the sentences in forms.yaml: each claim is a test on the cited facts.

Tests use cell values only, never how the sentence was written. The first argument is a slot; a claim about a slot that
the sentence omits is not tested.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from groundplan.answering.verifying.record import Untraceable
from groundplan.answering.verifying.stated import Stated
from groundplan.answering.verifying.step_claims import decided, empty_handed, ended, step_of, stopped
from groundplan.answering.writing.citing import is_number
from groundplan.answering.writing.phrases import RELATED
from groundplan.answering.writing.subjects import Quotient, Row, Subject, selects_groups
from groundplan.answering.writing.tracing import Cell, Column, Derived, Place, Rows
from groundplan.answering.writing.write import LOOKUP, is_affirmed
from groundplan.contracts.contract import Scalar
from groundplan.text.names import stands_for

Test = Callable[..., bool]


def broken_claims(claims: Sequence[tuple[str, ...]], stated: Stated) -> Iterator[str]:
    """The claims that do not hold, in the notation of forms.yaml."""
    for word, *arguments in claims:
        if arguments and arguments[0] not in stated.slots:
            continue
        try:
            holds = TESTS[word](stated, *arguments)
        except Untraceable:
            holds = False
        if not holds:
            yield " ".join((word, *arguments))


def measured(stated: Stated, label: str, *values: str) -> bool:
    """The numbers belong to the named measure."""
    return all(_measure(stated, label) == _measure(stated, value) for value in values)


def whole(stated: Stated, value: str) -> bool:
    """The value covers everything: a sum over all rows, or the only row of a table without groups."""
    trace, subject = stated.one(value), stated.subject(value)
    if isinstance(trace, Cell):
        return not subject.keys and subject.table.row_count == 1
    return trace == Derived("sum", (Column(subject.step, stated.column(value)),))


def valueless(stated: Stated, label: str) -> bool:
    subject = stated.subject(label)
    return subject.complete and all(row[stated.column(label)] is None for row in subject.rows)


def named(stated: Stated, names: str, value: str) -> bool:
    """The names identify the number and belong to it; an id is spared where a name stands for it."""
    same_step = all(stated.record.subject(trace) is stated.subject(value) for trace in stated.slots[names])
    said = stated.names(names)
    return same_step and said == _without_ids(stated.record.selection(stated.one(value)), said, stated.subject(value))


def _without_ids(keys: Mapping[str, Scalar], said: Mapping[str, Scalar], subject: Subject) -> dict[str, Scalar]:
    """The keys without ids for which a name that is said stands."""
    names = [name for name in said if name in keys]
    spared = {key for key in keys for name in names if key not in said and stands_for(name, key, subject.rows)}
    return {key: held for key, held in keys.items() if key not in spared}


def same_row(stated: Stated, *slots: str) -> bool:
    rows = {(trace.step, trace.row) if isinstance(trace, Cell) else None for trace in stated.several(slots)}
    return len(rows) == 1 and None not in rows


def greatest(stated: Stated, value: str) -> bool:
    return stated.number(value) >= max(stated.record.rivals(stated.one(value)))


def least(stated: Stated, value: str) -> bool:
    """Partial periods are low only because days are missing, so they do not count."""
    return stated.number(value) <= min(stated.record.rivals(stated.one(value), full=True))


def lowest(stated: Stated, value: str) -> bool:
    return stated.number(value) <= min(stated.record.rivals(stated.one(value)))


def only(stated: Stated, value: str) -> bool:
    return len(stated.record.rivals(stated.one(value))) == 1


def share(stated: Stated, ratio: str, part: str) -> bool:
    all_of_it = Derived("sum", (Column(stated.subject(part).step, stated.column(part)),))
    return stated.one(ratio) == Derived("share", (stated.one(part), all_of_it))


def share_within(stated: Stated, ratio: str, part: str, all_of_it: str) -> bool:
    return stated.one(ratio) == Derived("share", (stated.one(part), stated.one(all_of_it)))


def total(stated: Stated, sum_: str, part: str) -> bool:
    return stated.one(sum_) == Derived("sum", (Column(stated.subject(part).step, stated.column(part)),))


def heads(stated: Stated, dimension: str, *names: str) -> bool:
    home = stated.record.home(stated.one(dimension))
    return all(stated.record.home(trace) == home for trace in stated.several(names))


def rhythm(stated: Stated, grain: str, start: str) -> bool:
    return stated.one(grain) == Place(f"{stated.subject(start).column_path(stated.column(start))}.grain")


def earliest(stated: Stated, moment: str, value: str) -> bool:
    """The first period with a value that the data covers as a whole."""
    return _times(stated, moment, value)[0] == stated.record.value(stated.one(moment))


def latest(stated: Stated, moment: str, value: str) -> bool:
    return _times(stated, moment, value)[-1] == stated.record.value(stated.one(moment))


def quotient(stated: Stated, value: str, part: str, whole_: str, kind: str) -> bool:
    """The number divides the two others of its row, as its measure does."""
    measure = stated.subject(value).measures[stated.column(value)]
    sides = Quotient(stated.column(part), stated.column(whole_), kind)  # type: ignore[arg-type]
    ratio = stated.number(part) / stated.number(whole_) if stated.number(whole_) else math.nan
    expected = ratio - 1 if kind == "growth" else 100 * ratio if kind == "percent" else ratio
    return (
        measure.quotient == sides
        and same_row(stated, value, part, whole_)
        and math.isclose(stated.number(value), expected, rel_tol=1e-6, abs_tol=1e-9)
    )


def divides(stated: Stated, label: str, part: str, whole_: str, kind: str) -> bool:
    """The measure divides the totals of its two parts."""
    subject = stated.subject(label)
    sides = Quotient(stated.column(part), stated.column(whole_), kind)  # type: ignore[arg-type]
    totals = all(whole(stated, side) for side in (part, whole_))
    return totals and subject.measures[stated.column(label)].quotient == sides


def moved(stated: Stated, change_: str, first: str, last: str) -> bool:
    """The change is that between the two numbers, and its column follows theirs."""
    subject, column = stated.subject(change_), stated.column(change_)
    before, difference = stated.number(first), stated.number(last) - stated.number(first)
    expected = difference / before if subject.columns[column].ratio and before else difference
    follows = subject.kind == "changes" and subject.params["as"] == column
    asked = subject.params["column"] == stated.column(first) == stated.column(last) if follows else False
    return asked and math.isclose(stated.number(change_), expected, rel_tol=1e-6, abs_tol=1e-9)


def follows(stated: Stated, before: str, after: str) -> bool:
    """The two periods are those that a change compares: neighbours, or a year apart."""
    subject = stated.subject(after)
    times = sorted({str(row[subject.time]) for row in subject.rows if subject.time and row[subject.time] is not None})
    early, late = (str(stated.record.value(stated.one(slot))) for slot in (before, after))
    if subject.params.get("against") == "year":
        return early == f"{int(late[:4]) - 1}{late[4:]}"
    return early in times and late in times and times.index(late) - times.index(early) == 1


def partial(stated: Stated, period: str, at: str, edge: str) -> bool:
    subject, value = stated.subject(period), stated.record.value(stated.one(period))
    path = f"{subject.column_path(subject.time)}.partial" if subject.time else ""
    found = {Place(f"{path}.{place}.at"): one for place, one in enumerate(subject.partial)}
    told = found.get(stated.one(at))  # type: ignore[arg-type]
    return stated.column(period) == subject.time and told is not None and (told.period, told.edge) == (value, edge)


def selects(stated: Stated, conditions: str, what: str) -> bool:
    paths = (str(trace) for trace in stated.slots[conditions])
    return all(selects_groups(stated.record.plan, path) == (what == "groups") for path in paths)


def counts_rows(stated: Stated, value: str) -> bool:
    return stated.subject(value).measures[stated.column(value)].counts_rows


def counts_things(stated: Stated, value: str) -> bool:
    measure = stated.subject(value).measures[stated.column(value)]
    return measure.function in ("count", "count_distinct") and bool(measure.name or measure.counted("en"))


def all_known(stated: Stated, value: str) -> bool:
    return all(is_number(row[stated.column(value)]) for row in stated.subject(value).rows)


def change(stated: Stated, ratio: str, first: str, last: str) -> bool:
    return stated.one(ratio) == Derived("change", (stated.one(first), stated.one(last)))


def rises(stated: Stated, first: str, last: str) -> bool:
    return stated.number(first) < stated.number(last)


def falls(stated: Stated, first: str, last: str) -> bool:
    return stated.number(first) > stated.number(last)


def level(stated: Stated, first: str, last: str) -> bool:
    return stated.number(first) == stated.number(last)


def rises_most(stated: Stated, name: str, first: str, last: str) -> bool:
    moved = stated.number(last) - stated.number(first)
    return moved > 0 and moved >= max(_moves(stated, name, first, last))


def falls_most(stated: Stated, name: str, first: str, last: str) -> bool:
    moved = stated.number(last) - stated.number(first)
    return moved < 0 and moved <= min(_moves(stated, name, first, last))


def periods(stated: Stated, before: str, first: str, after: str, last: str) -> bool:
    """Each number belongs to the period next to it."""
    sides = ((before, first, "previous"), (after, last, "current"))
    return all(
        stated.column(number) == column and stated.one(told) == Place(f"{stated.subject(number).params_path}.{column}")
        for told, number, column in sides
    )


def periods_of(stated: Stated, measure: str, before: str, after: str) -> bool:
    path = stated.subject(measure).params_path
    return (stated.one(before), stated.one(after)) == (Place(f"{path}.previous"), Place(f"{path}.current"))


def ranked(stated: Stated, count: str, measure: str, direction: str) -> bool:
    subject = stated.subject(measure)
    counted = Place(f"{subject.params_path}.limit") if subject.params.get("within") else Rows(subject.step, "shown")
    asked = (subject.params.get("by"), subject.params.get("direction", "top"))
    return subject.kind == "ranking" and asked == (stated.column(measure), direction) and stated.one(count) == counted


def ranked_one(stated: Stated, value: str, direction: str) -> bool:
    """The only row of a ranking that keeps one."""
    params = stated.subject(value).params
    asked = (params.get("by"), params.get("direction", "top"), params.get("limit"), tuple(params.get("within", ())))
    only = len(stated.subject(value).rows) == 1
    return stated.subject(value).kind == "ranking" and asked == (stated.column(value), direction, 1, ()) and only


def tied(stated: Stated, count: str, measure: str, value: str, direction: str) -> bool:
    """All rows of a ranking that keeps the first have its value."""
    subject, by = stated.subject(value), stated.column(value)
    params = subject.params
    asked = (params.get("by"), params.get("direction", "top"), params.get("limit"), tuple(params.get("within", ())))
    alike = len(subject.rows) > 1 and len({row[by] for row in subject.rows}) == 1
    first = asked == (by, direction, 1, ()) and stated.column(measure) == by
    return subject.kind == "ranking" and first and alike and stated.one(count) == Rows(subject.step)


def ranked_each(stated: Stated, measure: str, direction: str) -> bool:
    subject = stated.subject(measure)
    asked = (subject.params.get("by"), subject.params.get("direction", "top"), subject.params.get("limit"))
    return subject.kind == "ranking" and asked == (stated.column(measure), direction, 1)


def within(stated: Stated, groups: str, measure: str) -> bool:
    told = [stated.record.home(trace)[1] for trace in stated.slots[groups]]
    return told == list(stated.subject(measure).params.get("within", ()))


def column(stated: Stated, slot: str, name: str) -> bool:
    return stated.column(slot) == name


def param(stated: Stated, slot: str, name: str) -> bool:
    """The column is the one that the step's param names."""
    return bool(stated.column(slot) == stated.subject(slot).params.get(name))


def anomalous(stated: Stated, count: str, label: str) -> bool:
    subject = stated.subject(label)
    counted = Derived("count", (Column(subject.step, "anomaly"),))
    return subject.complete and stated.one(count) == counted and param(stated, label, "column")


def standing_out(stated: Stated, label: str, number: str) -> bool:
    subject = stated.subject(label)
    marked = sum(row["anomaly"] is True for row in subject.rows)
    return subject.complete and marked == int(number) and param(stated, label, "column")


def keyed(stated: Stated, columns: str, measure: str) -> bool:
    told = tuple(stated.record.home(trace)[1] for trace in stated.slots[columns])
    return told == stated.subject(measure).keys


def rest(stated: Stated, count: str) -> bool:
    """The number of items beyond a limit of the plan."""
    limits = stated.record.plan.limits
    match stated.one(count):
        case Derived("rest", (Place(path), int() as listed)) if path.endswith(".count"):
            items = stated.record.place(path.removesuffix("count") + "items")
            return isinstance(items, tuple) and listed == len(items)
        case Derived("rest", (_, int() as listed)):
            return listed in (limits.items, limits.groups)
    return False


def most_frequent(stated: Stated, count: str, all_of_them: str) -> bool:
    match stated.one(count), stated.one(all_of_them):
        case Cell(step, row, name), Derived("sum", (Column() as among,)) if (step, name) == (among.step, among.column):
            same = [other[name] for other in stated.record.alike(among)]
            cells = [(Cell(step, row, key), Cell(step, like, key)) for key, like in among.alike]
            mine = all(stated.record.value(own) == stated.record.value(other) for own, other in cells)
            return mine and stated.number(count) >= max(number for number in same if is_number(number))
    return False


def spread(stated: Stated, label: str, count: str) -> bool:
    """The column is the one whose values were counted."""
    subject = stated.subject(count)
    name = {"bins": "x", "boxes": "y"}.get(subject.kind, "column")
    return stated.one(label) == Place(f"{subject.params_path}.{name}")


def method(stated: Stated, word: str, strength: str) -> bool:
    return stated.one(word) == Place(f"{stated.subject(strength).params_path}.method")


def related(stated: Stated, strength: str, how: str) -> bool:
    number = stated.number(strength)
    return how == ("positive" if number >= RELATED else "negative" if number <= -RELATED else "weak")


def rows(stated: Stated, count: str, other: str) -> bool:
    return stated.one(count) == Rows(stated.subject(other).step)


def one_row(stated: Stated, columns: str) -> bool:
    return stated.subject(columns).table.row_count == 1


def all_columns(stated: Stated, columns: str) -> bool:
    told = tuple(stated.record.home(trace)[1] for trace in stated.slots[columns])
    return told == stated.subject(columns).table.columns


def no_rows(stated: Stated) -> bool:
    return any(not subject.rows for subject in stated.record.subjects.values())


def nothing_found(stated: Stated) -> bool:
    return not stated.record.facts.found and not stated.record.facts.steps


def nothing_left(stated: Stated) -> bool:
    """The plan passes over what was shown before, and nothing comes after it."""
    facts, steps = stated.record.facts, stated.record.plan.steps
    listed = bool(facts.items) or any(group.items for group in facts.groups)
    return facts.found and not listed and not facts.failures and any(step.params.get("offset") for step in steps)


def affirmed(stated: Stated) -> bool:
    """The question asks for yes or no, and what the graph gave says yes."""
    return is_affirmed(stated.record.plan, stated.record.facts)


def goes_on(stated: Stated) -> bool:
    """The rest of the list can be asked for."""
    return stated.record.plan.strategy == LOOKUP


def same_item(stated: Stated, *slots: str) -> bool:
    """Title, value and text of one item."""
    given = [(slot, str(trace)) for slot in slots for trace in stated.slots.get(slot, ())]
    items = {path.rpartition(".")[0] for slot, path in given if path.endswith(f".{slot}")}
    return len(items) == 1 and all(path.endswith(f".{slot}") for slot, path in given)


def fact(stated: Stated, slot: str, pattern: str) -> bool:
    return all(re.fullmatch(pattern, str(trace)) for trace in stated.slots[slot])


def chosen_grain(stated: Stated, grain: str) -> bool:
    grains = [place for place, item in enumerate(stated.record.facts.items) if item.kind == "grain"]
    return stated.one(grain) in [Place(f"facts.items.{place}.value") for place in grains]


TESTS: Mapping[str, Test] = {
    test.__name__: test
    for test in (
        *(measured, whole, valueless, named, same_row, greatest, least, only, share, share_within, total, heads),
        *(rhythm, earliest, latest, change, rises, falls, level, rises_most, falls_most, periods, periods_of),
        *(lowest, quotient, divides, moved, follows, partial, selects, counts_rows, counts_things, all_known),
        *(ranked_one, ranked_each, tied),
        *(ranked, within, keyed, column, param, anomalous, standing_out, rest, most_frequent, spread, method, related),
        *(
            rows,
            one_row,
            all_columns,
            no_rows,
            nothing_found,
            nothing_left,
            same_item,
            fact,
            chosen_grain,
            affirmed,
            goes_on,
        ),
        *(step_of, ended, decided, empty_handed, stopped),
    )
}


def _measure(stated: Stated, slot: str) -> tuple[str, str | None, str | None]:
    subject = stated.subject(slot)
    measure = subject.measures.get(stated.column(slot))
    if measure is None:
        raise Untraceable(f"{stated.one(slot)} is not a measure")
    return subject.step, measure.function, measure.of


def _times(stated: Stated, moment: str, value: str) -> list[str]:
    trace, subject = stated.one(moment), stated.subject(moment)
    if not isinstance(trace, Cell) or not subject.complete or trace.column != subject.time:
        raise Untraceable(f"{trace} is not a point in time")
    return subject.full_times(stated.column(value))


def _moves(stated: Stated, name: str, first: str, last: str) -> list[float]:
    """The change of each group; the cells must belong to the name."""
    subject, begin, end = stated.subject(first), stated.one(first), stated.one(last)
    if not isinstance(begin, Cell) or not isinstance(end, Cell) or not subject.complete or begin.step != end.step:
        raise Untraceable("nothing moves between these")
    groups = subject.groups if begin.column == end.column else subject.keys
    cells = [{key: Cell(cell.step, cell.row, key) for key in groups} for cell in (begin, end)]
    own = [{key: stated.record.value(cell) for key, cell in row.items()} for row in cells]
    said = stated.names(name)
    if [_without_ids(one, said, subject) for one in own] != [said] * 2:
        raise Untraceable("the name does not belong to the numbers")
    starts, ends = _sides(subject, begin, end, groups)
    return [ends[key] - starts[key] for key in starts if key in ends]


def _sides(
    subject: Subject, begin: Cell, end: Cell, groups: Sequence[str]
) -> tuple[dict[object, float], dict[object, float]]:
    """Each group's numbers before and after: in two columns, or in the first and the last period."""
    rows, time = subject.rows, subject.time
    if (begin.column, end.column) == ("previous", "current"):
        before, after = rows, rows
    elif begin.column == end.column and time is not None:
        times = subject.full_times(begin.column)
        if [rows[begin.row][time], rows[end.row][time]] != [times[0], times[-1]]:
            raise Untraceable("these are not the first and the last period")
        before, after = ([row for row in rows if row[time] == edge] for edge in (times[0], times[-1]))
    else:
        raise Untraceable("nothing moves between these")
    return _by_group(before, begin.column, groups), _by_group(after, end.column, groups)


def _by_group(rows: Sequence[Row], column: str, groups: Sequence[str]) -> dict[object, float]:
    numbers = ((tuple(row[key] for key in groups), row[column]) for row in rows)
    return {key: number for key, number in numbers if is_number(number)}
