"""How the grammar came to a reading: the senses of words, the phrases it chose, and what does not compose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date

from groundplan.asking.tables.grammar.chart import Cover
from groundplan.asking.tables.grammar.phrases import Cond, Item
from groundplan.asking.tables.grammar.read import covers_of, senses_of, ways_to_compose
from groundplan.asking.tables.grammar.rules import Builders
from groundplan.asking.tables.grammar.senses import Senses
from groundplan.asking.tables.grammar.state import DoesNotCompose, NeedsClarification, State, Unsound
from groundplan.contracts.schema import SourceSchema, Table

NAMED = ("name", "said", "value", "grain", "part", "direction", "unit")
MOST = 3  # covers that do not compose


def derivation(
    question: str, schema: SourceSchema, values: Mapping[str, Mapping[str, tuple[str, ...]]], today: date, timezone: str
) -> Iterator[str]:
    """By the table that explains most words, best."""
    tables = [table for table in schema.tables if table.columns]
    made = [(table, *_read(question, table, values.get(table.name, {}), today, timezone)) for table in tables]
    if not made:
        yield "There are no tables."
        return
    table, senses, builders, covers = max(made, key=lambda one: (-len(one[3][0].unread), one[3][0].score))
    yield f"Senses in {table.name}"
    for place, word in enumerate(senses.words):
        items = sorted((i for i in senses.items if i.first == place), key=lambda item: -item.score)
        yield f"  {word.text}: " + ("; ".join(_told(senses, item, place + 1) for item in items) or "none")
    tried = [cover for cover in covers if not cover.unread][:MOST] or covers[:1]
    for cover in tried:
        outcome = _outcome(cover, senses, builders)
        yield f"{outcome}, score {cover.score:.2f}"
        for item in cover.found:
            yield from _tree(senses, item, "  ")
        if outcome == "Read":
            return


def _read(
    question: str, table: Table, values: Mapping[str, tuple[str, ...]], today: date, timezone: str
) -> tuple[Senses, Builders, list[Cover]]:
    senses, builders = senses_of(question, table, values, today=today, timezone=timezone)
    senses.items += [*senses.compounds()]
    return senses, builders, covers_of(senses, builders)


def _outcome(cover: Cover, senses: Senses, builders: Builders) -> str:
    """`Read`, or why these phrases make no question."""
    if cover.unread:
        return "Words left over: " + ", ".join(senses.words[place].text for place in cover.unread)
    why = ""
    for compose in ways_to_compose(cover, senses.words):
        try:
            compose(State(cover, senses.words, senses.text, builders))
        except (DoesNotCompose, NeedsClarification, Unsound) as reason:
            why = f"{type(reason).__name__}: {reason}"
        else:
            return "Read"
    return why


def _tree(senses: Senses, item: Item, indent: str) -> Iterator[str]:
    by = f" by {item.rule.build.__name__}" if item.rule else ""
    yield f"{indent}{senses.said(item)!r} {_told(senses, item, item.last)}{by}"
    for part in item.parts:
        yield from _tree(senses, part, f"{indent}  ")


def _told(senses: Senses, item: Item, last: int) -> str:
    """Category, value and score; with the words if they are more than those up to `last`."""
    value = item.value
    named = [str(getattr(value, name)) for name in NAMED if getattr(value, name, None)]
    if isinstance(value, Cond):
        named = [" ".join((value.column or "", *map(str, value.values)))]
    words = f"{senses.said(item)!r} " if item.last > last else ""
    return " ".join(filter(None, (f"{words}{item.category}", *named[:1], f"{item.score:.2f}")))
