"""Which date a period and a time axis go by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from groundplan.asking.tables.grammar.meanings import NUMBERS
from groundplan.asking.tables.grammar.names import GENERIC
from groundplan.asking.tables.grammar.phrases import Cond, Item, When
from groundplan.asking.tables.grammar.rules import within
from groundplan.asking.tables.grammar.senses import DAYS
from groundplan.asking.tables.grammar.state import DoesNotCompose, NeedsClarification, State, _over
from groundplan.contracts.expression import (
    Aggregate,
    Cases,
    Column,
    Compare,
    Constant,
    DatePart,
    Elapsed,
    Missing,
    Not,
    columns_of,
    walk,
)
from groundplan.contracts.reading import Rank as RankAsked
from groundplan.contracts.schema import Column as SchemaColumn
from groundplan.text.periods.pairs import says_twice
from groundplan.text.stems import is_russian, stem
from groundplan.text.words import language_of

TENURE = frozenset(map(stem, ("tenure", "стаж")))


def drawn_over_time(state: State) -> None:
    """A line of the revenue: over time."""
    lines = lines_drawn(state)
    if lines and state.measures and not state.groups:
        axis = state.axis()
        state.groups += [(axis, tuple(lines))] if axis else []


def lines_drawn(state: State) -> list[Item]:
    return [i for i in state.all("chart") if i.value.value in ("line", "area")]  # type: ignore[attr-defined]


def _join_times(state: State) -> tuple[Item, ...]:
    """Monthly sales by order date have one axis. Returns the words that only say by which date a period counts."""
    named = [(g, i) for g, i in state.groups if g.time and g.named and g.grain is None]
    cut = [(g, i) for g, i in state.groups if g.time and g.grain and not g.named]
    if len(named) != 1:
        return ()
    date, said = named[0]
    if len(cut) == 1:
        joined = (replace(cut[0][0], name=date.name, named=True), (*cut[0][1], *said))
        state.groups = [joined if pair == cut[0] else pair for pair in state.groups if pair != named[0]]
    elif (len(state.groups) > 1 or state.rank) and any(i.last == said[0].first for i in state.all("period")):
        state.groups.remove(named[0])
        state.axes.add(date.name)
        return said
    return ()


def read_periods(state: State) -> None:
    dating = _join_times(state)
    events = state.all("event")
    periods = state.all("period")
    column = _date_told(state, events)
    if not periods:
        for event in events:
            _only_dates(state, event)
        return
    whens = [(item.value, item) for item in periods]
    if len(whens) == 2 and _compares(state):
        state.sides = whens  # type: ignore[assignment]
        state.take(*periods, *state.all("versus"))
        state.date = column
        return
    if len(whens) > 1:
        raise DoesNotCompose("several periods")
    if not events and any(item.first < periods[0].first for _, item in _happened(state)):
        raise DoesNotCompose("what happened in this period is said before it")
    when: When = whens[0][0]  # type: ignore[assignment]
    fiscal = [c.name for c in state.meanings.table.columns if "fiscal" in state.meanings.names[c.name]]
    if fiscal and column and _whole_years(when) and not events:
        raise NeedsClarification("which year", (fiscal[0], column))
    state.take(*periods, *events)
    if column is None:
        _year_condition(state, when, periods[0])
        return
    state.conditions.append((Cond(within(column, when), date=column), (*events, *periods, *dating)))


def _happened(state: State) -> Iterator[tuple[str, Item]]:
    """The dates that are only asked to be known, as in flats that were let."""
    dates = {column.name for column in state.meanings.dates}
    for condition, items in state.conditions:
        match condition.condition:
            case Not(part=Missing(of=Column(name=name))) if name in dates and items:
                yield name, items[0]


def _only_dates(state: State, item: Item) -> None:
    """Tickets raised by month: an event that every row has only says which date counts."""
    column: SchemaColumn = item.value.column  # type: ignore[attr-defined]
    if column.nulls:
        raise DoesNotCompose("an event without a time")
    state.penalty += 0 if any(g.time for g, _ in state.groups) else 0.2  # it says nothing: open tasks are no event
    state.axes.add(column.name)
    state.take(item)


def _date_told(state: State, events: list[Item]) -> str | None:
    told = {event.value.column.name for event in events}  # type: ignore[attr-defined]
    if len(told) > 1:
        raise DoesNotCompose("two events")
    told = told or state.axes or {g.name for g, _ in state.groups if g.named} or _dates_of_measures(state)
    if len(told) == 1:
        return str(next(iter(told)))
    return state.meanings.main_date.name if state.meanings.main_date else None


def _dates_of_measures(state: State) -> set[str]:
    """The date whose name has the verb of the question: `what was paid last month` goes by the date of payment."""
    bases: list[Any] = [*(m.base for m, _ in state.measures), *(i.value for i in state.all("field"))]
    named = [getattr(base, "name", "") for base in bases]
    found = _dates_called_like(state, named)
    if not found:  # outcomes of one type in 2025: by the date of the outcome
        inside = [name for measure, _ in state.measures for name in columns_of(measure.expression)]
        found = _dates_called_like(state, [*(c.column or "" for c, _ in state.conditions), *inside])
        found |= _dates_of_events(state)
    events = state.meanings.events
    visited = events.get("visit") or events.get("check_in")
    numbers = any(base is not None and base.meaning in NUMBERS for base in bases)
    if not found and numbers and visited and not visited.nulls and state.meanings.main_date == events.get("book"):
        found.add(visited.name)  # money is spent on the visit, not when it was booked
    return found


def _dates_of_events(state: State) -> set[str]:
    """Installs in 2025, where `installed` is a value: by the date of the installation."""
    said = [items for c, items in state.conditions if c.column] + [items for _, items in state.measures]
    said += [state.rank[1]] if state.rank and state.all("who") else []  # who fixed the most of them in 2025
    found = {name for items in said for item in items for name in events_in(state, item)}
    return found if len(found) == 1 else set()


def events_in(state: State, item: Item) -> Iterator[str]:
    for place in range(item.first, item.last):
        for category, value in state.meanings.lexicon.find(state.words, place, place + 1):
            column = state.meanings.events.get(value) if category == "event" else None
            if column is not None:
                yield column.name
        word = state.words[place]  # merge requests are not merged
        same = {word.lower} | ({word.stem} if is_russian(word.lower) else set())
        yield from (c.name for c in state.meanings.dates if any(v in same or stem(v) in same for v in c.verbs))


def _dates_called_like(state: State, names: Iterable[str]) -> set[str]:
    known = state.meanings.names
    said = {word for name in names for word in known.get(name, ())} - GENERIC
    return {c.name for c in state.meanings.dates if not said.isdisjoint(known[c.name])} if said else set()


def _year_condition(state: State, when: When, item: Item) -> None:
    years = [c for c in state.meanings.table.columns if state.meanings.of[c.name] == "year"]
    period = when.period
    if len(years) != 1 or not _whole_years(when):
        raise DoesNotCompose("no dates")
    of = Column(name=years[0].name)
    span = tuple(range(period.start.year, period.end.year))
    if len(span) != 1:
        raise DoesNotCompose("several years")
    state.conditions.append((Cond(Compare(left=of, operator="=", right=Constant(value=span[0]))), (item,)))


def _compares(state: State) -> bool:
    if state.all("versus", "compared", "change") or any(m.sides for m, _ in state.measures):
        return True
    first, last = state.all("period")
    return says_twice(state.text, state.words[first.first].start, state.words[last.last - 1].end)


def event_axis(state: State) -> None:
    """Tickets closed in 2025, by month: by the month in which they were closed."""
    main = state.meanings.main_date.name if state.meanings.main_date else None
    told = {c.date for c, _ in state.conditions if c.date} | state.axes or {name for name, _ in _happened(state)}
    told = told or _dates_of_measures(state)
    if len(told) != 1 or told == {main} or main is None:
        return
    column = told.pop()
    state.groups = [
        (
            replace(
                g,
                name=column if g.time and g.name == main and not g.named else g.name,
                expression=_over(g.expression, main, column) if g.expression else None,
            ),
            i,
        )
        for g, i in state.groups
    ]
    state.conditions = [
        (replace(c, condition=_over(c.condition, main, column)) if c.weekday else c, i) for c, i in state.conditions
    ]
    if state.order is not None and any(g.time and g.name == column for g, _ in state.groups):
        within = tuple(column if name == main else name for name in state.order.within)
        state.order = state.order.model_copy(update={"within": within})


def lasts_until_unknown(state: State) -> bool:
    """Open for more than 30 days, or the tenure of those who are still there: it would last until today."""
    unknown = {c.condition.of for c, _ in state.conditions if isinstance(c.condition, Missing)}
    spoken: list[Any] = [c.condition for c, _ in state.conditions]
    if TENURE & {word.stem for word in state.words}:
        known = {node.name for c in spoken for node in walk(c) if isinstance(node, Column)}
        unknown |= {Column(name=c.name) for c in state.meanings.dates if c.nulls and c.name not in known}
        spoken += [m.expression for m, _ in state.measures]
    return any(isinstance(part, Elapsed) and part.end in unknown for one in spoken for part in walk(one))


def present_people(state: State) -> None:
    """People who left are counted only where the question speaks of a time or of leaving."""
    person = state.meanings.person
    start, end = (state.meanings.events.get(event) for event in ("start", "end"))
    if person is None or not person.is_rows or start is None or end is None or not end.nulls:
        return
    spoken: list[Any] = [
        *(m.expression for m, _ in state.measures),
        *(g.expression for g, _ in state.groups if g.expression),
    ]
    spoken += [c.condition for c, _ in (*state.conditions, *state.having)]
    named = {node.name for part in spoken for node in walk(part) if isinstance(node, Column)}
    named |= {g.name for g, _ in state.groups} | {*state.columns}
    if not named & {start.name, end.name} and not state.sides and state.assumes("present_people"):
        state.conditions.append((Cond(Missing(of=Column(name=end.name)), default="present_people"), ()))


def is_current(state: State, item: Item) -> bool:
    """Active, now: not of what was so in another month."""
    found = state.meanings.lexicon.find(state.words, item.first, item.last)
    return item.category == "condition" and any(category == "current" for category, _ in found)


def named_days(state: State) -> None:
    """Days of the week by their names, from Monday to Sunday."""
    names = DAYS[language_of(state.text) == "ru"]
    for place, (group, items) in enumerate(state.groups):
        day = group.expression
        if not isinstance(day, DatePart) or day.part != "weekday":
            continue
        on = [Compare(left=day, operator="=", right=Constant(value=number)) for number in range(1, 8)]
        state.groups[place] = (replace(group, expression=Cases(conditions=tuple(on), values=names[:7])), items)
        if state.order is None:
            state.order = RankAsked(direction="bottom", by=Aggregate(function="min", of=day))
            state.order_items = items


def _whole_years(when: When) -> bool:
    return all((day.month, day.day) == (1, 1) for day in (when.period.start, when.period.end))
